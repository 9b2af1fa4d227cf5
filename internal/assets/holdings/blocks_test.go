package holdings_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/db"
)

// seedExamples stores the state of the worked examples, with disposals, a move, and a correction of a closed period.
func (w *world) seedExamples() {
	w.lot("L1 A ETH 2025-01-10 2 3000")
	w.lot("L2 A ETH 2025-06-01 3 6000")
	w.lot("L3 A BTC 2025-07-01 1 60000")
	w.use("L1 dispose 2025-09-15 2 3000 4800 5")
	w.use("L2 dispose 2025-09-15 0.5 1000 1200 1")
	w.use("L2 move 2025-10-02 1 2000 0")
	w.lot("L4 B ETH 2025-06-01 1 2000 2025-10-02").parent = "ast_L2"
	w.lot("L0 A ETH 2024-12-01 1 500 2025-11-01") // came late
	w.use("L1 dispose* 2025-11-01 -1 -1500 -2400 0 short")
	w.use("L0 dispose* 2025-11-01 1 500 2400 0 short")
	w.book()
}

func TestPositionsAreSumsOfWhatMoved(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.seedExamples()
		for key, want := range map[string][]string{
			"2024-12": nil,
			"2025-01": {"A ETH 2 3000 in 1 USD"},
			"2025-06": {"A ETH 5 9000 in 2 USD"},
			"2025-09": {"A BTC 1 60000 in 1 USD", "A ETH 2.5 5000 in 1 USD"},
			"2025-10": {"A BTC 1 60000 in 1 USD", "A ETH 1.5 3000 in 1 USD", "B ETH 1 2000 in 1 USD"},
			"":        {"A BTC 1 60000 in 1 USD", "A ETH 2.5 4500 in 2 USD", "B ETH 1 2000 in 1 USD"},
		} {
			w.read(func(ctx context.Context, tx *db.Tx) error {
				got, err := holdings.Positions(ctx, tx, key, holdings.Filter{LegalEntityIDs: []string{w.entity}})
				if !slices.Equal(shownPositions(got), want) {
					t.Errorf("%s: %q, want %q", key, shownPositions(got), want)
				}
				return err
			})
		}
		w.read(func(ctx context.Context, tx *db.Tx) error {
			got, err := holdings.Positions(ctx, tx, "", holdings.Filter{AssetTypes: []string{"ETH", "DOGE"}, SourceIDs: []string{"B"}})
			if want := []string{"B ETH 1 2000 in 1 USD"}; !slices.Equal(shownPositions(got), want) {
				t.Errorf("%q", shownPositions(got))
			}
			return err
		})
	})
}

func TestLotsOfAnEarlierTimeAreWhatIsLeftAndWhatWasConsumedSince(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.seedExamples()
		for key, want := range map[string][]string{
			"2024-12": nil,
			"2025-01": {"L1 2 of 2, 3000 of 3000"},
			"2025-08": {"L3 1 of 1, 60000 of 60000", "L1 2 of 2, 3000 of 3000", "L2 3 of 3, 6000 of 6000"},
			"2025-09": {"L3 1 of 1, 60000 of 60000", "L2 2.5 of 3, 5000 of 6000"},
			"2025-10": {"L3 1 of 1, 60000 of 60000", "L2 1.5 of 3, 3000 of 6000", "L4 1 of 1, 2000 of 2000"},
			"2025-11": {"L3 1 of 1, 60000 of 60000", "L1 1 of 2, 1500 of 3000", "L2 1.5 of 3, 3000 of 6000", "L4 1 of 1, 2000 of 2000"},
			"":        {"L3 1 of 1, 60000 of 60000", "L1 1 of 2, 1500 of 3000", "L2 1.5 of 3, 3000 of 6000", "L4 1 of 1, 2000 of 2000"},
		} {
			w.read(func(ctx context.Context, tx *db.Tx) error {
				got, err := holdings.LotsAt(ctx, tx, w.entity, key)
				if !slices.Equal(shownLots(got), want) {
					t.Errorf("%s: %q, want %q", key, shownLots(got), want)
				}
				return err
			})
		}
	})
}

func TestUnderAWeightedAverageLotsShareWhatTheirPoolCost(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE cost_basis_elections SET method = 'weighted_average' WHERE organization_id = @org")
			return err
		})
		w.lot("L1 A ETH 2025-01-10 2 3000")
		w.lot("L2 A ETH 2025-02-01 1 6001")
		w.lot("L3 B ETH 2025-02-01 1 10")
		w.use("L1 dispose 2025-03-15 0.5 1500.17 4800 5")
		w.book()
		for key, want := range map[string][]string{
			"2025-01": {"L1 2 of 2, 3000 of 3000"},
			"2025-02": {"L1 2 of 2, 6000.67 of 3000", "L2 1 of 1, 3000.33 of 6001", "L3 1 of 1, 10 of 10"},
			"":        {"L1 1.5 of 2, 4500.5 of 3000", "L2 1 of 1, 3000.33 of 6001", "L3 1 of 1, 10 of 10"},
			"2025-03": {"L1 1.5 of 2, 4500.5 of 3000", "L2 1 of 1, 3000.33 of 6001", "L3 1 of 1, 10 of 10"},
		} {
			w.read(func(ctx context.Context, tx *db.Tx) error {
				got, err := holdings.LotsAt(ctx, tx, w.entity, key)
				if !slices.Equal(shownLots(got), want) {
					t.Errorf("%s: %q, want %q", key, shownLots(got), want)
				}
				return err
			})
		}
	})
}

func TestVerifyFindsALotWithAWrongDateOfEmptying(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.seedExamples()
		check := func(want int) {
			t.Helper()
			w.read(func(ctx context.Context, tx *db.Tx) error {
				found, err := holdings.Verify(ctx, tx)
				if len(found) != want {
					t.Errorf("%q, want %d", found, want)
				}
				return err
			})
		}
		check(0)
		w.exec("UPDATE lots SET interval_node = 1 WHERE organization_id = @org AND asset_id = 'ast_L2'")
		check(1)
		w.exec("UPDATE lots SET emptied_at = ? WHERE organization_id = @org AND asset_id = 'ast_L0'", day("2025-10-01"))
		check(2)
		w.exec("UPDATE lots SET interval_node = 0, emptied_at = NULL WHERE organization_id = @org")
		check(0)
		equal(t, "lots are found all the same",
			w.taxLots(9, holdings.TaxLotsParams{AsOf: "2025-09-01", Filter: holdings.Filter{AssetTypes: []string{"ETH"}}}), []string{
				"L1 ETH short 2 of 2 at 1500 cost 3000 of 3000 worth ? gain ?", "L2 ETH short 3 of 3 at 2000 cost 6000 of 6000 worth ? gain ?",
			})
	})
}
