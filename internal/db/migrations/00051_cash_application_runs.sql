-- +goose Up

-- Cash application runs. One goes through the deposits that its filter finds and that had come when it was created, in the order in which
-- they happened; at_date and at_number say how far it is and change in the transaction that stores the results of a batch. A run that undoes
-- another one names it in undoes_run_id and goes through what that one applied; at_number is the position of its last result.
CREATE TABLE cash_application_runs (
    organization_id  {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    run_id           {text} NOT NULL,
    undoes_run_id    {text},
    dry_run          {boolean} NOT NULL,
    min_confidence   {decimal} NOT NULL,
    filter           {text} NOT NULL,
    void_reason      {text},
    limited_to       {text} NOT NULL,
    up_to            {integer} NOT NULL,
    status           {text} NOT NULL,
    at_date          {timestamp},
    at_number        {integer} NOT NULL,
    total_count      {integer} NOT NULL,
    counts           {text} NOT NULL,
    error_message    {text},
    user_id          {text},
    api_key_id       {text},
    request_id       {text},
    claim            {text},
    claimed_until    {timestamp},
    tries            {integer} NOT NULL,
    created_at       {timestamp} NOT NULL,
    started_at       {timestamp},
    finished_at      {timestamp},
    PRIMARY KEY (organization_id, run_id)
) {updated};
CREATE INDEX cash_application_runs_by_status ON cash_application_runs (organization_id, status, run_id);
CREATE INDEX cash_application_runs_unfinished ON cash_application_runs (status, created_at) WHERE status IN ('pending', 'running');
CREATE INDEX cash_application_runs_by_undone ON cash_application_runs (organization_id, undoes_run_id, run_id)
    WHERE undoes_run_id IS NOT NULL;

-- What a run decided, one row for each deposit in the order of the run. body has the suggestions and the reasons.
CREATE TABLE cash_application_results (
    organization_id     {text} NOT NULL,
    run_id              {text} NOT NULL,
    position            {integer} NOT NULL,
    transaction_id      {text} NOT NULL,
    number              {integer} NOT NULL,
    outcome             {text} NOT NULL,
    cash_application_id {text},
    body                {text} NOT NULL,
    PRIMARY KEY (organization_id, run_id, position)
) {clustered};
CREATE INDEX cash_application_results_by_outcome ON cash_application_results (organization_id, run_id, outcome, position);
CREATE INDEX cash_application_results_by_application ON cash_application_results (organization_id, cash_application_id)
    WHERE cash_application_id IS NOT NULL;

-- The amounts of invoices as texts that sort as the numbers do: under row-level security PostgreSQL uses no index for a condition on a
-- decimal.
ALTER TABLE invoices ADD COLUMN amount_due_key {text} NOT NULL DEFAULT '';
ALTER TABLE invoices ADD COLUMN total_key {text} NOT NULL DEFAULT '';
{sqlite}UPDATE invoices SET amount_due_key = printf('%02d', instr(amount_due || '.', '.') - 1) || amount_due WHERE amount_due >= '0';
{sqlite}UPDATE invoices SET total_key = printf('%02d', instr(total || '.', '.') - 1) || total WHERE total >= '0';
{postgres}UPDATE invoices SET amount_due_key = lpad(length(trunc(amount_due)::text)::text, 2, '0') || trim_scale(amount_due)::text WHERE amount_due >= 0;
{postgres}UPDATE invoices SET total_key = lpad(length(trunc(total)::text)::text, 2, '0') || trim_scale(total)::text WHERE total >= 0;
-- What tells most comes first: PostgreSQL without statistics would use an index that begins with the currency and the status for any query
-- that has those.
DROP INDEX invoices_by_amount_due;
CREATE INDEX invoices_by_amount_due ON invoices (organization_id, amount_due_key, currency, status);
DROP INDEX invoices_by_pool;
CREATE INDEX invoices_by_pool ON invoices (organization_id, legal_entity_id, currency, status, invoice_date);
DROP INDEX invoices_by_customer_status;
CREATE INDEX invoices_open_by_customer ON invoices (organization_id, customer_id, currency) WHERE status = 'open';
CREATE INDEX invoices_paid_by_customer ON invoices (organization_id, customer_id, total_key) WHERE status = 'paid';

-- +goose Down

DROP INDEX invoices_paid_by_customer;
DROP INDEX invoices_open_by_customer;
CREATE INDEX invoices_by_customer_status ON invoices (organization_id, customer_id, status, currency, total);
DROP INDEX invoices_by_pool;
CREATE INDEX invoices_by_pool ON invoices (organization_id, currency, status, legal_entity_id, invoice_date);
DROP INDEX invoices_by_amount_due;
CREATE INDEX invoices_by_amount_due ON invoices (organization_id, currency, status, amount_due);
ALTER TABLE invoices DROP COLUMN total_key;
ALTER TABLE invoices DROP COLUMN amount_due_key;
DROP TABLE cash_application_results;
DROP TABLE cash_application_runs;
