-- +goose Up

-- Only open invoices are counted by it: one that is paid leaves the index instead of moving in it.
DROP INDEX invoices_by_pool;
CREATE INDEX invoices_by_pool ON invoices (organization_id, legal_entity_id, currency, invoice_date) WHERE status = 'open';

-- +goose Down

DROP INDEX invoices_by_pool;
CREATE INDEX invoices_by_pool ON invoices (organization_id, legal_entity_id, currency, status, invoice_date);
