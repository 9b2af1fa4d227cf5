package memory

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// Queries for one document or rule must use the whole key of an index, however many others there are. SQLite shows its
// plans without data; those of PostgreSQL are measured by bench.
func TestQueriesUseAnIndexAndScanNoTable(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t))
	for name, c := range map[string]struct {
		text string
		args []any
		want []string
	}{
		"a path": {selectDocuments + " AND path = ?", []any{"a"}, []string{"memory_documents_by_path (organization_id=? AND path=?)"}},
		"an id": {"SELECT path FROM memory_documents WHERE organization_id = @org AND document_id = ?", []any{"a"},
			[]string{"memory_documents_by_id (organization_id=? AND document_id=?)"}},
		"one file": {listQuery{path: "a"}.current(false).Then("ORDER BY path LIMIT ?", 1), []any{false, "a", 1}, []string{"path=?)"}},
		"all files": {listQuery{}.current(false).Then("ORDER BY path LIMIT ?", 1), []any{false, 1},
			[]string{"PRIMARY KEY (organization_id=? AND gone=?)"}},
		"below, behind": {listQuery{path: "a/", after: "a/b"}.current(false).Then("ORDER BY path LIMIT ?", 1),
			[]any{false, "a", "a", "a", 1}, []string{"PRIMARY KEY (organization_id=? AND gone=? AND path>? AND path<?)"}},
		"shared, behind": {listQuery{after: "a/b"}.current(true).Then("ORDER BY path LIMIT ?", 1), []any{false, "a", 1},
			[]string{"PRIMARY KEY (organization_id=? AND gone=? AND path>?)"}},
		"contents":     {contentsOf, []any{[]string{"1"}}, []string{"memory_versions_by_revision (organization_id=? AND revision=?)"}},
		"the revision": {lastRevision, nil, []string{"memory_versions_by_revision (organization_id=?)"}},
		"sizes":        {sizesDown, []any{"a", 1, 1}, []string{"(organization_id=? AND item_id=? AND version<?)"}},
		"a rule": {selectRules + " AND r.rule_id = ?", []any{"a"}, []string{"PRIMARY KEY (organization_id=? AND rule_id=?)",
			"(organization_id=? AND item_id=? AND version=?)"}},
		"rules then": {rulesAt, []any{1}, []string{"(organization_id=? AND item_id>? AND item_id<?)",
			"(organization_id=? AND item_id=? AND version=?)"}},
	} {
		steps, at := dbtest.Plan(t, d, c.text, c.args...), 0
		for _, s := range steps {
			if at < len(c.want) && strings.Contains(s, c.want[at]) {
				at++
			} else if strings.Contains(s, "SEARCH") || strings.Contains(s, "AUTOMATIC") || strings.HasPrefix(s, "SCAN memory") {
				t.Errorf("%s: %s", name, s)
			}
		}
		if at < len(c.want) {
			t.Errorf("%s: %q lacks %q", name, steps, c.want[at])
		}
	}
}
