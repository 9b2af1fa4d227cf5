package audit

import (
	"context"

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
