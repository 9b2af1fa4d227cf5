-- +goose Up

CREATE TABLE organizations (
    organization_id   {text} NOT NULL PRIMARY KEY,
    name              {text} NOT NULL,
    web_address       {text},
    timezone          {text} NOT NULL,
    time_format       {text} NOT NULL,
    onboarding_status {text},
    logo_url          {text},
    created_at        {timestamp} NOT NULL,
    updated_at        {timestamp}
) {clustered};

-- A person may belong to several organizations, so a user belongs to none.
CREATE TABLE users (
    user_id    {text} NOT NULL PRIMARY KEY,
    email      {text} NOT NULL UNIQUE,
    name       {text},
    created_at {timestamp} NOT NULL
) {clustered};

CREATE TABLE members (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    user_id         {text} NOT NULL,
    role            {text} NOT NULL,
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, user_id)
) {clustered};

-- Only the hash of a key is kept. The organization of a key is not known before the key is found, hence no tenant table.
CREATE TABLE api_keys (
    api_key_id       {text} NOT NULL PRIMARY KEY,
    organization_id  {text} NOT NULL,
    user_id          {text},
    name             {text} NOT NULL,
    key_hash         {text} NOT NULL UNIQUE,
    last_four        {text} NOT NULL,
    scopes           {text} NOT NULL,
    legal_entity_ids {text} NOT NULL,
    expires_at       {timestamp},
    revoked_at       {timestamp},
    created_at       {timestamp} NOT NULL
) {clustered};
CREATE INDEX api_keys_by_organization ON api_keys (organization_id, api_key_id);

CREATE TABLE legal_entities (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    legal_entity_id {text} NOT NULL,
    name            {text} NOT NULL,
    base_currency   {text} NOT NULL,
    created_at      {timestamp} NOT NULL,
    updated_at      {timestamp},
    PRIMARY KEY (organization_id, legal_entity_id)
) {clustered};

-- One row an organization: its lock is what puts that organization's changes in order.
CREATE TABLE heads (
    organization_id {text} NOT NULL PRIMARY KEY REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    audit_sequence  {integer} NOT NULL,
    audit_hash      {text} NOT NULL,
    event_sequence  {integer} NOT NULL
) {clustered};

CREATE TABLE audit_log (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
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
) {clustered};
-- Each filter of the log has its index, so that a rare match is found without reading the years between.
CREATE INDEX audit_log_by_resource ON audit_log (organization_id, resource_id, sequence);
CREATE INDEX audit_log_by_action ON audit_log (organization_id, action, sequence);
CREATE INDEX audit_log_by_user ON audit_log (organization_id, user_id, sequence);
CREATE INDEX audit_log_by_time ON audit_log (organization_id, created_at, sequence);

CREATE TABLE events (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    sequence        {integer} NOT NULL,
    event_id        {text} NOT NULL,
    type            {text} NOT NULL,
    data            {text} NOT NULL,
    audit_sequence  {integer} NOT NULL,
    created_at      {timestamp} NOT NULL,
    relayed_at      {timestamp},
    PRIMARY KEY (organization_id, sequence)
) {clustered};
CREATE UNIQUE INDEX events_by_id ON events (organization_id, event_id);
CREATE INDEX events_waiting ON events (created_at) WHERE relayed_at IS NULL;

-- The stored answer is sealed under the caller's own key, of which only the hash is here.
CREATE TABLE idempotency_keys (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE CASCADE,
    key_hash        {text} NOT NULL,
    request_hash    {text} NOT NULL,
    status          {integer} NOT NULL,
    answer          {bytes},
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, key_hash)
) {clustered};
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- +goose Down
DROP TABLE idempotency_keys;
DROP TABLE events;
DROP TABLE audit_log;
DROP TABLE heads;
DROP TABLE legal_entities;
DROP TABLE api_keys;
DROP TABLE members;
DROP TABLE users;
DROP TABLE organizations;
