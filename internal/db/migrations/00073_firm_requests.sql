-- +goose Up

-- What firms ask their clients for: to give them access, and to connect accounts.
CREATE TABLE firm_requests (
    organization_id {text} NOT NULL,
    firm_request_id {text} NOT NULL,
    firm_client_id  {text} NOT NULL,
    email           {text} NOT NULL,
    message         {text},
    integrations    {text} NOT NULL,
    status          {text} NOT NULL,
    awaits_setup    {boolean} NOT NULL,
    email_sent      {boolean} NOT NULL,
    email_sent_at   {timestamp},
    requested_at    {timestamp} NOT NULL,
    expires_at      {timestamp} NOT NULL,
    created_by      {text},
    created_at      {timestamp} NOT NULL,
    updated_at      {timestamp},
    ended_by        {text},
    ended_at        {timestamp},
    PRIMARY KEY (organization_id, firm_request_id),
    FOREIGN KEY (organization_id, firm_client_id) REFERENCES firm_clients (organization_id, firm_client_id) ON DELETE RESTRICT
) {clustered};
CREATE INDEX firm_requests_by_client ON firm_requests (organization_id, firm_client_id, firm_request_id);
CREATE INDEX firm_requests_by_status ON firm_requests (organization_id, status, firm_request_id);
CREATE INDEX firm_requests_by_expiry ON firm_requests (expires_at) WHERE status = 'pending';
CREATE INDEX firm_requests_by_setup ON firm_requests (firm_request_id) WHERE status = 'pending' AND awaits_setup;

-- +goose Down

DROP TABLE firm_requests;
