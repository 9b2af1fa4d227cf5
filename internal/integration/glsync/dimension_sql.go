package glsync

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type valueRow struct {
	ID            string    `db:"gl_dimension_value_id"`
	ConnectionID  string    `db:"connection_id"`
	Dimension     string    `db:"dimension_key"`
	DimensionName string    `db:"dimension_name"`
	ExternalID    string    `db:"external_id"`
	Name          string    `db:"name"`
	Active        bool      `db:"is_active"`
	CreatedAt     time.Time `db:"created_at"`
	Search        string    `db:"search"`
}

var valueColumns = "SELECT " + db.Columns[valueRow]() + " FROM gl_dimension_values WHERE organization_id = @org"

func valuesOf(rows []valueRow) []Value {
	out := make([]Value, len(rows))
	for n, r := range rows {
		out[n] = Value{ID: r.ID, ConnectionID: r.ConnectionID, Dimension: r.Dimension, DimensionName: r.DimensionName,
			ExternalID: r.ExternalID, Name: r.Name, Active: r.Active, CreatedAt: r.CreatedAt, search: r.Search}
	}
	return out
}

// selectValues reads the values of the dimensions of a general ledger, in the order in which they were first read.
func selectValues(ctx context.Context, tx *db.Tx, connectionID string) ([]Value, error) {
	rows, err := db.All[valueRow](ctx, tx, valueColumns+" AND connection_id = ? ORDER BY gl_dimension_value_id", connectionID)
	return valuesOf(rows), err
}

// selectSomeValues reads the values with some ids.
func selectSomeValues(ctx context.Context, tx *db.Tx, ids []string) ([]Value, error) {
	rows, err := db.All[valueRow](ctx, tx, valueColumns+" AND gl_dimension_value_id {any}", ids)
	return valuesOf(rows), err
}

// hasDimension reports whether a general ledger of some connections has values of a dimension.
func hasDimension(ctx context.Context, tx *db.Tx, connections []string, dimension string) (bool, error) {
	found, err := db.All[string](ctx, tx, `SELECT gl_dimension_value_id FROM gl_dimension_values WHERE organization_id = @org
		AND connection_id {any} AND dimension_key = ? LIMIT 1`, connections, dimension)
	return len(found) > 0, err
}

func selectValuePage(ctx context.Context, tx *db.Tx, f ValueFilter, connections []string, above string, limit int) ([]Value, error) {
	q := db.Select(valueColumns).And("connection_id {any}", connections).And("gl_dimension_value_id > ?", above)
	if f.Active != nil && *f.Active {
		q.And("is_active")
	} else if f.Active != nil {
		q.And("NOT is_active")
	}
	if f.Search != "" {
		q.And(containsText, pattern(f.Search))
	}
	rows, err := db.All[valueRow](ctx, tx, q.Then("ORDER BY gl_dimension_value_id LIMIT ?", limit), q.Args...)
	return valuesOf(rows), err
}

func upsertValues(ctx context.Context, tx *db.Tx, values []Value) error {
	if len(values) == 0 {
		return nil
	}
	rows := make([]valueRow, len(values))
	for n, v := range values {
		rows[n] = valueRow{ID: v.ID, ConnectionID: v.ConnectionID, Dimension: v.Dimension, DimensionName: v.DimensionName,
			ExternalID: v.ExternalID, Name: v.Name, Active: v.Active, CreatedAt: v.CreatedAt, Search: v.search}
	}
	return db.Upsert(ctx, tx, "gl_dimension_values", rows, `ON CONFLICT (organization_id, gl_dimension_value_id) DO UPDATE SET
		dimension_name = excluded.dimension_name, name = excluded.name, is_active = excluded.is_active, search = excluded.search`)
}
