package journal

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// A page must be read along an index in the order of the list, so that it costs the same however many entries there are. SQLite shows its
// plans without data.
func TestListsOfLegalEntitiesReadTheirEntriesAlongAnIndex(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t))
	const own, shared = "journal_entries_by_entity (organization_id=? AND legal_entity_id=? AND (accounting_date,number)<(?,?))",
		"journal_shares_by_date (organization_id=? AND legal_entity_id=? AND (accounting_date,number)<(?,?))"
	for name, c := range map[string]struct {
		filter Filter
		want   []string
	}{
		"one":              {Filter{LegalEntityIDs: []string{"le_a"}}, []string{own, shared}},
		"two":              {Filter{LegalEntityIDs: []string{"le_a", "le_b"}}, []string{own, shared, own, shared}},
		"of a limited key": {Filter{limited: []string{"le_a"}}, []string{own, shared}},
		"one of two of a limited key": {Filter{LegalEntityIDs: []string{"le_a"}, limited: []string{"le_a", "le_b"}},
			[]string{own, shared}},
		"posted":  {Filter{LegalEntityIDs: []string{"le_a"}, Status: Posted}, []string{own, shared}},
		"by text": {Filter{limited: []string{"le_a"}, Search: "rent"}, []string{own, shared}},
		"drafts": {Filter{limited: []string{"le_a"}, Status: Draft},
			[]string{"journal_entries_drafts (organization_id=? AND (accounting_date,number)<(?,?))"}},
		"of an account": {Filter{LegalEntityIDs: []string{"le_a"}, LedgerAccountID: "lac_a"},
			[]string{"journal_lines_by_account (organization_id=? AND ledger_account_id=? AND (accounting_date,number)<(?,?))"}},
	} {
		text, args := c.filter.pageQuery(&cursorKey{time.Now(), 7}, 10)
		steps := dbtest.Plan(t, d, text, args...)
		var along []string
		for _, s := range steps {
			if slices.ContainsFunc(c.want, func(index string) bool { return strings.HasSuffix(s, index) }) {
				along = append(along, s[strings.Index(s, "journal_"):])
			}
			if strings.HasPrefix(s, "SCAN ") && strings.Contains(s, "journal") || strings.Contains(s, "AUTOMATIC") {
				t.Errorf("%s: %s", name, s)
			}
		}
		if len(along) != len(c.want) {
			t.Errorf("%s: %q is not along %q", name, steps, c.want)
		}
	}
}
