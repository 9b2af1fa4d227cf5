-- +goose Up

-- Dealings and bursts are stored for each source, as sightings are, so that what a key for some legal entities adds is judged by the sources
-- that it has access to. What was stored before belongs to the only legal entity that has sources, if there is one; otherwise its source is
-- empty, and only keys for the whole organization are judged by it.
CREATE TABLE spam_only_sources AS SELECT organization_id, min(source_id) AS source_id FROM sources
    GROUP BY organization_id HAVING count(DISTINCT legal_entity_id) = 1;

ALTER TABLE spam_dealings RENAME TO spam_dealings_before;
CREATE TABLE spam_dealings (
    organization_id {text} NOT NULL,
    shown           {text} NOT NULL,
    name            {text} NOT NULL,
    source_id       {text} NOT NULL,
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, shown, name, source_id)
) {clustered};
INSERT INTO spam_dealings SELECT b.organization_id, b.shown, b.name, COALESCE(o.source_id, ''), b.created_at
    FROM spam_dealings_before b LEFT JOIN spam_only_sources o ON o.organization_id = b.organization_id;
DROP TABLE spam_dealings_before;

ALTER TABLE spam_bursts RENAME TO spam_bursts_before;
CREATE TABLE spam_bursts (
    organization_id {text} NOT NULL,
    hash            {text} NOT NULL,
    token           {text} NOT NULL,
    source_id       {text} NOT NULL,
    transfers       {integer} NOT NULL,
    PRIMARY KEY (organization_id, hash, token, source_id)
) {clustered};
INSERT INTO spam_bursts SELECT b.organization_id, b.hash, b.token, COALESCE(o.source_id, ''), b.transfers
    FROM spam_bursts_before b LEFT JOIN spam_only_sources o ON o.organization_id = b.organization_id;
DROP TABLE spam_bursts_before;
DROP TABLE spam_only_sources;

-- The legal entities that the key which uploaded a file was limited to; empty means all. The file is read with the same limits.
ALTER TABLE imports ADD COLUMN limited_to {text} NOT NULL DEFAULT '';

-- +goose Down

ALTER TABLE imports DROP COLUMN limited_to;
ALTER TABLE spam_dealings RENAME TO spam_dealings_after;
CREATE TABLE spam_dealings (
    organization_id {text} NOT NULL,
    shown           {text} NOT NULL,
    name            {text} NOT NULL,
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, shown, name)
) {clustered};
INSERT INTO spam_dealings SELECT organization_id, shown, name, min(created_at) FROM spam_dealings_after GROUP BY organization_id, shown, name;
DROP TABLE spam_dealings_after;
ALTER TABLE spam_bursts RENAME TO spam_bursts_after;
CREATE TABLE spam_bursts (
    organization_id {text} NOT NULL,
    hash            {text} NOT NULL,
    token           {text} NOT NULL,
    transfers       {integer} NOT NULL,
    PRIMARY KEY (organization_id, hash, token)
) {clustered};
INSERT INTO spam_bursts SELECT organization_id, hash, token, sum(transfers) FROM spam_bursts_after GROUP BY organization_id, hash, token;
DROP TABLE spam_bursts_after;
