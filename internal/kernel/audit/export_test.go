package audit

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// RemoveStates rewrites the log as an earlier version has written it: without states, and with the hashes of such records.
func RemoveStates(ctx context.Context, tx *db.Tx) error {
	s, err := orgstate.Lock(ctx, tx)
	if err != nil {
		return err
	}
	all, err := selectAfter(ctx, tx, 0, 1000)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].State, all[i].PreviousHash = "", ""; i > 0 {
			all[i].PreviousHash = all[i-1].Hash
		}
		all[i].Hash = all[i].chainHash(tx.Organization())
		s.AuditHash = all[i].Hash
		if _, err := tx.Exec(ctx, "UPDATE audit_log SET state = NULL, previous_hash = ?, hash = ? WHERE organization_id = @org AND sequence = ?",
			all[i].PreviousHash, all[i].Hash, all[i].Sequence); err != nil {
			return err
		}
	}
	return nil
}

// CompareRows returns what verification says about the rows of a resource, if a record states them as rows.
func CompareRows(kind, table string, stated map[string]*string, stored db.TextRow) []string {
	c := comparison{found: finding.New("audit log")}
	c.compareTables(statement{resource: resource{kind, "1"}, record: &LogRecord{}, tables: map[string]tableState{
		table: {Rows: []map[string]*string{stated}}}}, map[string][]db.TextRow{table: {stored}})
	return c.found.Messages()
}
