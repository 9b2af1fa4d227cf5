package booking_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// findings verifies everything that bookings write to.
func findings(ctx context.Context, tx *db.Tx) (out []string, err error) {
	for _, verify := range []func(context.Context, *db.Tx) ([]string, error){journal.Verify, transaction.Verify, period.Verify,
		replay.Verify, booking.Verify, holdings.Verify} {
		found, err := verify(ctx, tx)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// verifyBooks fails the test if verifying the books finds something.
func (w *world) verifyBooks() {
	w.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		found, err := findings(ctx, tx)
		if err != nil {
			return err
		}
		realized, err := w.realized(ctx, tx)
		if err != nil {
			return err
		}
		elsewhere, err := misplaced(ctx, tx)
		if found = slices.Concat(found, realized, elsewhere); len(found) > 0 {
			w.Errorf("found:\n%s", strings.Join(found, "\n"))
		}
		return err
	})
}

// realized compares the gains of all uses with the balances of the accounts of gains and losses, in every accounting period.
func (w *world) realized(ctx context.Context, tx *db.Tx) (found []string, err error) {
	type row struct {
		Period string        `db:"accounting_period_id"`
		Amount money.Decimal `db:"amount"`
	}
	const ofUses = "SELECT accounting_period_id, gain AS amount FROM lot_uses WHERE organization_id = @org AND legal_entity_id = ?"
	ofAccounts := func(column string) string {
		return "SELECT accounting_period_id, " + column + " AS amount FROM account_balances WHERE organization_id = @org " +
			"AND legal_entity_id = ? AND tag_id = '' AND ledger_account_id IN (?, ?)"
	}
	for _, entityID := range []string{w.us, w.sub} {
		accounts := []any{entityID, w.accountID("Realized gains"), w.accountID("Realized losses")}
		rest := map[string]money.Decimal{}
		for _, part := range []struct {
			query string
			args  []any
			sign  int64
		}{{ofUses, accounts[:1], 1}, {ofAccounts("credits"), accounts, -1}, {ofAccounts("debits"), accounts, 1}} {
			rows, err := db.All[row](ctx, tx, part.query, part.args...)
			if err != nil {
				return nil, err
			}
			for _, r := range rows {
				rest[r.Period] = rest[r.Period].Add(r.Amount.Mul(money.FromInt(part.sign)))
			}
		}
		for period, d := range rest {
			if !d.IsZero() {
				found = append(found, fmt.Sprintf("the uses of %s realized %s more in %s than the accounts say", entityID, d, period))
			}
		}
	}
	return found, nil
}

// withOwnEntities runs a test on each database with legal entities of its own that have a bank account.
func withOwnEntities(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	each(t, func(t *testing.T, w *world) {
		w = w.newEntities(t)
		w.source("Bank")
		test(t, w)
	})
}

// bookSamples books some of everything: purchases, one of them late, sales, transfers, parked lots, swaps and conversions.
func (w *world) bookSamples() {
	w.Helper()
	w.book(w.add("2025-01-10", "A in 2 ETH = 4000.00"), "SWAP", "Bank")
	w.book(w.add("2025-02-10", "A in 3 ETH = 9000.00"), "SWAP", "Bank")
	w.book(w.add("2025-06-10", "A out 2.5 ETH = 9000.00 fee 12.00 (0.005)"), "SWAP", "Bank")
	out, in := w.add("2025-06-20", "A out 1 ETH = 3600.00 (0.01)"), w.add("2025-06-20T12:05:00Z", "B in 0.99 ETH = 3564.00")
	w.link(out, in)
	w.book(out, "INTERNAL TRANSFER", "")
	w.book(w.add("2025-07-01", "A out 0.5 ETH = 1800.00"), "INTERNAL TRANSFER", "")
	w.book(w.add("2025-08-01", "B out 0.25 ETH = 900.00"), "SWAP", "Bank")
	out, in = w.add("2025-08-20", "B out 0.2 ETH = 700.00"), w.add("2025-08-20T12:01:00Z", "B in 0.19 STETH = 690.00")
	w.link(out, in)
	w.book(out, "NON_TAXABLE_CONVERSION", "")
	w.book(w.add("2025-01-05", "A in 0.7 ETH = 1000.00"), "SWAP", "Bank") // late
	w.book(w.add("2025-09-01", "Kraken in 5 SOL = 500.00"), "STAKING_REWARD", "Staking income")
}

func TestSoundBooksHaveNoFindings(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		w.bookSamples()
	})
}

func TestBooksOfEveryMethodAndScopeHaveNoFindings(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, method := range entity.Methods {
			for _, scope := range entity.Scopes {
				t.Run(method+" "+scope, func(t *testing.T) {
					w := w.newEntities(t, entity.CreateParams{CostBasisMethod: method, CostBasisScope: scope})
					w.source("Bank")
					w.bookSamples()
				})
			}
		}
	})
}

// one returns a condition that selects one row of a table.
func one(table, column, condition string) string {
	return " WHERE organization_id = @org AND " + column + " = (SELECT max(x." + column + ") FROM " + table +
		" x WHERE x.organization_id = @org AND " + condition + ")"
}

func TestVerifyFindsWhateverIsBroken(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		w.bookSamples()
		w.verifyBooks()
		lot := func(condition string) string { return one("lots", "asset_id", condition) }
		use := func(condition string) string { return one("lot_uses", "use_id", condition) }
		pool := one("lot_pools", "pool", "x.seq > 1")
		take := one("lot_consumptions", "order_key", "x.kind = 'consume'")
		booked := one("bookings", "journal_entry_id", "x.partner_id IS NOT NULL")
		told := one("transactions", "transaction_id", "x.status = 'posted'")
		const somewhere = " WHERE organization_id = @org AND quantity <> '0'"
		for damage, says := range map[string]string{
			"UPDATE lots SET remaining_quantity = '-1'" + lot("x.is_open"):  "has a remaining quantity of -1",
			"UPDATE lots SET remaining_quantity = '100'" + lot("x.is_open"): "has a remaining quantity of 100",
			"UPDATE lots SET remaining_basis = '5'" + lot("NOT x.is_open"):  "a remaining basis of 5 of ",
			"UPDATE lots SET remaining_basis = '-5'" + lot("x.is_open"):     "a remaining basis of -5 of",
			"UPDATE lots SET remaining_basis = '5'" +
				lot("x.is_open"): "but its uses leave",
			"UPDATE lots SET is_open = NOT is_open" +
				lot("x.is_open"): "is_open and unit_key",
			"UPDATE lots SET unit_key = 'x'" +
				lot("x.is_open"): "is_open and unit_key",
			"UPDATE lots SET seq = seq + 1" +
				lot("x.seq > 0"): "but entered it as number",
			"UPDATE lots SET currency = 'EUR'" +
				lot("x.is_open"): "does not belong to its pool",
			"UPDATE lots SET source_id = 'src_x'" +
				lot("x.source_id IS NOT NULL"): "does not belong to its pool",
			"UPDATE lots SET cost_basis = '1'" +
				lot("x.origin = 'move'"): "but the lots it creates have a basis of",
			"UPDATE lots SET quantity = '9', remaining_quantity = '9'" +
				lot("x.origin = 'transaction'"): "are not those that follow from what it consumed",
			"UPDATE lots SET acquired_at = '2025-01-20T00:00:00.000Z'" +
				lot("x.origin = 'move'"): "is not a slice, with the same date, of",
			"UPDATE lots SET parent_asset_id = 'ast_x'" +
				lot("x.origin = 'move'"): "is not a slice, with the same date, of the lot ast_x",
			"UPDATE lots SET journal_entry_id = 'je_x'" +
				lot("x.is_open"): "the entry of the lot",
			"UPDATE lots SET ledger_account_id = 'lac_x'" +
				lot("x.is_open"): "is stored as 0 at 0 in 0 lots",
			"UPDATE lots SET pool = 'x'" + lot("x.is_open"):                                            "the pool of the lot",
			"DELETE FROM lots" + lot("x.origin = 'transaction' AND x.remaining_quantity < x.quantity"): "the pool",
			"UPDATE lot_pools SET quantity = '99'" +
				pool: "is stored as 99 at",
			"UPDATE lot_pools SET basis = '99'" +
				pool: "but recomputing it leaves",
			"UPDATE lot_pools SET seq = 99" + pool: "in 99 lots",
			"UPDATE lot_pools SET last_order_key = ''" +
				pool: "follows from its lots and consumptions",
			"UPDATE lot_pools SET last_order_key = last_order_key || 'x'" + pool:                  "follows from its lots and consumptions",
			"UPDATE lot_pools SET chain = 'base'" + pool:                                          "has the columns of the pool",
			"UPDATE lots SET basis_pending = NOT basis_pending" + lot("x.origin = 'transaction'"): "basis_pending of ast_",
			"UPDATE lots SET provisional = NOT provisional" + lot("x.origin = 'move'"):            "provisional of ast_",
			"UPDATE lots SET origin = 'transaction'" + lot("x.origin = 'move'"):                   "origin of ast_",
			"UPDATE lots SET order_key = order_key || 'x'" + lot("x.origin = 'transaction'"):      "order_key of ast_",
			"UPDATE lots SET created_at = '2020-01-01T00:00:00.000Z'" + lot("x.is_open"):          "but its id is of",
			"UPDATE lots SET created_at = '2999-01-01T00:00:00.000Z'" + lot("x.is_open"):          "but its id is of",
			"UPDATE lot_uses SET days_held = days_held + 1" + use("x.kind = 'dispose'"):           "was held for",
			"UPDATE lot_uses SET days_held = 1" + use("x.kind = 'move'"):                          "was held for 0 days",
			"UPDATE lot_uses SET is_correction = NOT is_correction" + use("x.kind = 'dispose'"):   "is marked as a correction",
			"UPDATE lot_pools SET legal_entity_id = 'le_x'" +
				pool: "the legal entity of the pool",
			"DELETE FROM lot_pools" + pool:                        "consumes from does not exist",
			"UPDATE lot_consumptions SET quantity = '0.1'" + take: ", but should be 0.",
			"UPDATE lot_consumptions SET proceeds = '1'" +
				take: "are not those that follow from its booking",
			"UPDATE lot_consumptions SET journal_entry_id = 'je_x'" +
				take: "consumes lots but does not exist",
			"DELETE FROM lot_consumptions" + take:                               "but no consumption is stored there",
			"UPDATE lot_uses SET quantity = '0.01'" + use("x.kind = 'dispose'"): ", but should be",
			"UPDATE lot_uses SET basis = '1'" +
				use("x.kind = 'move'"): "but its uses leave",
			"UPDATE lot_uses SET gain = '1'" +
				use("x.kind = 'move'"): "are moved or converted, but with a gain of 1,",
			"UPDATE lot_uses SET gain = '1'" +
				use("x.kind = 'dispose'"): "but its uses add up to",
			"UPDATE lot_uses SET term = 'long'" +
				use("x.kind = 'dispose'"): "or to other terms",
			"UPDATE lot_uses SET days_held = 900" + use("x.kind = 'dispose'"):    "but 900 are stored",
			"UPDATE lot_uses SET asset_id = 'ast_x'" + use("x.kind = 'dispose'"): "of ast_x at",
			"UPDATE lot_uses SET lot_count = -1" + use("x.lot_count = 0"):        "but should be",
			"UPDATE lot_uses SET currency = 'EUR'" +
				use("x.kind = 'dispose'"): "does not belong to its pool",
			"UPDATE lot_uses SET accounting_period_id = 'ap_x'" +
				use("x.kind = 'dispose'"): "is not in the accounting period",
			"UPDATE lot_uses SET accounting_date = '2025-01-20T00:00:00.000Z'" +
				use("x.kind = 'dispose'"): "is not in the accounting period",
			"UPDATE lot_uses SET journal_entry_id = 'je_x'" +
				use("x.kind = 'dispose'"): "the entry of the use",
			"UPDATE lot_uses SET pool = 'x'" + use("x.kind = 'dispose'"): "the pool of the use",
			"DELETE FROM lot_uses" + use("x.kind = 'dispose'"):           "its uses add up to",
			"UPDATE lot_positions SET quantity = '77'" +
				somewhere: "is stored as 77 at",
			"UPDATE lot_positions SET basis = '77'" +
				somewhere: "but the basis of its lots by 77",
			"UPDATE lot_positions SET added_basis = '77'" + somewhere: "at 77 added, but",
			"UPDATE lot_positions SET lot_count = 77" + somewhere:     "in 77 lots",
			"UPDATE lot_positions SET accounting_period_id = 'ap_x'" + one("lot_positions", "accounting_period_id",
				"1 = 1"): `in the period "ap_x" is stored`,
			"DELETE FROM lot_positions" + somewhere:                              "is stored as 0 at 0 in 0 lots",
			"UPDATE lot_gains SET gain = '77' WHERE organization_id = @org":      "are stored as 77 less",
			"UPDATE lot_gains SET long_term = '77' WHERE organization_id = @org": "or to other terms",
			"DELETE FROM lot_gains WHERE organization_id = @org":                 "are stored as 0 less losses of 0",
			"UPDATE account_units SET amount = '77'" + somewhere:                 "changed by 77 in",
			"UPDATE sources SET legal_entity_id = '" + w.sub + "' WHERE organization_id = @org AND source_id = '" + w.sources["A"].ID +
				"'": "is at a source that belongs to another legal entity than the lot",
			"UPDATE bookings SET input = 'x'" +
				booked: "cannot be booked again from its stored booking",
			"UPDATE bookings SET transaction_id = 'txn_x'" +
				booked: "no such entry of that transaction",
			"UPDATE bookings SET partner_id = 'txn_x'" +
				booked: "books a transfer, but one of its transactions",
			"DELETE FROM bookings" + booked: "but no booking is stored for it",
			"UPDATE transactions SET journal_entry_id = NULL" +
				told: "does not match its journal entry",
			"UPDATE transactions SET journal_entry_id = 'je_x'" +
				told: "or names another entry or none",
			"UPDATE transactions SET status = 'pending'" +
				told: "does not match its journal entry",
			"UPDATE journal_entries SET status = 'draft'" +
				booked: "does not match its journal entry",
			"UPDATE journal_entries SET next_entry_id = 'je_x'" +
				booked: "consumes lots but does not exist, is not posted or is reversed",
			"UPDATE journal_lines SET ledger_account_id = '" + w.accounts["Other income"].ID + "'" + booked +
				" AND position = 0": "do not follow from its booking",
		} {
			if got := w.after(damage); !strings.Contains(got, says) {
				t.Errorf("%s\nis found as\n%s\nwant %s", damage, got, says)
			}
		}
	})
}

// errUndone undoes damage.
var errUndone = errors.New("undone")

// after returns the findings after some damage, and undoes the damage.
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
