-- +goose Up

-- The firm an organization is a client of, and since when one is a firm itself.
ALTER TABLE organizations ADD COLUMN firm_organization_id {text};
ALTER TABLE organizations ADD COLUMN firm_since {timestamp};

-- Every path there ever was. The id stands for it where a path would be too long; version is the last there was, and goes on after a deletion, and
-- revision is that of the last version, by which what it holds is found. Paths whose file is gone are kept apart in the key, so that however many they are, nobody goes through them to those that are there.
CREATE TABLE memory_documents (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    path            {text} NOT NULL,
    document_id     {text} NOT NULL,
    version         {integer} NOT NULL,
    revision        {integer} NOT NULL,
    size            {integer} NOT NULL,
    gone            {boolean} NOT NULL,
    PRIMARY KEY (organization_id, gone, path)
) {clustered};
CREATE UNIQUE INDEX memory_documents_by_path ON memory_documents (organization_id, path);
CREATE UNIQUE INDEX memory_documents_by_id ON memory_documents (organization_id, document_id);

-- The rules that are there now, with what they refer to. What they say is in their last version.
CREATE TABLE memory_rules (
    organization_id   {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    rule_id           {text} NOT NULL,
    version           {integer} NOT NULL,
    ledger_account_id {text},
    tag_id            {text},
    PRIMARY KEY (organization_id, rule_id)
) {clustered};
CREATE INDEX memory_rules_by_account ON memory_rules (organization_id, ledger_account_id) WHERE ledger_account_id IS NOT NULL;
CREATE INDEX memory_rules_by_tag ON memory_rules (organization_id, tag_id) WHERE tag_id IS NOT NULL;

-- Every version of every document and rule, whole. The revision counts the changes to all of them, so that it says what they were at one time.
CREATE TABLE memory_versions (
    organization_id {text} NOT NULL,
    item_id         {text} NOT NULL,
    version         {integer} NOT NULL,
    revision        {integer} NOT NULL,
    content         {text} NOT NULL,
    frontmatter     {text},
    size            {integer} NOT NULL,
    deleted         {boolean} NOT NULL,
    rationale       {text},
    user_id         {text},
    api_key_id      {text},
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, item_id, version)
) {heap};
CREATE UNIQUE INDEX memory_versions_by_revision ON memory_versions (organization_id, revision);
