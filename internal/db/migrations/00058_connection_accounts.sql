-- +goose Up

-- Whether the account is used in live mode or in test mode. Null if the connection was created before this was asked for.
ALTER TABLE connections ADD COLUMN mode {text};

-- Records at the provider of a connection that could not be understood and were left out, until they are read.
CREATE TABLE connection_omissions (
    organization_id {text} NOT NULL,
    connection_id   {text} NOT NULL,
    kind            {text} NOT NULL,
    record_id       {text} NOT NULL,
    reason          {text} NOT NULL,
    noticed_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, connection_id, kind, record_id)
) {clustered};

-- +goose Down

DROP TABLE connection_omissions;
ALTER TABLE connections DROP COLUMN mode;
