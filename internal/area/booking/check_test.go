package booking_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/asset"
	"github.com/bursarhq/bursar/internal/area/booking"
	"github.com/bursarhq/bursar/internal/area/entity"
	"github.com/bursarhq/bursar/internal/area/journal"
	"github.com/bursarhq/bursar/internal/area/period"
	"github.com/bursarhq/bursar/internal/area/txn"
	"github.com/bursarhq/bursar/internal/db"
)

// findings is what the checks of everything that bookings touch find.
func findings(ctx context.Context, tx *db.Tx) (out []string, err error) {
	for _, check := range []func(context.Context, *db.Tx) ([]string, error){journal.Check, txn.Check, period.Check, asset.Check, booking.Check} {
		found, err := check(ctx, tx)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// well fails where something is broken.
func (w *world) well() {
	w.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		found, err := findings(ctx, tx)
		if len(found) > 0 {
			w.Errorf("found:\n%s", strings.Join(found, "\n"))
		}
		return err
	})
}

// live lets a little of everything happen: purchases, late ones too, sales, transfers, what is parked, swaps and conversions.
func (w *world) live() {
	w.Helper()
	w.book(w.tell("2025-01-10", "A in 2 ETH = 4000.00"), "SWAP", "Bank")
	w.book(w.tell("2025-02-10", "A in 3 ETH = 9000.00"), "SWAP", "Bank")
	w.book(w.tell("2025-06-10", "A out 2.5 ETH = 9000.00 fee 12.00 (0.005)"), "SWAP", "Bank")
	out, in := w.tell("2025-06-20", "A out 1 ETH = 3600.00 (0.01)"), w.tell("2025-06-20T12:05:00Z", "B in 0.99 ETH = 3564.00")
	w.link(out, in)
	w.book(out, "INTERNAL TRANSFER", "")
	w.book(w.tell("2025-07-01", "A out 0.5 ETH = 1800.00"), "INTERNAL TRANSFER", "")
	w.book(w.tell("2025-08-01", "B out 0.25 ETH = 900.00"), "SWAP", "Bank")
	out, in = w.tell("2025-08-20", "B out 0.2 ETH = 700.00"), w.tell("2025-08-20T12:01:00Z", "B in 0.19 STETH = 690.00")
	w.link(out, in)
	w.book(out, "NON_TAXABLE_CONVERSION", "")
	w.book(w.tell("2025-01-05", "A in 0.7 ETH = 1000.00"), "SWAP", "Bank") // late
	w.book(w.tell("2025-09-01", "Kraken in 5 SOL = 500.00"), "STAKING_REWARD", "Staking income")
}

func TestWholeBooksAreFoundWhole(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.live()
	})
}

func TestBooksOfEveryMethodAndScopeAreFoundWhole(t *testing.T) {
	for _, method := range entity.Methods {
		for _, scope := range entity.Scopes {
			t.Run(method+" "+scope, func(t *testing.T) {
				each(t, func(t *testing.T, w *world) {
					if _, err := w.entities.Update(w.ctx, w.us, entity.UpdateParams{CostBasisMethod: &method, CostBasisScope: &scope}); err != nil {
						t.Fatal(err)
					}
					w.live()
				})
			})
		}
	}
}

func TestTheCheckFindsWhateverIsBrokenInLots(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.live()
		w.well()
		for damage, says := range map[string]string{
			"UPDATE lots SET remaining_quantity = '-1' WHERE organization_id = @org": "are left",
		} {
			if got := w.after(damage); !strings.Contains(got, says) {
				t.Errorf("%s: got %s", damage, got)
			}
		}
	})
}

// errUndone undoes damage.
var errUndone = errors.New("undone")

// after is what is found after some damage, which is undone.
func (w *world) after(damage string) (out string) {
	w.Helper()
	err := w.db.Write(w.ctx, actor.From(w.ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, damage)
		if err != nil {
			return err
		}
		if n == 0 {
			w.Errorf("%s did nothing", damage)
		}
		found, err := findings(ctx, tx)
		out = strings.Join(found, "\n")
		return errors.Join(errUndone, err)
	})
	if !errors.Is(err, errUndone) || strings.Contains(err.Error(), "\n") {
		w.Fatalf("%s: %v", damage, err)
	}
	return out
}
