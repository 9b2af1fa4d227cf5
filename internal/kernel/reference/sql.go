package reference

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
)

// rows returns the statement that finds the rows of a reference to an id, which is a parameter or a column of a statement around it.
// The position of the reference makes the alias unique: see db.Link.Rows.
func (l link) rows(position int, id string) string {
	if l.Rows != "" {
		return strings.ReplaceAll(l.Rows, "{id}", id)
	}
	alias, example := fmt.Sprintf("r%d", position), l.table.Example
	if example == "" {
		example = "CAST(NULL AS TEXT)"
	}
	text := "SELECT " + example + " AS example FROM " + l.table.Name + " " + alias + " WHERE " + alias + ".organization_id = @org AND " +
		alias + "." + l.Column + " = " + id
	for _, condition := range []string{l.Where, l.Blocks} {
		if condition != "" {
			text += " AND " + condition
		}
	}
	if l.Order != "" {
		text += " ORDER BY " + l.Order
	}
	return text
}

type useRow struct {
	Position int64   `db:"position"`
	Count    int64   `db:"count"`
	Example  *string `db:"example"`
}

// statement counts the rows of all references in one statement, at most countMax of each.
func (all links) statement(id string) (text string, args []any) {
	for i, l := range all {
		rows := l.rows(i, "?")
		for range strings.Count(rows, "?") {
			args = append(args, id)
		}
		if i > 0 {
			text += " UNION ALL "
		}
		text += fmt.Sprintf("SELECT %d AS position, count(*) AS count, CAST(min(example) AS TEXT) AS example FROM (%s LIMIT %s) AS u%d",
			i, rows, strconv.Itoa(countMax), i)
	}
	return text, args
}

func find(ctx context.Context, tx *db.Tx, all links, id string) (out Uses, err error) {
	if len(all) == 0 {
		return nil, nil
	}
	text, args := all.statement(id)
	rows, err := db.All[useRow](ctx, tx, text, args...)
	if err != nil {
		return nil, err
	}
	counted := make([]useRow, len(all))
	for _, r := range rows {
		counted[r.Position] = r
	}
	for i, l := range all {
		if counted[i].Count > 0 {
			one, many := l.words()
			out = append(out, Use{Table: l.table.Name, Count: counted[i].Count, Example: l.shown(db.OrEmpty(counted[i].Example)),
				one: one, many: many})
		}
	}
	return out, nil
}

// exists returns the condition that a row of any of the references names what is in a column.
func exists(all links, column string) string {
	conditions := make([]string, len(all))
	for i, l := range all {
		conditions[i] = "EXISTS (" + l.rows(i, column) + ")"
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

func removeRows(ctx context.Context, tx *db.Tx, l link, id string) error {
	_, err := tx.Exec(ctx, "DELETE FROM "+l.table.Name+" WHERE organization_id = @org AND "+l.Column+" = ?", id)
	return err
}

// selectDangling returns the ids that rows of a reference name and that do not exist.
func selectDangling(ctx context.Context, tx *db.Tx, l link) ([]string, error) {
	where := ""
	if l.Where != "" {
		where = " AND " + l.Where
	}
	return db.All[string](ctx, tx, "SELECT DISTINCT r."+l.Column+" FROM "+l.table.Name+" r WHERE r.organization_id = @org AND r."+
		l.Column+" IS NOT NULL"+where+" AND NOT EXISTS (SELECT 1 FROM "+l.To+" x WHERE x.organization_id = r.organization_id AND x."+
		db.TableNamed(l.To).ID+" = r."+l.Column+") ORDER BY r."+l.Column)
}
