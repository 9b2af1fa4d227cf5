package explain_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/reporting/explain"
)

// oneOfEach returns a figure of each report.
func (w *world) oneOfEach() (out []explain.Query) {
	w.Helper()
	gains, err := w.Explain(w.Ctx, w.query("realized-gains-losses entity=us asset=ETH period=2025-11"), page.Request{Limit: 10})
	w.Must(err)
	for _, text := range []string{"balance-sheet account=Bank period=2025-11", "trial-balance account=Bank period=2025-11",
		"income-statement account=4010 period=2025-11", "general-ledger entry=" + w.entries[2],
		"closing-positions source=A asset=ETH period=2025-11", "closing-positions fair_value source=A asset=ETH period=2025-11",
		"treasury-balances source=A asset=ETH", "treasury-balances source=Bank asset=USD",
		"realized-gains-losses entity=us asset=ETH period=2025-11", "roll-forward entity=us asset=ETH period=2025-11",
		"roll-forward transfers entity=us asset=ETH period=2025-11", "balance-sheet account=current_earnings period=2025-11",
		"asset-tax-lots lot=" + gains.Uses[0].LotID} {
		out = append(out, w.query(text))
	}
	return append(out, *gains.Uses[0].Explain())
}

func TestMissingOrDamagedRowsBecomeAnExplicitDifference(t *testing.T) {
	each(t, func(w *world) {
		w.autumn()
		const unexplained = "unexplained difference"
		for _, c := range []struct{ damage, query, want string }{
			{"DELETE FROM journal_lines WHERE organization_id = @org AND amount = 250",
				"balance-sheet account=Bank period=2025-11",
				"opening balance 7500.00 + debits 1700.00 + credits 0.00 - unexplained difference to the lines that are stored 250.00 = 8950.00"},
			{"DELETE FROM journal_lines WHERE organization_id = @org AND amount = 250", "trial-balance credits account=Bank period=2025-11",
				"credit lines 0.00 + unexplained difference to the lines that are stored 250.00 = 250.00"},
			{"UPDATE journal_lines SET amount = 901, base_amount = 901 WHERE organization_id = @org AND amount = 900",
				"income-statement account=4010 period=2025-11",
				"debits 0.00 + credits 901.00 - unexplained difference to the lines that are stored 1.00 = 900.00"},
			{"DELETE FROM lot_uses WHERE organization_id = @org", "realized-gains-losses net entity=us asset=ETH period=2025-11",
				"dispositions of 2025-11 0.00 - unexplained difference to the dispositions that are stored 200.00 = -200.00"},
			{"DELETE FROM lots WHERE organization_id = @org", "closing-positions source=A asset=ETH period=2025-11",
				"held at the start of 2025-11 3000.00 - disposed of 1000.00 = 2000.00; because an entry was reversed later, lots are " +
					"pooled by legal entity, or rows are missing (see bursar verify), the lots stored now add up to 0.00"},
			{"DELETE FROM lots WHERE organization_id = @org", "asset-tax-lots lot=LOT", "not found"},
			{"DELETE FROM prices WHERE organization_id = @org", "closing-positions fair_value source=A asset=ETH period=2025-11",
				"unknown: no price of ETH in USD is stored for 2025-11-30T23:59:59.999Z or the day before"},
			{"DELETE FROM prices WHERE organization_id = @org", "roll-forward gains entity=us asset=ETH period=2025-11",
				"unknown: no price of ETH in USD is stored for 2025-10-31T23:59:59.999Z or the day before"},
		} {
			lot := w.lotID()
			w.Damage(c.damage, func(ctx context.Context) {
				x, err := w.Explain(ctx, w.query(strings.ReplaceAll(c.query, "LOT", lot)), page.Request{Limit: 100})
				got := ""
				if err == nil {
					got = x.Formula
				} else {
					got = err.Error()
				}
				if !strings.HasSuffix(got, c.want) {
					w.Errorf("%s after %s:\n\t%s\nwant\n\t%s", c.query, c.damage, got, c.want)
				}
				if err == nil && strings.Contains(c.want, unexplained) {
					w.partsAddUp(x)
				}
			})
		}
	})
}

func TestLotsMayMissAFigureByTheRoundingOfAveragedSharesOnly(t *testing.T) {
	const (
		query    = "closing-positions source=A asset=ETH period=2025-11"
		oneCent  = "UPDATE lot_positions SET basis = '100.01' WHERE organization_id = @org AND basis = '100'"
		without  = "DELETE FROM lots WHERE organization_id = @org AND cost_basis = '70'"
		addingUp = ", the lots stored now add up to "
	)
	t.Parallel()
	for method, found := range map[string]map[string]string{
		// The basis of the pool is divided over the lots that there are. That one is missing, bursar verify finds by the quantities.
		entity.MethodWeightedAverage: {oneCent: "= 100.01", without: "= 100.00"},
		entity.MethodFIFO:            {oneCent: addingUp + "100.00", without: addingUp + "30.00"},
	} {
		t.Run(method, func(t *testing.T) {
			each(t, func(w *world) {
				_, err := entity.NewService(w.DB).Update(w.Ctx, w.EntityID, entity.UpdateParams{CostBasisMethod: new(method)})
				w.Must(err)
				w.book("2025-11-01 A in 1 ETH = 10.00 : SWAP against Bank", "2025-11-02 A in 1 ETH = 20.00 : SWAP against Bank",
					"2025-11-03 A in 1 ETH = 70.00 : SWAP against Bank")
				if got := w.formula(query); !strings.HasSuffix(got, "= 100.00") {
					w.Errorf("%s", got)
				}
				for damage, want := range found {
					w.Damage(damage, func(ctx context.Context) {
						x, err := w.Explain(ctx, w.query(query), page.Request{Limit: 100})
						w.Must(err)
						if !strings.HasSuffix(x.Formula, want) {
							w.Errorf("after %s:\n\t%s\nwant\n\t%s", damage, x.Formula, want)
						}
					})
				}
			})
		})
	}
}

func TestAnEntryReversedLaterIsNotCalledDamage(t *testing.T) {
	each(t, func(w *world) {
		w.book("2025-10-10 A in 1 ETH = 2000.00 : INCOME against 4010")
		_, err := w.Journal.Reverse(w.Ctx, w.entries[0], journal.ReverseParams{AccountingDate: "2025-12-10"})
		w.Must(err)
		got := w.formula("closing-positions source=A asset=ETH period=2025-11")
		if strings.Contains(got, "unexplained") || !strings.Contains(got, "= 2000.00; because an entry was reversed later") {
			w.Errorf("%s", got)
		}
	})
}

// partsAddUp fails unless the parts add up to the figure, differences included.
func (w *world) partsAddUp(x *explain.Explanation) {
	w.Helper()
	sum := *x.Value
	for _, p := range x.Parts {
		sum = sum.Sub(p.Value)
	}
	if !sum.IsZero() {
		w.Errorf("%s: %s is missing: %s", x.Query, sum, x.Formula)
	}
}

// lotID returns the id of the first lot of wallet A.
func (w *world) lotID() string {
	w.Helper()
	x, err := w.Explain(w.Ctx, w.query("closing-positions source=A asset=ETH period=2025-11"), page.Request{Limit: 1})
	w.Must(err)
	return x.Lots[0].ID
}

func TestNoDamageMakesAnExplanationAddUpToSomethingElse(t *testing.T) {
	each(t, func(w *world) {
		w.autumn()
		figures := w.oneOfEach()
		for _, table := range []string{"journal_lines", "account_balances", "lots", "lot_uses", "lot_positions", "lot_gains", "lot_pools",
			"prices", "bookings", "transactions", "lot_consumptions"} {
			w.Damage("DELETE FROM "+table+" WHERE organization_id = @org", func(ctx context.Context) {
				for _, q := range figures {
					x, err := w.Explain(ctx, q, page.Request{Limit: 100})
					if err == nil && x.Value != nil && (len(x.Parts) > 0 || !x.Value.IsZero()) {
						w.partsAddUp(x)
					}
				}
			})
		}
	})
}

func TestADatabaseErrorAtAnyStatementIsAnErrorAndNeverAPartialExplanation(t *testing.T) {
	each(t, func(w *world) {
		w.autumn()
		for _, q := range w.oneOfEach() {
			whole, err := w.Explain(w.Ctx, q, page.Request{Limit: 100})
			w.Must(err)
			dbtest.EachInterrupt(w.Ctx, w.T, w.DB, func(ctx context.Context) (*explain.Explanation, error) {
				return w.Explain(ctx, q, page.Request{Limit: 100})
			}, func(x *explain.Explanation) bool {
				return x.Formula == whole.Formula && len(x.Lines) == len(whole.Lines) && len(x.Lots) == len(whole.Lots) &&
					len(x.Uses) == len(whole.Uses) && len(x.TransactionIDs) == len(whole.TransactionIDs)
			})
		}
	})
}

func TestAStatementThatTheDatabaseRefusesFailsTheExplanation(t *testing.T) {
	each(t, func(w *world) {
		w.autumn()
		figures := w.oneOfEach()
		failed := map[string]int{}
		for _, table := range []string{"journal_lines", "account_balances", "lots", "lot_uses", "lot_positions", "lot_gains", "prices",
			"bookings"} {
			restore := dbtest.HideTable(w.T, w.DB, table)
			for _, q := range figures {
				x, err := w.Explain(w.Ctx, q, page.Request{Limit: 100})
				switch {
				case err == nil:
					w.addsUp(x)
				case fault.KindOf(err) != fault.Internal:
					w.Errorf("%s without %s: %v", q, table, err)
				default:
					failed[table]++
				}
			}
			restore()
			if failed[table] == 0 {
				w.Errorf("no explanation reads %s", table)
			}
		}
	})
}
