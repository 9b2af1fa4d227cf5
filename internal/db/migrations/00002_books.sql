-- +goose Up

-- The head also counts: numbers come from it under its lock, so that a rollback gives them back and no number is missing.
ALTER TABLE heads ADD COLUMN entry_number {integer} NOT NULL DEFAULT 0;
ALTER TABLE heads ADD COLUMN account_number {integer} NOT NULL DEFAULT 0;
-- Rises with every change to what posting looks up: legal entities, accounts, tags, periods, the time zone.
ALTER TABLE heads ADD COLUMN books_version {integer} NOT NULL DEFAULT 0;

ALTER TABLE legal_entities ADD COLUMN country {text};
ALTER TABLE legal_entities ADD COLUMN parent_legal_entity_id {text};
ALTER TABLE legal_entities ADD COLUMN ownership_percent {decimal};
ALTER TABLE legal_entities ADD COLUMN cost_basis_method {text} NOT NULL DEFAULT 'fifo';
ALTER TABLE legal_entities ADD COLUMN cost_basis_from {text};
ALTER TABLE legal_entities ADD COLUMN cost_basis_scope {text} NOT NULL DEFAULT 'source';
ALTER TABLE legal_entities ADD COLUMN measurement {text} NOT NULL DEFAULT 'cost';
ALTER TABLE legal_entities ADD COLUMN fiscal_year_start_month {integer} NOT NULL DEFAULT 1;

-- What a legal entity elected and from when; the row of the entity holds the latest.
CREATE TABLE cost_basis_elections (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    legal_entity_id {text} NOT NULL,
    sequence        {integer} NOT NULL,
    method          {text} NOT NULL,
    scope           {text} NOT NULL,
    effective_from  {text},
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, legal_entity_id, sequence)
) {clustered};
INSERT INTO cost_basis_elections (organization_id, legal_entity_id, sequence, method, scope, effective_from, created_at)
    SELECT organization_id, legal_entity_id, 1, cost_basis_method, cost_basis_scope, cost_basis_from, created_at FROM legal_entities;

-- search is the name in lower case.
CREATE TABLE tags (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    tag_id          {text} NOT NULL,
    name            {text} NOT NULL,
    search          {text} NOT NULL DEFAULT '',
    kind            {text} NOT NULL,
    created_at      {timestamp} NOT NULL,
    updated_at      {timestamp},
    PRIMARY KEY (organization_id, tag_id)
) {clustered};
CREATE UNIQUE INDEX tags_by_name ON tags (organization_id, kind, name);

-- role names what the service itself posts to, so that a renamed account is still found.
CREATE TABLE ledger_accounts (
    organization_id     {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    ledger_account_id   {text} NOT NULL,
    sequence_number     {integer} NOT NULL,
    code                {text},
    name                {text} NOT NULL,
    type                {text} NOT NULL,
    normal_balance      {text} NOT NULL,
    parent_account_id   {text},
    is_postable         {boolean} NOT NULL,
    is_clearing_account {boolean} NOT NULL,
    archived_at         {timestamp},
    asset_type          {text},
    role                {text},
    created_at          {timestamp} NOT NULL,
    updated_at          {timestamp},
    PRIMARY KEY (organization_id, ledger_account_id)
) {clustered};
CREATE UNIQUE INDEX ledger_accounts_by_number ON ledger_accounts (organization_id, sequence_number);
CREATE UNIQUE INDEX ledger_accounts_by_code ON ledger_accounts (organization_id, code) WHERE code IS NOT NULL;
CREATE UNIQUE INDEX ledger_accounts_by_role ON ledger_accounts (organization_id, role) WHERE role IS NOT NULL;
CREATE INDEX ledger_accounts_by_parent ON ledger_accounts (organization_id, parent_account_id);

-- One row a month, without gaps, from the first month posted in.
CREATE TABLE accounting_periods (
    organization_id      {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    accounting_period_id {text} NOT NULL,
    key                  {text} NOT NULL,
    start_date_utc       {timestamp} NOT NULL,
    end_date_utc         {timestamp} NOT NULL,
    created_at           {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, accounting_period_id)
) {clustered};
CREATE UNIQUE INDEX accounting_periods_by_key ON accounting_periods (organization_id, key);

-- Every close there was. A period is closed for a legal entity while a close of it has not been reopened.
CREATE TABLE period_closings (
    organization_id      {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    period_closing_id    {text} NOT NULL,
    accounting_period_id {text} NOT NULL,
    legal_entity_id      {text} NOT NULL,
    closed_at            {timestamp} NOT NULL,
    closed_by            {text},
    entry_count          {integer} NOT NULL,
    hash                 {text} NOT NULL,
    reopened_at          {timestamp},
    reopened_by          {text},
    reopen_reason        {text},
    PRIMARY KEY (organization_id, period_closing_id)
) {clustered};
CREATE INDEX period_closings_by_period ON period_closings (organization_id, accounting_period_id, legal_entity_id);
CREATE UNIQUE INDEX period_closings_standing ON period_closings (organization_id, accounting_period_id, legal_entity_id) WHERE reopened_at IS NULL;

-- What each account said when the period was closed. Balances are debits less credits.
CREATE TABLE period_closing_balances (
    organization_id   {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    period_closing_id {text} NOT NULL,
    ledger_account_id {text} NOT NULL,
    opening_balance   {decimal} NOT NULL,
    debits            {decimal} NOT NULL,
    credits           {decimal} NOT NULL,
    closing_balance   {decimal} NOT NULL,
    PRIMARY KEY (organization_id, period_closing_id, ledger_account_id)
) {clustered};

-- rate units of the quote currency are one unit of the base currency.
CREATE TABLE fx_rates (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    base_currency   {text} NOT NULL,
    quote_currency  {text} NOT NULL,
    date            {text} NOT NULL,
    rate            {decimal} NOT NULL,
    source          {text},
    created_at      {timestamp} NOT NULL,
    updated_at      {timestamp},
    PRIMARY KEY (organization_id, base_currency, quote_currency, date)
) {clustered};
CREATE INDEX fx_rates_by_date ON fx_rates (organization_id, date, base_currency, quote_currency);

-- Entries, lines and balances refer to other tables without foreign keys: whoever writes them holds the organization's head, whoever
-- deletes what they refer to holds it too and looks first, and checking again row by row would cost as much as the rows.
CREATE TABLE journal_entries (
    organization_id            {text} NOT NULL,
    journal_entry_id           {text} NOT NULL,
    number                     {integer} NOT NULL,
    status                     {text} NOT NULL,
    originated_by              {text} NOT NULL,
    legal_entity_id            {text} NOT NULL,
    legal_entity_auto_assigned {boolean} NOT NULL,
    accounting_date            {timestamp} NOT NULL,
    intended_accounting_date   {timestamp},
    period_auto_reassigned     {boolean} NOT NULL,
    accounting_period_id       {text},
    posted_at                  {timestamp},
    memo                       {text},
    classification             {text} NOT NULL,
    transaction_id             {text},
    tag_ids                    {text} NOT NULL,
    previous_entry_id          {text},
    next_entry_id              {text},
    search                     {text} NOT NULL,
    created_at                 {timestamp} NOT NULL,
    updated_at                 {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, journal_entry_id)
) {clustered};
CREATE UNIQUE INDEX journal_entries_by_number ON journal_entries (organization_id, number);
CREATE INDEX journal_entries_by_date ON journal_entries (organization_id, accounting_date, number);
CREATE INDEX journal_entries_by_entity ON journal_entries (organization_id, legal_entity_id, accounting_date, number);
CREATE INDEX journal_entries_drafts ON journal_entries (organization_id, accounting_date, number) WHERE status = 'draft';
CREATE INDEX journal_entries_by_transaction ON journal_entries (organization_id, transaction_id, number) WHERE transaction_id IS NOT NULL;

-- Date, number and whether it is posted are the entry's, repeated here so that an account's lines are read in order without their entries.
CREATE TABLE journal_lines (
    organization_id   {text} NOT NULL,
    journal_entry_id  {text} NOT NULL,
    position          {integer} NOT NULL,
    journal_line_id   {text} NOT NULL,
    ledger_account_id {text} NOT NULL,
    legal_entity_id   {text} NOT NULL,
    credit_or_debit   {text} NOT NULL,
    amount            {decimal} NOT NULL,
    currency          {text} NOT NULL,
    base_amount       {decimal},
    memo              {text},
    tag_ids           {text} NOT NULL,
    accounting_date   {timestamp} NOT NULL,
    number            {integer} NOT NULL,
    is_posted         {boolean} NOT NULL,
    PRIMARY KEY (organization_id, journal_entry_id, position)
) {clustered};
CREATE INDEX journal_lines_by_account ON journal_lines (organization_id, ledger_account_id, accounting_date, number, position);

-- One row a tag of an entry or of one of its lines.
CREATE TABLE journal_tags (
    organization_id  {text} NOT NULL,
    tag_id           {text} NOT NULL,
    journal_entry_id {text} NOT NULL,
    accounting_date  {timestamp} NOT NULL,
    number           {integer} NOT NULL,
    PRIMARY KEY (organization_id, tag_id, journal_entry_id)
) {clustered};
CREATE INDEX journal_tags_by_date ON journal_tags (organization_id, tag_id, accounting_date, number);

-- Totals of posted lines in the legal entity's currency; tag_id is empty in the total over all.
CREATE TABLE account_balances (
    organization_id      {text} NOT NULL,
    tag_id               {text} NOT NULL,
    legal_entity_id      {text} NOT NULL,
    ledger_account_id    {text} NOT NULL,
    accounting_period_id {text} NOT NULL,
    debits               {decimal} NOT NULL,
    credits              {decimal} NOT NULL,
    PRIMARY KEY (organization_id, tag_id, legal_entity_id, ledger_account_id, accounting_period_id)
) {updated};

-- Every change writes the audit log, the outbox and the answers of keyed requests. They give up their foreign keys, because PostgreSQL looks the
-- organization up again for each row, which costs as much as the row; and an event no longer repeats what its audit entry says.
DROP INDEX events_waiting;
DROP INDEX events_by_id;
ALTER TABLE events RENAME TO events_before;
CREATE TABLE events (
    organization_id {text} NOT NULL,
    sequence        {integer} NOT NULL,
    event_id        {text} NOT NULL,
    type            {text} NOT NULL,
    audit_sequence  {integer} NOT NULL,
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, sequence)
) {clustered};
INSERT INTO events SELECT organization_id, sequence, event_id, type, audit_sequence, created_at FROM events_before;

-- How far an organization's events were handed on: one row to change, instead of each event.
CREATE TABLE relays (
    organization_id {text} NOT NULL PRIMARY KEY,
    sequence        {integer} NOT NULL
) {clustered};
INSERT INTO relays SELECT h.organization_id, COALESCE((SELECT min(e.sequence) - 1 FROM events_before e WHERE e.organization_id = h.organization_id AND e.relayed_at IS NULL), h.event_sequence) FROM heads h;
DROP TABLE events_before;
CREATE UNIQUE INDEX events_by_id ON events (organization_id, event_id);

DROP INDEX audit_log_by_resource;
DROP INDEX audit_log_by_action;
DROP INDEX audit_log_by_user;
DROP INDEX audit_log_by_time;
ALTER TABLE audit_log RENAME TO audit_log_before;
CREATE TABLE audit_log (
    organization_id {text} NOT NULL,
    sequence        {integer} NOT NULL,
    created_at      {timestamp} NOT NULL,
    user_id         {text},
    api_key_id      {text},
    request_id      {text},
    action          {text} NOT NULL,
    resource_type   {text} NOT NULL,
    resource_id     {text} NOT NULL,
    before          {text},
    after           {text},
    previous_hash   {text} NOT NULL,
    hash            {text} NOT NULL,
    PRIMARY KEY (organization_id, sequence)
) {heap};
INSERT INTO audit_log SELECT organization_id, sequence, created_at, user_id, api_key_id, request_id, action, resource_type, resource_id, before, after, previous_hash, hash FROM audit_log_before;
DROP TABLE audit_log_before;
CREATE INDEX audit_log_by_resource ON audit_log (organization_id, resource_id, sequence);
CREATE INDEX audit_log_by_action ON audit_log (organization_id, action, sequence);
CREATE INDEX audit_log_by_user ON audit_log (organization_id, user_id, sequence);
CREATE INDEX audit_log_by_time ON audit_log (organization_id, created_at, sequence);

DROP INDEX idempotency_keys_by_age;
ALTER TABLE idempotency_keys RENAME TO idempotency_keys_before;
CREATE TABLE idempotency_keys (
    organization_id {text} NOT NULL,
    key_hash        {text} NOT NULL,
    request_hash    {text} NOT NULL,
    status          {integer} NOT NULL,
    answer          {bytes},
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, key_hash)
) {heap};
INSERT INTO idempotency_keys SELECT organization_id, key_hash, request_hash, status, answer, created_at FROM idempotency_keys_before;
DROP TABLE idempotency_keys_before;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- +goose Down
DROP TABLE relays;
ALTER TABLE events ADD COLUMN relayed_at {timestamp};
CREATE INDEX events_waiting ON events (created_at) WHERE relayed_at IS NULL;
ALTER TABLE events ADD COLUMN data {text} NOT NULL DEFAULT '{}';
DROP TABLE account_balances;
DROP TABLE journal_tags;
DROP TABLE journal_lines;
DROP TABLE journal_entries;
DROP TABLE fx_rates;
DROP TABLE period_closing_balances;
DROP TABLE period_closings;
DROP TABLE accounting_periods;
DROP TABLE ledger_accounts;
DROP TABLE tags;
DROP TABLE cost_basis_elections;
ALTER TABLE legal_entities DROP COLUMN fiscal_year_start_month;
ALTER TABLE legal_entities DROP COLUMN measurement;
ALTER TABLE legal_entities DROP COLUMN cost_basis_scope;
ALTER TABLE legal_entities DROP COLUMN cost_basis_from;
ALTER TABLE legal_entities DROP COLUMN cost_basis_method;
ALTER TABLE legal_entities DROP COLUMN ownership_percent;
ALTER TABLE legal_entities DROP COLUMN parent_legal_entity_id;
ALTER TABLE legal_entities DROP COLUMN country;
ALTER TABLE heads DROP COLUMN books_version;
ALTER TABLE heads DROP COLUMN account_number;
ALTER TABLE heads DROP COLUMN entry_number;
