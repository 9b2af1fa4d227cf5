package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestAFileOfPricesIsCheckedInADryRunAndThenImportedOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		b := withSource(t, c)
		prices := func(lines string) string {
			file := filepath.Join(t.TempDir(), "prices.csv")
			if err := os.WriteFile(file, []byte("asset_type,currency,date,price\n"+lines), 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}
		run := func(args ...string) result { return inside(on(c, append([]string{"import", "prices"}, args...)...)...) }
		file := prices("BTC,USD,2026-01-31,64250.12\nETH,USD,2026-01-31,2450\n")
		for _, step := range []struct {
			args []string
			want string
		}{
			{[]string{file, "--dry-run"}, "Would import 2 prices.\nNothing was changed.\n"},
			{[]string{file}, "Imported 2 prices.\n"},
			{[]string{file}, "Imported 0 prices; 2 prices already present.\n"},
			{[]string{prices("BTC,USD,2026-01-31,64000\nBTC,USD,2026-02-01,1\n"), "--replace"}, "Imported 1 price; 1 price replaced.\n"},
		} {
			if got := run(step.args...).mustDo(t).out; got != step.want {
				t.Errorf("%v: %q, want %q", step.args, got, step.want)
			}
		}
		workbook := filepath.Join(t.TempDir(), "prices.xlsx")
		if err := os.WriteFile(workbook, []byte("PK\x03\x04\x14\x00\x06\x00"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			args  []string
			wants []string
		}{
			{[]string{prices("BTC,USD,2026-01-31,1\n")}, []string{"line 2, price is 1, but the stored price pri_", "is 64000"}},
			{[]string{prices("BTC,USD,x,1\nBTC,usd,2026-01-31,0\n")}, []string{
				"line 2, date must be a time such as 2026-01-31T23:59:59Z or a date such as 2026-01-31; the cell contains \"x\"\n",
				"line 3, currency must be an ISO 4217 currency such as USD; the cell contains \"usd\"",
				"line 3, price must be more than 0; the cell contains \"0\""}},
			{[]string{prices("BTC,USD,,1\n")}, []string{"line 2, date must be", "the cell is empty"}},
			{[]string{prices("")}, []string{"has no prices"}},
			{[]string{"there-is-no-such-file.csv"}, []string{"there-is-no-such-file.csv"}},
			{[]string{workbook}, []string{"is an Excel workbook", "save the sheet as CSV"}},
			{[]string{}, []string{"bursar import prices needs one argument, FILE"}},
			{[]string{"a.csv", "b.csv"}, []string{"bursar import prices takes one argument, FILE, but got 2: a.csv b.csv"}},
		} {
			r := run(c.args...)
			for _, want := range c.wants {
				if r.code == 0 || !strings.Contains(r.err, want) {
					t.Errorf("%v: %d %q does not say %q", c.args, r.code, r.err, want)
				}
			}
		}
		found, err := b.Prices.List(b.ctx, price.Filter{}, page.Request{Limit: 10})
		if err != nil || len(found.Items) != 3 {
			t.Errorf("%+v %v", found, err)
		}
		b.verify(t)
	})
}

func TestImportPricesExplainsItself(t *testing.T) {
	t.Parallel()
	help := inside("import", "prices", "--help").mustDo(t).out
	for _, text := range []string{"bursar import prices prices.csv --dry-run", "--replace", "asset_type,currency,date,price",
		"close of that day"} {
		if !strings.Contains(help, text) {
			t.Errorf("the help does not say %q:\n%s", text, help)
		}
	}
}
