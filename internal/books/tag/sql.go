package tag

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type row struct {
	ID        string     `db:"tag_id"`
	Name      string     `db:"name"`
	Kind      string     `db:"kind"`
	CreatedAt time.Time  `db:"created_at"`
	UpdatedAt *time.Time `db:"updated_at"`
}

// searchedRow has also what a search looks at, which nobody reads.
type searchedRow struct {
	row
	Search string `db:"search"`
}

// searchText is a name as it is searched: neither engine folds the case of more than A to Z by itself.
func searchText(name string) string { return strings.ToLower(name) }

func (r row) tag() Tag {
	return Tag{ID: r.ID, Name: r.Name, Kind: Kind(r.Kind), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}

func tagsOf(rows []row) []Tag {
	out := make([]Tag, len(rows))
	for i, r := range rows {
		out[i] = r.tag()
	}
	return out
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM tags WHERE organization_id = @org"

func insert(ctx context.Context, tx *db.Tx, t Tag) error {
	return db.Insert(ctx, tx, "tags", searchedRow{row{ID: t.ID, Name: t.Name, Kind: string(t.Kind), CreatedAt: t.CreatedAt,
		UpdatedAt: t.UpdatedAt}, searchText(t.Name)})
}

func find(ctx context.Context, tx *db.Tx, tagID string) (Tag, error) {
	r, err := db.One[row](ctx, tx, noun, selectRows+" AND tag_id = ?", tagID)
	return r.tag(), err
}

func selectNamed(ctx context.Context, tx *db.Tx, kind Kind, name string) ([]Tag, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND kind = ? AND name = ?", string(kind), name)
	return tagsOf(rows), err
}

func selectKnown(ctx context.Context, tx *db.Tx, ids []string) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT tag_id FROM tags WHERE organization_id = @org AND tag_id {any}", ids)
}

func selectAll(ctx context.Context, tx *db.Tx) ([]Tag, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" ORDER BY tag_id")
	return tagsOf(rows), err
}

// selectPage reads in the order of ids.
func selectPage(ctx context.Context, tx *db.Tx, f Filter, above string, limit int) ([]Tag, error) {
	q := db.Select(selectRows).And("tag_id > ?", above)
	if f.Kind != "" {
		q.And("kind = ?", string(f.Kind))
	}
	if f.Search != "" {
		q.And("search LIKE ? ESCAPE '!'", "%"+strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(searchText(f.Search))+"%")
	}
	rows, err := db.All[row](ctx, tx, q.Then("ORDER BY tag_id LIMIT ?", limit), q.Args...)
	return tagsOf(rows), err
}

func update(ctx context.Context, tx *db.Tx, t Tag) error {
	_, err := tx.Exec(ctx, "UPDATE tags SET name = ?, search = ?, kind = ?, updated_at = ? WHERE organization_id = @org AND tag_id = ?",
		t.Name, searchText(t.Name), string(t.Kind), t.UpdatedAt, t.ID)
	return err
}

// remove takes a tag away, with the balances that are left of what was booked and undone, all of them zero.
func remove(ctx context.Context, tx *db.Tx, tagID string) error {
	for _, table := range []string{"account_balances", "tags"} {
		if _, err := tx.Exec(ctx, "DELETE FROM "+table+" WHERE organization_id = @org AND tag_id = ?", tagID); err != nil {
			return err
		}
	}
	return nil
}

// use is how many entries, transactions, balances and rules have a tag, and the first entry, transaction and rule.
type use struct {
	Entries          int64   `db:"entries"`
	FirstEntry       *int64  `db:"first_entry"`
	Transactions     int64   `db:"marked"`
	FirstTransaction *int64  `db:"first_marked"`
	Balances         int64   `db:"balances"`
	Rules            int64   `db:"rules"`
	FirstRule        *string `db:"first_rule"`
}

func selectUse(ctx context.Context, tx *db.Tx, tagID string) (use, error) {
	return db.One[use](ctx, tx, "count", `SELECT e.entries, e.first_entry, t.marked, t.first_marked, b.balances, r.rules, r.first_rule FROM
		(SELECT count(*) AS entries, min(j.number) AS first_entry FROM journal_tags j WHERE j.organization_id = @org AND j.tag_id = ?) e,
		(SELECT count(*) AS marked, min(x.number) AS first_marked FROM transaction_tags m
			JOIN transactions x ON x.organization_id = @org AND x.transaction_id = m.transaction_id WHERE m.organization_id = @org AND
			m.tag_id = ?) t,
		(SELECT count(*) AS balances FROM account_balances a WHERE a.organization_id = @org AND a.tag_id = ? AND (a.debits <> 0 OR
		a.credits <> 0)) b,
		(SELECT count(*) AS rules, min(u.rule_id) AS first_rule FROM memory_rules u WHERE u.organization_id = @org AND u.tag_id = ?) r`,
		tagID, tagID, tagID, tagID)
}

// referring are the tables whose rows name tags. Every table with a column of tags must be here, which a test sees
// to, and selectUse must count it.
var referring = []string{"journal_tags", "transaction_tags", "account_balances", "memory_rules"}

// strays are the ids of tags that are referred to and not there; the empty one stands for the total over all.
func strays(ctx context.Context, tx *db.Tx, table string) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT DISTINCT r.tag_id FROM "+table+
		" r WHERE r.organization_id = @org AND r.tag_id <> '' AND NOT EXISTS "+
		"(SELECT 1 FROM tags t WHERE t.organization_id = r.organization_id AND t.tag_id = r.tag_id) ORDER BY r.tag_id")
}
