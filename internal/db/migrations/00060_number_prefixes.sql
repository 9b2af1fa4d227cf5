-- +goose Up

-- The letters before the digits of a number: an invoice that has those of a number in a memo shows that such numbers exist. Under row-level
-- security PostgreSQL uses no index for a condition on the length of a number.
DROP INDEX invoices_by_series;
ALTER TABLE invoices ADD COLUMN number_prefix {text} NOT NULL DEFAULT '';
UPDATE invoices SET number_prefix = rtrim(number_key, '0123456789')
    WHERE number_digits <> '' AND rtrim(number_key, '0123456789') || number_digits = number_key;
CREATE INDEX invoices_by_number_prefix ON invoices (organization_id, number_prefix, number_key, invoice_id)
    WHERE number_prefix <> '';

-- +goose Down

DROP INDEX invoices_by_number_prefix;
ALTER TABLE invoices DROP COLUMN number_prefix;
CREATE INDEX invoices_by_series ON invoices (organization_id, length(number_key), number_key);
