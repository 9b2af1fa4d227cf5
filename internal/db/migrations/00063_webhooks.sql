-- +goose Up

-- Addresses of other systems that events are sent to. types has the types of events with spaces between them, and is empty for all.
-- The secrets are encrypted.
CREATE TABLE webhook_endpoints (
    organization_id            {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    webhook_endpoint_id        {text} NOT NULL,
    url                        {text} NOT NULL,
    description                {text},
    types                      {text} NOT NULL,
    ordered                    {boolean} NOT NULL,
    status                     {text} NOT NULL,
    status_reason              {text},
    secret                     {text} NOT NULL,
    previous_secret            {text},
    previous_secret_expires_at {timestamp},
    revision                   {integer} NOT NULL,
    created_at                 {timestamp} NOT NULL,
    updated_at                 {timestamp},
    PRIMARY KEY (organization_id, webhook_endpoint_id)
) {clustered};

-- How far the events were sent to an endpoint. sequence is the last event that was sent or left out. Nothing is sent before next_at, and
-- a job is scheduled for wake_at. claim names the worker that sends. The row of an endpoint that was deleted remains, with deleted_at, until
-- its log is deleted.
CREATE TABLE webhook_cursors (
    organization_id     {text} NOT NULL,
    webhook_endpoint_id {text} NOT NULL,
    sequence            {integer} NOT NULL,
    failures            {integer} NOT NULL,
    failing_since       {timestamp},
    next_at             {timestamp},
    wake_at             {timestamp},
    claim               {text},
    claimed_until       {timestamp},
    deleted_at          {timestamp},
    PRIMARY KEY (organization_id, webhook_endpoint_id)
) {updated};

-- The events that were sent to an endpoint, or are to be sent again: one row for each event. It is tried until expires_at.
CREATE TABLE webhook_deliveries (
    organization_id     {text} NOT NULL,
    webhook_delivery_id {text} NOT NULL,
    webhook_endpoint_id {text} NOT NULL,
    event_id            {text} NOT NULL,
    event_type          {text} NOT NULL,
    sequence            {integer} NOT NULL,
    status              {text} NOT NULL,
    attempts            {integer} NOT NULL,
    step                {integer} NOT NULL,
    status_code         {integer},
    error               {text},
    created_at          {timestamp} NOT NULL,
    attempted_at        {timestamp},
    next_at             {timestamp},
    expires_at          {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, webhook_delivery_id)
) {clustered};
CREATE UNIQUE INDEX webhook_deliveries_by_event ON webhook_deliveries (organization_id, webhook_endpoint_id, event_id);
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (organization_id, webhook_endpoint_id, webhook_delivery_id);
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (organization_id, webhook_endpoint_id, status, webhook_delivery_id)
    WHERE status <> 'succeeded';
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (organization_id, webhook_endpoint_id, next_at) WHERE status = 'retrying';
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (organization_id, webhook_endpoint_id, sequence) WHERE status = 'retrying';
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at);

-- Each attempt to send an event.
CREATE TABLE webhook_attempts (
    organization_id     {text} NOT NULL,
    webhook_delivery_id {text} NOT NULL,
    number              {integer} NOT NULL,
    attempted_at        {timestamp} NOT NULL,
    duration_ms         {integer} NOT NULL,
    url                 {text} NOT NULL,
    request_headers     {text} NOT NULL,
    status_code         {integer},
    response_headers    {text},
    response_body       {text},
    error               {text},
    PRIMARY KEY (organization_id, webhook_delivery_id, number)
) {heap};

-- Ranges of events that are to be sent to an endpoint once more: those after position, through a sequence number.
CREATE TABLE webhook_replays (
    organization_id     {text} NOT NULL,
    webhook_endpoint_id {text} NOT NULL,
    webhook_replay_id   {text} NOT NULL,
    position            {integer} NOT NULL,
    through             {integer} NOT NULL,
    created_at          {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, webhook_endpoint_id, webhook_replay_id)
) {clustered};

-- +goose Down

DROP TABLE webhook_replays;
DROP TABLE webhook_attempts;
DROP TABLE webhook_deliveries;
DROP TABLE webhook_cursors;
DROP TABLE webhook_endpoints;
