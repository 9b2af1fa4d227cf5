-- +goose Up

-- The row per organization that serializes its writes: end of the audit chain, counters, version of the books.
ALTER TABLE heads RENAME TO organization_state;

-- +goose Down

ALTER TABLE organization_state RENAME TO heads;
