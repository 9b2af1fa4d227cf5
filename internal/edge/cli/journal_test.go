package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// aJournal writes a journal with a number of entries to a file.
func aJournal(t *testing.T, name string, entries int, after ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("decimal-mark .\n\n")
	for i := range entries {
		fmt.Fprintf(&b, "2025-%02d-%02d * Invoice %d\n    ; project:P%d\n    Expenses:Operating expenses:Contractors  %d.%02d USD  ; "+
			"hours\n    Assets:Cash and bank:Bank accounts  -%[5]d.%02[6]d USD\n\n",
			i%12+1, i%28+1, i, i%9, i%9000+1, i%100)
	}
	return aFile(t, name, b.String()+strings.Join(after, ""))
}

func aFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// exported returns the books as text.
func exported(t *testing.T, c db.Config, more ...string) string {
	t.Helper()
	return inside(append(on(c, "export", "--format", "hledger"), more...)...).mustDo(t).out
}

var entryRe = regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\d [*!] \(JE-`)

// entriesIn counts the entries of the books.
func entriesIn(t *testing.T, c db.Config) int {
	t.Helper()
	return len(entryRe.FindAllString(exported(t, c), -1))
}

func TestImportAndExportCalledWronglySayHow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"import"}, "arg"},
		{[]string{"import", "one.csv", "two.csv"}, "arg"},
		{[]string{"import", "books.txt"}, "--format is required: hledger, beancount, csv or bursar"},
		{[]string{"import", "-"}, "--format is required"},
		{[]string{"import", "--format", "xml", "books.csv"}, "--format must be hledger, beancount, csv or bursar"},
		{[]string{"export", "books.csv"}, "books.csv"},
		{[]string{"export"}, "--format is required"},
		{[]string{"export", "--output", "books.xlsx"}, "--format is required"},
		{[]string{"export", "--format", "HLEDGER"}, "--format must be"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			r := inside(c.args...)
			r.mustFail(t, 2, c.says, "Run `bursar "+c.args[0], "--help`")
			if r.out != "" {
				t.Errorf("stdout has %q", r.out)
			}
		})
	}
}

func TestTheOrganizationMustBeClear(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		file := aJournal(t, "books.journal", 3)
		for _, args := range [][]string{{"import", file}, {"export", "--format", "csv"}} {
			inside(on(c, args...)...).mustFail(t, 1, "there is no organization yet: create one with `bursar init`")
			inside(append(on(c, args...), "--organization", "Acme")...).mustFail(t, 2, "--organization must be an id such as org_",
				"Run `bursar "+args[0])
			inside(append(on(c, args...), "--organization", "org_01m7ex1624ezcs9eyj82ymzae2")...).mustFail(t, 1, "organization not found")
		}
		one, two := found(t, c), found(t, c)
		for _, args := range [][]string{{"import", file}, {"export", "--format", "csv"}} {
			inside(on(c, args...)...).mustFail(t, 2, "there are 2 organizations: choose one with --organization", one.OrganizationID,
				two.OrganizationID)
		}
		inside(append(on(c, "import", file), "--organization", two.OrganizationID)...).mustDo(t)
		if n := len(entryRe.FindAllString(exported(t, c, "--organization", one.OrganizationID), -1)); n != 0 {
			t.Errorf("the other one has %d entries", n)
		}
		if n := len(entryRe.FindAllString(exported(t, c, "--organization", two.OrganizationID), -1)); n != 3 {
			t.Errorf("there are %d entries", n)
		}
	})
}

func TestAFormatIsChosenByTheNameOrByAFlag(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	found(t, c)
	inside(on(c, "import", aJournal(t, "books.journal", 5))...).mustDo(t)
	dir := t.TempDir()
	for name, begins := range map[string]string{
		"a.journal": "decimal-mark", "a.hledger": "decimal-mark", "a.j": "decimal-mark", "a.ledger": "decimal-mark",
		"A.JOURNAL": "decimal-mark", "a.beancount": "option", "a.bean": "option", "a.csv": "entry,", "b.CSV": "entry,",
	} {
		file := filepath.Join(dir, name)
		if r := inside(on(c, "export", "--output", file)...).mustDo(t); r.out != "" {
			t.Errorf("stdout has %q", r.out)
		}
		text, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(text), begins) {
			t.Errorf("%s: %v %.40q", name, err, text)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o007 != 0 {
			t.Errorf("%s is for everybody to read: %v", name, info.Mode())
		}
		if r := inside(on(c, "import",
			file)...).mustDo(t); r.out != "Imported 0 entries, 0 new accounts and 0 exchange rates.\n5 entries: already present.\n" {
			t.Errorf("%s: %s", name, r.out)
		}
	}
	odd := filepath.Join(dir, "odd.csv")
	inside(on(c, "export", "-o", odd, "--format", "beancount")...).mustDo(t)
	inside(on(c, "import", odd)...).mustFail(t, 1, "odd.csv:1: ")
	inside(on(c, "import", odd, "--format", "beancount")...).mustDo(t)
}

func TestAFileThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	found(t, c)
	missing := filepath.Join(t.TempDir(), "missing.journal")
	inside(on(c, "import", missing)...).mustFail(t, 1, missing, "no such file")
	inside(on(c, "import", "--format", "csv", t.TempDir())...).mustFail(t, 1, "is a folder; name a file")
	inside(on(c, "export", "--output", filepath.Join(missing, "books.csv"))...).mustFail(t, 1, missing)
	none := db.Config{Dir: filepath.Join(t.TempDir(), "nowhere")}
	for _, args := range [][]string{{"import", aJournal(t, "books.journal", 1)}, {"export", "--format", "csv"}} {
		inside(on(none, args...)...).mustFail(t, 1, "there is no database in "+none.Dir, "bursar init")
	}
	if _, err := os.Stat(none.Dir); err == nil {
		t.Error("they made a database")
	}
	file := db.Config{Dir: aJournal(t, "books.journal", 1)}
	inside(on(file, "verify")...).mustFail(t, 1, "the database in "+file.Dir+" cannot be read: ", "not a directory")
}

func TestAFaultyFileIsRefusedWholeAndSaysWhereAndWhatToDo(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		found(t, c)
		before := exported(t, c)
		for says, after := range map[string]string{
			"books.journal:6003: the entry does not balance": "2025-01-01 last\n  Assets:New  1 " +
				"USD\n  Assets:Other  -2 USD\n",
			"books.journal:6004: the type of the account \"Kasse\" is unknown: begin its name": "2025-01-01 last\n  Kasse  1 USD\n  " +
				"Assets:Other\n",
			"books.journal:6003: lines no rate from EUR to USD is stored for 2025-01-01: store it": "2025-01-01 last\n  Assets:New  1 " +
				"EUR\n  Assets:Other\n",
			"books.journal:6004: currency must be written USD\n  books.journal:6005: currency must": "2025-01-01 last\n  Assets:New  1 " +
				"usd\n  Assets:Other\n",
		} {
			r := inside(on(c, "import", aJournal(t, "books.journal", 1200, after))...)
			r.mustFail(t, 1, says)
			if r.out != "" {
				t.Errorf("stdout has %q", r.out)
			}
			if now := exported(t, c); now != before {
				t.Errorf("%s: something was written:\n%.2000s", says, now)
			}
		}
		// A fault that occurs everywhere is not reported thousands of times.
		r := inside(on(c, "import", aFile(t, "many.journal", strings.Repeat("2025-01-01 x\n  Assets:A  1 usd\n  Assets:B\n", 300)))...)
		r.mustFail(t, 1, "nothing was changed", "many.journal:2: currency must be written USD", "and 580 more")
		if n := strings.Count(r.err, "\n"); n > 25 {
			t.Errorf("%d lines", n)
		}
	})
}

func TestATryOfAnImportChangesNothing(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		found(t, c)
		before := exported(t, c)
		file := aJournal(t, "books.journal", 7, "2025-01-01 nothing\n", "P 2025-01-01 EUR 1.1 USD\n", "account Assets:More\n")
		const outcome = "mport%s 7 entries, 1 new account and 1 exchange rate.\n1 entry: skipped, because it moves nothing.\n"
		if r := inside(on(c, "import", "--dry-run", file)...).mustDo(t); r.out != fmt.Sprintf("Would i"+outcome, "") {
			t.Errorf("%q", r.out)
		}
		if now := exported(t, c); now != before {
			t.Errorf("it has changed something:\n%.2000s", now)
		}
		if r := inside(on(c, "import", file)...).mustDo(t); r.out != fmt.Sprintf("I"+outcome, "ed") {
			t.Errorf("%q", r.out)
		}
		if n := entriesIn(t, c); n != 7 {
			t.Errorf("%d entries", n)
		}
		inside(on(c, "verify")...).mustDo(t)
	})
}

func TestTheOnlyLegalEntityGetsEntriesThatNameNone(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	f := found(t, c)
	service := once(serve(t, c).ready(t), f.APIKey)
	if _, err := service.CreateLegalEntity(t.Context(), client.CreateLegalEntity{Name: "Acme GmbH", BaseCurrency: "USD"}); err != nil {
		t.Fatal(err)
	}
	file := aJournal(t, "books.journal", 2)
	inside(on(c, "import", file)...).mustFail(t, 1,
		"books.journal:3: the entry names no legal entity, and there are several: choose one with --legal-entity")
	inside(on(c, "import", "--legal-entity", "Acme", file)...).mustDo(t)
	inside(on(c, "import", "--legal-entity", "Acme GmbH", file)...).mustDo(t)
	inside(on(c, "import", "--legal-entity", f.LegalEntityID, aJournal(t, "more.journal", 4))...).mustDo(t) // of which two are known
	inside(on(c, "import", "--legal-entity", "Nobody", file)...).mustFail(t, 1,
		`there is no legal entity "Nobody"; choose one of Acme, Acme GmbH`)
	inside(on(c, "export", "--format", "csv", "--legal-entity", "Nobody")...).mustFail(t, 1, `there is no legal entity "Nobody"`)
	for name, want := range map[string]int{"Acme": 4, "Acme GmbH": 2, f.LegalEntityID: 4} {
		if n := len(entryRe.FindAllString(exported(t, c, "--legal-entity", name), -1)); n != want {
			t.Errorf("%s has %d entries, want %d", name, n, want)
		}
	}
}

func TestAnExportNeverWritesOverAFile(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	found(t, c)
	file := aFile(t, "precious.csv", "precious")
	inside(on(c, "export", "--output", file)...).mustFail(t, 1, file+" already exists; choose a new file")
	if text, err := os.ReadFile(file); err != nil || string(text) != "precious" {
		t.Errorf("%v %q", err, text)
	}
}

// shell runs a script in which $1 is the program, and returns its output.
func shell(t *testing.T, script string) string {
	t.Helper()
	cmd := command(t, nil, nil)
	cmd = &exec.Cmd{Path: "/bin/bash", Args: []string{"bash", "-o", "pipefail", "-c", script, "bash", cmd.Path},
		Env: append(cmd.Env, "LC_ALL=C.UTF-8"), Dir: cmd.Dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v", script, err)
	}
	return string(out)
}

func TestStandardInputAndPipesAreRead(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		found(t, c)
		text, err := os.ReadFile(aJournal(t, "books.journal", 700))
		if err != nil {
			t.Fatal(err)
		}
		cmd := command(t, nil, on(c, "import", "--format", "hledger", "-"))
		var out bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, &out
		if err := cmd.Run(); err != nil || out.String() != "Imported 700 entries, 0 new accounts and 0 exchange rates.\n" {
			t.Errorf("%v\n%s", err, out.String())
		}
		// Books that another program wrote: export, hledger, import again.
		where := fmt.Sprintf("--data '%s' --database-url '%s'", c.Dir, c.URL)
		script := fmt.Sprintf(`"$1" export %[1]s --format hledger | hledger -f - print -x | "$1" import %[1]s --format hledger -`, where)
		if got := shell(t, script); got != "Imported 0 entries, 0 new accounts and 0 exchange rates.\n700 entries: already present.\n" {
			t.Errorf("%s", got)
		}
		inside(on(c, "verify")...).mustDo(t)
	})
}
