-- +goose Up

-- Rate limits that nodes share. A node takes requests out of the quota of a window in blocks and allows them by itself then. taken is what
-- all nodes have taken out of the latest window.
CREATE TABLE rate_leases (
    subject      {text} NOT NULL PRIMARY KEY,
    window_start {integer} NOT NULL,
    taken        {integer} NOT NULL
);

-- +goose Down

DROP TABLE rate_leases;
