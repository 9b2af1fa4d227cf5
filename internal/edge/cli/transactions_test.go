package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// books is an organization with a bank account, which the test reads through the services.
type books struct {
	*app.App
	ctx    context.Context
	config db.Config
	founded
	source string
}

func withSource(t *testing.T, c db.Config) books {
	t.Helper()
	f := found(t, c)
	a := app.New(dbtest.Open(t, c), nil)
	b := books{App: a, ctx: actor.With(t.Context(), actor.Actor{OrganizationID: f.OrganizationID}), config: c, founded: f, source: ""}
	made, err := a.Sources.Create(b.ctx, source.CreateParams{Type: source.Bank, Name: "Checking", LegalEntityID: f.LegalEntityID})
	if err != nil {
		t.Fatal(err)
	}
	b.source = made.ID
	return b
}

// count returns the number of transactions, which must all be different and valid.
func (b books) count(t *testing.T) int64 {
	t.Helper()
	p, err := b.Transactions.List(b.ctx, transaction.ListParams{Request: page.Request{Limit: 1}, CountOnly: true, WithCount: true})
	if err != nil {
		t.Fatal(err)
	}
	return *p.TotalCount
}

func (b books) verify(t *testing.T) {
	t.Helper()
	findings, err := b.Verify(t.Context(), nil)
	if err != nil || len(findings) > 0 {
		t.Errorf("%v %v", findings, err)
	}
}

// aStatement writes a bank statement with a number of rows to a file.
func aStatement(t *testing.T, rows int, more ...string) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("Transaction ID,Date,Description,Amount,Currency\n")
	for n := range rows {
		fmt.Fprintf(&b, "T%06d,2026-%02d-%02d,Payment %d,%d.50,USD\n", n, n%12+1, n%28+1, n, n-rows/2)
	}
	b.WriteString(strings.Join(more, ""))
	file := filepath.Join(t.TempDir(), "statement.csv")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAFileOfTransactionsIsCheckedInADryRunAndThenImportedOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		b := withSource(t, c)
		file := aStatement(t, 30, "BAD,2026-02-31,x,1,USD\n")
		run := func(more ...string) result {
			return inside(on(c, append([]string{"import", "transactions"}, more...)...)...)
		}
		preview := run(file, "--source", "checking", "--dry-run").mustDo(t).out
		for _, text := range []string{
			"statement.csv: csv, layout guessed from its columns", `the name of the column "Amount" means amount`, `"amount": "Amount"`, "LINE",
			"2026-01-01 00:00:00  debit", "15.50", "Payment 0",
			"Would import 30 transactions of 31 rows; 1 row at fault.", "line 32, Date: ", "Nothing was changed.",
		} {
			if !strings.Contains(preview, text) {
				t.Errorf("the preview lacks %q:\n%s", text, preview)
			}
		}
		if n := b.count(t); n != 0 {
			t.Fatalf("a dry run wrote %d transactions", n)
		}
		done := run(file, "--source", b.source).mustDo(t)
		if !regexp.MustCompile(`^imp_\w+: imported 30 transactions of 31 rows; 1 row at fault\.\n  line 32, Date: .+\n$`).MatchString(
			done.out) {
			t.Errorf("%q", done.out)
		}
		if again := run(file, "--source", b.source).mustDo(t).out; !strings.Contains(again,
			"imported 0 transactions of 31 rows; 30 transactions already present; 1 row at fault.") {
			t.Errorf("%q", again)
		}
		if n := b.count(t); n != 30 {
			t.Errorf("%d transactions", n)
		}
		// A mapping may be given, and the file may be read from a pipe.
		mapping := filepath.Join(t.TempDir(), "mapping.json")
		if err := os.WriteFile(mapping,
			[]byte(`{"currency":"EUR","columns":{"timestamp":"Date","amount":"Amount","id":"Transaction ID"},"flip_sign":true}`),
			0o600); err != nil {
			t.Fatal(err)
		}
		if out := run(aStatement(t, 40), "--source", b.source, "--mapping", mapping).mustDo(t).out; !strings.Contains(out,
			"imported 10 transactions of 40 rows; 30 transactions already present.") {
			t.Errorf("%q", out)
		}
		b.verify(t)
	})
}

func TestAnImportOfTransactionsThatCannotBeSaysWhatToDo(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	b := withSource(t, c)
	file := aStatement(t, 3)
	open, odd := filepath.Join(t.TempDir(), "open.csv"), filepath.Join(t.TempDir(), "mapping.json")
	for name, content := range map[string]string{open: "Date,Amount\n01/02/2026,-5\n02/03/2026,6\n", odd: `{"colums":{}}`} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		args  []string
		code  int
		texts []string
	}{
		{[]string{file}, 2, []string{"--source is required"}},
		{[]string{"--source", "x"}, 2, []string{"bursar import transactions needs one argument, FILE"}},
		{[]string{file, "--source", "Savings"}, 1, []string{`no source "Savings"`, b.source + "  Checking"}},
		{[]string{file + "x", "--source", b.source}, 1, []string{"no such file"}},
		{[]string{file, "--source", b.source, "--format", "xls"}, 1, []string{"format must be csv, json or ofx"}},
		{[]string{file, "--source", b.source, "--preset", "acme"}, 1, []string{"preset must be one of", "kraken"}},
		{[]string{file, "--source", b.source, "--mapping", odd}, 1, []string{"is not a mapping", "colums", "--dry-run"}},
		{[]string{open, "--source", b.source}, 1, []string{"mapping is required", "date_layouts", `"Date", "Amount"`}},
		{[]string{"--resume", "imp_none"}, 1, []string{"import not found"}},
		{[]string{file, "--resume", "imp_none"}, 2, []string{"bursar import transactions --resume takes no file, but got "}},
	} {
		inside(on(c, append([]string{"import", "transactions"}, x.args...)...)...).mustFail(t, x.code, x.texts...)
	}
	if n := b.count(t); n != 0 {
		t.Errorf("%d transactions", n)
	}
	help := inside("import", "transactions", "--help").mustDo(t).out
	for _, text := range []string{"bursar import transactions kraken.csv --source", "--resume", "--mapping", "coinbase, "} {
		if !strings.Contains(help, text) {
			t.Errorf("the help lacks %q:\n%s", text, help)
		}
	}
}

// unfinished waits until an import has read some rows and returns it.
func (b books) unfinished(t *testing.T, rows int64) imports.Import {
	t.Helper()
	var read int64
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		all, err := b.Imports.List(b.ctx, imports.Filter{}, page.Request{Limit: 1})
		if err != nil || len(all.Items) != 1 {
			continue
		}
		i := all.Items[0]
		if i.Counts.Rows >= rows {
			return i
		}
		if i.Counts.Rows > read { // a slow machine gets on, too
			read, deadline = i.Counts.Rows, time.Now().Add(patience)
		}
	}
	t.Fatalf("the import stays at %d rows", read)
	return imports.Import{}
}

func TestSoakAnImportThatIsKilledContinuesWhereItWas(t *testing.T) {
	t.Parallel()
	rows, services := int64(dbtest.Repeats(5_000, 50_000)), dbtest.Repeats(0, 6)
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) { killed(t, c, rows, services) })
}

// killed kills the command that imports a file, and then a number of services that continue it; the last one finishes it.
func killed(t *testing.T, c db.Config, rows int64, services int) {
	t.Helper()
	b := withSource(t, c)
	file := aStatement(t, int(rows))
	p := start(t, nil, on(c, "import", "transactions", file, "--source", b.source)...)
	b.unfinished(t, 1)
	p.kill()
	for ; ; services-- {
		i := b.unfinished(t, 1)
		b.verify(t)
		if n := b.count(t); n != i.Counts.Created || n != i.Counts.Rows {
			t.Errorf("%d transactions, but %+v", n, i.Counts)
		}
		if i.Status == imports.Completed {
			break
		}
		service := serve(t, c)
		if services > 0 {
			b.unfinished(t, i.Counts.Rows+1)
		} else {
			b.unfinished(t, rows)
			eventually(t, "the end of the import", func(context.Context) error {
				if i := b.unfinished(t, rows); i.Status != imports.Completed {
					return fmt.Errorf("it is %s", i.Status)
				}
				return nil
			})
		}
		service.kill()
	}
	if out := inside(on(c, "import", "transactions", file, "--source", b.source)...).mustDo(t).out; !strings.Contains(out,
		fmt.Sprintf("imported 0 transactions of %d rows; %d transactions already present.", rows, rows)) {
		t.Errorf("%q", out)
	}
	if n := b.count(t); n != rows {
		t.Errorf("%d transactions", n)
	}
	b.verify(t)
}

func TestAnImportThatIsInterruptedSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	const rows = 12_000
	c := dbtest.SQLite(t)
	b := withSource(t, c)
	p := start(t, nil, on(c, "import", "transactions", aStatement(t, rows), "--source", b.source)...)
	i := b.unfinished(t, 1)
	p.terminate(t)
	if code := p.wait(t); code != 1 || !strings.Contains(p.log.text(), "--resume "+i.ID) || !strings.Contains(p.log.text(),
		"nothing is added twice") {
		t.Errorf("exit %d\n%s", code, p.log.text())
	}
	b.verify(t)
	if out := inside(on(c, "import", "transactions", "--resume", i.ID)...).mustDo(t); !strings.Contains(out.out,
		fmt.Sprintf("imported %d transactions", rows)) || !strings.Contains(out.err, "% read\n") {
		t.Errorf("%q %q", out.out, out.err)
	}
	if n := b.count(t); n != rows {
		t.Errorf("%d transactions", n)
	}
}
