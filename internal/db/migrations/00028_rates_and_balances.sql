-- +goose Up

-- The exchange rates by which a closed period is translated, from the currency of its legal entity: sum_of_rates / rate_count. applies_to is "closing"
-- (assets and liabilities), "average" (income and expenses), "opening" (opening balances) or the entry whose lines on equity accounts have the rate of
-- their date. Closings of earlier versions have none: they are translated by the stored rates until the period is reopened and closed again.
CREATE TABLE period_closing_rates (
    organization_id   {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    period_closing_id {text} NOT NULL,
    quote_currency    {text} NOT NULL,
    applies_to        {text} NOT NULL,
    sum_of_rates      {decimal} NOT NULL,
    rate_count        {integer} NOT NULL,
    PRIMARY KEY (organization_id, period_closing_id, quote_currency, applies_to)
) {clustered};

-- The newest balance that imported files state of an asset of a source. account tells balances of one asset in a file apart, such as those of the
-- wallets of an exchange account, and is empty if there is only one.
CREATE TABLE stated_balances (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    source_id       {text} NOT NULL,
    asset_type      {text} NOT NULL,
    account         {text} NOT NULL,
    quantity        {decimal} NOT NULL,
    stated_at       {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, source_id, asset_type, account)
) {clustered};

-- +goose Down

DROP TABLE stated_balances;
DROP TABLE period_closing_rates;
