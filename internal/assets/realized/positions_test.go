package realized_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
)

// positions returns the closing positions of a month, page by page, in the form "1 ETH cost 200 less 100 = 100".
func (w *world) positions(month string) string {
	w.Helper()
	var out []string
	for cursor := ""; ; {
		p, err := w.holdings.ClosingPositions(w.Ctx, holdings.ClosingParams{PeriodID: w.Period(month).ID}, page.Request{Limit: 1, Cursor: cursor})
		w.Must(err)
		for _, c := range p.Items {
			out = append(out, fmt.Sprintf("%s cost %s less %s = %s", c.Quantity, c.Basis, c.Adjustment.Neg(), c.Carrying))
		}
		if cursor = p.NextCursor; !p.HasMore {
			slices.Sort(out)
			return strings.Join(out, ", ")
		}
	}
}

// A lot that cost 200 is impaired to 100, and one that cost 50 is not: the impairment is that of the first.
func TestClosingPositionsShowTheImpairmentOfTheirOwnLots(t *testing.T) {
	t.Parallel()
	for _, framework := range []string{"us_gaap", "ifrs"} {
		each(t, framework+" impairment", func(w *world) {
			check := func(month, want string) {
				w.Helper()
				if got := w.positions(month); got != want {
					w.Errorf("%s, %s: %s, want %s", framework, month, got, want)
				}
			}
			w.book("2025-09-10 A in 1 ETH = 200.00 : DEPOSIT against 3010", "2025-09-10 B in 1 ETH = 50.00 : DEPOSIT against 3010",
				"2025-09 revalue at 100")
			check("2025-09", "1 cost 200 less 100 = 100, 1 cost 50 less 0 = 50")
			// Until the next run, what was moved takes its share along.
			w.book("2025-10-10 A out 0.25 ETH = 25.00 : WITHDRAWAL against B")
			check("2025-10", "0.75 cost 150 less 75 = 75, 1.25 cost 100 less 25 = 75")
			w.book("2025-10 revalue at 100")
			check("2025-10", "0.75 cost 150 less 75 = 75, 1.25 cost 100 less 25 = 75")
		})
	}
}

// The lots that carried the impairment of a closed month may leave, be replaced or be deleted later; its rows stay.
func TestClosingPositionsOfAClosedMonthStayAsTheyWereAtTheClose(t *testing.T) {
	t.Parallel()
	const reversal = "reversal"
	for _, late := range []string{
		reversal,
		"2025-09-20 A out 0.5 ETH = 70.00 : WITHDRAWAL against Bank",
		"2025-09-05 A in 1 ETH = 300.00 : DEPOSIT against 3010",
		"2025-09-20 A out 0.5 ETH = 70.00 : WITHDRAWAL against B",
	} {
		each(t, "ifrs impairment", func(w *world) {
			_, first := w.Transact("2025-09-08 A in 1 ETH = 200.00 : DEPOSIT against 3010")
			w.book("2025-09-10 B in 1 ETH = 50.00 : DEPOSIT against 3010", "2025-09 revalue at 100")
			w.closeThrough("2025-09")
			check := func(when string) {
				w.Helper()
				if got, want := w.positions("2025-09"), "1 cost 200 less 100 = 100, 1 cost 50 less 0 = 50"; got != want {
					w.Errorf("%s, %s: %s, want %s", late, when, got, want)
				}
			}
			check("closed")
			if late == reversal {
				_, err := w.Journal.Reverse(w.Ctx, first, journal.ReverseParams{AccountingDate: "2025-10-10"})
				w.Must(err)
			} else {
				w.book(late)
			}
			check("after the late event")
			w.book("2025-10 revalue at 100")
			check("after the next run")
		})
	}
}

// A month that is reopened shows what its lots have now, and closes with that: what an earlier closing kept does not count any more.
func TestClosingPositionsOfAReopenedMonthFollowItsBooksAndAreKeptAgain(t *testing.T) {
	t.Parallel()
	each(t, "ifrs impairment", func(w *world) {
		check := func(when, want string) {
			w.Helper()
			if got := w.positions("2025-09"); got != want {
				w.Errorf("%s: %s, want %s", when, got, want)
			}
		}
		w.book("2025-09-08 A in 1 ETH = 200.00 : DEPOSIT against 3010", "2025-09-10 B in 1 ETH = 50.00 : DEPOSIT against 3010",
			"2025-09 revalue at 100")
		w.closeThrough("2025-09")
		check("closed", "1 cost 200 less 100 = 100, 1 cost 50 less 0 = 50")
		_, err := period.NewService(w.DB).Reopen(w.Ctx, w.Period("2025-09").ID, period.ReopenParams{Reason: "a transfer was missing"})
		w.Must(err)
		w.closed = ""
		check("reopened", "1 cost 200 less 100 = 100, 1 cost 50 less 0 = 50")
		w.book("2025-09-20 A out 0.5 ETH = 70.00 : WITHDRAWAL against B", "2025-09-21 A in 1 ETH = 140.00 : DEPOSIT against 3010")
		w.revalue("2025-09", "")
		const again = "1.5 cost 150 less 50 = 100, 1.5 cost 240 less 90 = 150"
		check("changed", again)
		w.closeThrough("2025-09")
		check("closed again", again)
		w.book("2025-09-22 A out 1 ETH = 120.00 : WITHDRAWAL against B", "2025-10 revalue at 100")
		check("after a late event", again)
	})
}
