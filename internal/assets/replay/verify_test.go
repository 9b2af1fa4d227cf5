package replay_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// findings returns what both verifications find. The fixture has no journal, so some of it is about missing entries.
func (x *fixture) findings(ctx context.Context, tx *db.Tx) (out []string) {
	x.Helper()
	out, err := replay.Verify(ctx, tx)
	if err != nil {
		x.Fatal(err)
	}
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		x.Fatal(err)
	}
	var effects []replay.Effect
	for _, e := range x.effects {
		effects = append(effects, e)
	}
	found := finding.New("bookings")
	if _, err := replay.VerifyEffects(ctx, tx, b, effects, found); err != nil {
		x.Fatal(err)
	}
	return append(out, found.Messages()...)
}

// expectFound damages lots by a statement and fails unless that makes verify find something that contains a text, in which
// LOT is the lot of the first entry.
func (x *fixture) expectFound(damage, says string) {
	x.Helper()
	err := x.write(func(ctx context.Context, tx *db.Tx) error {
		first, err := db.One[string](ctx, tx, "lot", "SELECT asset_id FROM lots WHERE organization_id = @org AND journal_entry_id = 'first'")
		if err != nil {
			return err
		}
		says = strings.ReplaceAll(says, "LOT", first)
		isFound := func(text string) bool { return strings.Contains(text, says) }
		if before := x.findings(ctx, tx); slices.ContainsFunc(before, isFound) {
			x.Errorf("before the damage there is %q", before)
		}
		if n, err := tx.Exec(ctx, damage); err != nil || n == 0 {
			x.Errorf("%s did nothing: %v", damage, err)
		}
		if found := x.findings(ctx, tx); !slices.ContainsFunc(found, isFound) {
			x.Errorf("%s\nis found as\n%s\nwant %s", damage, strings.Join(found, "\n"), says)
		}
		return dbtest.ErrUndo
	})
	if !errors.Is(err, dbtest.ErrUndo) {
		x.Error(err)
	}
}

// Conditions for the rows of an entry.
const (
	ofFirst = " WHERE organization_id = @org AND journal_entry_id = 'first'"
	ofSale  = " WHERE organization_id = @org AND journal_entry_id = 'sale'"
	ofMove  = " WHERE organization_id = @org AND journal_entry_id = 'move'"
)

func (x *fixture) bookSamples() {
	x.Helper()
	x.book("first: 2024-03-01 in A 2 3000.00", "sale: 2025-03-10 out A 1 2000.00", "move: 2025-03-11 move A B 0.5 1000.00")
}

func TestVerifyFindsEveryDifferenceOfAPoolToItsHistory(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		x := newFixture(t, d)
		x.bookSamples()
		for damage, says := range map[string]string{
			"UPDATE lots SET order_key = 'x'" + ofFirst:                         "the lot LOT cannot enter the pool",
			"UPDATE lots SET acquired_at = '2026-01-01T00:00:00.000Z'" + ofMove: "is not a slice, with the same date, of the lot",
			"UPDATE lot_consumptions SET proceeds = '-1'" + ofSale:              "the entry sale cannot consume from the pool",
			"DELETE FROM lot_consumptions" + ofSale:                             "1 of the lot LOT were consumed from the pool",
			"UPDATE lot_uses SET days_held = 900" + ofSale:                      "was held for 374 days when the entry sale consumed it, but 900",
			"UPDATE lots SET remaining_quantity = '0.25'" + ofFirst:             "the lot LOT is stored with 0.25 at 750 remaining, but",
			"UPDATE lots SET remaining_basis = '1'" + ofFirst:                   "the lot LOT is stored with 0.5 at 1 remaining, but",
			"UPDATE lot_pools SET basis = '99' WHERE organization_id = @org":    "stored as 0.5 at 99, but recomputing it leaves 0.5 at 750",
			"UPDATE lot_pools SET quantity = '9' WHERE organization_id = @org":  "stored as 9 at 750, but recomputing it leaves 0.5 at 750",
		} {
			x.expectFound(damage, says)
		}
	})
}

func TestVerifySaysInWhichFieldsAUseDiffersFromItsHistory(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		x := newFixture(t, d)
		x.bookSamples()
		x.expectFound("DELETE FROM lot_uses"+ofSale, "are nothing, but should be 1 of LOT at 1500")
		for change, differs := range map[string][2]string{
			"quantity = '2'":              {"2 of LOT at 1500", "1 of LOT at 1500"},
			"basis = '7'":                 {"1 of LOT at 7", "1 of LOT at 1500"},
			"asset_id = ''":               {"1 of no lot at 1500", "1 of LOT at 1500"},
			"kind = 'fee'":                {"1 of LOT at 1500 (kind fee)", "1 of LOT at 1500 (kind dispose)"},
			"source_id = 'src_x'":         {"1 of LOT at 1500 (source src_x)", "1 of LOT at 1500 (source src_"},
			"ledger_account_id = 'lac_x'": {"1 of LOT at 1500 (account lac_x)", "1 of LOT at 1500 (account "},
			"proceeds = '1'":              {"1 of LOT at 1500 (proceeds 1)", "1 of LOT at 1500 (proceeds 2000)"},
			"fee = '1'":                   {"1 of LOT at 1500 (fee 1)", "1 of LOT at 1500 (fee 0)"},
			"gain = '1'":                  {"1 of LOT at 1500 (gain 1)", "1 of LOT at 1500 (gain 500)"},
			"method = 'hifo'":             {"1 of LOT at 1500 (method hifo)", "1 of LOT at 1500 (method fifo)"},
			"term = 'short'":              {"1 of LOT at 1500 (term short)", "1 of LOT at 1500 (term long)"},
			"lot_count = -1": {"1 of LOT at 1500 (change in the number of lots -1)",
				"1 of LOT at 1500 (change in the number of lots 0)"},
			"acquired_at = '2024-03-02T00:00:00.000Z'": {"1 of LOT at 1500 (acquired at 2024-03-02T00:00:00.000Z)",
				"1 of LOT at 1500 (acquired at 2024-03-01T00:00:00.000Z)"},
		} {
			x.expectFound("UPDATE lot_uses SET "+change+ofSale, "are "+differs[0]+", but should be "+differs[1])
		}
	})
}

func TestVerifyFindsARelocationThatLosesItsBasis(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		x := newFixture(t, d)
		wide := entity.UpdateParams{CostBasisScope: new(entity.ScopeLegalEntity)}
		if _, err := entity.NewService(d).Update(x.ctx, x.entity, wide); err != nil {
			t.Fatal(err)
		}
		x.book("first: 2025-03-01 in A 2 3000.00", "move: 2025-03-11 move A B 1 2000.00")
		x.expectFound("UPDATE lot_uses SET basis = '1' WHERE organization_id = @org AND kind = 'relocate' AND quantity = '1'",
			"the entry move relocates 1 within the pool")
		x.expectFound("DELETE FROM lot_uses WHERE organization_id = @org AND kind = 'relocate' AND quantity = '1'",
			"and loses -1500 of their basis")
	})
}

func TestVerifyFindsEntriesWhoseLotsDoNotFollowFromTheirBooking(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		x := newFixture(t, d)
		x.bookSamples()
		x.expectFound("DELETE FROM lot_consumptions"+ofSale, "the stored consumptions of the entry sale are not those that follow")
		for _, change := range []string{"position = 1", "pool = 'x'", "order_key = order_key || 'x'", "transaction_id = 'x'", "source_id = 'x'",
			"ledger_account_id = 'x'", "chain = 'x'", "consumed_at = '2025-03-10T00:00:01.000Z'", "block_number = 1", "number = 99",
			"kind = 'move'", "quantity = '9'", "fee_quantity = '0.1'", "proceeds = '9'", "fee_proceeds = '9'", "costs = '9'",
			"net_fees = NOT net_fees"} {
			x.expectFound("UPDATE lot_consumptions SET "+change+ofSale, "the stored consumptions of the entry sale are not those that follow")
		}
		for _, change := range []string{"basis = '0.001'", "quantity = '5'"} {
			x.expectFound("UPDATE lot_uses SET "+change+ofSale, "the entry sale cannot be booked again from the lots it consumed: ")
		}
		x.expectFound("DELETE FROM lots"+ofMove, "the stored lots of the entry move are not those that follow")
		x.expectFound("UPDATE lots SET parent_asset_id = 'x'"+ofMove, "the stored lots of the entry move are not those that follow")
		x.expectFound("UPDATE lots SET journal_entry_id = 'sale'"+ofMove, "the stored lots of the entry sale are not those that follow")
		for _, change := range []string{"quantity = '9'", "cost_basis = '9'", "acquired_at = '2024-03-01T00:00:01.000Z'", "source_id = 'x'",
			"ledger_account_id = 'x'", "legal_entity_id = 'x'", "asset_type = 'x'"} {
			x.expectFound("UPDATE lots SET "+change+ofFirst, "the stored lots of the entry first are not those that follow")
		}
	})
}
