package books

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

func TestAJournalEntryWritesTheJSONThatItsFieldsSay(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "plain", `"quoted" \ back`, "Grüße <b>&", "\x00\x1f\u2028"}))
	rapid.Check(t, func(t *rapid.T) {
		draw := func() string { return text.Draw(t, "text") }
		maybe := func() *string {
			if rapid.Bool().Draw(t, "null") {
				return nil
			}
			return new(draw())
		}
		some := func() []string { return rapid.SliceOfN(text, 0, 3).Draw(t, "texts") }
		yes := func() bool { return rapid.Bool().Draw(t, "bool") }
		e := JournalEntry{ID: draw(), OrganizationID: draw(), SequenceNumber: draw(), Status: draw(), OriginatedBy: draw(),
			AccountingDate: draw(), PostedAt: maybe(), Memo: maybe(), SyncDate: maybe(), LastSyncedAt: maybe(), LastUnsyncedAt: maybe(),
			LegalEntityID: maybe(), TransactionID: maybe(), TransactionNumber: maybe(), PeriodID: maybe(), Classification: draw(),
			TagIDs: some(), ReversalChain: ReversalChain{maybe(), maybe()}, PeriodReassigned: yes(), IntendedDate: maybe(),
			EntityAssigned: yes(), Lines: []JournalLine{}, IsSync: yes(), CreatedAt: draw(), UpdatedAt: draw(),
			Guidance: wire.Guidance{AllowedActions: some(), Warnings: some(), Version: draw()}}
		for range rapid.IntRange(0, 3).Draw(t, "lines") {
			e.Lines = append(e.Lines, JournalLine{ID: draw(), LedgerAccountID: draw(), LegalEntityID: draw(), CreditOrDebit: draw(),
				Amount: draw(), Currency: draw(), BaseAmount: maybe(), Memo: maybe(), TagIDs: some(), Unit: maybe(), UnitQuantity: maybe()})
		}
		if yes() {
			e.Lots = []EntryLot{{AssetID: maybe(), AssetType: draw(), Term: maybe(), IsCorrection: yes()}}
		}
		if yes() {
			e.Changes = []LotChange{{JournalEntryID: draw(), ResultID: maybe()}}
		}
		if yes() {
			e.LatestSync.Value = &GLSyncAttempt{ID: draw(), Error: maybe()}
		}
		type plainOne wire.Data[JournalEntry]
		type plainAll JournalEntries
		for _, c := range []struct{ got, want any }{
			{wire.DataOf(e), plainOne{e}},
			{JournalEntries{[]JournalEntry{e, e}}, plainAll{[]JournalEntry{e, e}}},
		} {
			var want bytes.Buffer
			encoder := json.NewEncoder(&want)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(c.want); err != nil {
				t.Fatal(err)
			}
			if got := wire.Encode(c.got); !bytes.Equal(got, want.Bytes()) {
				t.Fatalf("%s\n instead of\n%s", got, want.Bytes())
			}
		}
	})
}
