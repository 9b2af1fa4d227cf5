package explain_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/reporting/explain"
)

// autumn books two months of a small company.
func (w *world) autumn() {
	w.Helper()
	w.book(
		"2025-10-01 Dr Bank 10000.00; Cr 3010 10000.00",
		"2025-10-05 A in 2 ETH = 4000.00 : SWAP against Bank",
		"2025-10-20 A out 0.5 ETH = 1500.00 : SWAP against Bank",
		"2025-10-31 price ETH 2200",
		"2025-11-03 Bank in 900.00 USD : INCOME against 4010",
		"2025-11-10 Dr 6080 250.00; Cr Bank 250.00",
		"2025-11-20 A out 0.5 ETH = 800.00 : SWAP against Bank",
		"2025-11-30 price ETH 1900",
	)
}

func TestEachKindOfFigureIsExplainedInAnAccountantsWords(t *testing.T) {
	each(t, func(w *world) {
		w.autumn()
		for query, want := range map[string]string{
			"balance-sheet account=Bank period=2025-10":                                "opening balance 0.00 + debits 11500.00 - credits 4000.00 = 7500.00",
			"balance-sheet account=Bank period=2025-11":                                "opening balance 7500.00 + debits 1700.00 - credits 250.00 = 8950.00",
			"balance-sheet opening_balance account=Bank period=2025-11":                "closing balance of 2025-10 7500.00 = 7500.00",
			"balance-sheet debits account=Bank period=2025-11":                         "debit lines 1700.00 = 1700.00",
			"balance-sheet credits account=Bank period=2025-11":                        "credit lines 250.00 = 250.00",
			"balance-sheet current_balance account=3010 period=2025-11":                "opening balance 10000.00 + debits 0.00 + credits 0.00 = 10000.00",
			"trial-balance account=Bank period=2025-11":                                "opening balance 7500.00 + debits 1700.00 - credits 250.00 = 8950.00",
			"trial-balance closing_credit account=Bank period=2025-11":                 "the balance is zero or on the other side",
			"trial-balance opening_debit account=Bank period=2025-11":                  "closing balance of 2025-10 7500.00 = 7500.00",
			"income-statement account=4010 period=2025-11":                             "debits 0.00 + credits 900.00 = 900.00",
			"income-statement row=gross_profit period=2025-11":                         "revenue 900.00 + cost_of_revenue 0.00 = 900.00",
			"realized-gains-losses entity=us asset=ETH period=2025-11":                 "-dispositions of 2025-11 200.00 = -200.00",
			"closing-positions source=A asset=ETH period=2025-10":                      "acquired 4000.00 - disposed of 1000.00 = 3000.00",
			"closing-positions source=A asset=ETH period=2025-11":                      "held at the start of 2025-11 3000.00 - disposed of 1000.00 = 2000.00",
			"closing-positions price source=A asset=ETH period=2025-11":                "stored price 1900 = 1900",
			"closing-positions quantity source=A asset=ETH period=2025-11":             "held at the start of 2025-11 1.5 - disposed of 0.5 = 1",
			"closing-positions fair_value source=A asset=ETH period=2025-11":           "1 ETH at 1900 1900.00 = 1900.00",
			"closing-positions unrealized_gain_loss source=A asset=ETH period=2025-11": "fair value 1900.00 - cost basis 2000.00 = -100.00",
			"closing-positions adjustment source=A asset=ETH period=2025-11":           "the books do not adjust it",
			"treasury-balances source=A asset=ETH":                                     "balance at the start of 2025-12 1 = 1",
			"treasury-balances source=Bank asset=USD":                                  "balance at the start of 2025-12 8950.00 + lines since then 0.00 = 8950.00",
			"roll-forward units entity=us asset=ETH period=2025-11":                    "held at " + w.Source("A").ID + " 1 = 1",
			"roll-forward realized_losses entity=us asset=ETH period=2025-11":          "2025-11 200.00 = 200.00",
			"roll-forward opening_fair_value entity=us asset=ETH period=2025-11":       "1.5 ETH at 2200 3300.00 = 3300.00",
		} {
			if got := w.formula(query); got != want {
				w.Errorf("%s:\n\t%s\nwant\n\t%s", query, got, want)
			}
		}
	})
}

func TestARevaluationIsExplainedByItsLotsAndItsEntry(t *testing.T) {
	each(t, func(w *world) {
		framework, fair := "us_gaap", entity.MeasuredAtFairValue
		_, err := entity.NewService(w.DB).Update(w.Ctx, w.EntityID, entity.UpdateParams{Framework: &framework, Measurement: &fair,
			MeasurementFrom: new("2025-01-01")})
		w.Must(err)
		w.autumn()
		w.book("2025-10 revalue")
		var run string
		w.Read(func(ctx context.Context, tx *db.Tx) (err error) {
			run, err = db.One[string](ctx, tx, "revaluation", "SELECT revaluation_id FROM revaluations WHERE organization_id = @org")
			return err
		})
		item := " entity=us asset=ETH revaluation=" + run
		for query, want := range map[string]string{
			"revaluation" + item:       "after 300.00 + before 0.00 = 300.00",
			"revaluation price" + item: "price at the time 2200 = 2200",
		} {
			if got := w.formula(query); got != want {
				w.Errorf("%s:\n\t%s\nwant\n\t%s", query, got, want)
			}
		}
		w.walk("revaluation"+item, "revaluation value"+item, "revaluation cost_basis"+item, "revaluation quantity"+item,
			"closing-positions carrying_amount source=A asset=ETH period=2025-10")
	})
}

func TestTheGainInTheBooksIsTheGainForTaxAndItsCorrectionByRevaluation(t *testing.T) {
	each(t, func(w *world) {
		framework, impaired := "ifrs", "impairment"
		_, err := entity.NewService(w.DB).Update(w.Ctx, w.EntityID, entity.UpdateParams{Framework: &framework, Measurement: &impaired})
		w.Must(err)
		w.book("2025-10-05 A in 1 ETH = 100.00 : DEPOSIT against 3010", "2025-10-31 price ETH 70", "2025-10 revalue",
			"2025-11-20 A out 0.5 ETH = 45.00 : SWAP against Bank", "2025-11-30 price ETH 70", "2025-11 revalue")
		gains := "realized-gains-losses book_gain entity=us asset=ETH period=2025-11"
		const correction = "correction of the gain by revaluation, from cost to carrying amount 15.00"
		for query, want := range map[string]string{
			gains: correction + " - dispositions of 2025-11 5.00 = 10.00",
			"realized-gains-losses tax_gain entity=us asset=ETH period=2025-11": "-dispositions of 2025-11 5.00 = -5.00",
			"schedule-of-dispositions book_gain period=2025-11":                 "dispositions 10.00 = 10.00",
		} {
			if got := w.formula(query); got != want {
				w.Errorf("%s:\n\t%s\nwant\n\t%s", query, got, want)
			}
		}
		x, err := w.Explain(w.Ctx, w.query(gains), page.Request{Limit: 10})
		w.Must(err)
		row := x.Uses[0].Explain()
		row.Column = "book_gain"
		if x, err = w.Explain(w.Ctx, *row, page.Request{Limit: 10}); err != nil || x.Formula != "-gain for tax 5.00 + "+correction+" = 10.00" {
			w.Errorf("%v: %v", x, err)
		}
		w.walk(gains, "schedule-of-dispositions book_gain period=2025-11")
	})
}

func TestADispositionShowsItsLotItsElectionAndItsEntry(t *testing.T) {
	each(t, func(w *world) {
		w.autumn()
		gains, err := w.Explain(w.Ctx, w.query("realized-gains-losses entity=us asset=ETH period=2025-10"), page.Request{Limit: 10})
		w.Must(err)
		x, err := w.Explain(w.Ctx, *gains.Uses[0].Explain(), page.Request{Limit: 10})
		w.Must(err)
		if want := "proceeds 1500.00 - cost basis 1000.00 = 500.00"; x.Formula != want {
			w.Errorf("%s, want %s", x.Formula, want)
		}
		if len(x.Lots) != 1 || len(x.Lines) < 3 || x.Election == nil || x.Booking == nil || len(x.TransactionIDs) != 2 {
			w.Errorf("%d lots, %d lines, election %v, booking %v, transactions %v", len(x.Lots), len(x.Lines), x.Election,
				x.Booking, x.TransactionIDs)
		}
	})
}

func TestAQueryThatNamesNoFigureIsRefusedFieldByField(t *testing.T) {
	each(t, func(w *world) {
		w.autumn()
		for _, c := range []struct {
			query explain.Query
			want  string
		}{
			{explain.Query{Report: "cash-flow"}, "report"},
			{explain.Query{Report: "balance-sheet"}, "accounting_period_id ledger_account_id"},
			{explain.Query{Report: "balance-sheet", Column: "net", Row: "assets", PeriodID: w.Period("2025-10").ID}, "column"},
			{w.query("balance-sheet row=equity period=2025-10"), "row"},
			{w.query("balance-sheet account=4010 period=2025-10"), "ledger_account_id"},
			{w.query("income-statement account=1010 period=2025-10"), "ledger_account_id"},
			{w.query("general-ledger running_balance entry=" + w.entries[0]), "journal_line_id"},
			{w.query("asset-tax-lots lot=ast_1 period=2025-10"), "accounting_period_id"},
		} {
			_, err := w.Explain(w.Ctx, c.query, page.Request{Limit: 1})
			var fields []string
			if e := new(fault.Error); errors.As(err, &e) {
				for _, f := range e.Fields {
					fields = append(fields, f.Name)
				}
			}
			slices.Sort(fields)
			if got := strings.Join(fields, " "); got != c.want {
				w.Errorf("%s: %s, want %s: %v", c.query, got, c.want, err)
			}
		}
		for _, q := range []explain.Query{w.query("asset-tax-lots lot=ast_gone"), w.query("general-ledger entry=je_gone"),
			w.query("general-ledger entry=" + w.entries[0] + " line=jel_gone"), w.query("closing-positions source=B asset=ETH period=2025-10"),
			{Report: "balance-sheet", Row: "assets", PeriodID: "ap_gone"}} {
			if _, err := w.Explain(w.Ctx, q, page.Request{Limit: 1}); fault.KindOf(err) != fault.NotFound {
				w.Errorf("%s: %v", q, err)
			}
		}
		q := w.query("balance-sheet account=Bank period=2025-10")
		for _, cursor := range []string{"x", "bm9uc2Vuc2U"} {
			if _, err := w.Explain(w.Ctx, q, page.Request{Limit: 1, Cursor: cursor}); fault.KindOf(err) != fault.Invalid {
				w.Errorf("cursor %s: %v", cursor, err)
			}
		}
	})
}

func TestALineOfTheGeneralLedgerIsExplainedByTheLinesBeforeIt(t *testing.T) {
	each(t, func(w *world) {
		w.autumn()
		x, err := w.Explain(w.Ctx, w.query("balance-sheet account=Bank period=2025-11"), page.Request{Limit: 10})
		w.Must(err)
		var got []string
		for _, l := range x.Lines {
			for _, column := range []string{"opening_balance", "running_balance"} {
				got = append(got, w.formula(fmt.Sprintf("general-ledger %s entry=%s line=%s", column, l.EntryID, l.ID)))
			}
		}
		want := []string{
			"balance at the start of 2025-11 7500.00 + earlier lines of the period 0.00 = 7500.00",
			"opening balance 7500.00 + this line 900.00 = 8400.00",
			"balance at the start of 2025-11 7500.00 + earlier lines of the period 900.00 = 8400.00",
			"opening balance 8400.00 - this line 250.00 = 8150.00",
			"balance at the start of 2025-11 7500.00 + earlier lines of the period 650.00 = 8150.00",
			"opening balance 8150.00 + this line 800.00 = 8950.00",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			w.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
	})
}
