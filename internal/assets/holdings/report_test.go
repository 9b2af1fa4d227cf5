package holdings_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// source makes one with a ledger account of its own name.
func (w *world) source(id, kind, account string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO sources (organization_id, source_id, source_type, provider, name, legal_entity_id,
			ledger_account_id, is_manual, created_at) VALUES (@org, ?, ?, 'file', ?, ?, ?, TRUE, ?)`,
			id, kind, "Source "+id, w.entity, account, tx.Now())
		return err
	})
}

// prices stores closing prices: "ETH 2025-09-30 2450".
func (w *world) prices(lines ...string) {
	w.t.Helper()
	var params []price.Params
	for _, line := range lines {
		f := strings.Fields(line)
		params = append(params, price.Params{AssetType: f[0], Currency: "USD", Timestamp: f[1], Price: f[2]})
	}
	if _, err := price.NewService(w.d).CreateBatch(w.ctx, params, false); err != nil {
		w.t.Fatal(err)
	}
}

// exec changes what the books would have changed themselves.
func (w *world) exec(text string, args ...any) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Touch(ctx, tx); err != nil { // it may change what the snapshot of the books holds
			return err
		}
		_, err := tx.Exec(ctx, text, args...)
		return err
	})
}

func (w *world) period(key string) (id string) {
	w.t.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) (err error) {
		id, err = db.One[string](ctx, tx, "period",
			"SELECT accounting_period_id FROM accounting_periods WHERE organization_id = @org AND key = ?", key)
		return err
	})
	return id
}

// all reads a report to its end, some rows at a time.
func all[T any](t *testing.T, limit int, read func(page.Request) (page.Page[T], error)) (out []T) {
	t.Helper()
	cursor := ""
	for {
		p, err := read(page.Request{Limit: limit, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Items) > limit {
			t.Fatalf("%d rows on a page of %d", len(p.Items), limit)
		}
		out = append(out, p.Items...)
		if cursor = p.NextCursor; !p.HasMore {
			return out
		}
	}
}

func or(d *money.Decimal) string {
	if d == nil {
		return "?"
	}
	return d.String()
}

func (w *world) closing(limit int, p holdings.ClosingParams) (out []string) {
	w.t.Helper()
	s := holdings.NewService(w.d)
	for _, c := range all(w.t, limit, func(pr page.Request) (page.Page[holdings.Closing], error) { return s.ClosingPositions(w.ctx, p, pr) }) {
		out = append(out, fmt.Sprintf("%s %s %s cost %s worth %s adjusted %s carried %s gain %s in %d", c.SourceID, c.AssetType,
			c.Quantity, c.Basis, or(c.Worth.Value), c.Adjustment, c.Carrying, or(c.Unrealized), c.Lots))
	}
	return out
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestClosingPositionsCellByCell(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.seedExamples()
		w.source("B", "wallet", "lac_BETH")
		w.prices("ETH 2025-09-30 2450", "ETH 2025-11-30 2000.125", "ETH 2025-11-28 1", "BTC 2025-11-28 1")
		w.exec(`INSERT INTO ledger_accounts (organization_id, ledger_account_id, sequence_number, name, type, normal_balance,
			is_postable, is_clearing_account, role, created_at)
			VALUES (@org, 'lac_fva', 900, 'x', 'Asset', 'debit', TRUE, FALSE, 'fair_value_adjustment:ETH', ?)`, day("2025-01-01"))
		w.exec(`INSERT INTO account_balances (organization_id, tag_id, legal_entity_id, ledger_account_id, accounting_period_id, debits,
			credits) VALUES (@org, '', ?, 'lac_fva', ?, '1250', '250')`, w.entity, w.period("2025-09"))
		w.exec(`INSERT INTO account_balances (organization_id, tag_id, legal_entity_id, ledger_account_id, accounting_period_id, debits,
			credits) VALUES (@org, 'tag_x', ?, 'lac_fva', ?, '7', '0')`, w.entity, w.period("2025-09"))
		for _, limit := range []int{1, 2, 50} {
			equal(t, "September", w.closing(limit, holdings.ClosingParams{PeriodID: w.period("2025-09")}), []string{
				"A BTC 1 cost 60000 worth ? adjusted 0 carried 60000 gain ? in 1",
				"A ETH 2.5 cost 5000 worth 6125 adjusted 1000 carried 6000 gain 1125 in 1",
			})
			equal(t, "November, by cost", w.closing(limit, holdings.ClosingParams{PeriodID: w.period("2025-11")}), []string{
				"A BTC 1 cost 60000 worth ? adjusted 0 carried 60000 gain ? in 1", // the last price is older than a day
				"A ETH 2.5 cost 4500 worth 5000.31 adjusted 692.31 carried 5192.31 gain 500.31 in 2",
				"B ETH 1 cost 2000 worth 2000.12 adjusted 307.69 carried 2307.69 gain 0.12 in 1",
			})
		}
		w.exec(`INSERT INTO ledger_accounts (organization_id, ledger_account_id, sequence_number, name, type, normal_balance,
			is_postable, is_clearing_account, role, created_at)
			VALUES (@org, 'lac_imp', 901, 'y', 'Asset', 'debit', TRUE, FALSE, 'accumulated_impairment:BTC', ?)`, day("2025-01-01"))
		w.exec(`INSERT INTO account_balances (organization_id, tag_id, legal_entity_id, ledger_account_id, accounting_period_id, debits,
			credits) VALUES (@org, '', ?, 'lac_imp', ?, '0', '1500')`, w.entity, w.period("2025-10"))
		equal(t, "impaired", w.closing(1, holdings.ClosingParams{Filter: holdings.Filter{AssetTypes: []string{"BTC"}},
			PeriodID: w.period("2025-11")}), []string{
			"A BTC 1 cost 60000 worth ? adjusted -1500 carried 58500 gain ? in 1",
		})
		w.exec("UPDATE legal_entities SET measurement = 'fair_value' WHERE organization_id = @org")
		equal(t, "one source, at fair value", w.closing(2, holdings.ClosingParams{Filter: holdings.Filter{SourceIDs: []string{"B"}},
			PeriodID: w.period("2025-11")}), []string{
			"B ETH 1 cost 2000 worth 2000.12 adjusted 142.86 carried 2142.86 gain 0.12 in 1",
		})
		equal(t, "before anything", w.closing(2, holdings.ClosingParams{Filter: holdings.Filter{AssetTypes: []string{"DOGE"}}}), nil)
	})
}

func TestRowsOfASourceOnSeveralAccountsAreOneOnEveryPage(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.lot("L1 A ETH 2025-01-10 3 1000")
		w.lot("L2 B BTC 2025-01-10 1 500")
		w.lot("L3 B ETH 2025-01-10 3 7000")
		w.lot("L4 B SOL 2025-01-10 8 80")
		w.book()
		w.source("A", "wallet", "lac_A")
		w.source("B", "wallet", "lac_B")
		for _, consumed := range []struct{ asset, quantity, basis string }{{"ETH", "-2", "-700"}, {"BTC", "-1", "-500"}} {
			w.exec(`INSERT INTO lot_positions (organization_id, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id,
				accounting_period_id, quantity, basis, added_quantity, added_basis, lot_count)
				VALUES (@org, ?, 'B', 'lac_A', ?, '', '', ?, ?, ?, '0', '0', -1)`, w.entity, consumed.asset, w.period("2025-01"),
				dec(consumed.quantity), dec(consumed.basis))
		}
		for _, limit := range []int{1, 2, 3, 50} {
			equal(t, "what is left", w.closing(limit, holdings.ClosingParams{PeriodID: w.period("2025-01")}), []string{
				"A ETH 3 cost 1000 worth ? adjusted 0 carried 1000 gain ? in 1",
				"B ETH 1 cost 6300 worth ? adjusted 0 carried 6300 gain ? in 0",
				"B SOL 8 cost 80 worth ? adjusted 0 carried 80 gain ? in 1",
			})
		}
	})
}

func (w *world) dispositions(limit int, p holdings.DispositionsParams) (out []string) {
	w.t.Helper()
	s := holdings.NewService(w.d)
	for _, d := range all(w.t, limit, func(pr page.Request) (page.Page[holdings.Disposition], error) {
		return s.ScheduleOfDispositions(w.ctx, p, pr)
	}) {
		mark := ""
		if d.Correction {
			mark = " corrects"
		}
		out = append(out, fmt.Sprintf("%s %s %s from %s to %s for %s fee %s cost %s gain %s %s %d days%s",
			strings.TrimPrefix(d.LotID, "ast_"), d.Quantity, d.AssetType, d.AcquiredAt.Format("060102"), d.DisposedAt.Format("060102"),
			d.Proceeds, d.Fee, d.Basis, d.Gain, d.Term, d.Days, mark))
	}
	return out
}

func TestDispositionsAreListedByAccountingDateWithoutMoves(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.seedExamples()
		w.source("A", "wallet", "lac_A")
		want := []string{
			"L1 2 ETH from 250110 to 250915 for 4800 fee 5 cost 3000 gain 1800 short 248 days",
			"L2 0.5 ETH from 250601 to 250915 for 1200 fee 1 cost 1000 gain 200 short 106 days",
			"L1 -1 ETH from 250110 to 251101 for -2400 fee 0 cost -1500 gain -900 short 295 days corrects",
			"L0 1 ETH from 241201 to 251101 for 2400 fee 0 cost 500 gain 1900 short 335 days corrects",
		}
		for _, limit := range []int{1, 2, 3, 50} {
			equal(t, "all", w.dispositions(limit, holdings.DispositionsParams{}), want)
			equal(t, "September", w.dispositions(limit, holdings.DispositionsParams{Span: holdings.Span{PeriodID: w.period("2025-09")}}), want[:2])
		}
		equal(t, "October", w.dispositions(2, holdings.DispositionsParams{Span: holdings.Span{PeriodID: w.period("2025-10")}}), nil)
		equal(t, "dates", w.dispositions(2, holdings.DispositionsParams{Span: holdings.Span{StartDate: "2025-09-15",
			EndDate: "2025-09-15"}}), want[:2])
		equal(t, "after", w.dispositions(2, holdings.DispositionsParams{Span: holdings.Span{StartDate: "2025-09-15T00:00:00.001Z"}}), want[2:])
		equal(t, "until", w.dispositions(2, holdings.DispositionsParams{Span: holdings.Span{EndDate: "2025-10-31"},
			Filter: holdings.Filter{SourceIDs: []string{"A"}, AssetTypes: []string{"BTC", "ETH"}}}), want[:2])
		equal(t, "another asset", w.dispositions(2, holdings.DispositionsParams{Filter: holdings.Filter{AssetTypes: []string{"BTC"}}}), nil)
	})
}

func (w *world) gains(limit int, p holdings.GainsParams) (out []string) {
	w.t.Helper()
	s := holdings.NewService(w.d)
	for _, g := range all(w.t, limit, func(pr page.Request) (page.Page[holdings.Gains], error) {
		return s.RealizedGainsLosses(w.ctx, p, pr)
	}) {
		out = append(out, fmt.Sprintf("%s %s %s for %s fees %s cost %s gain %s loss %s net %s short %s long %s %s", g.Period.Key,
			g.AssetType, g.Quantity, g.Proceeds, g.Fee, g.Basis, g.Gain, g.Loss, g.Net(), g.ShortTerm, g.LongTerm, g.Currency))
	}
	return out
}

func TestGainsAreAddedUpByPeriodAndAsset(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.traded()
		want := []string{
			"2025-09 ETH 2.5 for 6000 fees 6 cost 4000 gain 2000 loss 0 net 2000 short 2000 long 0 USD",
			"2025-11 ETH 0 for 0 fees 0 cost -1000 gain 1900 loss 900 net 1000 short 1000 long 0 USD",
			"2026-02 BTC 0.75 for 30000 fees 0 cost 45000 gain 5000 loss 20000 net -15000 short -20000 long 5000 USD",
		}
		for _, limit := range []int{1, 2, 50} {
			equal(t, "all", w.gains(limit, holdings.GainsParams{}), want)
		}
		equal(t, "one period", w.gains(2, holdings.GainsParams{Span: holdings.Span{PeriodID: w.period("2025-11")}}), want[1:2])
		equal(t, "a date means its period",
			w.gains(2, holdings.GainsParams{Span: holdings.Span{StartDate: "2025-11-30", EndDate: "2026-02-01"}}), want[1:])
		equal(t, "an asset", w.gains(2, holdings.GainsParams{Filter: holdings.Filter{AssetTypes: []string{"BTC"}}}), want[2:])
	})
}

// traded is the usual state with disposals of another asset, long and short.
func (w *world) traded() {
	w.lot("L5 A BTC 2024-02-01 1 60000 2025-12-01")
	w.use("L5 dispose 2026-02-10 0.5 30000 10000 0 short")
	w.use("L5 fee 2026-02-11 0.25 15000 20000 0 long")
	w.seedExamples()
}

func (w *world) taxLots(limit int, p holdings.TaxLotsParams) (out []string) {
	w.t.Helper()
	s := holdings.NewService(w.d)
	for _, l := range all(w.t, limit, func(pr page.Request) (page.Page[holdings.TaxLot], error) { return s.AssetTaxLots(w.ctx, p, pr) }) {
		out = append(out, fmt.Sprintf("%s %s %s %s of %s at %s cost %s of %s worth %s gain %s", strings.TrimPrefix(l.ID, "ast_"),
			l.AssetType, l.Term, l.RemainingQuantity, l.Quantity, l.UnitCost, l.RemainingBasis, l.CostBasis, or(l.Worth.Value), or(l.Unrealized)))
	}
	return out
}

func TestTaxLotsAreThoseOfTheDay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.seedExamples()
		w.source("B", "wallet", "lac_BETH")
		w.prices("ETH 2025-09-14 2400", "ETH 2025-09-15 2500", "ETH 2026-01-11 3000")
		for _, limit := range []int{1, 2, 50} {
			equal(t, "before", w.taxLots(limit, holdings.TaxLotsParams{AsOf: "2025-09-14"}), []string{
				"L3 BTC short 1 of 1 at 60000 cost 60000 of 60000 worth ? gain ?",
				"L1 ETH short 2 of 2 at 1500 cost 3000 of 3000 worth 4800 gain 1800",
				"L2 ETH short 3 of 3 at 2000 cost 6000 of 6000 worth 7200 gain 1200",
			})
			equal(t, "the day", w.taxLots(limit, holdings.TaxLotsParams{AsOf: "2025-09-15"}), []string{
				"L3 BTC short 1 of 1 at 60000 cost 60000 of 60000 worth ? gain ?",
				"L2 ETH short 2.5 of 3 at 2000 cost 5000 of 6000 worth 6250 gain 1250",
			})
			equal(t, "the last instant before", w.taxLots(limit, holdings.TaxLotsParams{AsOf: "2025-09-14T23:59:59.999Z"}),
				w.taxLots(50, holdings.TaxLotsParams{AsOf: "2025-09-14"}))
			equal(t, "a year later", w.taxLots(limit, holdings.TaxLotsParams{AsOf: "2026-01-11",
				Filter: holdings.Filter{AssetTypes: []string{"ETH"}}}), []string{
				"L1 ETH long 1 of 2 at 1500 cost 1500 of 3000 worth 3000 gain 1500",
				"L2 ETH short 1.5 of 3 at 2000 cost 3000 of 6000 worth 4500 gain 1500",
				"L4 ETH short 1 of 1 at 2000 cost 2000 of 2000 worth 3000 gain 1000",
			})
		}
		equal(t, "one source now", w.taxLots(2, holdings.TaxLotsParams{Filter: holdings.Filter{SourceIDs: []string{"B"}}}), []string{
			"L4 ETH long 1 of 1 at 2000 cost 2000 of 2000 worth ? gain ?",
		})
		equal(t, "too early", w.taxLots(2, holdings.TaxLotsParams{AsOf: "2020-01-01"}), nil)
	})
}

func (w *world) treasury(limit int, p holdings.TreasuryParams) (out []string) {
	w.t.Helper()
	s := holdings.NewService(w.d)
	for _, b := range all(w.t, limit, func(pr page.Request) (page.Page[holdings.Balance], error) { return s.TreasuryBalances(w.ctx, p, pr) }) {
		class := "nowhere"
		if b.Source != nil {
			class = string(b.Source.Type.Class())
		}
		out = append(out, fmt.Sprintf("%s %s %s %s %s worth %s %s", b.SourceID, class, b.LedgerAccountID, b.AssetType, b.Quantity,
			or(b.Worth.Value), b.Currency))
	}
	return out
}

func TestTreasuryBalancesCoverMoneyAndWhatIsParked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		parked := w.lot("L6 x SOL 2025-03-01 10 100")
		parked.source, parked.account = "", "lac_clearing"
		w.seedExamples()
		w.source("A", "wallet", "lac_A")
		w.source("B", "wallet", "lac_A")
		w.source("C", "bank", "lac_bank")
		w.source("D", "bank", "lac_shared")
		w.source("E", "card", "lac_shared")
		w.prices("ETH 2025-11-03 2000")
		balance := func(account, key, debits, credits string) {
			w.exec(`INSERT INTO account_balances (organization_id, tag_id, legal_entity_id, ledger_account_id, accounting_period_id, debits,
				credits) VALUES (@org, '', ?, ?, ?, ?, ?)`,
				w.entity, account, w.period(key), dec(debits), dec(credits))
		}
		balance("lac_bank", "2025-09", "1000", "100.5")
		balance("lac_bank", "2025-11", "500", "0")
		balance("lac_bank", "2025-12", "9", "0")
		balance("lac_shared", "2025-09", "0", "70")
		balance("lac_A", "2025-09", "55", "0") // a wallet holds no money
		w.exec(`INSERT INTO account_units (organization_id, legal_entity_id, ledger_account_id, unit, accounting_period_id, quantity,
			amount) VALUES (@org, ?, 'lac_bank', 'EUR', ?, '300', '330')`, w.entity, w.period("2025-09"))
		w.exec(`INSERT INTO journal_lines (organization_id, journal_entry_id, position, journal_line_id, ledger_account_id,
			legal_entity_id, credit_or_debit, amount, currency, tag_ids, accounting_date, number, is_posted)
			VALUES (@org, 'je_x', 0, 'jel_x', 'lac_bank', ?, 'DEBIT', '500', 'USD', '[]', ?, 77, TRUE)`, w.entity, day("2025-11-20"))
		if _, err := fx.NewService(w.d).Store(w.ctx, []fx.StoreParams{{Base: "EUR", Quote: "USD", Date: "2025-10-01", Rate: "1.1"}}); err != nil {
			t.Fatal(err)
		}
		early := []string{
			" nowhere lac_clearing SOL 10 worth ? USD",
			" nowhere lac_shared USD -70 worth -70 USD",
			"A crypto lac_A BTC 1 worth ? USD",
			"A crypto lac_A ETH 2.5 worth 5000 USD",
			"B crypto lac_A ETH 1 worth 2000 USD",
			"C fiat lac_bank EUR 300 worth 330 USD",
			"C fiat lac_bank USD 569.5 worth 569.5 USD",
		}
		for _, limit := range []int{1, 2, 3, 50} {
			equal(t, "early in November", w.treasury(limit, holdings.TreasuryParams{AsOf: "2025-11-03"}), early)
			equal(t, "before the correction and the move", w.treasury(limit, holdings.TreasuryParams{AsOf: "2025-10-01",
				Filter: holdings.Filter{AssetTypes: []string{"ETH", "EUR"}}}), []string{
				"A crypto lac_A ETH 2.5 worth ? USD", "C fiat lac_bank EUR 300 worth 330 USD",
			})
		}
		equal(t, "in September there is no rate", w.treasury(9, holdings.TreasuryParams{AsOf: "2025-09-30",
			Filter: holdings.Filter{SourceIDs: []string{"C"}}}), []string{
			"C fiat lac_bank EUR 300 worth ? USD", "C fiat lac_bank USD 569.5 worth 569.5 USD",
		})
		equal(t, "one of two that share an account",
			w.treasury(9, holdings.TreasuryParams{Filter: holdings.Filter{SourceIDs: []string{"D"}}}), nil)
		equal(t, "now", w.treasury(9, holdings.TreasuryParams{Filter: holdings.Filter{AssetTypes: []string{"USD"}}}), []string{
			" nowhere lac_shared USD -70 worth -70 USD", "C fiat lac_bank USD 1078.5 worth 1078.5 USD",
		})
	})
}

func (w *world) rolled(limit int, p holdings.RollForwardParams) (out []string) {
	w.t.Helper()
	s := holdings.NewService(w.d)
	for _, r := range all(w.t, limit, func(pr page.Request) (page.Page[holdings.RollForward], error) { return s.RollForward(w.ctx, p, pr) }) {
		out = append(out, fmt.Sprintf("%s %s to %s: %s worth %s + %s + %s - %s + %s - %s = %s for %s cost %s, realized %s - %s by %s",
			r.AssetType, r.First.Key, r.Last.Key, r.OpeningUnits, or(r.Opening.Value), r.Additions, r.Transfers,
			r.Dispositions, or(r.Gains()), or(r.Losses()), or(r.Closing.Value), r.ClosingUnits, r.Cost, r.Gain, r.Loss, r.Method))
	}
	return out
}

func TestARollForwardAddsUp(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.lot("L7 A USDC 2025-09-01 10 10")
		w.lot("L8 A DUST 2025-01-01 10 10")
		w.use("L8 convert 2025-02-01 10 10 0")
		w.seedExamples()
		w.prices("ETH 2025-08-31 2400", "ETH 2025-09-30 2450", "BTC 2025-09-30 50000", "ETH 2025-12-31 1000", "BTC 2025-12-31 1")
		for _, limit := range []int{1, 50} {
			equal(t, "September", w.rolled(limit, holdings.RollForwardParams{Span: holdings.Span{PeriodID: w.period("2025-09")}}), []string{
				"BTC 2025-09 to 2025-09: 1 worth ? + 0 + 0 - 0 + ? - ? = 50000 for 1 cost 60000, realized 0 - 0 by fifo",
				"ETH 2025-09 to 2025-09: 5 worth 12000 + 0 + 0 - 6000 + 125 - 0 = 6125 for 2.5 cost 5000, realized 2000 - 0 by fifo",
			})
			equal(t, "the year", w.rolled(limit, holdings.RollForwardParams{FiscalYear: 2025}), []string{
				"BTC 2025-01 to 2025-12: 0 worth 0 + 60000 + 0 - 0 + 0 - 59999 = 1 for 1 cost 60000, realized 0 - 0 by fifo",
				"DUST 2025-01 to 2025-12: 0 worth 0 + 10 + -10 - 0 + 0 - 0 = 0 for 0 cost 0, realized 0 - 0 by fifo",
				"ETH 2025-01 to 2025-12: 0 worth 0 + 9500 + 0 - 6000 + 0 - 0 = 3500 for 3.5 cost 6500, realized 3900 - 900 by fifo",
			})
		}
		equal(t, "one asset of some months", w.rolled(1, holdings.RollForwardParams{Filter: holdings.Filter{AssetTypes: []string{"ETH"}},
			Span: holdings.Span{StartDate: "2025-10-10", EndDate: "2025-12-31"}}), []string{
			"ETH 2025-10 to 2025-12: 2.5 worth 6125 + 500 + 0 - 0 + 0 - 3125 = 3500 for 3.5 cost 6500, realized 1900 - 900 by fifo",
		})
		w.exec("UPDATE legal_entities SET fiscal_year_start_month = 7 WHERE organization_id = @org")
		equal(t, "another year", w.rolled(1, holdings.RollForwardParams{FiscalYear: 2025,
			Filter: holdings.Filter{AssetTypes: []string{"ETH"}}}), []string{
			"ETH 2025-01 to 2025-06: 0 worth 0 + 9000 + 0 - 0 + ? - ? = ? for 5 cost 9000, realized 0 - 0 by fifo",
		})
	})
}

func TestMissingRecordsAndFaultyParametersAreReported(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s, one := holdings.NewService(w.d), page.Request{Limit: 1}
		try := func(name string, err error, kind fault.Kind) {
			t.Helper()
			if fault.KindOf(err) != kind {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, f := range map[string]holdings.Filter{"entity": {LegalEntityIDs: []string{w.entity, "le_x"}},
			"source": {SourceIDs: []string{"src_x"}}} {
			_, err := s.ClosingPositions(w.ctx, holdings.ClosingParams{Filter: f}, one)
			try(name, err, fault.NotFound)
			_, err = s.AssetTaxLots(w.ctx, holdings.TaxLotsParams{Filter: f}, one)
			try(name, err, fault.NotFound)
		}
		_, err := s.ClosingPositions(w.ctx, holdings.ClosingParams{PeriodID: "ap_x"}, one)
		try("period", err, fault.NotFound)
		_, err = s.ScheduleOfDispositions(w.ctx, holdings.DispositionsParams{Span: holdings.Span{PeriodID: "ap_x"}}, one)
		try("period", err, fault.NotFound)
		_, err = s.RealizedGainsLosses(w.ctx, holdings.GainsParams{Span: holdings.Span{PeriodID: "ap_x", StartDate: "2025-01-01"}}, one)
		try("period and date", err, fault.Invalid)
		_, err = s.RealizedGainsLosses(w.ctx, holdings.GainsParams{Span: holdings.Span{StartDate: "2025-01-02", EndDate: "2025-01-01"}}, one)
		try("dates", err, fault.Invalid)
		_, err = s.RollForward(w.ctx, holdings.RollForwardParams{FiscalYear: 2025, Span: holdings.Span{StartDate: "2025-01-02"}}, one)
		try("year and date", err, fault.Invalid)
		for _, asOf := range []string{"yesterday", "2025-13-01", "0000-01-01", "9999-12-31"} {
			_, err = s.TreasuryBalances(w.ctx, holdings.TreasuryParams{AsOf: asOf}, one)
			try(asOf, err, fault.Invalid)
			_, err = s.AssetTaxLots(w.ctx, holdings.TaxLotsParams{AsOf: asOf, Filter: holdings.Filter{LegalEntityIDs: make([]string, 101)}}, one)
			try(asOf, err, fault.Invalid)
		}
	})
}

func TestEmptyBooksAndALimitedKeySeeNothingOfOthers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		read := func(name string, want int) {
			t.Helper()
			for what, n := range map[string]int{
				"closing": len(w.closing(9, holdings.ClosingParams{})), "treasury": len(w.treasury(9,
					holdings.TreasuryParams{})), "gains": len(w.gains(9, holdings.GainsParams{})),
				"lots": len(w.taxLots(9, holdings.TaxLotsParams{})), "dispositions": len(w.dispositions(9, holdings.DispositionsParams{})),
				"rolled": len(w.rolled(9, holdings.RollForwardParams{Span: holdings.Span{StartDate: "2025-01-01"}})),
			} {
				if (n > 0) != (want > 0) {
					t.Errorf("%s: %s has %d rows", name, what, n)
				}
			}
		}
		read("empty", 0)
		w.seedExamples()
		read("usual", 1)
		w.ctx = actor.With(w.ctx, actor.Actor{OrganizationID: w.org, LegalEntityIDs: []string{"le_other"}})
		read("limited", 0)
		w.ctx = actor.With(w.ctx, actor.Actor{OrganizationID: w.org, LegalEntityIDs: []string{w.entity}})
		read("limited to it", 1)
	})
}
