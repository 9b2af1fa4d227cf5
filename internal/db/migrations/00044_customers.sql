-- +goose Up

-- Who is invoiced. Customers belong to the organization and have no legal entity. search is the name in lower case.
CREATE TABLE customers (
    organization_id    {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    customer_id        {text} NOT NULL,
    name               {text} NOT NULL,
    email              {text},
    payment_terms_days {integer} NOT NULL,
    search             {text} NOT NULL,
    archived_at        {timestamp},
    created_at         {timestamp} NOT NULL,
    updated_at         {timestamp},
    PRIMARY KEY (organization_id, customer_id)
) {clustered};

-- What a payment of a customer is recognized by: ids at providers, names that payers use, addresses that they send from. provider is empty
-- for all but ids. match_key is the form in which values are compared.
CREATE TABLE customer_identifiers (
    organization_id {text} NOT NULL,
    customer_id     {text} NOT NULL,
    kind            {text} NOT NULL,
    position        {integer} NOT NULL,
    provider        {text} NOT NULL,
    value           {text} NOT NULL,
    match_key       {text} NOT NULL,
    PRIMARY KEY (organization_id, customer_id, kind, position)
) {clustered};
CREATE INDEX customer_identifiers_by_key ON customer_identifiers (organization_id, kind, match_key, provider);
CREATE UNIQUE INDEX customer_identifiers_by_external ON customer_identifiers (organization_id, provider, match_key)
    WHERE kind = 'external_id';

-- +goose Down

DROP TABLE customer_identifiers;
DROP TABLE customers;
