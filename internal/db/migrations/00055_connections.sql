-- +goose Up

-- Accounts at other systems. credentials is encrypted, and null once the connection is disconnected.
CREATE TABLE connections (
    organization_id     {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    connection_id       {text} NOT NULL,
    provider            {text} NOT NULL,
    auth_method         {text} NOT NULL,
    name                {text} NOT NULL,
    status              {text} NOT NULL,
    external_account_id {text},
    legal_entity_id     {text} NOT NULL,
    source_id           {text} NOT NULL,
    credentials         {text},
    takes_webhooks      {boolean} NOT NULL,
    error_message       {text},
    revision            {integer} NOT NULL,
    created_at          {timestamp} NOT NULL,
    updated_at          {timestamp},
    PRIMARY KEY (organization_id, connection_id)
) {clustered};
-- A webhook names a connection and no organization.
CREATE INDEX connections_by_id ON connections (connection_id);
CREATE INDEX connections_by_entity ON connections (organization_id, legal_entity_id);
CREATE INDEX connections_by_source ON connections (organization_id, source_id);
-- One connection to an account at a time.
CREATE UNIQUE INDEX connections_by_account ON connections (organization_id, provider, external_account_id)
    WHERE status <> 'disconnected' AND external_account_id IS NOT NULL;

-- How far the data of a connection was read: a background task, with a row for each connection. All data is read that has changed since
-- synced_through, in stages; cursor is the last record that was read in the current one. read_from and read_through bound what the task
-- under way reads.
CREATE TABLE connection_syncs (
    organization_id  {text} NOT NULL,
    connection_id    {text} NOT NULL,
    status           {text} NOT NULL,
    claim            {text},
    claimed_until    {timestamp},
    tries            {integer} NOT NULL,
    stage            {text},
    cursor           {text},
    read_from        {timestamp},
    read_through     {timestamp},
    synced_through   {timestamp},
    created_at       {timestamp} NOT NULL,
    started_at       {timestamp},
    finished_at      {timestamp},
    PRIMARY KEY (organization_id, connection_id)
) {updated};
CREATE INDEX connection_syncs_waiting ON connection_syncs (status) WHERE status IN ('pending', 'running');

-- Events that the provider of a connection has sent. Each is handled once, by reading what it names from the provider.
CREATE TABLE connection_events (
    organization_id {text} NOT NULL,
    connection_id   {text} NOT NULL,
    event_id        {text} NOT NULL,
    type            {text} NOT NULL,
    object_type     {text} NOT NULL,
    object_id       {text} NOT NULL,
    received_at     {timestamp} NOT NULL,
    handled_at      {timestamp},
    PRIMARY KEY (organization_id, connection_id, event_id)
) {clustered};
CREATE INDEX connection_events_waiting ON connection_events (organization_id, connection_id, received_at) WHERE handled_at IS NULL;
CREATE INDEX connection_events_handled ON connection_events (handled_at) WHERE handled_at IS NOT NULL;

-- When the processor that keeps an invoice was told of an allocation that pays it.
ALTER TABLE cash_application_allocations ADD COLUMN reported_at {timestamp};

-- The background tasks that tell processors of the payments of confirmed applications.
CREATE TABLE cash_application_reports (
    organization_id     {text} NOT NULL,
    cash_application_id {text} NOT NULL,
    status              {text} NOT NULL,
    claim               {text},
    claimed_until       {timestamp},
    tries               {integer} NOT NULL,
    created_at          {timestamp} NOT NULL,
    started_at          {timestamp},
    PRIMARY KEY (organization_id, cash_application_id)
) {updated};
CREATE INDEX cash_application_reports_waiting ON cash_application_reports (status) WHERE status IN ('pending', 'running');

-- +goose Down

DROP TABLE cash_application_reports;
ALTER TABLE cash_application_allocations DROP COLUMN reported_at;

DROP TABLE connection_events;
DROP TABLE connection_syncs;
DROP TABLE connections;
