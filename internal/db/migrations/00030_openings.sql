-- +goose Up

-- Reports as of an earlier day read the opening balances of an asset beside the lots that were acquired before that day.
CREATE INDEX lots_of_openings ON lots (organization_id, legal_entity_id, asset_type, interval_node, acquired_at, asset_id)
    WHERE origin = 'manual';

-- +goose Down

DROP INDEX lots_of_openings;
