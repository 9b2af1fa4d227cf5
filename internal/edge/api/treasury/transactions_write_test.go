package treasury

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

func TestATransactionWritesTheJSONThatItsFieldsSay(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "plain", `"quoted" \ back`, "Grüße <b>&", "\x00\x1f\u2028",
		"line\nbreak"}))
	maybe := rapid.Custom(func(t *rapid.T) *string {
		if rapid.Bool().Draw(t, "null") {
			return nil
		}
		s := text.Draw(t, "text")
		return &s
	})
	rapid.Check(t, func(t *rapid.T) {
		draw := func() string { return text.Draw(t, "text") }
		x := Transaction{
			ID: draw(), SequenceNumber: draw(), AccountID: maybe.Draw(t,
				"m"), SourceID: draw(), ExternalID: draw(), OrganizationID: draw(), LegalEntityID: draw(), SourceClass: draw(),
			Provider: draw(), Vendor: maybe.Draw(t, "m"), ProviderCategory: maybe.Draw(t, "m"), TagIDs: rapid.SliceOf(text).Draw(t,
				"tags"), CreatedAt: draw(), UpdatedAt: draw(),
			External: TransactionExternal{Timestamp: draw(), Description: draw(), Direction: draw(), Quantity: maybe.Draw(t, "m"), Currency: draw()},
			Internal: TransactionInternal{TransactionType: draw(), Status: draw(), Memo: maybe.Draw(t, "m"), JournalEntryID: maybe.Draw(t,
				"m"), GroupID: maybe.Draw(t, "m")},
			Guidance: wire.Guidance{AllowedActions: rapid.SliceOf(text).Draw(t, "may"), Warnings: rapid.SliceOf(text).Draw(t, "warn"),
				Version: draw()},
		}
		if rapid.Bool().Draw(t, "valued") {
			x.External.ValueFiat.Value = &ValuedFiat{draw(), draw(), draw(), draw()}
		}
		if rapid.Bool().Draw(t, "crypto") {
			x.Crypto.Value = &TransactionCrypto{Chain: maybe.Draw(t, "m"), TransactionHash: maybe.Draw(t, "m"),
				FromAddress: maybe.Draw(t, "m"), ToAddress: maybe.Draw(t, "m"), AssetType: maybe.Draw(t, "m"),
				ContractAddress: maybe.Draw(t, "m"), TokenID: maybe.Draw(t, "m"), FeeQuantity: maybe.Draw(t, "m"), FeeAssetType: maybe.Draw(t, "m")}
			if rapid.Bool().Draw(t, "block") {
				x.Crypto.Value.BlockNumber = new(rapid.Int64().Draw(t, "number"))
			}
		}
		if rapid.Bool().Draw(t, "bank") {
			x.Bank.Value = &TransactionBank{maybe.Draw(t, "m"), maybe.Draw(t, "m"), maybe.Draw(t, "m")}
		}
		if rapid.Bool().Draw(t, "card") {
			x.Card.Value = &TransactionCard{maybe.Draw(t, "m"), maybe.Draw(t, "m"), maybe.Draw(t, "m"), maybe.Draw(t, "m")}
		}
		if rapid.Bool().Draw(t, "spam") {
			x.Internal.Spam.Value = &SpamVerdict{7, []SpamReason{{draw(), -3, draw()}}}
		}
		l := wire.List[Transaction]{Data: []Transaction{x, x}, HasMore: rapid.Bool().Draw(t, "more"), NextCursor: maybe.Draw(t, "cursor")}
		if rapid.Bool().Draw(t, "counted") {
			l.TotalCount = new(rapid.Int64().Draw(t, "count"))
		}
		type plainly wire.List[Transaction]
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(plainly(l)); err != nil {
			t.Fatal(err)
		}
		if got := wire.Encode(l); !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%s\n instead of\n%s", got, want.Bytes())
		}
	})
}
