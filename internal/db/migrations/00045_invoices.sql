-- +goose Up

-- Invoices of this organization, which book an entry when they are opened, and those that another system keeps (provider, external_id), which
-- book nothing here. sequence is the number of an invoice whose number was chosen by Bursar. Dates of days are their first instant in UTC.
CREATE TABLE invoices (
    organization_id    {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    invoice_id         {text} NOT NULL,
    provider           {text} NOT NULL,
    external_id        {text},
    invoice_number     {text} NOT NULL,
    sequence           {integer},
    customer_id        {text} NOT NULL,
    legal_entity_id    {text},
    status             {text} NOT NULL,
    currency           {text} NOT NULL,
    invoice_date       {timestamp} NOT NULL,
    due_date           {timestamp} NOT NULL,
    subtotal           {decimal} NOT NULL,
    tax                {decimal} NOT NULL,
    total              {decimal} NOT NULL,
    amount_due         {decimal} NOT NULL,
    memo               {text},
    void_reason        {text},
    transaction_id     {text},
    journal_entry_id   {text},
    write_off_entry_id {text},
    created_at         {timestamp} NOT NULL,
    updated_at         {timestamp},
    PRIMARY KEY (organization_id, invoice_id)
) {clustered};
CREATE UNIQUE INDEX invoices_by_number ON invoices (organization_id, legal_entity_id, invoice_number) WHERE external_id IS NULL;
CREATE UNIQUE INDEX invoices_by_external ON invoices (organization_id, provider, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX invoices_by_sequence ON invoices (organization_id, legal_entity_id, sequence);
CREATE INDEX invoices_by_date ON invoices (organization_id, invoice_date, invoice_id);
CREATE INDEX invoices_by_entity ON invoices (organization_id, legal_entity_id, invoice_date, invoice_id);
CREATE INDEX invoices_by_customer ON invoices (organization_id, customer_id, invoice_date, invoice_id);
CREATE INDEX invoices_by_status ON invoices (organization_id, status, invoice_date, invoice_id);
CREATE INDEX invoices_by_amount_due ON invoices (organization_id, currency, status, amount_due);
CREATE INDEX invoices_by_transaction ON invoices (organization_id, transaction_id) WHERE transaction_id IS NOT NULL;
CREATE INDEX invoices_by_entry ON invoices (organization_id, journal_entry_id) WHERE journal_entry_id IS NOT NULL;
CREATE INDEX invoices_by_write_off ON invoices (organization_id, write_off_entry_id) WHERE write_off_entry_id IS NOT NULL;

CREATE TABLE invoice_lines (
    organization_id       {text} NOT NULL,
    invoice_id            {text} NOT NULL,
    position              {integer} NOT NULL,
    description           {text} NOT NULL,
    product               {text},
    quantity              {decimal} NOT NULL,
    unit_price            {decimal} NOT NULL,
    amount                {decimal} NOT NULL,
    tax_rate              {decimal},
    tax_amount            {decimal} NOT NULL,
    ledger_account_id     {text},
    tax_ledger_account_id {text},
    PRIMARY KEY (organization_id, invoice_id, position)
) {clustered};
CREATE INDEX invoice_lines_by_account ON invoice_lines (organization_id, ledger_account_id) WHERE ledger_account_id IS NOT NULL;
CREATE INDEX invoice_lines_by_tax_account ON invoice_lines (organization_id, tax_ledger_account_id) WHERE tax_ledger_account_id IS NOT NULL;

-- +goose Down

DROP TABLE invoice_lines;
DROP TABLE invoices;
