package realized_test

import (
	"fmt"
	"testing"
)

// The schedule, the report and the ledger agree after every step, also while the revaluation of an open month is out of date: a disposal
// that was booked since has no correction yet.
func TestBookGainsEqualTheLedgerWhileARevaluationIsOutOfDate(t *testing.T) {
	t.Parallel()
	var table cases
	const buy, sell = " A in 10 ETH = 10000.00 : DEPOSIT against 3010", " : SWAP against Bank"
	for _, c := range []struct {
		policy, method string
		steps          []string
		want           string // of the open month, at the end
	}{
		// Sold for 1100 what cost 1000 and is carried at 1500: booked against cost until the next run.
		{"ifrs fair_value", "fifo", []string{"2025-10-02" + buy, "2025-10 revalue at 1500", "close 2025-10", "2025-11 revalue at 1400",
			"2025-10-20 A out 1 ETH = 1100.00" + sell}, "tax 100, book 100: 100"},
		{"ifrs fair_value", "fifo", []string{"2025-10-02" + buy, "2025-10 revalue at 1500", "close 2025-10", "2025-11 revalue at 1400",
			"2025-10-20 A out 1 ETH = 1100.00" + sell, "2025-11 again"}, "tax 100, book -400: -400"},
		// One sale before the run, and one after it.
		{"ifrs fair_value", "fifo", []string{"2025-10-02" + buy, "2025-10 revalue at 1500", "close 2025-10",
			"2025-11-05 A out 1 ETH = 1600.00" + sell, "2025-11 revalue at 1400", "2025-11-06 A out 2 ETH = 3300.00" + sell},
			"tax 1900, book 1400: 100 1300"},
		{"ifrs fair_value", "weighted_average", []string{"2025-10-02" + buy, "2025-10-03 A in 5 ETH = 8000.00 : DEPOSIT against 3010",
			"2025-10 revalue at 1500", "close 2025-10", "2025-11-05 A out 3 ETH = 4700.00" + sell, "2025-11 revalue at 1400",
			"2025-11-06 A out 2 ETH = 3300.00" + sell, "2025-10-20 A out 1 ETH = 1100.00" + sell}, ""},
		{"us_gaap impairment", "fifo", []string{"2025-10-02" + buy, "2025-10 revalue at 600", "close 2025-10",
			"2025-11-05 A out 1 ETH = 700.00" + sell, "2025-11 revalue at 500", "2025-11-06 A out 2 ETH = 1300.00" + sell},
			"tax -1000, book -600: -700 100"},
		{"ifrs impairment", "weighted_average", []string{"2025-10-02" + buy, "2025-10 revalue at 600", "close 2025-10",
			"2025-11-05 A out 1 ETH = 700.00" + sell, "2025-11 revalue at 700", "2025-10-21 A out 2 ETH = 1300.00" + sell}, ""},
		// At fair value nothing is corrected.
		{"us_gaap fair_value", "fifo", []string{"2025-10-02" + buy, "2025-10 revalue at 1500", "close 2025-10", "2025-11 revalue at 1400",
			"2025-10-20 A out 1 ETH = 1100.00" + sell}, "tax 100, book 100: 100"},
		// A part was moved, before the run or after it.
		{"ifrs fair_value", "fifo", []string{"2025-10-02" + buy, "2025-10 revalue at 1500", "close 2025-10",
			"2025-11-03 A out 4 ETH = 6000.00 : WITHDRAWAL against B", "2025-11-05 B out 1 ETH = 1600.00" + sell, "2025-11 revalue at 1400",
			"2025-11-06 B out 2 ETH = 3300.00" + sell, "2025-11-07 A out 3 ETH = 4800.00 : WITHDRAWAL against B",
			"2025-11-08 B out 4 ETH = 6400.00" + sell}, ""},
		// A late deposit replaces what the sale of the open month consumed: the correction of the run stands until the next one.
		{"ifrs fair_value", "fifo", []string{"2025-10-12" + buy, "2025-10 revalue at 1500", "close 2025-10",
			"2025-11-05 A out 1 ETH = 1600.00" + sell, "2025-11 revalue at 1400", "2025-10-02 A in 1 ETH = 900.00 : DEPOSIT against 3010"},
			"tax 700, book 200: 200"},
		{"us_gaap impairment", "fifo", []string{"2025-10-12" + buy, "2025-10 revalue at 600", "close 2025-10",
			"2025-11-05 A out 1 ETH = 1600.00" + sell, "2025-11 revalue at 500", "2025-10-02 A in 0.5 ETH = 900.00 : DEPOSIT against 3010",
			"2025-11-06 A out 1 ETH = 1600.00" + sell}, ""},
	} {
		table.each(t, c.policy, func(w *world) {
			w.choose("source", c.method)
			for n, step := range c.steps {
				w.step(step)
				what := fmt.Sprintf("%s, %s, step %d: %s", c.policy, c.method, n+1, step)
				w.agree(what, "2025-10")
				w.agree(what, "2025-11")
			}
			if c.want != "" {
				w.want("2025-11", c.want)
			}
		})
	}
}

// The correction of a run stands until the next one, also if a disposal that it released something for is withdrawn: the other disposals of
// the month show it meanwhile.
func TestBookGainsEqualTheLedgerWhenADisposalIsWithdrawnAfterTheRevaluation(t *testing.T) {
	t.Parallel()
	each(t, "ifrs fair_value", func(w *world) {
		w.book("2025-10-02 A in 10 ETH = 10000.00 : DEPOSIT against 3010", "2025-10 revalue at 1500",
			"2025-11-05 A out 1 ETH = 1600.00 : SWAP against Bank")
		_, entry := w.Transact("2025-11-06 A out 2 ETH = 3300.00 : SWAP against Bank")
		w.book("2025-11 revalue at 1400")
		w.want("2025-11", "tax 1900, book 400: 100 300")
		_, err := w.Journal.Unpost(w.Ctx, entry)
		w.Must(err)
		w.want("2025-11", "tax 600, book -900: -900")
		w.revalue("2025-11", "")
		w.want("2025-11", "tax 600, book 100: 100")
	})
}

// step books a line, closes a month ("close 2025-10"), or revalues it once more ("2025-11 again").
func (w *world) step(line string) {
	w.Helper()
	var month string
	switch {
	case scan(line, "close %s", &month):
		w.closeThrough(month)
	case len(line) > len("2025-11 ") && line[len("2025-11 "):] == "again":
		w.revalue(line[:len("2025-11")], "")
	default:
		w.book(line)
	}
}

func scan(line, format string, value *string) bool {
	n, err := fmt.Sscanf(line, format, value)
	return n == 1 && err == nil
}
