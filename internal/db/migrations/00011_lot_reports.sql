-- +goose Up

-- life is 0 while something is left of a lot, and else says when it was held: rules/calendar.Life of the accounting dates it came and was emptied at.
-- The lots held at a time are then those of a dozen lives, whatever came and went before and after.
ALTER TABLE lots ADD COLUMN life {integer} NOT NULL DEFAULT 0;
CREATE INDEX lots_by_life ON lots (organization_id, legal_entity_id, asset_type, life, acquired_at, asset_id);

CREATE INDEX lot_gains_by_period ON lot_gains (organization_id, accounting_period_id, legal_entity_id, asset_type);
