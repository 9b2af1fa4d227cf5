package imports_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

func TestEachLayoutIsImportedCompletelyAndOnce(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../rules/intake/testdata/*.[cjo][sf]*")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, path := range files {
			if strings.HasSuffix(path, ".golden") {
				continue
			}
			t.Run(filepath.Base(path), func(t *testing.T) {
				content, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				c := newCompany(t, d)
				c.SetBatch(5)
				want, rows := recordsOf(t, path, content)
				i := c.createImport(t, filepath.Base(path), string(content), nil)
				first := c.run(t, i.ID)
				if first.Status != imports.Completed || first.Counts.Created != int64(len(want)) || first.Counts.Duplicates != 0 ||
					first.Counts.Rows != rows || first.Percent() != 100 {
					t.Errorf("%+v, want %d transactions of %d rows", first, len(want), rows)
				}
				got := c.transactions(t)
				if ids := numbered(got); !slices.Equal(ids, want) {
					t.Errorf("%v, want %v", ids, want)
				}
				again := c.run(t, c.createImport(t, "copy of "+filepath.Base(path), string(content), nil).ID)
				if again.Counts.Created != 0 || again.Counts.Duplicates != int64(len(want)) || !slices.Equal(c.transactions(t), got) {
					t.Errorf("again: %+v", again.Counts)
				}
				if n := c.count(t, "import_chunks"); n != 0 {
					t.Errorf("%d pieces of files that were read are left", n)
				}
			})
		}
	})
}

// recordsOf reads a file independently of the code under test.
func recordsOf(t *testing.T, path string, content []byte) (ids []string, rows int64) {
	t.Helper()
	in, err := intake.Open(strings.NewReader(string(content)), intake.Options{Name: path, OwnAddresses: []string{wallet}})
	if err != nil {
		t.Fatal(err)
	}
	for {
		row, err := in.Next()
		if err != nil {
			slices.Sort(ids)
			return ids, rows
		}
		rows++
		for _, r := range row.Records {
			ids = append(ids, strings.Split(r.ExternalID, " ")[0])
		}
	}
}

func TestOddFilesAreImportedCorrectlyOrTheRowIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content string
		mapping *intake.Mapping
		want    []string
		faults  []string
	}{
		"a mark, returns and quotes": {content: "\ufeffID,Date,Description,Amount,Currency\r\n1,2026-01-31,\"Müller & \"\"Söhne\"\", " +
			"日本\",\"-1,200.50\",USD\r\n",
			want: []string{`1 2026-01-31T00:00:00Z debit 1200.5 USD "Müller & \"Söhne\", 日本"`}},
		"a line break in a cell": {content: header + "1,2026-01-31,\"two\nlines\",5,USD\n2,2026-02-13,x,-6,USD\n",
			want: []string{"1 2026-01-31T00:00:00Z credit 5 USD \"two\\nlines\"", `2 2026-02-13T00:00:00Z debit 6 USD "x"`}},
		"European decimals and dates": {content: "Buchungstag;Verwendungszweck;Betrag;Währung\n31.01.2026;Miete;-1.234,56;EUR\n01.02.2026;Zahlung;99,00;EUR\n",
			want: []string{`2026-01-31T00:00:00Z debit 1234.56 EUR "Miete"`, `2026-02-01T00:00:00Z credit 99 EUR "Zahlung"`}},
		"rows that cannot be read": {content: header +
			"1,2026-01-31,x,5,USD\n2,2026-13-31,x,6,USD\n3,2026-01-31,x,five,USD\n4,2026-01-31,x\n5,1969-01-31,x,-7,USD\n",
			mapping: plain,
			want:    []string{`1 2026-01-31T00:00:00Z credit 5 USD "x"`},
			faults:  []string{"3 Date", "4 Amount", "5 ", "6 Date"}},
		"a description that is too long": {content: header + "1,2026-01-31," + strings.Repeat("é", 2001) + ",-5,USD\n2,2026-01-31," +
			strings.Repeat("é", 2000) + ",-5,USD\n",
			want: []string{`2 2026-01-31T00:00:00Z debit 5 USD "` + strings.Repeat("é", 2000) + `"`}, faults: []string{"2 Description"}},
		"a value that does not add up": {content: "ID,Date,Amount,Currency,Gross,Fee value,Net " +
			"value\n1,2026-01-31,-5,BTC,100,1,98\n2,2026-01-31,-5,BTC,100,1,99\n",
			mapping: &intake.Mapping{ValueCurrency: "USD", Columns: map[intake.Field]string{"id": "ID", "timestamp": "Date",
				"amount": "Amount", "currency": "Currency", "value_gross": "Gross", "value_fee": "Fee value", "value_net": "Net value"}},
			want: []string{`2 2026-01-31T00:00:00Z debit 5 BTC ""`}, faults: []string{"2 "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				co := newCompany(t, d)
				i := co.run(t, co.createImport(t, "odd.csv", c.content, c.mapping).ID)
				var got []string
				for _, line := range co.transactions(t) {
					if strings.Contains(name, "European") { // it has no ids of its own
						_, line, _ = strings.Cut(line, " ")
					}
					got = append(got, line)
				}
				slices.Sort(got)
				if !slices.Equal(got, c.want) {
					t.Errorf("got  %q\nwant %q", got, c.want)
				}
				_, faults, err := co.Get(co.ctx, i.ID)
				var blamed []string
				for _, f := range faults {
					blamed = append(blamed, fmt.Sprint(f.Line, " ", f.Column))
				}
				if err != nil || len(faults) != len(c.faults) || i.Counts.Faulty != int64(len(c.faults)) || i.Status != imports.Completed {
					t.Fatalf("%+v %v %v", i, faults, err)
				}
				for n := range blamed {
					if !strings.HasPrefix(blamed[n], c.faults[n]) {
						t.Errorf("blamed %q, want %q", blamed, c.faults)
					}
				}
			})
		})
	}
}

func TestFaultsAreKeptUpToALimitAndAllCounted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newCompany(t, d)
		const rows = imports.FaultsKept + 1500
		content := statement(0, 10) + strings.Repeat("x,2026-01-31,x,nothing,USD\n", rows)
		i := c.run(t, c.createImport(t, "bad.csv", content, plain).ID)
		if i.Status != imports.Completed || i.Counts.Created != 10 || i.Counts.Faulty != rows || i.Counts.Rows != rows+10 {
			t.Errorf("%+v", i)
		}
		got, faults, err := c.Get(c.ctx, i.ID)
		if err != nil || len(faults) != imports.FaultsShown || faults[0].Line != 12 || faults[0].Column != "Amount" ||
			faults[0].Message == "" || got.Counts != i.Counts {
			t.Errorf("%v %v", faults[:1], err)
		}
		listed, p := 0, page.Request{Limit: 100}
		for {
			next, err := c.Faults(c.ctx, i.ID, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range next.Items {
				if listed++; f.Position != int64(listed) || f.Line != 11+listed {
					t.Fatalf("%+v at %d", f, listed)
				}
			}
			if p.Cursor = next.NextCursor; !next.HasMore {
				break
			}
		}
		if listed != imports.FaultsKept {
			t.Errorf("%d are kept", listed)
		}
	})
}

func TestAMappingThatCannotBeGuessedIsAskedFor(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newCompany(t, d)
		for _, x := range []struct {
			name, content string
			p             imports.Params
			field         string
			says          []string
		}{
			{"no currency", "Date,Amount\n2026-01-31,-5.00\n2026-01-31,5.00\n", imports.Params{}, "mapping",
				[]string{"state currency", `"Date", "Amount"`}},
			{"day or month", "Date,Amount,Currency\n01/02/2026,-5.00,USD\n02/03/2026,1.00,USD\n", imports.Params{}, "mapping",
				[]string{"date_layouts"}},
			{"nothing known", "a,b\nx,y\n", imports.Params{}, "mapping", []string{`"a", "b"`}},
			{"empty", "", imports.Params{}, "file", nil},
			{"another preset", statement(0, 2), imports.Params{Preset: "kraken"}, "mapping.preset", nil},
			{"no preset", statement(0, 2), imports.Params{Preset: "bank of nowhere"}, "preset", []string{"kraken"}},
			{"two presets", statement(0, 2), imports.Params{Preset: "kraken", Mapping: &intake.Mapping{Preset: "binance"}}, "preset", nil},
			{"no format", statement(0, 2), imports.Params{Format: "xls"}, "format", nil},
			{"no such column", statement(0, 2), imports.Params{Mapping: &intake.Mapping{Currency: "USD",
				Columns: map[intake.Field]string{"timestamp": "Date", "amount": "Betrag"}}}, "mapping.columns.amount", nil},
		} {
			x.p.SourceID, x.p.FileName = c.source.ID, "x.csv"
			_, err := c.Prepare(c.ctx, x.p, strings.NewReader(x.content), false)
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Invalid || len(f.Fields) != 1 || f.Fields[0].Name != x.field {
				t.Errorf("%s: %v", x.name, err)
				continue
			}
			for _, text := range x.says {
				if !strings.Contains(f.Fields[0].Message, text) {
					t.Errorf("%s does not say %s: %v", x.name, text, err)
				}
			}
		}
		_, err := c.Prepare(c.ctx, imports.Params{SourceID: "src_none", FileName: "x"}, strings.NewReader(statement(0, 2)), false)
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("no source: %v", err)
		}
		// Stating a part of the mapping is enough, and the source provides its currency.
		stated := &intake.Mapping{DateLayouts: []string{"DD/MM/YYYY"}}
		i := c.run(t, c.createImport(t, "x.csv", "Date,Amount,Currency\n01/02/2026,-5.00,USD\n02/03/2026,1.00,USD\n", stated).ID)
		if i.Counts.Created != 2 || !strings.Contains(c.transactions(t)[0]+c.transactions(t)[1], "2026-02-01") {
			t.Errorf("%+v %v", i, c.transactions(t))
		}
		euros := *c
		euros.source.ID, euros.source.AccountID, euros.source.Currency = "src_2", "", "EUR"
		euros.newSource(t, euros.source)
		if i := euros.run(t, euros.createImport(t, "x.csv", "Date,Amount\n2026-01-31,-5.00\n2026-01-31,5.00\n",
			nil).ID); i.Counts.Created != 2 || i.Mapping.Currency != "EUR" {
			t.Errorf("%+v", i)
		}
	})
}

func TestAPreviewSaysWhatWouldHappenAndWritesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newCompany(t, d)
		c.run(t, c.createImport(t, "x.csv", statement(0, 5), nil).ID)
		content := statement(0, 40) + "bad,2026-02-31,x,1,USD\n"
		file := strings.NewReader(content)
		draft, err := c.Prepare(c.ctx, imports.Params{SourceID: c.source.AccountID, FileName: "x.csv"}, file, true)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Preview(c.ctx, draft, file, nil)
		if err != nil || p.Counts != (imports.Counts{Rows: 41, Created: 35, Duplicates: 5, Faulty: 1, Faults: 1}) || len(p.Rows) != 20 ||
			len(p.Faults) != 1 || p.Faults[0].Line != 42 {
			t.Errorf("%+v %v", p, err)
		}
		for n, r := range p.Rows {
			if r.Line != n+2 || r.Duplicate != (n < 5) || r.ExternalID != fmt.Sprintf("T%05d", n) {
				t.Errorf("%+v at %d", r, n)
			}
		}
		if len(p.Reasons) == 0 || p.Mapping.Columns[intake.FieldAmount] != "Amount" || p.Mapping.Format != intake.CSV {
			t.Errorf("%+v", p.Layout)
		}
		// Undecided questions are reported, and do not prevent a preview.
		open := strings.NewReader("Date,Amount,Currency\n01/02/2026,-5.00,USD\n02/03/2026,1.00,USD\n")
		draft, err = c.Prepare(c.ctx, imports.Params{SourceID: c.source.ID, FileName: "x.csv"}, open, true)
		if err != nil || len(draft.Undecided) != 1 {
			t.Errorf("%+v %v", draft.Undecided, err)
		}
		// They are also reported for a known layout, although none must be answered.
		binance, err := os.ReadFile("../../rules/intake/testdata/binance.csv")
		if err != nil {
			t.Fatal(err)
		}
		renamed := strings.Replace(string(binance), "UTC_Time", "Time", 1)
		for _, dry := range []bool{true, false} {
			draft, err = c.Prepare(c.ctx, imports.Params{SourceID: c.source.ID, FileName: "binance.csv"}, strings.NewReader(renamed), dry)
			if err != nil || draft.Mapping.Preset != "binance" || len(draft.Reasons) == 0 || len(draft.Undecided) != 1 {
				t.Errorf("%+v %v", draft.Layout, err)
			}
		}
		if n := c.count(t, "imports"); n != 1 {
			t.Errorf("%d imports", n)
		}
		c.hasAll(t, 5)
	})
}

func TestAnImportIsOfItsSourcesLegalEntity(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newCompany(t, d)
		i := c.createImport(t, "x.csv", statement(0, 2), nil)
		limited := func(entity string) context.Context {
			return actor.With(c.ctx, actor.Actor{OrganizationID: c.org.Organization.ID, LegalEntityIDs: []string{entity}})
		}
		for entity, seen := range map[string]bool{c.org.LegalEntity.ID: true, "le_other": false} {
			ctx := limited(entity)
			_, _, get := c.Get(ctx, i.ID)
			_, faults := c.Faults(ctx, i.ID, page.Request{Limit: 10})
			all, err := c.List(ctx, imports.Filter{}, page.Request{Limit: 10})
			_, prepare := c.Prepare(ctx, imports.Params{SourceID: c.source.ID}, strings.NewReader(statement(0, 2)), false)
			if err != nil || (len(all.Items) == 1) != seen || (get == nil) != seen || (faults == nil) != seen || (prepare == nil) != seen {
				t.Errorf("%s: %v %v %v %v %v", entity, all.Items, get, faults, prepare, err)
			}
			for _, err := range []error{get, faults, prepare} {
				if !seen && fault.KindOf(err) != fault.NotFound {
					t.Error(err)
				}
			}
		}
	})
}

func TestAnImportNamesTheRowsWhoseBalanceDoesNotFollow(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		co := newCompany(t, d)
		content := "txid,refid,time,type,subtype,aclass,asset,wallet,amount,fee,balance\n" +
			"A,A,2025-05-01 08:00:00,deposit,,currency,USDT,spot,100,10.87,89.13\n" +
			"B,B,2025-05-02 08:00:00,withdrawal,,currency,USDT,spot,-80,0.32,8.81\n" +
			"C,C,2025-05-03 08:00:00,withdrawal,,currency,USDT,spot,-8,0,0.80\n"
		i := co.run(t, co.createImport(t, "ledgers.csv", content, nil).ID)
		stored, _, err := co.Get(co.ctx, i.ID)
		if err != nil || stored.Counts.Warnings != 1 || len(stored.Warnings) != 1 || stored.Warnings[0].Line != 4 ||
			!strings.Contains(stored.Warnings[0].Message, "states a balance of 0.8 USDT, but its rows yield 0.81") || stored.Counts.Created != 3 {
			t.Errorf("%+v %v", stored, err)
		}
		file := strings.NewReader(content)
		draft, err := co.Prepare(co.ctx, imports.Params{SourceID: co.source.ID, FileName: "ledgers.csv"}, file, true)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := co.Preview(co.ctx, draft, file, nil); err != nil || p.Counts.Warnings != 1 || len(p.Warnings) != 1 {
			t.Errorf("preview: %+v %v", p, err)
		}
		wallet := co.newSource(t, source.Source{ID: "src_w", AccountID: "wal_w", Type: source.Wallet})
		draft, err = co.Prepare(co.ctx, imports.Params{SourceID: wallet.ID, FileName: "bank.csv"},
			strings.NewReader(header+"1,2026-01-31,x,5,USD\n"), true)
		if err != nil {
			t.Fatal(err)
		}
		p, err := co.Preview(co.ctx, draft, strings.NewReader(header+"1,2026-01-31,x,5,USD\n"), nil)
		if err != nil || p.Counts.Created != 0 || len(p.Faults) != 1 ||
			!strings.Contains(p.Faults[0].Message, "a wallet, which cannot hold USD") {
			t.Errorf("money in a wallet: %+v %v", p, err)
		}
	})
}
