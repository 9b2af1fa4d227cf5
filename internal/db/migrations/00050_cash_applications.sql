-- +goose Up

-- What a deposit was applied to. One that uses what another one left over names it in source_application_id. available_amount is what is
-- left of unapplied_amount. payer_name and payer_address are those of the deposit, in lower case, from which payers are learned.
CREATE TABLE cash_applications (
    organization_id         {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    cash_application_id     {text} NOT NULL,
    legal_entity_id         {text} NOT NULL,
    deposit_transaction_id  {text} NOT NULL,
    source_application_id   {text},
    status                  {text} NOT NULL,
    match_type              {text} NOT NULL,
    currency                {text} NOT NULL,
    total_amount            {decimal} NOT NULL,
    applied_amount          {decimal} NOT NULL,
    written_off_amount      {decimal} NOT NULL,
    unapplied_amount        {decimal} NOT NULL,
    available_amount        {decimal} NOT NULL,
    deposit_memo            {text},
    txn_date                {timestamp} NOT NULL,
    payer_name              {text},
    payer_address           {text},
    memo                    {text},
    review_reason           {text},
    applied_by              {text},
    journal_entry_id        {text},
    stripe_status           {text} NOT NULL,
    stripe_marked_paid_at   {timestamp},
    confirmed_by            {text},
    confirmed_at            {timestamp},
    void_reason             {text},
    error_message           {text},
    revision                {integer} NOT NULL,
    created_at              {timestamp} NOT NULL,
    updated_at              {timestamp},
    PRIMARY KEY (organization_id, cash_application_id)
) {clustered};
CREATE UNIQUE INDEX cash_applications_by_deposit ON cash_applications (organization_id, deposit_transaction_id)
    WHERE status <> 'voided' AND source_application_id IS NULL;
CREATE INDEX cash_applications_of_deposit ON cash_applications (organization_id, deposit_transaction_id, cash_application_id);
CREATE INDEX cash_applications_by_source ON cash_applications (organization_id, source_application_id)
    WHERE source_application_id IS NOT NULL;
CREATE INDEX cash_applications_by_status ON cash_applications (organization_id, status, cash_application_id);
CREATE INDEX cash_applications_by_entity ON cash_applications (organization_id, legal_entity_id, cash_application_id);
CREATE INDEX cash_applications_by_entry ON cash_applications (organization_id, journal_entry_id) WHERE journal_entry_id IS NOT NULL;
CREATE INDEX cash_applications_by_payer_name ON cash_applications (organization_id, payer_name, cash_application_id)
    WHERE payer_name IS NOT NULL;
CREATE INDEX cash_applications_by_payer_address ON cash_applications (organization_id, payer_address, cash_application_id)
    WHERE payer_address IS NOT NULL;

-- The invoices that an application pays.
CREATE TABLE cash_application_allocations (
    organization_id     {text} NOT NULL,
    cash_application_id {text} NOT NULL,
    position            {integer} NOT NULL,
    invoice_id          {text} NOT NULL,
    customer_id         {text} NOT NULL,
    amount              {decimal} NOT NULL,
    PRIMARY KEY (organization_id, cash_application_id, position)
) {clustered};
CREATE INDEX cash_application_allocations_by_invoice ON cash_application_allocations (organization_id, invoice_id);
CREATE INDEX cash_application_allocations_by_customer ON cash_application_allocations (organization_id, customer_id);

-- What an organization has set for cash application. Without a row, nothing is written off and amounts must be equal.
CREATE TABLE cash_application_settings (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    write_off_limit {decimal} NOT NULL,
    updated_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id)
) {clustered};

-- The forms in which the numbers of invoices are looked up in memos: letters and digits in lower case, and the digits alone of a number
-- that begins with a letter.
ALTER TABLE invoices ADD COLUMN number_key {text} NOT NULL DEFAULT '';
ALTER TABLE invoices ADD COLUMN number_digits {text} NOT NULL DEFAULT '';
UPDATE invoices SET number_key = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(lower(invoice_number), '-', ''), ' ', ''), '/', ''), '.', ''), '_', ''), '#', ''), ':', ''), '(', ''), ')', ''), ',', '');
UPDATE invoices SET number_digits = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(number_key, 'a', ''), 'b', ''), 'c', ''), 'd', ''), 'e', ''), 'f', ''), 'g', ''), 'h', ''), 'i', ''), 'j', ''), 'k', ''), 'l', ''), 'm', ''), 'n', ''), 'o', ''), 'p', ''), 'q', ''), 'r', ''), 's', ''), 't', ''), 'u', ''), 'v', ''), 'w', ''), 'x', ''), 'y', ''), 'z', '') WHERE substr(number_key, 1, 1) BETWEEN 'a' AND 'z';
CREATE INDEX invoices_by_number_key ON invoices (organization_id, number_key);
CREATE INDEX invoices_by_series ON invoices (organization_id, length(number_key), number_key);
CREATE INDEX invoices_by_number_digits ON invoices (organization_id, number_digits) WHERE number_digits <> '';
CREATE INDEX invoices_by_pool ON invoices (organization_id, currency, status, legal_entity_id, invoice_date);
CREATE INDEX invoices_by_customer_status ON invoices (organization_id, customer_id, status, currency, total);

-- +goose Down

DROP INDEX invoices_by_customer_status;
DROP INDEX invoices_by_pool;
DROP INDEX invoices_by_number_digits;
DROP INDEX invoices_by_series;
DROP INDEX invoices_by_number_key;
ALTER TABLE invoices DROP COLUMN number_digits;
ALTER TABLE invoices DROP COLUMN number_key;
DROP TABLE cash_application_settings;
DROP TABLE cash_application_allocations;
DROP TABLE cash_applications;
