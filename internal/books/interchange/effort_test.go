package interchange_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// An import that creates accounts cannot take the chart from memory. Its entries are still described for events with one copy of it.
func TestTheChartIsReadAsOftenForAnImportOfManyEntriesAsOfOne(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		var ran bytes.Buffer
		c.Log, c.SlowStatement = slog.New(slog.NewTextHandler(&ran, nil)), 1 // every statement is logged
		s := apitest.StartOn(t, dbtest.Open(t, c))
		reads := func(entries int) int {
			w := newWorld(t, s, "UTC", company{"Acme", "USD"})
			var journal strings.Builder
			for day := range entries {
				fmt.Fprintf(&journal, "2025-01-%02d x\n  Expenses:Food  1 USD\n  Assets:Cash\n\n", day+1)
			}
			ran.Reset()
			w.importText(notation.Hledger, journal.String())
			return strings.Count(ran.String(), "FROM ledger_accounts")
		}
		if one, many := reads(1), reads(30); many != one {
			t.Errorf("the chart was read %d times for one entry, and %d times for thirty", one, many)
		}
	})
}
