package glsync

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type tagMappingRow struct {
	ID           string     `db:"gl_tag_mapping_id"`
	ConnectionID string     `db:"connection_id"`
	TagID        string     `db:"tag_id"`
	ValueID      string     `db:"gl_dimension_value_id"`
	CreatedAt    time.Time  `db:"created_at"`
	UpdatedAt    *time.Time `db:"updated_at"`
}

var tagMappingColumns = "SELECT " + db.Columns[tagMappingRow]() + " FROM gl_tag_mappings WHERE organization_id = @org AND connection_id = ?"

func tagMappingsOf(rows []tagMappingRow) []storedTag {
	out := make([]storedTag, len(rows))
	for n, r := range rows {
		out[n] = storedTag(r)
	}
	return out
}

// selectTagMappings reads the mappings of tags to a general ledger.
func selectTagMappings(ctx context.Context, tx *db.Tx, connectionID string) ([]storedTag, error) {
	rows, err := db.All[tagMappingRow](ctx, tx, tagMappingColumns+" ORDER BY gl_tag_mapping_id", connectionID)
	return tagMappingsOf(rows), err
}

// selectMappingsOfTags reads the mappings of some tags to a general ledger.
func selectMappingsOfTags(ctx context.Context, tx *db.Tx, connectionID string, tagIDs []string) ([]storedTag, error) {
	rows, err := db.All[tagMappingRow](ctx, tx, tagMappingColumns+" AND tag_id {any} ORDER BY gl_tag_mapping_id", connectionID, tagIDs)
	return tagMappingsOf(rows), err
}

func insertTagMapping(ctx context.Context, tx *db.Tx, m storedTag) error {
	return db.Insert(ctx, tx, "gl_tag_mappings", tagMappingRow(m))
}

func updateTagMapping(ctx context.Context, tx *db.Tx, m storedTag) error {
	return tx.Queue(ctx, `UPDATE gl_tag_mappings SET gl_dimension_value_id = ?, updated_at = ? WHERE organization_id = @org
		AND gl_tag_mapping_id = ?`, m.ValueID, m.UpdatedAt, m.ID)
}

func deleteTagMapping(ctx context.Context, tx *db.Tx, mappingID string) error {
	return tx.Queue(ctx, "DELETE FROM gl_tag_mappings WHERE organization_id = @org AND gl_tag_mapping_id = ?", mappingID)
}
