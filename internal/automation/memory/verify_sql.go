package memory

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// itemRow is the numbering of the versions of an item, with the current version of its document.
type itemRow struct {
	ID           string `db:"item_id"`
	Count        int64  `db:"versions"`
	First        int64  `db:"first"`
	Last         int64  `db:"last"`
	LastSize     int64  `db:"last_size"`
	LastRevision int64  `db:"last_revision"`
	LastDeleted  bool   `db:"last_deleted"`
	Document     bool   `db:"is_document"`
	Current      *int64 `db:"current"`
	Size         int64  `db:"size"`
	Revision     int64  `db:"revision"`
	Gone         bool   `db:"gone"`
}

func selectItems(ctx context.Context, tx *db.Tx) ([]itemRow, error) {
	return db.All[itemRow](ctx, tx,
		`SELECT c.item_id, c.versions, c.first, c.last, v.size AS last_size, v.revision AS last_revision, v.deleted AS last_deleted,
			c.item_id < 'rul_' AS is_document,
			coalesce(d.version, r.version) AS current, coalesce(d.size, 0) AS size, coalesce(d.revision, 0) AS revision, coalesce(d.gone, 1
			= 0) AS gone FROM
		(SELECT item_id, count(*) AS versions, min(version) AS first, max(version) AS last FROM memory_versions WHERE organization_id =
		@org GROUP BY item_id) AS c
		JOIN memory_versions v ON v.organization_id = @org AND v.item_id = c.item_id AND v.version = c.last
		LEFT JOIN memory_documents d ON d.organization_id = @org AND d.document_id = c.item_id
		LEFT JOIN memory_rules r ON r.organization_id = @org AND r.rule_id = c.item_id ORDER BY c.item_id`)
}

// selectItemsWithoutVersion returns the documents and rules that have no version.
func selectItemsWithoutVersion(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT k.id FROM (
			SELECT d.document_id AS id FROM memory_documents d WHERE d.organization_id = @org UNION ALL SELECT r.rule_id FROM memory_rules r
			WHERE r.organization_id = @org) AS k
		WHERE NOT EXISTS (SELECT 1 FROM memory_versions v WHERE v.organization_id = @org AND v.item_id = k.id) ORDER BY k.id`)
}

func selectRuleKeys(ctx context.Context, tx *db.Tx) ([]ruleKeyRow, error) {
	return db.All[ruleKeyRow](ctx, tx, "SELECT "+db.Columns[ruleKeyRow]()+" FROM memory_rules WHERE organization_id = @org ORDER BY rule_id")
}
