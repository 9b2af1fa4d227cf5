-- +goose Up

-- Why a period was closed although something stood in the way.
ALTER TABLE period_closings ADD COLUMN override_reason {text};

-- What was disposed of and was not there, which is rare.
CREATE INDEX lot_uses_missing ON lot_uses (organization_id, legal_entity_id) WHERE asset_id = '' AND kind <> 'relocate';
