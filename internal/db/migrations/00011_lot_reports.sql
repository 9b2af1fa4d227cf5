-- +goose Up

-- A lot of which nothing is left says when it was emptied, by accounting date, and where the time from its entry until then stands: its life, by
-- rules/calendar.Life, is 0 while something is left. The lots held at a time are then among those of a dozen lives, whatever came and went before and
-- after.
ALTER TABLE lots ADD COLUMN emptied_at {timestamp};
ALTER TABLE lots ADD COLUMN life {integer} NOT NULL DEFAULT 0;
CREATE INDEX lots_by_life ON lots (organization_id, legal_entity_id, asset_type, life, acquired_at, asset_id, emptied_at);
CREATE INDEX lots_by_end ON lots (organization_id, legal_entity_id, asset_type, life, emptied_at);

CREATE INDEX lot_gains_by_period ON lot_gains (organization_id, accounting_period_id, legal_entity_id, asset_type);
