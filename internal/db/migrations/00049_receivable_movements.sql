-- +goose Up

-- What each entry changes about an invoice, or about the credit note of a customer: positive if it adds to what is due. The entry has the
-- date. The sum over an invoice is what is due on it in the books; the sum over an entry is what it books to the control account.
CREATE TABLE receivable_movements (
    organization_id  {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    document_id      {text} NOT NULL,
    journal_entry_id {text} NOT NULL,
    amount           {decimal} NOT NULL,
    PRIMARY KEY (organization_id, document_id, journal_entry_id)
) {clustered};
CREATE INDEX receivable_movements_by_entry ON receivable_movements (organization_id, journal_entry_id);

-- +goose Down

DROP TABLE receivable_movements;
