-- +goose Up

-- The lot tables get the words that the code and the glossary use. Everything here changes names only, so it takes no time however many lots there
-- are. Indexes follow the columns but keep their names, because SQLite cannot rename one.

-- What an entry asks of a pool.
ALTER TABLE lot_takes RENAME TO lot_consumptions;
ALTER TABLE lot_consumptions RENAME COLUMN taken_at TO consumed_at;
ALTER TABLE lot_consumptions RENAME COLUMN is_net TO net_fees;

-- The key by which the events of a pool sort.
ALTER TABLE lots RENAME COLUMN place TO order_key;
ALTER TABLE lot_consumptions RENAME COLUMN place TO order_key;
ALTER TABLE lot_uses RENAME COLUMN place TO order_key;
ALTER TABLE lot_pools RENAME COLUMN last_place TO last_order_key;

-- When a lot was held: the accounting date of its entry, a date that none of its uses is later than, and the node of the interval in between,
-- by which reports find the lots of a day (rules/calendar.IntervalNode).
ALTER TABLE lots RENAME COLUMN came_at TO entered_at;
ALTER TABLE lots RENAME COLUMN used_by TO last_used_at;
ALTER TABLE lots RENAME COLUMN life TO interval_node;

-- +goose Down

ALTER TABLE lots RENAME COLUMN interval_node TO life;
ALTER TABLE lots RENAME COLUMN last_used_at TO used_by;
ALTER TABLE lots RENAME COLUMN entered_at TO came_at;
ALTER TABLE lot_pools RENAME COLUMN last_order_key TO last_place;
ALTER TABLE lot_uses RENAME COLUMN order_key TO place;
ALTER TABLE lot_consumptions RENAME COLUMN order_key TO place;
ALTER TABLE lots RENAME COLUMN order_key TO place;
ALTER TABLE lot_consumptions RENAME COLUMN net_fees TO is_net;
ALTER TABLE lot_consumptions RENAME COLUMN consumed_at TO taken_at;
ALTER TABLE lot_consumptions RENAME TO lot_takes;
