package arch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// restriction lists the only folders in which a package may be imported, and why.
type restriction struct {
	pkg     string   // The import and all packages below it.
	exact   bool     // Only the import itself.
	allowed []string // Folders of the module.
	tests   []string // Folders whose tests may import it too.
	because string
}

// anywhere is every folder with Go files.
var anywhere = []string{"internal", "cmd", "client", "bench", "web"}

var restrictions = []restriction{
	{pkg: "database/sql", exact: true, allowed: []string{"internal/db", "bench"}, tests: []string{"internal/base"},
		because: "transactions, retries and the binding to one organization happen once, in internal/db"},
	{pkg: "database/sql/driver", allowed: []string{"internal/db", "internal/base"},
		because: "only base types define how they are stored"},
	{pkg: "modernc.org/sqlite", allowed: []string{"internal/db"},
		because: "which database runs is known to internal/db alone"},
	{pkg: "github.com/jackc/pgx", allowed: []string{"internal/db", "bench"},
		because: "which database runs is known to internal/db alone"},
	{pkg: "github.com/cockroachdb/apd", allowed: []string{"internal/base/money"},
		because: "base/money alone decides how amounts are parsed, rounded and formatted"},
	{pkg: "github.com/gofrs/uuid", allowed: []string{"internal/base/id"},
		because: "ids have prefixes and come from an injected source: use base/id"},
	{pkg: "github.com/danielgtaylor/huma", allowed: []string{"internal/edge/api", "internal/edge/docs"},
		because: "the web framework is a detail of the HTTP API"},
	{pkg: "github.com/riverqueue", allowed: []string{"internal/db", "internal/app", "internal/kernel/outbox"},
		because: "packages append events to the outbox; only the relay turns them into jobs"},
	{pkg: "github.com/stripe/stripe-go", allowed: []string{"internal/provider/stripe"},
		because: "what a provider calls things is known to its package alone"},
	{pkg: "github.com/tink-crypto", allowed: []string{"internal/base/seal"},
		because: "base/seal alone decides how secrets are encrypted"},
	{pkg: "math/rand", allowed: append([]string{"internal/db", "bench"}, testOnly...), tests: anywhere,
		because: "randomness is injected so that a run can be replayed, and secrets need crypto/rand"},
	{pkg: "log", exact: true,
		because: "log lines are structured and carry the request id: use log/slog"},
	{pkg: "testing", allowed: testOnly, tests: anywhere,
		because: "the binary would carry the test flags"},
}

func TestPackagesAreImportedOnlyWhereTheyBelong(t *testing.T) {
	t.Parallel()
	obey(t, checkRestrictions)
}

func checkRestrictions(files []*source) []finding {
	var found []finding
	for _, s := range files {
		for _, i := range s.imports() {
			for _, r := range restrictions {
				if !i.own && r.covers(i.path) && !r.permits(s) {
					found = append(found, finding{s.path, i.line, fmt.Sprintf("imports %s, which is for %s: %s",
						i.path, r.where(), r.because)})
				}
			}
		}
	}
	return found
}

func (r restriction) covers(pkg string) bool {
	return pkg == r.pkg || !r.exact && within(pkg, r.pkg)
}

func (r restriction) permits(s *source) bool {
	return s.in(r.allowed...) || s.testing() && s.in(r.tests...)
}

func (r restriction) where() string {
	places := slices.Clone(r.allowed)
	for _, folder := range r.tests {
		places = append(places, "tests of "+folder)
	}
	if len(places) == 0 {
		return "nobody"
	}
	return strings.Join(places, ", ") + " only"
}

func TestEveryRestrictionFires(t *testing.T) {
	t.Parallel()
	for _, r := range restrictions {
		prove(t, checkRestrictions, sample{"internal/edge/mcp/a.go", importing(r.pkg), r.because})
		for _, folder := range r.allowed {
			prove(t, checkRestrictions, sample{folder + "/a.go", importing(r.pkg), ""})
		}
		for _, folder := range r.tests {
			prove(t, checkRestrictions, sample{folder + "/a_test.go", importing(r.pkg), ""})
		}
		if len(r.tests) == 0 {
			prove(t, checkRestrictions, sample{"internal/edge/mcp/a_test.go", importing(r.pkg), r.because})
		}
	}
	prove(t, checkRestrictions,
		sample{"internal/books/a/a.go", importing("github.com/jackc/pgx/v5/pgconn"), "internal/db, bench only"},
		sample{"internal/books/a/a.go", importing("math/rand/v2"), "crypto/rand"},
		sample{"internal/books/a/a.go", importing("log/slog", "testingx", "github.com/riverqueuex"), ""},
	)
}

// impure lists packages that would make a rule of accounting depend on more than its arguments.
var impure = []string{"context", "crypto/rand", "database/sql", "log/slog", "net", "net/http", "os"}

func TestRulesArePure(t *testing.T) {
	t.Parallel()
	obey(t, checkPurity)
}

func checkPurity(files []*source) []finding {
	var found []finding
	for _, s := range files {
		if !s.in("internal/rules") || s.test() {
			continue
		}
		for _, i := range s.imports() {
			if !i.own && within(i.path, impure...) {
				found = append(found, finding{s.path, i.line, "imports " + i.path + ": accounting rules are pure functions, so " +
					"that they can be tested with plain values and replayed"})
			}
		}
	}
	return found
}

func TestThePurityRuleFires(t *testing.T) {
	t.Parallel()
	prove(t, checkPurity,
		sample{"internal/rules/book/a.go", importing("context"), "pure functions"},
		sample{"internal/rules/book/a.go", importing("net/http/httptest"), "pure functions"},
		sample{"internal/rules/book/a_test.go", importing("context"), ""},
		sample{"internal/books/book/a.go", importing("context"), ""},
	)
}
