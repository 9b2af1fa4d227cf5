package price_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// bring reads a file and imports it; counts are what was created, is a duplicate and was replaced.
func (w *world) bring(text string, p price.ImportParams) (counts string, err error) {
	f, err := price.ReadFile(strings.NewReader(text))
	if err != nil {
		return "", err
	}
	done, err := w.Import(w.ctx, f, p)
	return fmt.Sprint(done.Created, " ", done.Duplicates, " ", done.Replaced), err
}

const header = "asset_type,currency,date,price\n"

func TestAFileOfPricesIsImportedOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		file := "\ufeff Price , CURRENCY,asset_type,Timestamp,note\r\n64250.12,USD, BTC ,2026-01-31,\"Kraken, " +
			"last\"\r\n,,,,\r\n2450,USD,ETH,2026-01-31T12:00:00+01:00,\r\n\r\n2450.0,USD,ETH,2026-01-31T11:00:00Z,\r\n"
		all := []string{"BTC USD 2026-02-01T04:59:59.999Z 64250.12 import", "ETH USD 2026-01-31T11:00:00.000Z 2450 import"}
		before := w.records()
		for _, c := range []struct {
			dry  bool
			want string
			kept []string
		}{{true, "2 1 0", []string{}}, {false, "2 1 0", all}, {true, "0 3 0", all}, {false, "0 3 0", all}} {
			counts, err := w.bring(file, price.ImportParams{Dry: c.dry})
			if err != nil || counts != c.want {
				t.Errorf("dry %v: %s %v, want %s", c.dry, counts, err, c.want)
			}
			if got := w.all(price.Filter{}); !slices.Equal(got, c.kept) {
				t.Errorf("%q, want %q", got, c.kept)
			}
		}
		if got := w.records() - before; got != 2 {
			t.Errorf("%d records of 2 prices", got)
		}
	})
}

func TestAnotherPriceOfAnInstantIsAFaultUnlessItReplaces(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		made := w.put("BTC USD 2026-01-31 3", "ETH USD 2026-01-31 4")
		if _, err := w.Update(w.ctx, made[0].ID, price.UpdateParams{Note: new("Kraken")}); err != nil {
			t.Fatal(err)
		}
		file := header + "BTC,USD,2026-01-31,5\nETH,USD,2026-01-31,4\nSOL,USD,2026-01-31,6\n"
		before := w.records()
		for _, dry := range []bool{true, false} {
			_, err := w.bring(file, price.ImportParams{Dry: dry})
			if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "file, line 2, price is 5, but the stored price "+
				made[0].ID+" is 3") || strings.Contains(err.Error(), "line 3") {
				t.Errorf("%v", err)
			}
		}
		if counts, err := w.bring(file, price.ImportParams{Dry: true, Replace: true}); err != nil || counts != "1 1 1" || w.records() != before {
			t.Errorf("%s %v", counts, err)
		}
		counts, err := w.bring(file, price.ImportParams{Replace: true})
		if got := w.all(price.Filter{}); err != nil || counts != "1 1 1" || w.records() != before+2 || !slices.Equal(got, []string{
			"SOL USD 2026-02-01T04:59:59.999Z 6 import", "ETH USD 2026-02-01T04:59:59.999Z 4 manual",
			"BTC USD 2026-02-01T04:59:59.999Z 5 import again"}) {
			t.Errorf("%s %v %q", counts, err, got)
		}
		if kept, err := w.Get(w.ctx, made[0].ID); err != nil || kept.Value.String() != "5" || kept.Note != "Kraken" {
			t.Errorf("%+v %v: it lost its id or its note", kept, err)
		}
	})
}

func TestEveryFaultyLineIsNamedByItsNumber(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.put("BTC USD 2026-01-31 3")
		before := w.records()
		file := header +
			"ETH,USD,2026-01-31,1\n" +
			"BTC,USD,2026-01-31,4\n" + // another is there
			"ETH,USD,2026-01-31,2\n" + // line 2 says otherwise
			"SOL,USD\n" +
			"\n" +
			",usd,31.1.2026,0\n" +
			"x\"y,USD,2026-01-31,1\n" +
			"\"two\nlines\",USD,2026-01-31,1,000\n" +
			"SOL,USD,2026-01-31,1e3\n"
		_, err := w.bring(file, price.ImportParams{})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid {
			t.Fatal(err)
		}
		var got []string
		for _, field := range f.Fields {
			got = append(got, field.Name)
		}
		if want := []string{
			"file, line 3, price", "file, line 4, price", "file, line 5", "file, line 7, date", "file, line 7, asset_type",
			"file, line 7, currency", "file, line 7, price", "file, line 8", "file, line 9", "file, line 11, price",
		}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q\n%v", got, want, err)
		}
		if len(w.all(price.Filter{})) != 1 || w.records() != before {
			t.Error("something was imported")
		}
		_, err = w.bring(header+strings.Repeat("BTC,USD,x,1\n", price.FaultsMax+7), price.ImportParams{Dry: true})
		if !errors.As(err, &f) || len(f.Fields) != price.FaultsMax+1 ||
			f.Fields[price.FaultsMax] != (fault.Field{Name: "file", Message: "has 7 more faults"}) {
			t.Errorf("%v", f.Fields[len(f.Fields)-1])
		}
	})
}

func TestAFileThatIsNoneOfPricesIsRefused(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"": "file is empty", header: "file has no prices",
		"BTC,USD,2026-01-31,1\n":                     `file, line 1 names the unknown column "btc"; the columns are`,
		"asset_type,currency,price\n":                "must name one of the columns timestamp and date",
		"asset_type,currency,date,timestamp,price\n": "must name one of the columns timestamp and date",
		"asset_type,currency,date,price,price\n":     "file, line 1 names the column price twice",
		"date,price\n": "must name the column asset_type; file, line 1 must name the " +
			"column currency",
		"\"asset_type\n": "file, line 1 cannot be parsed as CSV",
		header + strings.Repeat("BTC,USD,x,1\n", price.LinesMax+1):     "must have at most 25000 prices",
		header + strings.Repeat(" ", price.FileMax):                    "and 8 MiB",
		header + "BTC,USD,x,1\n" + strings.Repeat("\n", price.FileMax): "and 8 MiB",
	} {
		if _, err := price.ReadFile(strings.NewReader(text)); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: %.300v does not say %s", text, err, says)
		}
	}
	if _, err := price.ReadFile(strings.NewReader(header + strings.Repeat("BTC,USD,x,1\n", price.LinesMax))); err != nil {
		t.Errorf("as many as may be: %v", err)
	}
}
