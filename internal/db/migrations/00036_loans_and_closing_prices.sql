-- +goose Up

-- The accounts of loans, which are few.
CREATE INDEX bookings_of_loans ON bookings (organization_id, ledger_account_id)
    WHERE transaction_type IN ('BORROW', 'REPAYMENT') AND ledger_account_id IS NOT NULL;

-- The prices at the end of a closed period of what its legal entity held, in its base currency. The price is null if there was none. The last four
-- columns are set if it was translated from another currency. Closings of earlier versions have no rows: their reports use the stored prices until the
-- period is reopened and closed again.
CREATE TABLE period_closing_prices (
    organization_id   {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    period_closing_id {text} NOT NULL,
    asset_type        {text} NOT NULL,
    price             {decimal},
    price_id          {text},
    priced_at         {timestamp},
    price_origin      {text},
    stored_currency   {text},
    stored_price      {decimal},
    rate              {decimal},
    rate_date         {text},
    PRIMARY KEY (organization_id, period_closing_id, asset_type)
) {clustered};

-- +goose Down

DROP TABLE period_closing_prices;
DROP INDEX bookings_of_loans;
