package booking_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func (w *world) each(ps []booking.Params) (out []booking.BatchResult) {
	w.Helper()
	err := w.db.Write(w.ctx, actor.From(w.ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = w.bookings.CreateEach(ctx, tx, ps)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	for i, o := range out {
		if (o.Booked == nil) == (o.Err == nil) {
			w.Fatalf("%d: %+v", i, o)
		}
	}
	return out
}

func TestOfManyThoseThatCannotBeBookedAreLeftOut(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		spam := w.add("2025-06-10", "A in 9 JUNK = 1.00")
		status := transaction.Spam
		if _, err := w.txns.Update(w.ctx, spam.ID, transaction.UpdateParams{Status: &status}); err != nil {
			t.Fatal(err)
		}
		sold := w.add("2025-06-15", "A out 1 ETH = 2400.00")
		bought := w.add("2025-06-10", "A in 1.5 ETH = 3000.00")
		soldMore, soldLess := w.add("2025-06-16", "A out 1 ETH = 2400.00"), w.add("2025-06-17", "A out 0.5 ETH = 1300.00")
		paid := w.add("2025-06-18", "Bank out 10 USD = 10.00")
		noPrice := w.add("2025-06-18", "A in 5 DOGE")
		old := w.add("2025-01-05", "Bank out 7 USD = 7.00")
		january := w.add("2025-01-06", "Bank out 8 USD = 8.00")
		w.book(january, "EXPENSE", "Contractors")
		w.closeThrough(w.us, "2025-01")
		ask := func(t transaction.Transaction, kind, target string) booking.Params {
			return booking.Params{TransactionID: t.ID, Type: kind, LedgerAccountID: w.accountID(target), AutoPost: true, OpenOnly: true}
		}
		vendor := ask(noPrice, "INCOME", "Sales")
		vendor.VendorName = "Nobody Inc"
		asked := []struct {
			p    booking.Params
			says string // nothing where it is booked
		}{
			{ask(sold, "EXPENSE", "Contractors"), ""}, // what it needs comes after it here
			{ask(bought, "SWAP", "Bank"), ""},
			{ask(soldMore, "EXPENSE", "Contractors"), "0.5 ETH are missing"},
			{ask(soldLess, "EXPENSE", "Contractors"), ""},
			{ask(spam, "INCOME", "Sales"), "spam"},
			{ask(sold, "EXPENSE", "Contractors"), "booked already by another item of this request"},
			{ask(soldMore, "EXPENSE", "Contractors"), "0.5 ETH are missing"}, // the one before it is no longer in its way
			{ask(january, "EXPENSE", "Contractors"), "has the entry"},
			{vendor, "/v1/prices"},
			{ask(old, "EXPENSE", "Contractors"), "the period 2025-01 is closed"},
			{booking.Params{TransactionID: "txn_none", Type: "INCOME"}, "transaction not found"},
			{ask(paid, "UNKNOWN", ""), "UNKNOWN"},
			{ask(paid, "EXPENSE", "Contractors"), ""},
		}
		ps := make([]booking.Params, len(asked))
		for i, a := range asked {
			ps[i] = a.p
		}
		for i, o := range w.each(ps) {
			switch says := asked[i].says; {
			case says == "" && (o.Err != nil || o.Booked.Status != journal.Posted):
				t.Errorf("%d was not booked: %v", i, o.Err)
			case says != "" && (o.Err == nil || !strings.Contains(fmt.Sprintf("%v %+v", o.Err, o.Err), says)):
				t.Errorf("%d is refused with %v, which does not say %q", i, o.Err, says)
			}
		}
		if got := w.lots(); got != "" {
			t.Errorf("left are %s", got)
		}
		tags, err := tag.NewService(w.db).List(w.ctx, tag.Filter{}, page.Request{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range tags.Items {
			if one.Name == "Nobody Inc" {
				t.Error("what was refused left a tag")
			}
		}
	})
}

func TestWhatWouldChangeEntriesOfAClosedPeriodIsLeftOut(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-01-10", "A in 1 ETH = 1000.00"), "SWAP", "Bank")
		w.book(w.add("2025-02-10", "A in 1 ETH = 2000.00"), "SWAP", "Bank")
		w.book(w.add("2025-03-10", "A out 1 ETH = 2400.00"), "EXPENSE", "Contractors")
		w.closeThrough(w.us, "2025-03")
		late, fine := w.add("2025-01-05", "A in 1 ETH = 900.00"), w.add("2025-04-05", "A in 1 ETH = 950.00")
		var ps []booking.Params
		for _, t := range []transaction.Transaction{late, fine} {
			ps = append(ps, booking.Params{TransactionID: t.ID, Type: "SWAP", LedgerAccountID: w.accountID("Bank"), AutoPost: true,
				OpenOnly: true, AccountingDate: "2025-04-01"})
		}
		out := w.each(ps)
		if out[0].Err == nil || !strings.Contains(out[0].Err.Error(), "whose period 2025-03 is closed") || out[1].Err != nil {
			t.Fatalf("%v and %v", out[0].Err, out[1].Err)
		}
		if _, err := w.bookings.Create(w.ctx, ps[:1], noPrefix); err == nil || !strings.Contains(err.Error(), "2025-03") {
			t.Errorf("by itself: %v", err)
		}
		ps[0].OpenOnly = false
		if out := w.each(ps[:1]); out[0].Err != nil || out[0].Booked.Changes[0].Action != booking.TruedUp {
			t.Errorf("where it may: %+v", out[0])
		}
	})
}

// What is booked of many is what Create would have made of just these, and nothing that was left out could have been added.
func TestSoakOfManyAsMuchIsBookedAsCanBe(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(today)
		c.Clock = now
		d := dbtest.Open(t, c)
		rapid.Check(t, func(r *rapid.T) {
			policy := entity.CreateParams{CostBasisMethod: pick(r, "method", entity.Methods[:5]...), CostBasisScope: pick(r, "scope",
				entity.ScopeSource, entity.ScopeLegalEntity)}
			before := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) operation { return randomOperation(r, false) }), 0, 8).Draw(r, "what happened")
			all := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) operation { return randomOperation(r, false) }), 1, 12).Draw(r, "what happens")
			openOnly, shut := rapid.Bool().Draw(r, "open only"), pick(r, "shut", "", "", "2025-02")
			drafts, wrong := rapid.Bool().Draw(r, "drafts"), rapid.Bool().Draw(r, "wrong ones")
			w := newWorld(t.Context(), r, d, now)
			many, just := w.newEntities(r, policy, policy), w.newEntities(r, policy, policy)
			var asked [2][]booking.Params
			for n, w := range []*world{many, just} {
				for _, s := range before {
					_, err := w.bookings.Create(w.ctx, []booking.Params{w.addOperation(s)}, noPrefix)
					if err != nil && fault.KindOf(err) == fault.Internal {
						r.Fatal(err)
					}
				}
				for i, s := range all {
					p := w.addOperation(s)
					p.OpenOnly, p.AutoPost = openOnly, !drafts || i%4 > 0
					if wrong && i%5 == 4 {
						p.Type = "LOAN"
					}
					asked[n] = append(asked[n], p)
					if wrong && i%3 == 2 {
						asked[n] = append(asked[n], p)
					}
				}
				if shut != "" {
					w.closeThrough(w.us, shut)
					w.closeThrough(w.sub, shut)
				}
			}
			var kept, refused []booking.Params
			for i, o := range many.each(asked[0]) {
				if o.Err == nil {
					kept = append(kept, asked[1][i])
				} else {
					refused = append(refused, asked[1][i])
				}
			}
			if len(kept) > 0 {
				if _, err := just.bookings.Create(w.ctx, kept, noPrefix); err != nil {
					r.Fatalf("by themselves they are refused: %v", err)
				}
			}
			for what, of := range map[string]func(*world) string{
				"lots": (*world).lots, "realized": func(w *world) string {
					return strings.Join(w.spelledPairs(), "\n")
				}, "balances": func(w *world) string { return strings.Join(w.balances(false), "\n") },
			} {
				if a, b := of(many), of(just); a != b {
					r.Fatalf("%s of many\n%s\nof just those\n%s", what, a, b)
				}
			}
			for _, p := range refused {
				if just.tryOut([]booking.Params{p}) == nil {
					r.Fatalf("%+v was left out and could have been booked", p)
				}
			}
			many.verifyBooks()
		})
	})
}
