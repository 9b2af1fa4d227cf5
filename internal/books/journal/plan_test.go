package journal

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db"
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
		err := d.Read(t.Context(), "org_x", func(ctx context.Context, tx *db.Tx) error {
			type step struct {
				ID     int64  `db:"id"`
				Parent int64  `db:"parent"`
				Unused int64  `db:"notused"`
				Detail string `db:"detail"`
			}
			steps, err := db.All[step](ctx, tx, "EXPLAIN QUERY PLAN "+text, args...)
			var along []string
			for _, s := range steps {
				if slices.ContainsFunc(c.want, func(index string) bool { return strings.HasSuffix(s.Detail, index) }) {
					along = append(along, s.Detail[strings.Index(s.Detail, "journal_"):])
				}
				if strings.HasPrefix(s.Detail, "SCAN ") && strings.Contains(s.Detail, "journal") || strings.Contains(s.Detail, "AUTOMATIC") {
					t.Errorf("%s: %s", name, s.Detail)
				}
			}
			if len(along) != len(c.want) {
				t.Errorf("%s: %+v is not along %q", name, steps, c.want)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
