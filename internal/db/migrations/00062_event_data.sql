-- +goose Up

-- An event contains the record that was changed, as the API returned it at that moment. Events written before have only its id.
DROP INDEX events_by_id;
ALTER TABLE events RENAME TO events_before;
CREATE TABLE events (
    organization_id {text} NOT NULL,
    sequence        {integer} NOT NULL,
    event_id        {text} NOT NULL,
    type            {text} NOT NULL,
    object_id       {text},
    data            {text} NOT NULL,
    audit_sequence  {integer} NOT NULL,
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, sequence)
) {heap};
INSERT INTO events (organization_id, sequence, event_id, type, object_id, data, audit_sequence, created_at)
SELECT e.organization_id, e.sequence, e.event_id, e.type, a.resource_id, '{"id":"' || a.resource_id || '"}', e.audit_sequence, e.created_at
FROM events_before e JOIN audit_log a ON a.organization_id = e.organization_id AND a.sequence = e.audit_sequence;
DROP TABLE events_before;
CREATE UNIQUE INDEX events_by_id ON events (organization_id, event_id);
-- Each filter of the feed has its index, so that a rare match is found without reading the events between.
CREATE INDEX events_by_type ON events (organization_id, type, sequence);
CREATE INDEX events_by_object ON events (organization_id, object_id, sequence) WHERE object_id IS NOT NULL;

-- For how many days the organization keeps events, and the last one that was deleted because it was older.
ALTER TABLE relays ADD COLUMN retention_days {integer} NOT NULL DEFAULT 90;
ALTER TABLE relays ADD COLUMN deleted_through {integer} NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE relays DROP COLUMN deleted_through;
ALTER TABLE relays DROP COLUMN retention_days;
DROP INDEX events_by_id;
DROP INDEX events_by_type;
DROP INDEX events_by_object;
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
DROP TABLE events_before;
CREATE UNIQUE INDEX events_by_id ON events (organization_id, event_id);
