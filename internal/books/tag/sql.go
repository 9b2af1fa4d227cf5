package tag

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// table is the table of tags.
const table = "tags"

type row struct {
	ID        string     `db:"tag_id"`
	Name      string     `db:"name"`
	Kind      string     `db:"kind"`
	CreatedAt time.Time  `db:"created_at"`
	UpdatedAt *time.Time `db:"updated_at"`
}

// searchedRow is a row with the text that searches look in, which is written but never read.
type searchedRow struct {
	row
	Search string `db:"search"`
}

// searchText returns a name in lower case for searches: neither database folds the case of letters beyond A to Z by itself.
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
	return db.Insert(ctx, tx, table, searchedRow{row{ID: t.ID, Name: t.Name, Kind: string(t.Kind), CreatedAt: t.CreatedAt,
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

func selectSome(ctx context.Context, tx *db.Tx, ids []string) ([]Tag, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND tag_id {any} ORDER BY tag_id", ids)
	return tagsOf(rows), err
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

func remove(ctx context.Context, tx *db.Tx, tagID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM tags WHERE organization_id = @org AND tag_id = ?", tagID)
	return err
}
