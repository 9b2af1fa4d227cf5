-- +goose Up

-- Which transactions are two sides of one event. The group stands on the transaction too; type_before is what the transaction's type was where
-- linking changed it, so that unlinking can give it back.
CREATE TABLE transaction_links (
    organization_id {text} NOT NULL,
    transaction_id  {text} NOT NULL,
    group_id        {text} NOT NULL,
    side            {text} NOT NULL,
    kind            {text} NOT NULL,
    matched_by      {text} NOT NULL,
    shortfall       {decimal},
    type_before     {text},
    created_by      {text},
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, transaction_id)
) {clustered};
CREATE INDEX transaction_links_by_group ON transaction_links (organization_id, group_id);

-- Transactions that have a partner, but which one cannot be told; candidates are ids.
CREATE TABLE transfer_ambiguities (
    organization_id  {text} NOT NULL,
    transaction_id   {text} NOT NULL,
    number           {integer} NOT NULL,
    transaction_date {timestamp} NOT NULL,
    source_id        {text} NOT NULL,
    candidates       {text} NOT NULL,
    why              {text} NOT NULL,
    found_at         {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, transaction_id)
) {clustered};
CREATE INDEX transfer_ambiguities_by_number ON transfer_ambiguities (organization_id, number);
CREATE INDEX transfer_ambiguities_by_date ON transfer_ambiguities (organization_id, transaction_date);

-- Pairs that somebody unlinked: they are not linked again but by hand.
CREATE TABLE transfer_refusals (
    organization_id {text} NOT NULL,
    out_id          {text} NOT NULL,
    in_id           {text} NOT NULL,
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, out_id, in_id)
) {clustered};

-- Up to which transaction, by its number, new ones were matched.
CREATE TABLE transfer_marks (
    organization_id {text} NOT NULL,
    number          {integer} NOT NULL,
    PRIMARY KEY (organization_id)
) {updated};
