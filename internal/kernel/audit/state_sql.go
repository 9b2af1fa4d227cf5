package audit

import (
	"context"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
)

// readMax bounds how many resources are read by one query.
const readMax = 1000

// readStored reads what is stored of resources of a type, by id.
func readStored(ctx context.Context, tx *db.Tx, kind string, ids []string) (map[string]stored, error) {
	out := make(map[string]stored, len(ids))
	for some := range slices.Chunk(ids, readMax) {
		for _, t := range db.StatedTablesOf(kind) {
			if err := readTable(ctx, tx, t, t.Key+" {any}", out, some); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// readNumbered reads what is stored of the resources of a type with consecutive numbers, in their order.
func readNumbered(ctx context.Context, tx *db.Tx, kind string, first, last int64) ([]string, map[string]stored, error) {
	tables := db.StatedTablesOf(kind)
	ids, err := db.All[string](ctx, tx, "SELECT "+tables[0].Key+" FROM "+tables[0].Table+
		" WHERE organization_id = @org AND number >= ? AND number <= ? ORDER BY number", first, last)
	if err != nil {
		return nil, nil, err
	}
	out, err := readStored(ctx, tx, kind, ids)
	return ids, out, err
}

// readTable adds the rows of a table that satisfy a condition.
func readTable(ctx context.Context, tx *db.Tx, t *db.StatedTable, condition string, into map[string]stored, args ...any) error {
	columns, err := db.ColumnsOf(ctx, tx, t.Table)
	if err != nil {
		return err
	}
	order := "resource_id"
	if t.Order != "" {
		order += ", " + t.Order
	}
	rows, err := db.Texts(ctx, tx, "SELECT "+t.Key+" AS resource_id, "+strings.Join(columns, ", ")+" FROM "+t.Table+
		" WHERE "+t.Condition()+" AND "+condition+" ORDER BY "+order, args...)
	for _, r := range rows {
		id := *r["resource_id"].Value
		if into[id] == nil {
			into[id] = stored{}
		}
		into[id][t.Table] = append(into[id][t.Table], r)
	}
	return err
}

// countRows counts the rows of a table that records state.
func countRows(ctx context.Context, tx *db.Tx, t *db.StatedTable) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM "+t.Table+" WHERE "+t.Condition())
}

// selectIDs reads the ids of the resources that rows of a table belong to, in their order.
func selectIDs(ctx context.Context, tx *db.Tx, t *db.StatedTable, after string, limit int) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT DISTINCT "+t.Key+" AS resource_id FROM "+t.Table+" WHERE "+t.Condition()+" AND "+t.Key+
		" > ? ORDER BY resource_id LIMIT ?", after, limit)
}

// chartCreated is the action of the record of a new chart.
const chartCreated = "ledger_accounts.seeded"

type lastRow struct {
	Type     string `db:"resource_type"`
	ID       string `db:"resource_id"`
	Sequence int64  `db:"sequence"`
}

// selectLast reads the sequence number of the last record of each resource, except of the record of a new chart, which is one of
// the organization and says nothing about it.
func selectLast(ctx context.Context, tx *db.Tx, ids []string) (map[resource]int64, error) {
	out := make(map[resource]int64, len(ids))
	for some := range slices.Chunk(ids, readMax) {
		rows, err := db.All[lastRow](ctx, tx, "SELECT resource_type, resource_id, max(sequence) AS sequence FROM audit_log "+
			"WHERE organization_id = @org AND resource_id {any} AND action <> ? GROUP BY resource_type, resource_id",
			some, chartCreated)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			out[resource{r.Type, r.ID}] = r.Sequence
		}
	}
	return out, nil
}

// selectOf reads all records of a resource, the last first.
func selectOf(ctx context.Context, tx *db.Tx, r resource) ([]LogRecord, error) {
	rows, err := db.All[recordRow](ctx, tx, "SELECT "+db.Columns[recordRow]()+
		" FROM audit_log WHERE organization_id = @org AND resource_id = ? AND resource_type = ? ORDER BY sequence DESC", r.id, r.kind)
	return records(rows), err
}
