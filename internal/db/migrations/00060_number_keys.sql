-- +goose Up

-- The key of the number of an invoice begins with its length, so that the numbers of a series, which are equally long, are a range: under
-- row-level security PostgreSQL uses no index for a condition on the length.
DROP INDEX invoices_by_series;
{sqlite}UPDATE invoices SET number_key = printf('%02d', length(number_key)) || number_key WHERE number_key <> '';
{postgres}UPDATE invoices SET number_key = lpad(length(number_key)::text, 2, '0') || number_key WHERE number_key <> '';

-- +goose Down

UPDATE invoices SET number_key = substr(number_key, 3) WHERE number_key <> '';
CREATE INDEX invoices_by_series ON invoices (organization_id, length(number_key), number_key);
