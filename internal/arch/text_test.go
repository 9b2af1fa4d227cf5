package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// statement matches the start of an SQL statement. In capitals the verb is enough, except that "DELETE /v1/x" is a route;
// otherwise the rest must look like SQL too, because messages begin with "select" and "with".
var statement = regexp.MustCompile(`^\s*(?:(?:SELECT|INSERT|UPDATE|WITH)\s|DELETE\s+FROM\s|` +
	`(?is:select\s.*\sfrom\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\())`)

func TestSQLIsOnlyInFilesMeantForIt(t *testing.T) {
	t.Parallel()
	obey(t, checkSQL)
}

func checkSQL(files []*source) []finding {
	var found []finding
	for _, s := range files {
		name := path.Base(s.path)
		sqlFile := domain(s.dir()) && (name == "sql.go" || strings.HasSuffix(name, "_sql.go"))
		if s.testing() || sqlFile || !domain(s.dir()) && !s.in("internal/edge", "internal/app", "internal/rules", "internal/base") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(lit.Value); err == nil && statement.MatchString(text) {
				found = append(found, s.at(lit.Pos(), "SQL outside the sql.go of a package: move the statement there, so that "+
					"all statements of a package are in one file"))
			}
			return true
		})
	}
	return found
}

func TestTheSQLRuleFires(t *testing.T) {
	t.Parallel()
	text := func(literal string) string { return "package a\nvar q = " + literal }
	prove(t, checkSQL,
		sample{"internal/books/a/service.go", text("`SELECT 1`"), "outside the sql.go of a package"},
		sample{"internal/books/a/service.go", text("`\n\tselect id\n\tfrom x`"), "in one file"},
		sample{"internal/books/a/service.go", text("`select id from x`"), "in one file"},
		sample{"internal/edge/api/a.go", text(`"insert into x values (1)"`), "in one file"},
		sample{"internal/edge/api/a.go", text(`"DELETE FROM x"`), "in one file"},
		sample{"internal/app/sql.go", text(`"UPDATE x SET y = 1"`), "in one file"},
		sample{"internal/base/a/a.go", text(`"with old as (select 1)"`), "in one file"},
		sample{"internal/books/a/sql.go", text("`SELECT 1`"), ""},
		sample{"internal/books/a/balance_sql.go", text("`SELECT 1`"), ""},
		sample{"internal/books/a/a_test.go", text("`SELECT 1`"), ""},
		sample{"internal/db/a.go", text("`SELECT 1`"), ""},
		sample{"internal/edge/api/a.go", text(`"DELETE /v1/tags/{id}"`), ""},
		sample{"internal/edge/api/a.go", text(`"with no lines an entry is empty"`), ""},
		sample{"internal/edge/api/a.go", text(`"Select an account first"`), ""},
		sample{"internal/edge/api/a.go", text(`"selected from the list"`), ""},
	)
}

// private matches absolute paths into the folders of a user. It is assembled so that it does not match itself.
var private = regexp.MustCompile(`(?m)(?:^|[^\w.~-])/(?:` + strings.Join([]string{"home", "root", "Users"}, "|") + `)/`)

func TestNoFileNamesAFolderOfItsAuthorsMachine(t *testing.T) {
	t.Parallel()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range committable(t, root) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			// A file that was deleted but not committed, a link to a folder.
			continue
		}
		for _, f := range privatePaths(name, text) {
			t.Error(f)
		}
	}
}

// committable returns the files that git tracks or would track, and nothing outside a clone.
func committable(t *testing.T, root string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("git cannot list the files: %v", err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func privatePaths(name string, text []byte) []finding {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil // Not text.
	}
	var found []finding
	for _, place := range private.FindAllIndex(text, -1) {
		line := 1 + bytes.Count(text[:place[1]], []byte("\n"))
		found = append(found, finding{name, line, fmt.Sprintf("names %q: it exists on one machine only",
			strings.TrimSpace(string(text[place[0]:place[1]])))})
	}
	return found
}

func TestTheRuleAboutFoldersOfAMachineFires(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"home", "root", "Users"} {
		for _, before := range []string{"", "see ", "\"", "file://", "=", "first line\n"} {
			if got := privatePaths("a", []byte(before+"/"+folder+"/me/x")); len(got) != 1 {
				t.Errorf("%s/%s/ gives %v", before, folder, got)
			}
		}
		for _, fine := range []string{"https://example.com/%s/x", "~/%s/x", "a/%s/", "/%s", "\x00/%s/x"} {
			if got := privatePaths("a", fmt.Appendf(nil, fine, folder)); len(got) != 0 {
				t.Errorf(fine+" gives %v", folder, got)
			}
		}
	}
}
