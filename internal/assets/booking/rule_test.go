package booking_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// rule is the rule an entry was asked for by, and its version.
func (w *world) rule(entryID string) (id string, version int64) {
	w.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		o, err := booking.OriginOf(ctx, tx, entryID)
		if err == nil {
			id, version = o.RuleID, o.RuleVersion
		}
		return err
	})
	return id, version
}

func (w *world) tag(name string) string {
	w.Helper()
	made, err := tag.NewService(w.db).Create(w.ctx, tag.Custom, w.name(name))
	if err != nil {
		w.Fatal(err)
	}
	return made.ID
}

func TestARuleLeavesItsNameOnWhatItBooked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		mine, its := w.tag("mine"), w.tag("its")
		paid := w.add("2025-06-18", "Bank out 10 USD = 10.00")
		if _, err := w.txns.Update(w.ctx, paid.ID, transaction.UpdateParams{TagIDs: &[]string{mine}}); err != nil {
			t.Fatal(err)
		}
		p := booking.Params{TransactionID: paid.ID, Type: "EXPENSE", LedgerAccountID: w.accountID("Contractors"), AutoPost: true,
			RuleID: "rule_1", RuleVersion: 3, Vendor: " Gas Station ", AddTagIDs: []string{its, mine}}
		refused := p
		refused.AddTagIDs = []string{"tag_none"}
		if _, err := w.bookings.Create(w.ctx, []booking.Params{refused}, noPrefix); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a tag that is not there: %v", err)
		}
		refused = p
		refused.Vendor = strings.Repeat("x", 5000)
		if _, err := w.bookings.Create(w.ctx, []booking.Params{refused}, noPrefix); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a vendor that is too long: %v", err)
		}
		made, err := w.bookings.Create(w.ctx, []booking.Params{p}, noPrefix)
		if err != nil {
			t.Fatal(err)
		}
		both := []string{mine, its}
		slices.Sort(both)
		now, err := w.txns.Get(w.ctx, paid.ID)
		if err != nil || now.Vendor != "Gas Station" || !slices.Equal(now.TagIDs, both) || now.Status != transaction.Posted {
			t.Errorf("the transaction is %+v: %v", now, err)
		}
		if got := slices.Sorted(slices.Values(made[0].TagIDs)); !slices.Equal(got, both) {
			t.Errorf("the entry has the tags %v", got)
		}
		if id, version := w.rule(made[0].ID); id != "rule_1" || version != 3 {
			t.Errorf("booked by %s %d", id, version)
		}
		memo := "looked at"
		other := w.accountID("Sales")
		for _, x := range []struct {
			name string
			p    booking.CorrectParams
			rule string
		}{
			{"another memo", booking.CorrectParams{Update: journal.UpdateParams{Memo: &memo}}, "rule_1"},
			{"the same type", booking.CorrectParams{Type: "EXPENSE"}, "rule_1"},
			{"another account", booking.CorrectParams{LedgerAccountID: &other}, ""},
		} {
			again, err := w.bookings.Correct(w.ctx, made[0].ID, x.p)
			if err != nil {
				t.Fatal(err)
			}
			made[0] = again
			if id, _ := w.rule(again.ID); id != x.rule {
				t.Errorf("after a correction to %s it is booked by %q", x.name, id)
			}
			if now, err := w.txns.Get(w.ctx, paid.ID); err != nil || now.Vendor != "Gas Station" {
				t.Errorf("the vendor after it is %q: %v", now.Vendor, err)
			}
		}
	})
}

func TestAnEntryThatIsBookedAnewForItsLotsIsStillThatOfItsRule(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-06-02", "A in 1 ETH = 1000.00"), "SWAP", "Bank")
		sold := w.add("2025-06-10", "A out 1 ETH = 2400.00")
		if _, err := w.bookings.Create(w.ctx, []booking.Params{{TransactionID: sold.ID, Type: "EXPENSE",
			LedgerAccountID: w.accountID("Contractors"), AutoPost: true, RuleID: "rule_2", RuleVersion: 1}}, noPrefix); err != nil {
			t.Fatal(err)
		}
		w.book(w.add("2025-06-01", "A in 1 ETH = 900.00"), "SWAP", "Bank")
		now, err := w.txns.Get(w.ctx, sold.ID)
		if err != nil {
			t.Fatal(err)
		}
		if id, version := w.rule(now.JournalEntryID); id != "rule_2" || version != 1 {
			t.Errorf("booked by %s %d", id, version)
		}
	})
}
