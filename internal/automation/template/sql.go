package template

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// summaryRow is a template without its content.
type summaryRow struct {
	ID          string     `db:"firm_template_id"`
	Name        string     `db:"name"`
	Description *string    `db:"description"`
	Kind        string     `db:"kind"`
	ItemCount   int64      `db:"item_count"`
	Version     int64      `db:"version"`
	CreatedBy   *string    `db:"created_by"`
	CreatedAt   time.Time  `db:"created_at"`
	UpdatedAt   *time.Time `db:"updated_at"`
}

type row struct {
	summaryRow
	Content string `db:"content"`
}

func (r summaryRow) template() Template {
	return Template{ID: r.ID, Name: r.Name, Description: db.OrEmpty(r.Description), Kind: Kind(r.Kind), ItemCount: r.ItemCount,
		Version: r.Version, CreatedBy: db.OrEmpty(r.CreatedBy), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}

func (r row) template() (Template, error) {
	t := r.summaryRow.template()
	var err error
	t.Content, err = contentOf(r.Content)
	return t, err
}

func toRow(t Template) row {
	return row{summaryRow{ID: t.ID, Name: t.Name, Description: db.OrNull(t.Description), Kind: string(t.Kind), ItemCount: t.ItemCount,
		Version: t.Version, CreatedBy: db.OrNull(t.CreatedBy), CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt}, t.Content.text()}
}

func insert(ctx context.Context, tx *db.Tx, t Template) error {
	return db.Insert(ctx, tx, "firm_templates", toRow(t))
}

func update(ctx context.Context, tx *db.Tx, t Template) error {
	r := toRow(t)
	_, err := tx.Exec(ctx, "UPDATE firm_templates SET name = ?, description = ?, content = ?, item_count = ?, version = ?, updated_at = ? "+
		"WHERE organization_id = @org AND firm_template_id = ?", r.Name, r.Description, r.Content, r.ItemCount, r.Version, r.UpdatedAt, r.ID)
	return err
}

func remove(ctx context.Context, tx *db.Tx, templateID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM firm_templates WHERE organization_id = @org AND firm_template_id = ?", templateID)
	return err
}

func count(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM firm_templates WHERE organization_id = @org")
}

func find(ctx context.Context, tx *db.Tx, templateID string) (Template, error) {
	r, err := db.One[row](ctx, tx, noun, "SELECT "+db.Columns[row]()+
		" FROM firm_templates WHERE organization_id = @org AND firm_template_id = ?", templateID)
	if err != nil {
		return Template{}, err
	}
	return r.template()
}

func selectPage(ctx context.Context, tx *db.Tx, above string, limit int) ([]Template, error) {
	rows, err := db.All[summaryRow](ctx, tx, "SELECT "+db.Columns[summaryRow]()+
		" FROM firm_templates WHERE organization_id = @org AND firm_template_id > ? ORDER BY firm_template_id LIMIT ?", above, limit)
	out := make([]Template, len(rows))
	for i, r := range rows {
		out[i] = r.template()
	}
	return out, err
}

func selectAll(ctx context.Context, tx *db.Tx) ([]Template, error) {
	rows, err := db.All[row](ctx, tx, "SELECT "+db.Columns[row]()+" FROM firm_templates WHERE organization_id = @org "+
		"ORDER BY firm_template_id")
	if err != nil {
		return nil, err
	}
	out := make([]Template, len(rows))
	for i, r := range rows {
		if out[i], err = r.template(); err != nil {
			return nil, err
		}
	}
	return out, nil
}
