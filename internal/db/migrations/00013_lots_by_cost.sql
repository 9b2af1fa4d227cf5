-- +goose Up

-- Lots of one cost are gone through by their ids. Without figures about the data PostgreSQL takes the smallest index that has the pool, which is that
-- by age then, and is the one that most methods go by.
DROP INDEX lots_by_cost;
CREATE INDEX lots_by_cost ON lots (organization_id, pool, is_open, unit_key, asset_id);

-- came_at is the accounting date of the entry a lot came with, and none of its uses is dated later than used_by. What is missing is looked up.
ALTER TABLE lots ADD COLUMN came_at {timestamp};
ALTER TABLE lots ADD COLUMN used_by {timestamp};
