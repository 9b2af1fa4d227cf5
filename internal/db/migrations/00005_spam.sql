-- +goose Up

-- What an organization always lets through, or never. value_key is what is compared; chain is empty where a contract is meant on all.
CREATE TABLE spam_listings (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    listing_id      {text} NOT NULL,
    verdict         {text} NOT NULL,
    kind            {text} NOT NULL,
    chain           {text} NOT NULL,
    value           {text} NOT NULL,
    value_key       {text} NOT NULL,
    note            {text},
    created_by      {text},
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, listing_id)
) {clustered};
CREATE UNIQUE INDEX spam_listings_by_value ON spam_listings (organization_id, value_key, kind, chain);

-- Whom the organization deals with and which tokens it uses: name is an address, or a chain and a contract. Those are found by what a shortened
-- address shows, so that whoever imitates one finds it.
CREATE TABLE spam_dealings (
    organization_id {text} NOT NULL,
    shown           {text} NOT NULL,
    name            {text} NOT NULL,
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, shown, name)
) {clustered};

-- When an unknown token reached a source first and last within an hour; token_hour is the hour since 1970, the chain and the contract.
CREATE TABLE spam_sightings (
    organization_id {text} NOT NULL,
    token_hour      {text} NOT NULL,
    source_id       {text} NOT NULL,
    first_at        {timestamp} NOT NULL,
    last_at         {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, token_hour, source_id)
) {clustered};

-- How many transfers of an unknown token to the organization one transaction made.
CREATE TABLE spam_bursts (
    organization_id {text} NOT NULL,
    hash            {text} NOT NULL,
    token           {text} NOT NULL,
    transfers       {integer} NOT NULL,
    PRIMARY KEY (organization_id, hash, token)
) {clustered};
