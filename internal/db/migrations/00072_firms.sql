-- +goose Up

-- What makes an organization an accounting firm.
CREATE TABLE firms (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    firm_id         {text} NOT NULL,
    firm_name       {text} NOT NULL,
    web_address     {text},
    created_at      {timestamp} NOT NULL,
    updated_at      {timestamp},
    PRIMARY KEY (organization_id)
) {clustered};

-- The clients of a firm. Whether the firm has access says firm_access, in the organization of the client; the status here follows it.
CREATE TABLE firm_clients (
    organization_id        {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    firm_client_id         {text} NOT NULL,
    name                   {text} NOT NULL,
    email                  {text} NOT NULL,
    client_organization_id {text},
    status                 {text} NOT NULL,
    created_by             {text},
    created_at             {timestamp} NOT NULL,
    updated_at             {timestamp},
    ended_at               {timestamp},
    PRIMARY KEY (organization_id, firm_client_id)
) {clustered};
CREATE INDEX firm_clients_by_status ON firm_clients (organization_id, status, firm_client_id);
CREATE INDEX firm_clients_by_client ON firm_clients (organization_id, client_organization_id)
    WHERE client_organization_id IS NOT NULL;

-- Which firm works for an organization, and which did.
CREATE TABLE firm_access (
    organization_id      {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    firm_client_id       {text} NOT NULL,
    firm_organization_id {text} NOT NULL,
    firm_id              {text} NOT NULL,
    status               {text} NOT NULL,
    granted_by           {text},
    granted_at           {timestamp} NOT NULL,
    ended_by             {text},
    ended_at             {timestamp},
    PRIMARY KEY (organization_id, firm_client_id)
) {clustered};
CREATE UNIQUE INDEX firm_access_active ON firm_access (organization_id, status) WHERE status = 'active';

-- The people of the firm who work for an organization, with the membership in the firm by which they do: member_since is when it began.
CREATE TABLE firm_people (
    organization_id      {text} NOT NULL,
    firm_client_id       {text} NOT NULL,
    user_id              {text} NOT NULL,
    firm_organization_id {text} NOT NULL,
    role                 {text} NOT NULL,
    member_since         {timestamp} NOT NULL,
    created_at           {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, user_id),
    FOREIGN KEY (organization_id, firm_client_id) REFERENCES firm_access (organization_id, firm_client_id) ON DELETE RESTRICT
) {clustered};
CREATE INDEX firm_people_by_user ON firm_people (user_id, firm_organization_id, organization_id);
CREATE INDEX firm_people_by_client ON firm_people (organization_id, firm_client_id, user_id);

ALTER TABLE audit_log ADD COLUMN firm_id {text};

-- +goose Down

ALTER TABLE audit_log DROP COLUMN firm_id;
DROP TABLE firm_people;
DROP TABLE firm_access;
DROP TABLE firm_clients;
DROP TABLE firms;
