package realized_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

// eachGroup runs a test with a company and its subsidiary, which measure as they are told.
func eachGroup(t *testing.T, parent, subsidiary string, test func(w *world)) {
	t.Helper()
	each(t, parent, withSubsidiary(subsidiary, test))
}

func (k *cases) eachGroup(t *testing.T, parent, subsidiary string, test func(w *world)) {
	t.Helper()
	k.each(t, parent, withSubsidiary(subsidiary, test))
}

// withSubsidiary returns a test of a company whose subsidiary measures as it is told.
func withSubsidiary(subsidiary string, test func(w *world)) func(w *world) {
	return func(w *world) {
		w.AddSubsidiary()
		framework, measurement, _ := strings.Cut(subsidiary, " ")
		_, err := entity.NewService(w.DB).Update(w.Ctx, w.SubsidiaryID, entity.UpdateParams{Framework: &framework, Measurement: &measurement})
		w.Must(err)
		test(w)
	}
}

// live books what a line says: a transaction, "2025-10 revalue ETH 60, WETH 60", or two transactions that belong together,
// "2025-10-05 A out 1 ETH = 70.00 > A in 1 WETH = 70.00 : NON_TAXABLE_CONVERSION".
func (w *world) live(lines ...string) {
	w.Helper()
	for _, line := range lines {
		if month, prices, measured := strings.Cut(line, " revalue "); measured {
			w.prices(month, prices)
			_, err := w.Revaluations.Run(w.Ctx, revaluation.RunParams{PeriodID: w.Period(month).ID})
			w.Must(err)
			continue
		}
		out, rest, paired := strings.Cut(line, " > ")
		if !paired {
			w.Transact(line)
			continue
		}
		in, kind, _ := strings.Cut(rest, " : ")
		left, _ := w.Transact(out)
		arrived, _ := w.Transact(out[:11] + in)
		_, err := transfers.NewService(w.DB).Link(w.Ctx, transfers.LinkParams{TransactionIDs: []string{left.ID, arrived.ID}})
		w.Must(err)
		w.linked = w.Book(left.ID, kind, "")
	}
}

// prices stores prices at the end of a month, "ETH 60, WETH 60", unless it has some.
func (w *world) prices(month, all string) {
	w.Helper()
	for _, price := range strings.Split(all, ", ") {
		asset, value, _ := strings.Cut(price, " ")
		if !w.priced[month+asset] {
			w.priced[month+asset] = true
			w.AddPrice(asset, w.Period(month).End.AddDate(0, 0, -1).Format("2006-01-02"), value)
		}
	}
}

// realizedBy returns the book gain of a legal entity in a month. The ledger, the report and the schedule must agree.
func (w *world) realizedBy(what, entityID, month string) money.Decimal {
	w.Helper()
	of, span := holdings.Filter{LegalEntityIDs: []string{entityID}}, holdings.Span{PeriodID: w.Period(month).ID}
	var ledger, report, schedule money.Decimal
	statement, err := w.reports.IncomeStatement(w.Ctx, statements.Params{PeriodID: span.PeriodID, LegalEntityIDs: of.LegalEntityIDs})
	w.Must(err)
	for s, section := range statement.Sections {
		for n, row := range section.Rows {
			switch statement.Accounts[s][n].Role {
			case "realized_gain":
				ledger = ledger.Add(row.Amounts[0])
			case "realized_loss":
				ledger = ledger.Sub(row.Amounts[0])
			}
		}
	}
	gains, err := w.holdings.RealizedGainsLosses(w.Ctx, holdings.GainsParams{Filter: of, Span: span}, page.Request{Limit: 100})
	w.Must(err)
	for _, g := range gains.Items {
		report = report.Add(g.BookGain())
	}
	rows, err := w.holdings.ScheduleOfDispositions(w.Ctx, holdings.DispositionsParams{Filter: of, Span: span}, page.Request{Limit: 100})
	w.Must(err)
	for _, d := range rows.Items {
		schedule = schedule.Add(d.BookGain)
	}
	if !ledger.Equal(report) || !ledger.Equal(schedule) {
		w.Errorf("%s, %s: the ledger has a gain of %s, the report %s, the schedule %s", what, month, ledger, report, schedule)
	}
	return ledger
}

// adjusted returns the balances of a legal entity on the accounts of adjustments, of balances between legal entities and of what
// measurements book, debits less credits, at the end of a month.
func (w *world) adjusted(entityID, month string) string {
	w.Helper()
	var out []string
	w.Read(func(ctx context.Context, tx *db.Tx) error {
		type row struct {
			Role    string        `db:"role"`
			Debits  money.Decimal `db:"debits"`
			Credits money.Decimal `db:"credits"`
		}
		rows, err := db.All[row](ctx, tx, `SELECT a.role, {dec_sum}(b.debits) AS debits, {dec_sum}(b.credits) AS credits FROM account_balances b
			JOIN ledger_accounts a ON a.organization_id = @org AND a.ledger_account_id = b.ledger_account_id AND a.role IS NOT NULL
			JOIN accounting_periods p ON p.organization_id = @org AND p.accounting_period_id = b.accounting_period_id
			WHERE b.organization_id = @org AND b.tag_id = '' AND b.legal_entity_id = ? AND p.key <= ? GROUP BY a.role ORDER BY a.role`,
			entityID, month)
		for _, r := range rows {
			name, _, _ := strings.Cut(r.Role, ":le_")
			if net := r.Debits.Sub(r.Credits); !net.IsZero() {
				out = append(out, name+" "+net.String())
			}
		}
		return err
	})
	return strings.Join(out, ", ")
}

// verified fails if the lots or the revaluations are not consistent.
func (w *world) verified(what string) {
	w.Helper()
	w.Read(func(ctx context.Context, tx *db.Tx) error {
		for _, verify := range []func(context.Context, *db.Tx) ([]string, error){replay.Verify, revaluation.Verify} {
			if found, err := verify(ctx, tx); err != nil || len(found) > 0 {
				w.Errorf("%s: %v %v", what, found, err)
			}
		}
		return nil
	})
}

// Two ETH that cost 200 are carried at 120 when one of them becomes WETH.
func TestSoakAConvertedLotTakesItsAdjustmentAlong(t *testing.T) {
	t.Parallel()
	var table cases
	for _, c := range []struct {
		policy, january, february string // prices
		sold                      string // of WETH, for 90
		gain, balances            string // at the end of October
	}{
		{"us_gaap impairment", "60", "50", "", "0",
			"accumulated_impairment:ETH -50, accumulated_impairment:WETH -50, impairment_loss 100"},
		{"us_gaap impairment", "60", "90", "", "0", // neither of them is written up
			"accumulated_impairment:ETH -40, accumulated_impairment:WETH -40, impairment_loss 80"},
		{"us_gaap impairment", "60", "50", "0.5", "60",
			"accumulated_impairment:ETH -50, accumulated_impairment:WETH -25, impairment_loss 95, realized_gain -60"},
		{"us_gaap impairment", "60", "50", "1", "30", "accumulated_impairment:ETH -50, impairment_loss 90, realized_gain -40, realized_loss 10"},
		{"ifrs impairment", "60", "90", "0.5", "60",
			"accumulated_impairment:ETH -10, accumulated_impairment:WETH -5, impairment_loss 35, realized_gain -60"},
		{"ifrs fair_value", "60", "60", "", "0", // no gain here and no loss there
			"fair_value_adjustment:ETH -40, fair_value_adjustment:WETH -40, unrealized_loss 80"},
		{"ifrs fair_value", "60", "50", "0.5", "60",
			"fair_value_adjustment:ETH -50, fair_value_adjustment:WETH -25, realized_gain -60, unrealized_loss 95"},
		{"ifrs fair_value", "150", "150", "", "0",
			"fair_value_adjustment:ETH 50, fair_value_adjustment:WETH 50, revaluation_surplus -100"},
		{"ifrs fair_value", "150", "150", "0.5", "15", "fair_value_adjustment:ETH 50, fair_value_adjustment:WETH 25, realized_gain -40, " +
			"realized_loss 25, retained_earnings_posted -25, revaluation_surplus -75"},
		// WETH is outside the scope of ASC 350-60: it is not written up, and keeps what it was carried at as ETH.
		{"us_gaap fair_value", "60", "50", "0.5", "60",
			"accumulated_impairment:WETH -25, fair_value_adjustment:ETH -50, impairment_loss 5, realized_gain -60, unrealized_loss 90"},
		{"us_gaap fair_value", "150", "160", "", "0",
			"fair_value_adjustment:ETH 60, taken_over_adjustment:WETH 50, unrealized_gain -110"},
		{"us_gaap fair_value", "150", "120", "0.5", "15", "fair_value_adjustment:ETH 20, impairment_loss 15, " +
			"realized_gain -40, realized_loss 25, taken_over_adjustment:WETH 10, unrealized_gain -100, unrealized_loss 30"},
	} {
		table.each(t, c.policy, func(w *world) {
			what := fmt.Sprint(c)
			w.live("2025-09-10 A in 2 ETH = 200.00 : DEPOSIT against 3010", "2025-09 revalue ETH "+c.january,
				"2025-10-10 A out 1 ETH = 70.00 > A in 1 WETH = 70.00 : NON_TAXABLE_CONVERSION")
			if c.sold != "" {
				w.live("2025-10-20 A out " + c.sold + " WETH = 90.00 : EXPENSE against 6020")
			}
			for range 2 { // a second run changes nothing
				w.live("2025-10 revalue ETH " + c.february + ", WETH " + c.february)
				if got := w.realizedBy(what, w.EntityID, "2025-10"); got.String() != c.gain {
					w.Errorf("%s: %s were realized", what, got)
				}
				if got := w.adjusted(w.EntityID, "2025-10"); got != c.balances {
					w.Errorf("%s: %s", what, got)
				}
			}
			w.verified(what)
		})
	}
}

// The parent holds two ETH that cost 200 and gives one of them to its subsidiary. Nothing is realized, and the balance between them is
// worth what was given.
func TestSoakASubsidiaryTakesOverCostAndAdjustment(t *testing.T) {
	t.Parallel()
	var table cases
	for _, c := range []struct {
		parent, subsidiary, before, after string // prices
		sold                              string // by the subsidiary, for 80
		gain                              string // of the subsidiary
		parents, subsidiaries             string // balances
	}{
		{"us_gaap impairment", "us_gaap impairment", "60", "90", "", "0",
			"accumulated_impairment:ETH -40, due_from 90, impairment_loss 80, unrealized_gain -30",
			"accumulated_impairment:ETH -40, due_to -90, unrealized_loss 30"},
		{"us_gaap impairment", "us_gaap impairment", "60", "60", "", "0",
			"accumulated_impairment:ETH -40, due_from 60, impairment_loss 80", "accumulated_impairment:ETH -40, due_to -60"},
		{"us_gaap impairment", "us_gaap impairment", "60", "60", "0.5", "50",
			"accumulated_impairment:ETH -40, due_from 60, impairment_loss 80", "accumulated_impairment:ETH -20, due_to -60, realized_gain -50"},
		{"ifrs impairment", "ifrs impairment", "60", "90", "", "0",
			"accumulated_impairment:ETH -10, due_from 90, impairment_loss 50, unrealized_gain -30",
			"accumulated_impairment:ETH -10, due_to -90, impairment_loss -30, unrealized_loss 30"},
		{"ifrs fair_value", "ifrs fair_value", "60", "60", "", "0",
			"due_from 60, fair_value_adjustment:ETH -40, unrealized_loss 80", "due_to -60, fair_value_adjustment:ETH -40"},
		{"ifrs fair_value", "ifrs fair_value", "150", "150", "", "0",
			"due_from 150, fair_value_adjustment:ETH 50, retained_earnings_posted -50, revaluation_surplus -50",
			"due_to -150, fair_value_adjustment:ETH 50, retained_earnings_posted 50, revaluation_surplus -50"},
		{"ifrs fair_value", "ifrs fair_value", "150", "150", "0.5", "5",
			"due_from 150, fair_value_adjustment:ETH 50, retained_earnings_posted -50, revaluation_surplus -50",
			"due_to -150, fair_value_adjustment:ETH 25, realized_gain -30, realized_loss 25, retained_earnings_posted 25, " +
				"revaluation_surplus -25"},
		{"us_gaap fair_value", "us_gaap fair_value", "150", "150", "", "0",
			"due_from 150, fair_value_adjustment:ETH 50, unrealized_gain -100", "due_to -150, fair_value_adjustment:ETH 50"},
		// The subsidiary adjusts nothing, and keeps what it took over.
		{"us_gaap impairment", "us_gaap cost", "60", "60", "", "0",
			"accumulated_impairment:ETH -40, due_from 60, impairment_loss 80", "accumulated_impairment:ETH -40, due_to -60"},
		{"us_gaap fair_value", "us_gaap cost", "150", "150", "", "0",
			"due_from 150, fair_value_adjustment:ETH 50, unrealized_gain -100", "due_to -150, taken_over_adjustment:ETH 50"},
		{"us_gaap fair_value", "us_gaap cost", "150", "150", "0.5", "5", "due_from 150, fair_value_adjustment:ETH 50, unrealized_gain -100",
			"due_to -150, realized_gain -30, realized_loss 25, taken_over_adjustment:ETH 25"},
		{"ifrs fair_value", "ifrs cost", "150", "90", "", "0", // nor is it impaired
			"due_from 90, fair_value_adjustment:ETH -10, retained_earnings_posted -50, unrealized_loss 70",
			"due_to -90, taken_over_adjustment:ETH 50, unrealized_gain -60"},
		{"ifrs fair_value", "ifrs impairment", "150", "180", "", "0", // not written up
			"due_from 180, fair_value_adjustment:ETH 80, retained_earnings_posted -50, revaluation_surplus -80, unrealized_gain -30",
			"due_to -180, taken_over_adjustment:ETH 50, unrealized_loss 30"},
		{"ifrs fair_value", "ifrs impairment", "150", "120", "", "0",
			"due_from 120, fair_value_adjustment:ETH 20, retained_earnings_posted -50, revaluation_surplus -20, unrealized_loss 30",
			"due_to -120, impairment_loss 30, taken_over_adjustment:ETH 20, unrealized_gain -30"},
		{"ifrs fair_value", "us_gaap impairment", "150", "150", "", "0",
			"due_from 150, fair_value_adjustment:ETH 50, retained_earnings_posted -50, revaluation_surplus -50",
			"due_to -150, taken_over_adjustment:ETH 50"},
		// What was in earnings stays there: only what exceeds 150 is a surplus.
		{"us_gaap fair_value", "ifrs fair_value", "150", "150", "", "0",
			"due_from 150, fair_value_adjustment:ETH 50, unrealized_gain -100", "due_to -150, fair_value_adjustment:ETH 50"},
		{"us_gaap fair_value", "ifrs fair_value", "150", "180", "", "0",
			"due_from 180, fair_value_adjustment:ETH 80, unrealized_gain -160",
			"due_to -180, fair_value_adjustment:ETH 80, revaluation_surplus -30, unrealized_loss 30"},
		{"us_gaap fair_value", "ifrs fair_value", "150", "90", "0.5", "5",
			"due_from 90, fair_value_adjustment:ETH -10, unrealized_gain -100, unrealized_loss 120",
			"due_to -90, fair_value_adjustment:ETH -5, realized_gain -30, realized_loss 25, unrealized_gain -60, unrealized_loss 30"},
	} {
		table.eachGroup(t, c.parent, c.subsidiary, func(w *world) {
			what := fmt.Sprint(c)
			w.live("2025-09-10 A in 2 ETH = 200.00 : DEPOSIT against 3010", "2025-09 revalue ETH "+c.before,
				"2025-10-10 A out 1 ETH = 70.00 > SubA in 1 ETH = 70.00 : INTERCOMPANY TRANSFER")
			if c.sold != "" {
				w.live("2025-10-20 SubA out " + c.sold + " ETH = 80.00 : EXPENSE against 6020")
			}
			for range 2 {
				w.live("2025-10 revalue ETH " + c.after)
				if got := w.realizedBy(what, w.EntityID, "2025-10"); !got.IsZero() {
					w.Errorf("%s: the parent realized %s", what, got)
				}
				if got := w.realizedBy(what, w.SubsidiaryID, "2025-10"); got.String() != c.gain {
					w.Errorf("%s: the subsidiary realized %s", what, got)
				}
				if got := w.adjusted(w.EntityID, "2025-10"); got != c.parents {
					w.Errorf("%s: the parent has %s", what, got)
				}
				if got := w.adjusted(w.SubsidiaryID, "2025-10"); got != c.subsidiaries {
					w.Errorf("%s: the subsidiary has %s", what, got)
				}
			}
			w.verified(what)
		})
	}
}

// What was handed over twice in a month, there and back, is as it was.
func TestALotThatComesBackHasItsAdjustment(t *testing.T) {
	t.Parallel()
	eachGroup(t, "us_gaap impairment", "us_gaap impairment", func(w *world) {
		w.live("2025-09-10 A in 2 ETH = 200.00 : DEPOSIT against 3010", "2025-09 revalue ETH 60",
			"2025-10-10 A out 1 ETH = 70.00 > A in 1 WETH = 70.00 : NON_TAXABLE_CONVERSION",
			"2025-10-11 A out 1 WETH = 70.00 > SubA in 1 WETH = 70.00 : INTERCOMPANY TRANSFER",
			"2025-10-12 SubA out 1 WETH = 70.00 > SubA in 1 ETH = 70.00 : NON_TAXABLE_CONVERSION",
			"2025-10-13 SubA out 1 ETH = 70.00 > A in 1 ETH = 70.00 : INTERCOMPANY TRANSFER", "2025-10 revalue ETH 90, WETH 90")
		if got := w.realizedBy("back", w.EntityID, "2025-10"); !got.IsZero() {
			w.Errorf("%s were realized", got)
		}
		if got := w.adjusted(w.EntityID, "2025-10"); !strings.Contains(got, "accumulated_impairment:ETH -80") {
			w.Errorf("the parent has %s", got)
		}
		if got := w.adjusted(w.SubsidiaryID, "2025-10"); strings.Contains(got, "impairment") {
			w.Errorf("the subsidiary has %s", got)
		}
		w.verified("back")
	})
}

// TestSoakHandoversRealizeNothingInRandomHistories converts, gives and sells ETH and WETH at random. In every month the ledger, the report
// and the schedule of each legal entity agree, every adjustment account is what its lots are adjusted by, no surplus is negative, and one
// run is enough.
func TestSoakHandoversRealizeNothingInRandomHistories(t *testing.T) {
	t.Parallel()
	var table cases
	policies := []string{"ifrs fair_value", "ifrs impairment", "us_gaap impairment", "us_gaap fair_value", "us_gaap cost"}
	for _, policy := range policies {
		seed := dbtest.Seed(t)
		other := policies[rand.New(rand.NewPCG(seed, uint64(table.count))).IntN(len(policies))]
		table.eachGroup(t, policy, other, func(w *world) {
			r, held := rand.New(rand.NewPCG(seed, 0)), map[string]int64{} // by source and asset, in thousandths
			what := fmt.Sprint(policy, " and ", other, ", seed ", seed)
			for _, month := range []string{"2025-08", "2025-09", "2025-10", "2025-11"} {
				for day := 1; day < 27; day += 1 + r.IntN(5) {
					w.handOver(r, held, fmt.Sprintf("%s-%02d", month, day))
				}
				for range 2 {
					w.live(fmt.Sprintf("%s revalue ETH %d, WETH %d", month, 50+r.IntN(150), 50+r.IntN(150)))
					w.measured(what, month)
					for _, entityID := range []string{w.EntityID, w.SubsidiaryID} {
						w.realizedBy(what, entityID, month)
						// A surplus is a credit, and there is none but of revalued assets.
						got := w.adjusted(entityID, month)
						if _, surplus, _ := strings.Cut(got, "revaluation_surplus "); surplus != "" && surplus[0] != '-' ||
							strings.Contains(got, "transfer_clearing") {
							w.Errorf("%s, %s: %s", what, month, got)
						}
					}
				}
				w.verified(what)
			}
		})
	}
}

// handOver books a random event: a deposit, a sale, a conversion, a transfer to the other legal entity or to another wallet.
func (w *world) handOver(r *rand.Rand, held map[string]int64, date string) {
	w.Helper()
	sources, assets := []string{"A", "SubA"}, []string{"ETH", "WETH"}
	r.Shuffle(2, func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
	r.Shuffle(2, func(i, j int) { assets[i], assets[j] = assets[j], assets[i] })
	from, to, asset, other := sources[0], sources[1], assets[0], assets[1]
	quantity := min(1+r.Int64N(3000), held[from+asset])
	leg := func(source, direction, asset string) string {
		return fmt.Sprintf("%s %s %d.%03d %s = %d.%02d", source, direction, quantity/1000, quantity%1000, asset, quantity/10, r.IntN(100))
	}
	kind := r.IntN(5)
	if quantity == 0 {
		kind, quantity = 0, 1+r.Int64N(3000)
	}
	switch kind {
	case 0:
		w.live(date + " " + leg(from, "in", asset) + " : DEPOSIT against 3010")
		held[from+asset] += 2 * quantity
	case 1:
		w.live(date + " " + leg(from, "out", asset) + " : EXPENSE against 6020")
	case 2, 3:
		w.live(date + " " + leg(from, "out", asset) + " > " + leg(from, "in", other) + " : NON_TAXABLE_CONVERSION")
		held[from+other] += quantity
	default:
		w.live(date + " " + leg(from, "out", asset) + " > " + leg(to, "in", asset) + " : INTERCOMPANY TRANSFER")
		held[to+asset] += quantity
	}
	held[from+asset] -= quantity
}
