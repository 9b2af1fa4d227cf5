package transaction_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func TestATransactionReportedTwiceIsStoredOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		c.source(t, source.Source{ID: "src_a", AccountID: "wal_a", Type: source.Exchange})
		c.source(t, source.Source{ID: "src_b", Type: source.Card})
		changed := plain("wal_a", "1")
		changed.Description = "told otherwise"
		first, err := c.Create(c.ctx, []transaction.CreateParams{plain("src_a", "1"), plain("src_a", "2"), changed, plain("src_b", "1"),
			plain("src_a", "1 "), plain("src_a", "É")})
		if err != nil || first.Created != 5 || first.Duplicates != 1 {
			t.Fatalf("%+v %v", first, err)
		}
		got := first.Transactions
		if got[0].ID != got[2].ID || got[2].Description != "Payment" || got[0].ID == got[3].ID || got[0].Number != 1 ||
			got[1].Number != 2 || got[3].Number != 3 || got[5].Number != 5 {
			t.Errorf("%+v", got)
		}
		again, err := c.Create(c.ctx, []transaction.CreateParams{plain("src_a", "3"), changed, plain("src_b", "2"), plain("wal_a", "3")})
		if err != nil || again.Created != 2 || again.Duplicates != 2 {
			t.Fatalf("%+v %v", again, err)
		}
		if now := again.Transactions; now[1].ID != got[0].ID || now[0].Number != 6 || now[2].Number != 7 || now[3].ID != now[0].ID {
			t.Errorf("%+v", now)
		}
		none, err := c.Create(c.ctx, []transaction.CreateParams{changed})
		if err != nil || none.Created != 0 || none.Duplicates != 1 || !reflect.DeepEqual(none.Transactions[0].At, got[0].At) {
			t.Errorf("%+v %v", none, err)
		}
		c.sound(t)
	})
}

// Create returns transactions exactly as they are read afterwards.
func TestATransactionIsStoredAsItWasReported(t *testing.T) {
	t.Parallel()
	eachTimed(t, func(t *testing.T, c company) {
		w := newWorld(t, c, 0)
		full := plain("wal_a", "full")
		full.Value = &transaction.ValueParams{Gross: *dec("10.50"), Fee: *dec("0.5"), Net: *dec("10"), Currency: "EUR"}
		full.Category, full.Vendor, full.Memo, full.Type, full.EventKey = "Travel;Hotel", "Åcme", "a\nb", transaction.Swap, "trade 1"
		full.Crypto = &transaction.Crypto{Chain: "Ethereum", TransactionHash: "0xH", BlockNumber: new(int64(7)), From: "0xA", To: "0xB",
			AssetType: "USDC", ContractAddress: "0xC", TokenID: "9", FeeQuantity: dec("0.001"), FeeAssetType: "ETH"}
		full.Bank, full.Card = &transaction.Bank{BankName: "b", AccountLast4: "1234",
			CounterpartyName: "c"}, &transaction.Card{MerchantName: "m", MerchantCategory: "n", CardholderName: "o", Last4: "p"}
		tags := []string{w.tag(t, "b"), w.tag(t, "a")}
		full.TagIDs = []string{tags[1], tags[0], tags[1]}
		bare := plain("src_e", "bare")
		bare.Quantity, bare.Description = nil, ""
		for _, made := range w.create(t, full, bare) {
			read, err := w.Get(w.ctx, made.ID)
			if err != nil {
				t.Fatal(err)
			}
			a, _ := json.Marshal(made)
			b, _ := json.Marshal(read)
			if string(a) != string(b) {
				t.Errorf("made %s\nread %s", a, b)
			}
			if made.Type == transaction.Swap && (!slices.Equal(read.TagIDs, tags) || read.Value.Net().String() != "10" ||
				*read.Crypto.BlockNumber != 7 || read.Crypto.FeeQuantity.String() != "0.001" || read.Memo != "a\nb") {
				t.Errorf("%s", b)
			}
		}
		w.sound(t)
	})
}

// Texts of the maximum length, made of the longest characters, are stored, sorted by and paged through: no index and no
// cursor is too short for them.
func TestTheLongestTransactionIsStoredAndListed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		c.source(t, source.Source{ID: "src_a", Type: source.Exchange})
		text := func(n, seed int) string {
			var out strings.Builder
			for i := range n {
				out.WriteRune(rune(0x20000 + (i*7919+seed*104729)%40000)) // four bytes each, and hard to compress
			}
			return out.String()
		}
		var all []transaction.CreateParams
		for i := range 3 {
			p := plain("src_a", text(255, i))
			p.Description, p.Memo, p.Vendor, p.Category, p.Currency = text(2000, i), text(2000, i+9), text(500, i), text(500, i), text(100, i)
			p.Crypto = &transaction.Crypto{Chain: text(100, i+3), AssetType: text(100, i+5), From: text(500, i), To: text(500, i+1),
				ContractAddress: text(500, 2), TokenID: text(500, 3)}
			p.Card = &transaction.Card{MerchantName: text(500, i), MerchantCategory: text(500, i+1)}
			all = append(all, p)
		}
		c.create(t, all...)
		for _, by := range sorts {
			p := transaction.ListParams{Sort: transaction.Sort{By: by}, Request: page.Request{Limit: 1}}
			for n := range 3 {
				out, err := c.List(c.ctx, p)
				if err != nil || len(out.Items) != 1 || out.HasMore != (n < 2) {
					t.Fatal(by, n, len(out.Items), err)
				}
				p.Cursor = out.NextCursor
			}
		}
		if out, err := c.List(c.ctx, transaction.ListParams{Filter: transaction.Filter{Search: text(200, 1),
			Addresses: []string{text(500, 1)}, ProviderCategory: []string{text(500, 1)}}, Request: page.Request{Limit: 1}}); err != nil ||
			len(out.Items) != 1 {
			t.Error(len(out.Items), err)
		}
		c.sound(t)
	})
}

func TestARefusedRequestAddsNothingAndUsesNoNumber(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		c.source(t, source.Source{ID: "src_a", AccountID: "wal_a", Type: source.Exchange})
		other := c.source(t, source.Source{ID: "src_o", Type: source.Bank, LegalEntityID: c.entity(t, "other")})
		tagID := c.tag(t, "one")
		c.create(t, plain("src_a", "1"))
		bad, tagged := plain("src_a", "3"), plain("src_a", "4")
		bad.Quantity, bad.Direction = dec("-1"), ""
		tagged.TagIDs = []string{tagID, "tag_none"}
		var many []transaction.CreateParams
		for i := range transaction.AddMax + 1 {
			many = append(many, plain("src_a", fmt.Sprint("m", i)))
		}
		for _, try := range []struct {
			kind   fault.Kind
			all    []transaction.CreateParams
			fields []string
		}{
			{fault.Invalid, nil, []string{"transactions"}},
			{fault.Invalid, many, []string{"transactions"}},
			{fault.Invalid, []transaction.CreateParams{plain("src_a", "2"), bad, plain("src_a", "")},
				[]string{"transactions[1].external.quantity", "transactions[1].external.direction", "transactions[2].external_id"}},
			{fault.NotFound, []transaction.CreateParams{plain("src_x", "2"), plain("src_a", "2"), plain("wal_x", "2")},
				[]string{"transactions[0].source_id", "transactions[2].source_id"}},
			{fault.NotFound, []transaction.CreateParams{plain("src_a", "2"), tagged}, []string{"transactions[1].tag_ids[1]"}},
		} {
			_, err := c.Create(c.ctx, try.all)
			blames(t, fmt.Sprint(try.fields), err, try.kind, try.fields...)
		}
		_, err := c.Create(c.limited(other.LegalEntityID), []transaction.CreateParams{plain("src_o", "1"), plain("src_a", "2")})
		blames(t, "a key for another legal entity", err, fault.NotFound, "transactions[1].source_id")
		failed := c.db.Write(c.ctx, c.org.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			if made, err := c.Create(ctx, []transaction.CreateParams{plain("src_a", "2"), plain("src_a", "3")}); err != nil || made.Created != 2 {
				t.Error(made, err)
			}
			return fault.Conflictf("changed my mind")
		})
		if fault.KindOf(failed) != fault.Conflict {
			t.Error(failed)
		}
		c.sound(t)
		if next := c.create(t, plain("src_a", "2"))[0]; next.Number != 2 {
			t.Errorf("after all that comes %s", next.SequenceNumber())
		}
		c.sound(t)
	})
}

func TestEachOrganizationNumbersItsOwnTransactions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		other := found(t, c.db)
		for i, who := range []company{c, other} {
			who.source(t, source.Source{ID: "src_same", Type: source.Bank})
			made := who.create(t, plain("src_same", "1"), plain("src_same", "2"))
			if made[1].Number != 2 {
				t.Errorf("%d: %s", i, made[1].SequenceNumber())
			}
			who.sound(t)
		}
	})
}

func TestConcurrentReportsOfTheSameTransactionAddItOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c company) {
		c.source(t, source.Source{ID: "src_a", Type: source.Bank})
		const tellers, each, distinct = 8, 40, 100
		var wg sync.WaitGroup
		created := make([]int, tellers)
		for n := range tellers {
			wg.Go(func() {
				for round := range 2 {
					var all []transaction.CreateParams
					for i := range each {
						all = append(all, plain("src_a", fmt.Sprint((n*10+round*30+i*(n%3+1))%distinct)))
					}
					made, err := c.Create(c.ctx, all)
					if err != nil || made.Created+made.Duplicates != each || len(made.Transactions) != each {
						t.Error(made.Created, made.Duplicates, err)
					}
					for i, m := range made.Transactions {
						if m.ExternalID != all[i].ExternalID {
							t.Errorf("%s was answered with %s", all[i].ExternalID, m.ExternalID)
						}
					}
					created[n] += made.Created
				}
			})
		}
		wg.Wait()
		total := 0
		for _, n := range created {
			total += n
		}
		out, err := c.List(c.ctx, transaction.ListParams{Sort: transaction.Sort{By: "created_at", Order: "asc"},
			Request: page.Request{Limit: 100}, WithCount: true})
		if err != nil || *out.TotalCount != int64(total) || total != distinct {
			t.Fatal(*out.TotalCount, total, err)
		}
		seen := map[string]bool{}
		for _, m := range out.Items {
			seen[m.ExternalID] = true
		}
		if len(seen) != distinct {
			t.Errorf("%d external ids", len(seen))
		}
		c.sound(t)
	})
}
