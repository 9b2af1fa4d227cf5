package revaluation_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
)

// sum gives the debits less credits of the legal entity on accounts that a condition selects, over all periods.
func (w *world) sum(condition string, args ...any) (out money.Decimal) {
	w.t.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.All[struct {
			Debits  money.Decimal `db:"debits"`
			Credits money.Decimal `db:"credits"`
		}](ctx, tx, `SELECT b.debits, b.credits FROM account_balances b
			JOIN ledger_accounts a ON a.organization_id = @org AND a.ledger_account_id = b.ledger_account_id AND `+condition+`
			WHERE b.organization_id = @org AND b.tag_id = '' AND b.legal_entity_id = ?`, append(args, w.entity)...)
		for _, r := range rows {
			out = out.Add(r.Debits).Sub(r.Credits)
		}
		return err
	})
	return out
}

// balance gives the balance of an account, debits less credits, and income the income of all periods.
func (w *world) balance(name string) string {
	return w.sum("a.ledger_account_id = ?", w.account(name).ID).String()
}
func (w *world) income() string { return w.sum("a.type IN ('Revenue', 'Expense')").Neg().String() }

// borrow books a loan of an asset and its lot: "L1 ETH 2025-01-10 10 20000".
func (w *world) borrow(name, asset, date, quantity, value string) {
	w.t.Helper()
	entry := w.post(date, "1210 +"+value, "2220 -"+value+" "+quantity+" "+asset)
	w.add(name, "", asset, date, date, dec(quantity), dec(value), entry)
}

func TestALoanInAnAssetIsRemeasuredAgainstWhatWasBorrowed(t *testing.T) {
	each(t, "us_gaap fair_value", func(t *testing.T, w *world) {
		w.borrow("L1", "ETH", "2025-01-10", "10", "20000")
		w.closing("ETH", "2025-01", "2500")
		w.say("January", w.run("2025-01"), "ETH fair_value 0 to 5000: posted, ETH unit_balance -20000 to -25000: posted")
		w.say("January", w.moved("2025-01"), "fair_value_adjustment:ETH 5000, unrealized_gain 5000, unrealized_loss -5000")
		w.say("the loan", w.balance("2220"), "-25000")
		w.say("no profit", w.income(), "0")
		w.say("again", w.run("2025-01"), "ETH fair_value 0 to 5000: kept, ETH unit_balance -20000 to -25000: kept")
		repaid := w.post("2025-02-10", "2220 +25000 10 ETH", "7020 +1000", "1210 -20000", "4510 -6000")
		w.consume("L1", "dispose", "2025-02-10", dec("10"), repaid, dec("20000"))
		w.say("February needs no price", w.run("2025-02"), "ETH fair_value 5000 to 0: posted")
		w.say("February", w.moved("2025-02"), "fair_value_adjustment:ETH -5000, realized_gain 6000, unrealized_loss -6000")
		w.say("the loan is repaid", w.balance("2220"), "0")
		w.say("income over the life", w.income(), "0")
		w.say("March", w.run("2025-03"), "")
	})
}

func TestAnObligationIsRemeasuredHoweverHoldingsAreMeasured(t *testing.T) {
	for _, policy := range []string{"us_gaap cost", "us_gaap impairment", "ifrs cost", "ifrs impairment", "ifrs fair_value"} {
		t.Run(policy, func(t *testing.T) {
			each(t, policy, func(t *testing.T, w *world) {
				w.post("2025-01-10", "1010 +20000", "2220 -20000 10 ETH")
				w.post("2025-01-11", "1330 +1000 0.5 ETH", "1010 -1000")
				w.closing("ETH", "2025-01", "2500.01")
				w.say("January", w.run("2025-01"), "ETH unit_balance -19000 to -23750.1: posted")
				w.say("a claim gains and a debt loses", w.moved("2025-01"), "unrealized_gain 250, unrealized_loss -5000.1")
				w.say("the debt", w.balance("2220"), "-25000.1")
				w.say("the claim", w.balance("1330"), "1250")
				w.closing("ETH", "2025-02", "2000")
				w.say("February", w.run("2025-02"), "ETH unit_balance -23750.1 to -19000: posted")
				w.say("February", w.moved("2025-02"), "unrealized_gain 5000.1, unrealized_loss -250")
			})
		})
	}
}

func TestARunClearsWhatIsLeftOnAnAccountWithoutUnits(t *testing.T) {
	each(t, "us_gaap cost", func(t *testing.T, w *world) {
		w.post("2025-01-10", "1010 +20000", "2220 -20000 10 ETH")
		w.post("2025-01-20", "2220 +20000.01 10 ETH", "1010 -20000.01")
		w.foreign("2010 2025-01-05 EUR -500 1.0800")
		w.foreign("2010 2025-01-06 EUR 500 1.1000")
		w.say("neither a price nor a rate is needed", w.run("2025-01"),
			"EUR fx 10 to 0: posted, ETH unit_balance 0.01 to 0: posted")
		w.say("January", w.moved("2025-01"), "fx_loss -10, unrealized_loss -0.01")
		for _, account := range []string{"2220", "2010"} {
			w.say(account, w.balance(account), "0")
		}
	})
}

// A loan and a claim in the same asset are two balances: what is lost on one is not set off against what is gained on the other.
func TestGainsAndLossesOnDifferentBalancesAreBookedApart(t *testing.T) {
	each(t, "us_gaap cost", func(t *testing.T, w *world) {
		w.post("2025-01-10", "1010 +20000", "2220 -20000 10 ETH")
		w.post("2025-01-11", "1330 +8000 4 ETH", "1010 -8000")
		w.foreign("1310 2025-01-05 EUR 1000 1.0800")
		w.foreign("2010 2025-01-06 EUR -400 1.0800")
		w.closing("ETH", "2025-01", "2500")
		w.closing("EUR", "2025-01", "1.1000")
		w.say("January", w.run("2025-01"), "EUR fx 648 to 660: posted, ETH unit_balance -12000 to -15000: posted")
		w.say("January", w.moved("2025-01"),
			"accounts_payable 440, accounts_receivable -1100, fx_gain 20, fx_loss -8, unrealized_gain 2000, unrealized_loss -5000")
	})
}

func TestARemeasuredBalanceIsReplacedWithdrawnAndReversedLikeEverythingElse(t *testing.T) {
	each(t, "us_gaap cost", func(t *testing.T, w *world) {
		loan := w.post("2025-01-10", "1010 +20000", "2220 -20000 10 ETH")
		before := w.counts()
		for _, dry := range []bool{true, false} {
			_, err := w.try("2025-01", func(p *revaluation.RunParams) { p.Dry = dry })
			w.refused("no price", err, fault.Conflict, "ETH/USD has no price at 2025-01-31T23:59:59.999Z")
		}
		if !slices.Equal(w.counts(), before) {
			t.Errorf("%v became %v", before, w.counts())
		}
		w.inspects("2025-01", revaluation.Finding{Unpriced: []string{"ETH"},
			Stale: "prices or rates at the end of 2025-01 are missing: ETH/USD has no price at 2025-01-31T23:59:59.999Z: " +
				"store one with POST /v1/prices"})
		w.closing("ETH", "2025-01", "2500")
		w.inspects("2025-01", revaluation.Finding{Stale: "no revaluation of Acme was run; one would adjust -10 ETH on " +
			"2220 Digital asset loans payable by -5000.00 USD. Run it with POST /v1/revaluations"})
		only := func(p *revaluation.RunParams) { p.Kinds = []revaluation.Kind{revaluation.UnitBalance} }
		first, err := w.try("2025-01", only)
		if err != nil || told(first) != "ETH unit_balance -20000 to -25000: posted" || len(first.Parts) != 1 || first.RowCount != 1 {
			t.Fatalf("%v %+v", err, first)
		}
		row := first.Rows[0]
		if row.SubjectID != w.account("2220").ID || row.Quantity.String() != "-10" || row.Cost != nil || row.Price == nil ||
			row.Price.Value.String() != "2500" || row.Before.String() != "-20000" || row.After.String() != "-25000" {
			t.Errorf("%+v", row)
		}
		kept, err := w.s.Get(w.ctx, first.ID)
		if err != nil || told(kept) != told(first) || kept.Items[0].Price == nil || kept.Items[0].Price.PriceID == "" {
			t.Errorf("%v %+v", err, kept)
		}
		w.inspects("2025-01", revaluation.Finding{})
		w.price("ETH 2025-01-31T23:30:00Z 2600")
		w.say("another price", w.run("2025-01"), "ETH unit_balance -20000 to -26000: replaced")
		if _, err := w.journal.Unpost(w.ctx, loan); err != nil {
			t.Fatal(err)
		}
		w.say("no loan", w.run("2025-01"), "ETH unit_balance 0 to 0: reversed")
		w.say("no loan", w.balance("2220"), "0")
		w.post("2025-01-10", "1010 +20000", "2220 -20000 10 ETH")
		last, err := w.try("2025-01", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.s.Reverse(w.ctx, last.ID); err != nil {
			t.Fatal(err)
		}
		w.say("reversed", w.balance("2220"), "-20000")
	})
}

// inspects fails unless an inspection of a month finds something.
func (w *world) inspects(key string, want revaluation.Finding) {
	w.t.Helper()
	month := w.period(key)
	w.read(func(ctx context.Context, tx *db.Tx) error {
		got, err := revaluation.Inspect(ctx, tx, month, w.entity)
		if err != nil || got.Stale != want.Stale || !slices.Equal(got.Unpriced, want.Unpriced) {
			w.t.Errorf("%+v %v, want %+v", got, err, want)
		}
		return nil
	})
}

func TestOnlyMonetaryBalancesAreRemeasured(t *testing.T) {
	each(t, "us_gaap cost", func(t *testing.T, w *world) {
		for _, notation := range []string{
			"1010 2025-09-05 EUR 10000 1.0800", "1310 2025-09-05 EUR 100 1.0800", "2210 2025-09-05 EUR -1000 1.0800", // monetary
			"1610 2025-09-05 EUR 5000 1.0800", "1410 2025-09-05 EUR 700 1.0800", "2120 2025-09-05 EUR -300 1.0800", // not
		} {
			w.foreign(notation)
		}
		w.post("2025-09-06", "1240 +100 2 PUNK", "3010 -100") // what is held is not monetary: no price is needed
		w.closing("EUR", "2025-09", "1.1050")
		w.say("September", w.run("2025-09"), "EUR fx 9828 to 10055.5: posted")
		w.say("at the rate of their day", w.balance("1610")+" "+w.balance("1410")+" "+w.balance("2120"), "5400 756 -324")
		w.say("at the closing rate", w.balance("1010")+" "+w.balance("2210"), "11050 -1105")
		update := func(code string, monetary bool) {
			if _, err := account.NewService(w.d).Update(w.ctx, w.account(code).ID, account.UpdateParams{Monetary: &monetary}); err != nil {
				t.Fatal(err)
			}
		}
		update("1010", false)
		update("1610", true)
		w.say("the next run follows the accounts", w.run("2025-09"), "EUR fx 4428 to 4530.5: replaced")
		w.say("at the rate of its day", w.balance("1010"), "10800")
		w.say("at the closing rate", w.balance("1610"), "5525")
		for _, code := range []string{"1310", "2210", "1610"} {
			update(code, false)
		}
		w.say("none is monetary", w.run("2025-09"), "EUR fx 0 to 0: reversed")
	})
}

func TestWhatLotsCarryIsMeasuredAsLotsOnly(t *testing.T) {
	each(t, "us_gaap cost", func(t *testing.T, w *world) {
		yes := true
		for _, code := range []string{"1210", "1230"} {
			if _, err := account.NewService(w.d).Update(w.ctx, w.account(code).ID, account.UpdateParams{Monetary: &yes}); err != nil {
				t.Fatal(err)
			}
		}
		entry := w.post("2025-01-10", "1210 +3000 2 ETH", "1010 -3000") // on the account of a source
		w.add("L1", "", "ETH", "2025-01-10", "2025-01-10", dec("2"), dec("3000"), entry)
		w.post("2025-01-11", "1930 +1000 1 ETH", "1010 -1000") // on its way from one source to another
		w.say("nothing needs a price", w.run("2025-01"), "")
		w.post("2025-01-12", "1330 +2500 2 ETH", "1010 -2500") // lots that are lent and parked
		lent, month := w.account("1330").ID, w.period("2025-01").ID
		w.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO lot_positions (organization_id, legal_entity_id, source_id, ledger_account_id, asset_type,
				chain, token_id, accounting_period_id, quantity, basis, added_quantity, added_basis, lot_count)
				VALUES (@org, ?, '', ?, 'ETH', '', '', ?, '2', '2500', '0', '0', 0)`, w.entity, lent, month)
			return err
		})
		w.say("nothing needs a price", w.run("2025-01"), "")
	})
}

func TestIntercompanyBalancesAreRemeasuredInBothLegalEntities(t *testing.T) {
	each(t, "us_gaap cost", func(t *testing.T, w *world) {
		sub, err := entity.NewService(w.d).Create(w.ctx, entity.CreateParams{Name: "Sub", BaseCurrency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		parent := w.entity
		w.rate("EUR", "2025-01-10", "1.10")
		w.post("2025-01-10", "due_from:"+sub.ID+" +1000 EUR", "1010 -1000 EUR") // lends 1000 EUR,
		w.post("2025-01-10", "due_from:"+sub.ID+" +2000 1 ETH", "1010 -2000")   // 1 ETH
		w.entity = sub.ID
		w.post("2025-01-10", "1010 +1000", "due_to:"+parent+" -1000")
		w.post("2025-01-10", "1010 +1800", "due_to:"+parent+" -1800 1 ETH")
		w.closing("EUR", "2025-01", "1.25")
		w.closing("ETH", "2025-01", "2500")
		if _, err := price.NewService(w.d).Create(w.ctx, price.Params{AssetType: "ETH", Currency: "EUR", Price: "2000",
			Timestamp: w.period("2025-01").End.Add(-time.Hour).Format(time.RFC3339)}); err != nil {
			t.Fatal(err)
		}
		w.say("both", w.run("2025-01"), "EUR fx 0 to 0: posted, ETH unit_balance 2000 to 2500: posted, ETH unit_balance -1800 to -2000: posted")
		w.say("owed in euros", w.balance("due_to:"+parent), "-3000")
		w.say("the loss in euros", w.income(), "-200")
		w.entity = parent
		w.say("claimed in dollars, 3000 euros at 1.25", w.balance("due_from:"+sub.ID), "3750")
	})
}
