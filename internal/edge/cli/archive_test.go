package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestAnOrganizationIsMovedByTwoCommands(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		found(t, c) // another one, which stays
		folder := t.TempDir()
		file := filepath.Join(folder, "acme.bursar")
		inside(on(c, "export", "--output", file)...).mustFail(t, 2, "there are 2 organizations: choose one with --organization")
		r := inside(on(c, "export", "--organization", f.OrganizationID, "--output", file)...).mustDo(t)
		if r.out != "" || !strings.Contains(r.err, "Wrote Acme ("+f.OrganizationID+") to "+file) {
			t.Errorf("stdout %q, stderr %q", r.out, r.err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v: others may read the books", info.Mode(), err)
		}
		inside(on(c, "export", "--organization", f.OrganizationID, "--output", file)...).mustFail(t, 1, "already exists")
		there := dbtest.SQLite(t)
		r = inside(on(there, "import", file, "--dry-run")...).mustDo(t)
		if !strings.HasPrefix(r.out, "Would import Acme ("+f.OrganizationID+")") {
			t.Errorf("it says %s", r.out)
		}
		r = inside(on(there, "import", file)...).mustDo(t)
		for _, says := range []string{"Imported Acme (" + f.OrganizationID + ") as it was on ", " tables equal, ", "every invariant holds",
			"people: 1 added without a password", "API keys: 1 revoked"} {
			if !strings.Contains(r.out, says) {
				t.Errorf("it does not say %q:\n%s", says, r.out)
			}
		}
		inside(on(there, "import", file)...).mustFail(t, 1, "this database has the organization "+f.OrganizationID+" already")
		inside(on(there, "verify")...).mustDo(t)
		// A person without a password gets a link.
		r = inside(on(there, "members", "reset-second-factor", "--email", "owner@acme.example")...).mustDo(t)
		if !strings.Contains(r.out+r.err, "/set-password/") {
			t.Errorf("there is no link: %s%s", r.out, r.err)
		}
	})
}

// Where nothing else is said, an organization that is named is exported whole.
func TestAnOrganizationThatIsNamedIsExportedToAFileOfItsName(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	f := found(t, c)
	cmd := command(t, nil, on(c, "export", "--organization", f.OrganizationID))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, f.OrganizationID+".bursar")); err != nil {
		t.Error(err)
	}
	piped := program(t, nil, on(c, "export", "--format", "bursar")...).mustDo(t)
	if !strings.HasPrefix(piped.out, "PK") || !strings.Contains(piped.err, "Wrote Acme") {
		t.Errorf("standard output has %.10q, standard error %q", piped.out, piped.err)
	}
}

// Whatever the name of the file is, its content says that it is an archive.
func TestTheCommandThatExportPrintsImportsTheArchive(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	found(t, c)
	for _, name := range []string{"acme.zip", "Acme's books.bursar", "acme.journal"} {
		file := filepath.Join(t.TempDir(), name)
		r := inside(on(c, "export", "--format", "bursar", "--output", file)...).mustDo(t)
		_, line, _ := strings.Cut(r.err, "database with\n")
		words, there := shellWords(t, strings.ReplaceAll(strings.TrimSpace(line), `'\''`, `'"'"'`)), dbtest.SQLite(t)
		if len(words) != 5 || words[2] != file || words[4] != "FOLDER" {
			t.Fatalf("it prints %q", line)
		}
		r = inside(on(there, words[1], words[2])...).mustDo(t)
		if !strings.HasPrefix(r.out, "Imported Acme") {
			t.Errorf("%s: it says %s", name, r.out)
		}
	}
	piped := program(t, nil, on(c, "export", "--format", "bursar")...).mustDo(t)
	if !strings.Contains(piped.err, "bursar import FILE --data FOLDER") {
		t.Errorf("it says %s", piped.err)
	}
	there := dbtest.SQLite(t)
	cmd := command(t, nil, on(there, "import", "-"))
	cmd.Stdin = strings.NewReader(piped.out)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "Imported Acme") {
		t.Errorf("%v: %s", err, out)
	}
	inside(on(there, "import", aFile(t, "books.zip", "2026-01-01 * x\n"))...).mustFail(t, 2, "--format is required")
}

func TestWrongUseOfArchivesIsExplained(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	f := found(t, c)
	text := aFile(t, "books.bursar", "2026-01-01 * x\n")
	for _, use := range []struct {
		code int
		says string
		args []string
	}{
		{2, "--legal-entity is for journals only", []string{"export", "--output", "a.bursar", "--legal-entity", "Acme"}},
		{2, "--no-drafts is for journals only", []string{"export", "--format", "bursar", "--no-drafts"}},
		{2, "--organization is for journals only", []string{"import", text, "--organization", f.OrganizationID}},
		{2, "--legal-entity is for journals only", []string{"import", text, "--legal-entity", "Acme"}},
		{2, "--keep-findings is for whole organizations only", []string{"import", "books.journal", "--keep-findings"}},
		{2, "--organization must be an id", []string{"export", "--organization", "Acme"}},
		{1, "the archive is damaged, or is none: it is not a whole ZIP file", []string{"import", text}},
		{1, "no such file", []string{"import", "missing.bursar"}},
	} {
		inside(on(c, use.args...)...).mustFail(t, use.code, use.says)
	}
}
