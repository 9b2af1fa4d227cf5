-- +goose Up

-- Reports as of an earlier day read the lots that can have existed before their date of acquisition beside those that were acquired before that day.
CREATE INDEX lots_preceding ON lots (organization_id, legal_entity_id, asset_type, interval_node, acquired_at, asset_id)
    WHERE origin = 'manual' OR parent_asset_id IS NOT NULL;

-- +goose Down

DROP INDEX lots_preceding;
