-- +goose Up

-- What one unit of an asset was worth at an instant, in a currency, and who says so.
CREATE TABLE prices (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    price_id        {text} NOT NULL,
    asset_type      {text} NOT NULL,
    currency        {text} NOT NULL,
    priced_at       {timestamp} NOT NULL,
    price           {decimal} NOT NULL,
    origin          {text} NOT NULL,
    note            {text},
    created_at      {timestamp} NOT NULL,
    updated_at      {timestamp},
    PRIMARY KEY (organization_id, price_id)
) {clustered};
CREATE UNIQUE INDEX prices_by_asset ON prices (organization_id, asset_type, currency, priced_at);
CREATE INDEX prices_by_time ON prices (organization_id, priced_at, price_id);
CREATE INDEX prices_by_currency ON prices (organization_id, currency, priced_at, price_id);
CREATE INDEX prices_by_asset_and_time ON prices (organization_id, asset_type, priced_at, price_id);
