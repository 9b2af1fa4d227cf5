package interchange_test

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/books/interchange"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

var exportAll = interchange.ExportParams{}

// way is a way to transfer books from one organization to another.
type way struct {
	name        string
	format      notation.Format
	through     []string // a program that reads and rewrites the journal
	entriesOnly bool     // the program drops the chart and the rates
	rowsOnly    bool     // only what is on rows of entries is transferred
	unordered   bool     // the lines of an entry change their order
}

var ways = []way{
	{name: "hledger", format: notation.Hledger},
	{name: "hledger print", format: notation.Hledger, through: []string{"hledger", "-f", "FILE", "print"}, entriesOnly: true},
	{name: "hledger print -x", format: notation.Hledger, through: []string{"hledger", "-f", "FILE", "print", "-x"}, entriesOnly: true},
	{name: "beancount", format: notation.Beancount},
	{name: "bean-report print", format: notation.Beancount, through: []string{"bean-report", "FILE", "print"}, unordered: true},
	{name: "csv", format: notation.CSV, rowsOnly: true},
}

// roundTrip exports the books, imports them into an empty organization and compares everything.
func roundTrip(t rapid.TB, w *world, only ...string) {
	t.Helper()
	for _, y := range ways {
		if len(only) > 0 && only[0] != y.name {
			continue
		}
		text := w.export(y.format, interchange.ExportParams{})
		if y.through != nil {
			text = run(t, text, y.through[0], y.through[1:]...)
		}
		there := w.emptyCopy(t)
		done := there.importText(y.format, text)
		got, want := there.content(y.entriesOnly), w.content(y.entriesOnly)
		if y.rowsOnly {
			got.rates, want.rates, got.accounts, want.accounts = nil, nil, nil, nil
		}
		if y.unordered {
			sortLines(got.entries)
			sortLines(want.entries)
			for _, part := range [][]string{got.entries, want.entries, got.statements, want.statements} {
				for i, line := range part {
					part[i] = endless.ReplaceAllStringFunc(line, rounded)
				}
			}
		}
		same(t, y.name, got, want)
		if done.Entries != len(want.entries) || done.Known+done.Empty+done.Moved != 0 {
			t.Errorf("%s: it says %+v of %d entries", y.name, done, len(want.entries))
		}
	}
}

// endless matches a quotient of a total and its units, which beancount computes with 28 digits and multiplies again.
var endless = regexp.MustCompile(`[0-9]+\.[0-9]{13,}`)

func rounded(number string) string {
	r, _ := new(big.Rat).SetString(number)
	return strings.TrimSuffix(strings.TrimRight(r.FloatString(12), "0"), ".")
}

// sortLines sorts the lines of each entry, because beancount groups them by currency.
func sortLines(entries []string) {
	for i, e := range entries {
		lines := strings.Split(e, "\n")
		slices.Sort(lines[1:])
		entries[i] = strings.Join(lines, "\n")
	}
}

func TestTwoYearsOfBooksComeBackTheSame(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		roundTrip(t, twoYears(t, s))
	})
}
