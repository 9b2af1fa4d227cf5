-- +goose Up

-- A connection may belong to all legal entities (a general ledger), have no source yet (its setup is not finished), or one source for each
-- account that a sign-in shows (item_id). settings is a JSON object of what was entered and is no credential, such as an address; warnings
-- a JSON array of texts about the credentials. classify says what is done with new transactions, sync_minutes how often they are looked for:
-- 0 means only on request.
DROP INDEX connections_by_id;
DROP INDEX connections_by_entity;
DROP INDEX connections_by_source;
DROP INDEX connections_by_account;
ALTER TABLE connections RENAME TO connections_before;
CREATE TABLE connections (
    organization_id     {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    connection_id       {text} NOT NULL,
    provider            {text} NOT NULL,
    auth_method         {text} NOT NULL,
    name                {text} NOT NULL,
    status              {text} NOT NULL,
    external_account_id {text},
    mode                {text},
    legal_entity_id     {text},
    source_id           {text},
    item_id             {text},
    settings            {text} NOT NULL,
    takes_webhooks      {boolean} NOT NULL,
    classify            {text},
    sync_minutes        {integer} NOT NULL,
    warnings            {text} NOT NULL,
    error_message       {text},
    revocation_error    {text},
    revision            {integer} NOT NULL,
    created_at          {timestamp} NOT NULL,
    updated_at          {timestamp},
    PRIMARY KEY (organization_id, connection_id)
) {clustered};
INSERT INTO connections SELECT organization_id, connection_id, provider, auth_method, name, status, external_account_id, mode, legal_entity_id,
    source_id, NULL, '{}', takes_webhooks, NULL, 15, '[]', error_message, NULL, revision, created_at, updated_at
    FROM connections_before;
-- The encrypted credentials of connections. Providers replace some of them by themselves, such as tokens that expire.
CREATE TABLE connection_credentials (
    organization_id {text} NOT NULL,
    connection_id   {text} NOT NULL,
    sealed          {text} NOT NULL,
    stored_at       {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, connection_id)
) {updated};
INSERT INTO connection_credentials SELECT organization_id, connection_id, credentials, COALESCE(updated_at, created_at) FROM connections_before
    WHERE credentials IS NOT NULL;
DROP TABLE connections_before;
-- A webhook names a connection and no organization.
CREATE INDEX connections_by_id ON connections (connection_id);
CREATE INDEX connections_by_entity ON connections (organization_id, legal_entity_id);
CREATE INDEX connections_by_source ON connections (organization_id, source_id);
CREATE INDEX connections_by_item ON connections (organization_id, item_id) WHERE item_id IS NOT NULL;
-- Setups that nobody has finished end after some time.
CREATE INDEX connections_pending ON connections (connection_id) WHERE status = 'pending_setup';
-- One connection to an account at a time. General ledgers, which have no source, may be connected for several legal entities.
CREATE UNIQUE INDEX connections_by_account ON connections (organization_id, provider, external_account_id)
    WHERE status <> 'disconnected' AND external_account_id IS NOT NULL AND source_id IS NOT NULL;

-- due_at is when the schedule looks for something new the next time, null if it does not. A node that does so holds the row until
-- polled_until, under the text poll_claim. cause says why the task was requested, run_id which run in connection_runs it is. requested_at is
-- when somebody asked for a run while a worker was busy with the connection, which then begins another one.
ALTER TABLE connection_syncs ADD COLUMN due_at {timestamp};
ALTER TABLE connection_syncs ADD COLUMN poll_claim {text};
ALTER TABLE connection_syncs ADD COLUMN polled_until {timestamp};
ALTER TABLE connection_syncs ADD COLUMN cause {text};
ALTER TABLE connection_syncs ADD COLUMN run_id {text};
ALTER TABLE connection_syncs ADD COLUMN requested_at {timestamp};
UPDATE connection_syncs SET due_at = finished_at WHERE EXISTS (SELECT 1 FROM connections c WHERE c.organization_id =
    connection_syncs.organization_id AND c.connection_id = connection_syncs.connection_id AND c.status IN ('active', 'error'));
CREATE INDEX connection_syncs_due ON connection_syncs (due_at) WHERE due_at IS NOT NULL;

-- How far each ledger of an account was read.
CREATE TABLE connection_cursors (
    organization_id {text} NOT NULL,
    connection_id   {text} NOT NULL,
    ledger          {text} NOT NULL,
    position        {text} NOT NULL,
    saved_at        {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, connection_id, ledger)
) {updated};

-- The synchronizations of a connection, with what each has brought. A look by the schedule that finds nothing new leaves no row.
CREATE TABLE connection_runs (
    organization_id   {text} NOT NULL,
    connection_run_id {text} NOT NULL,
    connection_id     {text} NOT NULL,
    cause             {text} NOT NULL,
    status            {text} NOT NULL,
    read_count        {integer} NOT NULL,
    created_count     {integer} NOT NULL,
    duplicate_count   {integer} NOT NULL,
    omitted_count     {integer} NOT NULL,
    removed_count     {integer} NOT NULL,
    error_message     {text},
    started_at        {timestamp} NOT NULL,
    finished_at       {timestamp},
    PRIMARY KEY (organization_id, connection_run_id)
) {updated};
CREATE INDEX connection_runs_by_connection ON connection_runs (organization_id, connection_id, connection_run_id);

-- Ranges of time for which a provider does not tell what happened.
CREATE TABLE connection_gaps (
    organization_id {text} NOT NULL,
    connection_id   {text} NOT NULL,
    ledger          {text} NOT NULL,
    gap_from        {timestamp} NOT NULL,
    gap_through     {timestamp} NOT NULL,
    reason          {text} NOT NULL,
    noticed_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, connection_id, ledger, gap_from)
) {clustered};

-- Records that a provider has taken back after they were booked, until a person has dealt with their entries.
CREATE TABLE connection_withdrawals (
    organization_id {text} NOT NULL,
    connection_id   {text} NOT NULL,
    transaction_id  {text} NOT NULL,
    noticed_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, connection_id, transaction_id)
) {clustered};

-- Setups of connections on a page of the provider. sealed is encrypted: the page, and what is needed to finish, or from exchanged_at the
-- credentials that the provider has given for it. A browser that comes back names the state, of which only the hash is stored. Who finishes a
-- setup holds the row until claimed_until.
CREATE TABLE authorization_attempts (
    organization_id          {text} NOT NULL,
    authorization_attempt_id {text} NOT NULL,
    connection_id            {text} NOT NULL,
    status                   {text} NOT NULL,
    state_hash               {text} NOT NULL,
    sealed                   {text},
    return_to                {text},
    error_message            {text},
    expires_at               {timestamp} NOT NULL,
    created_at               {timestamp} NOT NULL,
    exchanged_at             {timestamp},
    claimed_until            {timestamp},
    finished_at              {timestamp},
    PRIMARY KEY (organization_id, authorization_attempt_id)
) {clustered};
CREATE INDEX authorization_attempts_by_connection ON authorization_attempts (organization_id, connection_id, authorization_attempt_id);
CREATE INDEX authorization_attempts_by_state ON authorization_attempts (state_hash);
CREATE INDEX authorization_attempts_pending ON authorization_attempts (expires_at) WHERE status = 'pending';

-- What an organization has registered at a provider, before accounts there can be connected; sealed is encrypted.
CREATE TABLE provider_setups (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    provider        {text} NOT NULL,
    sealed          {text} NOT NULL,
    updated_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, provider)
) {clustered};

-- What providers have sent about transactions, word for word.
CREATE TABLE transaction_originals (
    organization_id {text} NOT NULL,
    transaction_id  {text} NOT NULL,
    content         {text} NOT NULL,
    PRIMARY KEY (organization_id, transaction_id)
) {heap};

-- What sources held at times, as files and providers have stated it. stated_balances has the newest of each account.
CREATE TABLE observed_balances (
    organization_id {text} NOT NULL,
    source_id       {text} NOT NULL,
    asset_type      {text} NOT NULL,
    observed_at     {timestamp} NOT NULL,
    quantity        {decimal} NOT NULL,
    connection_id   {text},
    PRIMARY KEY (organization_id, source_id, asset_type, observed_at)
) {clustered};

-- +goose Down

DROP TABLE observed_balances;
DROP TABLE transaction_originals;
DROP TABLE provider_setups;
DROP TABLE authorization_attempts;
DROP TABLE connection_withdrawals;
DROP TABLE connection_gaps;
DROP TABLE connection_runs;
DROP TABLE connection_cursors;
DROP INDEX connection_syncs_due;
ALTER TABLE connection_syncs DROP COLUMN requested_at;
ALTER TABLE connection_syncs DROP COLUMN run_id;
ALTER TABLE connection_syncs DROP COLUMN cause;
ALTER TABLE connection_syncs DROP COLUMN polled_until;
ALTER TABLE connection_syncs DROP COLUMN poll_claim;
ALTER TABLE connection_syncs DROP COLUMN due_at;
DROP INDEX connections_by_account;
DROP INDEX connections_pending;
DROP INDEX connections_by_item;
ALTER TABLE connections ADD COLUMN credentials {text};
UPDATE connections SET credentials = (SELECT k.sealed FROM connection_credentials k WHERE k.organization_id =
    connections.organization_id AND k.connection_id = connections.connection_id);
DROP TABLE connection_credentials;
ALTER TABLE connections DROP COLUMN revocation_error;
ALTER TABLE connections DROP COLUMN warnings;
ALTER TABLE connections DROP COLUMN sync_minutes;
ALTER TABLE connections DROP COLUMN classify;
ALTER TABLE connections DROP COLUMN settings;
ALTER TABLE connections DROP COLUMN item_id;
CREATE UNIQUE INDEX connections_by_account ON connections (organization_id, provider, external_account_id)
    WHERE status <> 'disconnected' AND external_account_id IS NOT NULL;
