-- +goose Up

-- What customers were credited: of an invoice, whose amount due it reduces, or of none, and then amount_remaining is what is left of it.
CREATE TABLE credit_notes (
    organization_id    {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    credit_note_id     {text} NOT NULL,
    credit_note_number {text} NOT NULL,
    sequence           {integer},
    invoice_id         {text},
    customer_id        {text} NOT NULL,
    legal_entity_id    {text} NOT NULL,
    status             {text} NOT NULL,
    currency           {text} NOT NULL,
    credit_note_date   {timestamp} NOT NULL,
    subtotal           {decimal} NOT NULL,
    tax                {decimal} NOT NULL,
    total              {decimal} NOT NULL,
    amount_remaining   {decimal} NOT NULL,
    memo               {text},
    void_reason        {text},
    journal_entry_id   {text} NOT NULL,
    created_at         {timestamp} NOT NULL,
    updated_at         {timestamp},
    PRIMARY KEY (organization_id, credit_note_id)
) {clustered};
CREATE UNIQUE INDEX credit_notes_by_number ON credit_notes (organization_id, legal_entity_id, credit_note_number);
CREATE INDEX credit_notes_by_sequence ON credit_notes (organization_id, legal_entity_id, sequence);
CREATE INDEX credit_notes_by_date ON credit_notes (organization_id, credit_note_date, credit_note_id);
CREATE INDEX credit_notes_by_customer ON credit_notes (organization_id, customer_id, credit_note_date, credit_note_id);
CREATE INDEX credit_notes_by_invoice ON credit_notes (organization_id, invoice_id) WHERE invoice_id IS NOT NULL;
CREATE INDEX credit_notes_by_entry ON credit_notes (organization_id, journal_entry_id);

CREATE TABLE credit_note_lines (
    organization_id       {text} NOT NULL,
    credit_note_id        {text} NOT NULL,
    position              {integer} NOT NULL,
    description           {text} NOT NULL,
    product               {text},
    quantity              {decimal} NOT NULL,
    unit_price            {decimal} NOT NULL,
    amount                {decimal} NOT NULL,
    tax_rate              {decimal},
    tax_amount            {decimal} NOT NULL,
    ledger_account_id     {text} NOT NULL,
    tax_ledger_account_id {text},
    PRIMARY KEY (organization_id, credit_note_id, position)
) {clustered};
CREATE INDEX credit_note_lines_by_account ON credit_note_lines (organization_id, ledger_account_id);
CREATE INDEX credit_note_lines_by_tax_account ON credit_note_lines (organization_id, tax_ledger_account_id)
    WHERE tax_ledger_account_id IS NOT NULL;

-- +goose Down

DROP TABLE credit_note_lines;
DROP TABLE credit_notes;
