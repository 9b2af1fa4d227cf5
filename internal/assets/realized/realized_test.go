package realized_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/tenancy/companytest"
)

// world is a company that measures its assets in some way.
type world struct {
	*companytest.Company
	holdings *holdings.Service
	reports  *statements.Service
	closed   string          // the last month that is closed
	priced   map[string]bool // by month
	linked   string          // the last entry of two transactions that belong together
}

// each runs a test on each engine with a company that measures as it is told: "ifrs impairment".
func each(t *testing.T, policy string, test func(w *world)) {
	t.Helper()
	companytest.Each(t, measuring(policy, test))
}

// cases runs the cases of a long table, of which an ordinary run tries some on both engines and the others on SQLite only.
type cases struct{ count int }

func (k *cases) each(t *testing.T, policy string, test func(w *world)) {
	t.Helper()
	companytest.EachCase(t, k.count, measuring(policy, test))
	k.count++
}

// measuring returns a test of a company that measures as it is told.
func measuring(policy string, test func(w *world)) func(c *companytest.Company) {
	return func(c *companytest.Company) {
		w := &world{Company: c, holdings: holdings.NewService(c.DB), reports: statements.NewService(c.DB), priced: map[string]bool{}}
		framework, measurement, _ := strings.Cut(policy, " ")
		_, err := entity.NewService(c.DB).Update(c.Ctx, c.EntityID, entity.UpdateParams{Framework: &framework, Measurement: &measurement})
		w.Must(err)
		test(w)
	}
}

// book books transactions, and revalues a month at a price: "2025-10 revalue at 90".
func (w *world) book(lines ...string) {
	w.Helper()
	for _, line := range lines {
		month, price, measured := strings.Cut(line, " revalue at ")
		if !measured {
			w.Transact(line)
			continue
		}
		w.price(month, price)
		_, err := w.Revaluations.Run(w.Ctx, revaluation.RunParams{PeriodID: w.Period(month).ID})
		w.Must(err)
	}
}

// price stores the price at the end of a month.
func (w *world) price(month, price string) {
	w.Helper()
	w.priced[month] = true
	for _, asset := range []string{"ETH", "WETH"} {
		w.AddPrice(asset, month+"-28", price)
		w.AddPrice(asset, w.Period(month).End.AddDate(0, 0, -1).Format("2006-01-02"), price)
	}
}

// ledger returns the movement of the realized gain and loss accounts in a month.
func (w *world) ledger(month string) (net money.Decimal) {
	w.Helper()
	r, err := w.reports.IncomeStatement(w.Ctx, statements.Params{PeriodID: w.Period(month).ID})
	w.Must(err)
	for s, section := range r.Sections {
		for n, row := range section.Rows {
			switch r.Accounts[s][n].Role {
			case "realized_gain":
				net = net.Add(row.Amounts[0])
			case "realized_loss":
				net = net.Sub(row.Amounts[0])
			}
		}
	}
	return net
}

// gains returns the totals of a month in the report and in the schedule: gain for tax, gain in the books.
func (w *world) gains(month string) (tax, book, scheduled money.Decimal) {
	w.Helper()
	span := holdings.Span{PeriodID: w.Period(month).ID}
	for cursor := ""; ; {
		p, err := w.holdings.RealizedGainsLosses(w.Ctx, holdings.GainsParams{Span: span}, page.Request{Limit: 1, Cursor: cursor})
		w.Must(err)
		for _, g := range p.Items {
			tax, book = tax.Add(g.Net()), book.Add(g.BookGain())
		}
		if cursor = p.NextCursor; !p.HasMore {
			break
		}
	}
	for _, d := range w.dispositions(month) {
		scheduled = scheduled.Add(d.BookGain)
	}
	return tax, book, scheduled
}

func (w *world) dispositions(month string) (out []holdings.Disposition) {
	w.Helper()
	for cursor := ""; ; {
		p, err := w.holdings.ScheduleOfDispositions(w.Ctx, holdings.DispositionsParams{Span: holdings.Span{PeriodID: w.Period(month).ID}},
			page.Request{Limit: 2, Cursor: cursor})
		w.Must(err)
		out = append(out, p.Items...)
		if cursor = p.NextCursor; !p.HasMore {
			return out
		}
	}
}

// want fails unless a month shows "tax 15, book 45: 7 38".
func (w *world) want(month, want string) {
	w.Helper()
	tax, book, scheduled := w.gains(month)
	var rows []string
	for _, d := range w.dispositions(month) {
		rows = append(rows, d.BookGain.String())
	}
	slices.Sort(rows)
	got := fmt.Sprintf("tax %s, book %s: %s", tax, book, strings.Join(rows, " "))
	if got != want || !book.Equal(w.ledger(month)) || !scheduled.Equal(book) {
		w.Errorf("%s: %s, want %s; the ledger has %s", month, got, want, w.ledger(month))
	}
}

// The worked example of impairment: cost 100, impaired to 70, half sold for 45.
func TestTheBookGainOfAnImpairedAssetIsAgainstItsCarryingAmount(t *testing.T) {
	t.Parallel()
	for _, framework := range []string{"ifrs", "us_gaap"} {
		each(t, framework+" impairment", func(w *world) {
			w.book("2025-09-01 A in 1 ETH = 100.00 : DEPOSIT against 3010", "2025-09 revalue at 70",
				"2025-10-05 A out 0.5 ETH = 45.00 : SWAP against Bank")
			w.want("2025-10", "tax -5, book -5: -5") // the books have no correction before the revaluation
			w.book("2025-10 revalue at 70")
			w.want("2025-09", "tax 0, book 0: ")
			w.want("2025-10", "tax -5, book 10: 10")
		})
	}
}

// The worked example of IAS 38, and a disposal of a lot with a surplus together with one that has a loss: they are shown net.
func TestTheSurplusAndTheLossOfADisposalAreShownNet(t *testing.T) {
	t.Parallel()
	each(t, "ifrs fair_value", func(w *world) {
		w.book("2025-06-01 A in 1 ETH = 100.00 : DEPOSIT against 3010", "2025-06 revalue at 130", "2025-07 revalue at 90",
			"2025-08 revalue at 120", "2025-09-05 A out 1 ETH = 125.00 : SWAP against Bank", "2025-09 revalue at 120")
		w.want("2025-09", "tax 25, book 5: 5")
		w.book("2025-10-01 A in 1 ETH = 80.00 : DEPOSIT against 3010", "2025-10-02 A in 1 ETH = 110.00 : DEPOSIT against 3010",
			"2025-10 revalue at 100", "2025-11-05 A out 2 ETH = 210.00 : SWAP against Bank", "2025-11 revalue at 100")
		w.want("2025-11", "tax 20, book 10: 5 5") // carrying amounts 100 and 100, not 80 and 110
	})
}

func TestALotThatWasMovedKeepsItsCarryingAmountUntilItIsSold(t *testing.T) {
	t.Parallel()
	each(t, "ifrs impairment", func(w *world) {
		w.book("2025-09-01 A in 3 ETH = 300.00 : DEPOSIT against 3010", "2025-09 revalue at 70",
			"2025-10-03 A out 2 ETH = 140.00 : WITHDRAWAL against B", "2025-10-05 B out 1 ETH = 75.00 : SWAP against Bank",
			"2025-10-06 A out 0.5 ETH = 40.00 : SWAP against Bank", "2025-10 revalue at 70")
		tax, book, scheduled := w.gains("2025-10")
		if ledger := w.ledger("2025-10"); !book.Equal(ledger) || !scheduled.Equal(book) || tax.Equal(book) {
			w.Errorf("tax %s, book %s, scheduled %s, ledger %s", tax, book, scheduled, ledger)
		}
	})
}

func TestSoakBookGainsEqualTheRealizedAccountsInEveryPeriodOfRandomHistories(t *testing.T) {
	t.Parallel()
	var table cases
	for _, policy := range []string{"ifrs fair_value", "ifrs impairment", "us_gaap impairment", "us_gaap fair_value"} {
		table.each(t, policy, func(w *world) {
			seed := dbtest.Seed(w.T)
			r := rand.New(rand.NewPCG(seed, 0))
			months := []string{"2025-07", "2025-08", "2025-09", "2025-10", "2025-11"}
			held, gaps := int64(0), false // held is in thousandths
			for _, month := range months {
				price := 500 + r.Int64N(3000)
				for day := 1; day < 27; day += 1 + r.IntN(6) {
					date, quantity := fmt.Sprintf("%s-%02d", month, day), 1+r.Int64N(3000)
					value := func(q int64) string { return fmt.Sprintf("%d.%02d", q*price/1000, r.IntN(100)) }
					switch {
					case held > 0 && r.IntN(2) == 0:
						quantity = min(quantity, held)
						held -= quantity
						w.book(fmt.Sprintf("%s A out %d.%03d ETH = %s : SWAP against Bank", date, quantity/1000, quantity%1000, value(quantity)))
					default:
						held += quantity
						w.book(fmt.Sprintf("%s A in %d.%03d ETH = %s : DEPOSIT against 3010", date, quantity/1000, quantity%1000, value(quantity)))
					}
				}
				if r.IntN(5) > 0 {
					w.book(fmt.Sprintf("%s revalue at %d", month, 500+r.Int64N(3000)))
				} else {
					gaps = true // what was disposed of in this month is corrected in a later one
				}
			}
			for _, month := range months {
				_, book, scheduled := w.gains(month)
				if ledger := w.ledger(month); !book.Equal(ledger) || !gaps && !scheduled.Equal(book) {
					w.Errorf("%s, seed %d, %s: book gain %s, scheduled %s, ledger %s", policy, seed, month, book, scheduled, ledger)
				}
			}
		})
	}
}
