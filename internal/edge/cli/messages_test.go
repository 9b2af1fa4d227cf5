package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestWrongArgumentsAreExplainedInPlainWords(t *testing.T) {
	t.Parallel()
	for says, args := range map[string][]string{
		"bursar import needs one argument, FILE\n":                                     {"import"},
		"bursar import takes one argument, FILE, but got 2: a.csv b.csv\n":             {"import", "a.csv", "b.csv"},
		"bursar backup needs one argument, NEW-FILE\n":                                 {"backup"},
		"bursar init takes no arguments, but got Acme\n":                               {"init", "Acme"},
		"bursar keys create takes no arguments, but got x y\n":                         {"keys", "create", "x", "y"},
		"bursar has no command \"sreve\"; did you mean serve?\n":                       {"sreve"},
		"bursar has no command \"nothing\"\n":                                          {"nothing"},
		"bursar keys has no command \"crate\"; did you mean create?\n":                 {"keys", "crate"},
		"bursar import transactions needs one argument, FILE\n":                        {"import", "transactions"},
		"bursar import transactions --resume takes no file, but got a.csv\nRun `bursa": {"import", "transactions", "a.csv", "--resume", "x"},
	} {
		inside(args...).mustFail(t, 2, "bursar: "+says)
	}
}

func TestASecondInitCreatesNothingUnlessItIsToldToAndSaysHow(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		initialize := func(more ...string) []string {
			return append(on(c, "init", "--organization", "Acme", "--email", "owner@acme.example"), more...)
		}
		if r := inside(initialize()...).mustDo(t); strings.Contains(r.err, "already had") {
			t.Errorf("the first time it says %s", r.err)
		}
		inside(initialize()...).mustFail(t, 1, "this database already has 1 organization, such as org_", "bursar keys create",
			"--organization org_", "again with --another")
		if r := inside(initialize("--another")...).mustDo(t); !strings.Contains(r.err, "already had 1 organization. The new one has books") {
			t.Errorf("with --another it says %s", r.err)
		}
	})
}

func TestAJournalThatIsNotTextIsRefusedByWhatItIs(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		b := withSource(t, c)
		for content, says := range map[string]string{
			"PK\x03\x04\x14\x00":    "is an Excel workbook or another ZIP archive, not text; save the sheet as CSV",
			"\x89PNG\r\n\x1a\n\x00": "is a PNG image, not text; import a file of text, such as CSV",
		} {
			file := filepath.Join(t.TempDir(), "books.csv")
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			inside(on(c, "import", file)...).mustFail(t, 1, file+" "+says)
			inside(on(c, "import", "prices", file)...).mustFail(t, 1, says)
			inside(on(c, "import", "transactions", file, "--source", b.source)...).mustFail(t, 1, says)
		}
	})
}
