-- +goose Up

-- The lot tables get the words that the code and the glossary use. Everything here changes names only, so it takes no time however many lots there
-- are. Both engines rename a column in the indexes as well.

-- SQLite has no statement that renames an index: its catalog is changed, which is the only place that has the name. The statements below, which
-- change the catalog too, make every connection read it again.
{sqlite} PRAGMA writable_schema = ON;
{sqlite} UPDATE sqlite_schema SET name = 'lots_by_order_key', sql = replace(sql, name, 'lots_by_order_key') WHERE type = 'index' AND name = 'lots_by_place';
{sqlite} UPDATE sqlite_schema SET name = 'lots_by_interval_node', sql = replace(sql, name, 'lots_by_interval_node') WHERE type = 'index' AND name = 'lots_by_life';
{sqlite} UPDATE sqlite_schema SET name = 'lots_by_emptied_at', sql = replace(sql, name, 'lots_by_emptied_at') WHERE type = 'index' AND name = 'lots_by_end';
{sqlite} UPDATE sqlite_schema SET name = 'lot_consumptions_by_entry', sql = replace(sql, name, 'lot_consumptions_by_entry') WHERE type = 'index' AND name = 'lot_takes_by_entry';
{sqlite} UPDATE sqlite_schema SET name = 'lot_uses_by_order_key', sql = replace(sql, name, 'lot_uses_by_order_key') WHERE type = 'index' AND name = 'lot_uses_by_place';
{sqlite} UPDATE sqlite_schema SET name = 'lot_uses_of_deficits', sql = replace(sql, name, 'lot_uses_of_deficits') WHERE type = 'index' AND name = 'lot_uses_missing';
{sqlite} PRAGMA writable_schema = OFF;
{postgres} ALTER INDEX lots_by_place RENAME TO lots_by_order_key;
{postgres} ALTER INDEX lots_by_life RENAME TO lots_by_interval_node;
{postgres} ALTER INDEX lots_by_end RENAME TO lots_by_emptied_at;
{postgres} ALTER INDEX lot_takes_by_entry RENAME TO lot_consumptions_by_entry;
{postgres} ALTER INDEX lot_uses_by_place RENAME TO lot_uses_by_order_key;
{postgres} ALTER INDEX lot_uses_missing RENAME TO lot_uses_of_deficits;
{postgres} ALTER INDEX lot_takes_pkey RENAME TO lot_consumptions_pkey;

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

{sqlite} PRAGMA writable_schema = ON;
{sqlite} UPDATE sqlite_schema SET name = 'lots_by_place', sql = replace(sql, name, 'lots_by_place') WHERE type = 'index' AND name = 'lots_by_order_key';
{sqlite} UPDATE sqlite_schema SET name = 'lots_by_life', sql = replace(sql, name, 'lots_by_life') WHERE type = 'index' AND name = 'lots_by_interval_node';
{sqlite} UPDATE sqlite_schema SET name = 'lots_by_end', sql = replace(sql, name, 'lots_by_end') WHERE type = 'index' AND name = 'lots_by_emptied_at';
{sqlite} UPDATE sqlite_schema SET name = 'lot_takes_by_entry', sql = replace(sql, name, 'lot_takes_by_entry') WHERE type = 'index' AND name = 'lot_consumptions_by_entry';
{sqlite} UPDATE sqlite_schema SET name = 'lot_uses_by_place', sql = replace(sql, name, 'lot_uses_by_place') WHERE type = 'index' AND name = 'lot_uses_by_order_key';
{sqlite} UPDATE sqlite_schema SET name = 'lot_uses_missing', sql = replace(sql, name, 'lot_uses_missing') WHERE type = 'index' AND name = 'lot_uses_of_deficits';
{sqlite} PRAGMA writable_schema = OFF;
{postgres} ALTER INDEX lots_by_order_key RENAME TO lots_by_place;
{postgres} ALTER INDEX lots_by_interval_node RENAME TO lots_by_life;
{postgres} ALTER INDEX lots_by_emptied_at RENAME TO lots_by_end;
{postgres} ALTER INDEX lot_consumptions_by_entry RENAME TO lot_takes_by_entry;
{postgres} ALTER INDEX lot_uses_by_order_key RENAME TO lot_uses_by_place;
{postgres} ALTER INDEX lot_uses_of_deficits RENAME TO lot_uses_missing;
{postgres} ALTER INDEX lot_consumptions_pkey RENAME TO lot_takes_pkey;
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
