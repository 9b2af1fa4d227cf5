-- +goose Up

-- Lots of one cost are gone through by their ids. Without figures about the data PostgreSQL takes the smallest index that has the pool, which is that
-- by age then, and is the one that most methods go by.
DROP INDEX lots_by_cost;
CREATE INDEX lots_by_cost ON lots (organization_id, pool, is_open, unit_key, asset_id);

-- When a lot came by the accounting date of its entry, and that none of its uses is of a later date than another. Where one is missing, it is looked up.
ALTER TABLE lots ADD COLUMN came_at {timestamp};
ALTER TABLE lots ADD COLUMN used_by {timestamp};
