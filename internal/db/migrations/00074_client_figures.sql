-- +goose Up

-- What a firm's overview shows of an organization, as it was at a moment: after the change with the number audit_sequence. They are computed
-- again when something has changed, or when the month is over (valid_until), but not before refresh_after. If they could never be computed,
-- there is nothing but refresh_after.
CREATE TABLE client_figures (
    organization_id         {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    audit_sequence          {integer},
    open_transactions       {integer},
    unreconciled_sources    {integer},
    sources_without_balance {integer},
    accounting_period_id    {text},
    period_key              {text},
    readiness               {text},
    failed_checks           {integer},
    warnings                {integer},
    as_of                   {timestamp},
    valid_until             {timestamp},
    refresh_after           {timestamp} NOT NULL,
    PRIMARY KEY (organization_id)
) {updated};

-- Jobs of a firm over its clients, and what came of each client.
CREATE TABLE firm_jobs (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    firm_job_id     {text} NOT NULL,
    kind            {text} NOT NULL,
    parameters      {text} NOT NULL,
    scheduled_for   {text},
    status          {text} NOT NULL,
    total_count     {integer} NOT NULL,
    counts          {text} NOT NULL,
    error_message   {text},
    user_id         {text},
    api_key_id      {text},
    request_id      {text},
    claim           {text},
    claimed_until   {timestamp},
    tries           {integer} NOT NULL,
    created_at      {timestamp} NOT NULL,
    started_at      {timestamp},
    finished_at     {timestamp},
    PRIMARY KEY (organization_id, firm_job_id)
) {updated};
CREATE INDEX firm_jobs_by_status ON firm_jobs (organization_id, status, firm_job_id);
CREATE INDEX firm_jobs_unfinished ON firm_jobs (status, created_at) WHERE status IN ('pending', 'running');
CREATE UNIQUE INDEX firm_jobs_scheduled ON firm_jobs (organization_id, scheduled_for) WHERE scheduled_for IS NOT NULL;
CREATE INDEX firm_jobs_nights ON firm_jobs (scheduled_for) WHERE scheduled_for IS NOT NULL;
CREATE INDEX firm_jobs_ends ON firm_jobs (finished_at) WHERE scheduled_for IS NULL;

CREATE TABLE firm_job_results (
    organization_id        {text} NOT NULL,
    firm_job_id            {text} NOT NULL,
    position               {integer} NOT NULL,
    firm_client_id         {text} NOT NULL,
    client_organization_id {text} NOT NULL,
    status                 {text} NOT NULL,
    body                   {text},
    error_message          {text},
    finished_at            {timestamp},
    PRIMARY KEY (organization_id, firm_job_id, position)
) {updated};

-- The pending requests of each client are counted for the overview.
CREATE INDEX firm_requests_pending ON firm_requests (organization_id, firm_client_id, expires_at) WHERE status = 'pending';

-- A run that somebody of an accounting firm has started.
ALTER TABLE classification_runs ADD COLUMN firm_id {text};
ALTER TABLE cash_application_runs ADD COLUMN firm_id {text};

-- +goose Down

DROP INDEX firm_requests_pending;
ALTER TABLE cash_application_runs DROP COLUMN firm_id;
ALTER TABLE classification_runs DROP COLUMN firm_id;
DROP TABLE firm_job_results;
DROP TABLE firm_jobs;
DROP TABLE client_figures;
