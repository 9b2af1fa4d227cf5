-- +goose Up

-- The legal entities of the lines that a run, or an attempt, is about; a JSON list. A key that is limited to others sees neither. It is null
-- for those of earlier versions, which limited keys do not see.
ALTER TABLE gl_sync_runs ADD COLUMN legal_entity_ids {text};
ALTER TABLE gl_sync_attempts ADD COLUMN legal_entity_ids {text};

-- +goose Down

ALTER TABLE gl_sync_attempts DROP COLUMN legal_entity_ids;
ALTER TABLE gl_sync_runs DROP COLUMN legal_entity_ids;
