package booking_test

import (
	"context"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
)

// positions is what moved in a month, by the period's key.
func (w *world) positions() map[string]string {
	w.Helper()
	out := map[string]string{}
	w.read(func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.All[struct {
			Key   string `db:"key"`
			Basis string `db:"basis"`
		}](ctx, tx, `SELECT p.key, {dec_sum}(l.basis) AS basis FROM lot_positions l JOIN accounting_periods p ON p.organization_id =
			l.organization_id AND p.accounting_period_id = l.accounting_period_id
			WHERE l.organization_id = @org GROUP BY p.key`)
		for _, r := range rows {
			out[r.Key] = r.Basis
		}
		return err
	})
	return out
}

func TestLotsFollowTheBoundariesOfTheirMonths(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-03-01T02:00:00Z", "A in 2 ETH = 4000.00"), "SWAP", "Bank")
		w.book(w.add("2025-05-01T03:00:00Z", "A out 0.5 ETH = 1500.00"), "SWAP", "Bank")
		out, in := w.add("2025-06-01T01:00:00Z", "A out 0.5 ETH = 1500.00"), w.add("2025-06-01T01:05:00Z", "B in 0.5 ETH = 1500.00")
		w.link(out, in)
		w.book(out, "INTERNAL TRANSFER", "")
		w.book(w.add("2025-06-30T23:00:00Z", "Euro in 100 EUR = 110.00"), "INCOME", "Other income")
		w.verifyBooks()
		for _, c := range []struct{ zone, acquired, sold string }{
			{"America/New_York", "2025-02", "2025-04"}, {"Asia/Tokyo", "2025-03", "2025-05"}, {"UTC", "2025-03", "2025-05"},
		} {
			if err := w.setZone(c.zone); err != nil {
				t.Fatal(err)
			}
			w.verifyBooks()
			if got := w.positions(); got[c.acquired] != "4000" || got[c.sold] != "-1000" {
				t.Errorf("%s: %v", c.zone, got)
			}
		}
	})
}
