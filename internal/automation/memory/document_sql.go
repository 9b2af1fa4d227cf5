package memory

import (
	"context"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

type documentRow struct {
	Path     string `db:"path"`
	ID       string `db:"document_id"`
	Version  int64  `db:"version"`
	Revision int64  `db:"revision"`
	Size     int64  `db:"size"`
	Gone     bool   `db:"gone"`
}

var selectDocuments = "SELECT " + db.Columns[documentRow]() + " FROM memory_documents WHERE organization_id = @org"

// findDocument returns a path with its versions, also if there is no file at it now. The result is empty if there never
// was one.
func findDocument(ctx context.Context, tx *db.Tx, path string) (entry, error) {
	r, err := db.One[documentRow](ctx, tx, documentNoun, selectDocuments+" AND path = ?", path)
	if fault.KindOf(err) == fault.NotFound {
		return entry{documentRow{Path: path}}, nil
	}
	return entry{r}, err
}

// selectPath returns the path with an id.
func selectPath(ctx context.Context, tx *db.Tx, documentID string) (string, error) {
	return db.One[string](ctx, tx, documentNoun, "SELECT path FROM memory_documents WHERE organization_id = @org AND document_id = ?",
		documentID)
}

// selectCurrentDocuments lists the files at a path, or below a path that ends in a slash, or all, beginning at or after
// a path.
func selectCurrentDocuments(ctx context.Context, tx *db.Tx, q listQuery, shared bool, limit int) ([]documentRow, error) {
	s := q.current(shared)
	return db.All[documentRow](ctx, tx, s.Then("ORDER BY path LIMIT ?", limit), s.Args...)
}

func (q listQuery) current(shared bool) *db.Query {
	s := db.Select(selectDocuments).And("gone = ?", false)
	switch {
	case strings.HasSuffix(q.path, "/"): // 0 is the character after the slash
		s.And("path > ? AND path < ?", q.path, strings.TrimSuffix(q.path, "/")+"0")
	case q.path != "":
		s.And("path = ?", q.path)
	}
	if q.after != "" {
		s.And(map[bool]string{true: "path >= ?", false: "path > ?"}[q.inclusive], q.after)
	}
	if shared {
		var conditions []string
		for _, folder := range sharedFolders {
			conditions = append(conditions, "path > '"+folder+"' AND path < '"+strings.TrimSuffix(folder, "/")+"0'")
		}
		for _, file := range sharedFiles {
			conditions = append(conditions, "path = '"+file+"'")
		}
		s.And("(" + strings.Join(conditions, " OR ") + ")")
	}
	return s
}

type contentRow struct {
	ID          string  `db:"item_id"`
	Content     string  `db:"content"`
	Frontmatter *string `db:"frontmatter"`
}

// selectContents reads the contents of files by the revisions of their last versions. By ids and versions, PostgreSQL
// would read all versions of a file; and SQLite joins in the order given by CROSS.
const contentsOf = `SELECT v.item_id, v.content, v.frontmatter FROM {integers} CROSS JOIN memory_versions v
	WHERE v.organization_id = @org AND v.revision = w.value`

func selectContents(ctx context.Context, tx *db.Tx, of []documentRow) ([]contentRow, error) {
	revisions := make([]string, len(of))
	for i, r := range of {
		revisions[i] = strconv.FormatInt(r.Revision, 10)
	}
	return db.All[contentRow](ctx, tx, contentsOf, revisions)
}

func upsertDocument(ctx context.Context, tx *db.Tx, r documentRow) error {
	return db.Upsert(ctx, tx, "memory_documents", []documentRow{r},
		"ON CONFLICT (organization_id, path) DO UPDATE SET version = excluded.version, revision = excluded.revision, size = "+
			"excluded.size, gone = excluded.gone")
}
