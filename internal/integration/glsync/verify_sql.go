package glsync

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// selectForVerify reads what was sent of the next entries.
func selectForVerify(ctx context.Context, tx *db.Tx, after string, limit int) ([]journalRow, error) {
	return db.All[journalRow](ctx, tx, journalColumns+` AND journal_entry_id IN (SELECT j.journal_entry_id FROM gl_journals j
		WHERE j.organization_id = @org AND j.journal_entry_id > ? GROUP BY j.journal_entry_id ORDER BY j.journal_entry_id LIMIT ?)
		ORDER BY journal_entry_id`, after, limit)
}

func selectWrongMappings(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT m.gl_mapping_id FROM gl_mappings m LEFT JOIN gl_accounts a ON a.organization_id = m.organization_id
		AND a.gl_account_id = m.gl_account_id WHERE m.organization_id = @org AND (a.connection_id IS NULL OR a.connection_id <> m.connection_id)
		ORDER BY m.gl_mapping_id`)
}

func selectWrongTagMappings(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT m.gl_tag_mapping_id FROM gl_tag_mappings m LEFT JOIN gl_dimension_values v
		ON v.organization_id = m.organization_id AND v.gl_dimension_value_id = m.gl_dimension_value_id WHERE m.organization_id = @org
		AND (v.connection_id IS NULL OR v.connection_id <> m.connection_id) ORDER BY m.gl_tag_mapping_id`)
}

func selectWrongRuns(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT gl_sync_run_id FROM gl_sync_runs WHERE organization_id = @org
		AND ((status IN ('pending', 'running')) <> (finished_at IS NULL)
		OR status NOT IN ('pending', 'running', 'completed', 'blocked', 'failed', 'cancelled')) ORDER BY gl_sync_run_id`)
}
