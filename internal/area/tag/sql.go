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

func (r row) tag() Tag { return Tag{r.ID, r.Name, Kind(r.Kind), r.CreatedAt, r.UpdatedAt} }

func tagsOf(rows []row) []Tag {
	out := make([]Tag, len(rows))
	for i, r := range rows {
		out[i] = r.tag()
	}
	return out
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM tags WHERE organization_id = @org"

func insert(ctx context.Context, tx *db.Tx, t Tag) error {
	return db.Insert(ctx, tx, "tags", searchedRow{row{t.ID, t.Name, string(t.Kind), t.CreatedAt, t.UpdatedAt}, searchText(t.Name)})
}

func find(ctx context.Context, tx *db.Tx, tagID string) (Tag, error) {
	r, err := db.One[row](ctx, tx, noun, selectRows+" AND tag_id = ?", tagID)
	return r.tag(), err
}

func selectNamed(ctx context.Context, tx *db.Tx, kind Kind, name string) ([]Tag, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND kind = ? AND name = ?", string(kind), name)
	return tagsOf(rows), err
}

func selectAll(ctx context.Context, tx *db.Tx) ([]Tag, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" ORDER BY tag_id")
	return tagsOf(rows), err
}
