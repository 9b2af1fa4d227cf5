-- +goose Up

-- The rates of a line's date, such as "CHF=0.95 USD=1.1", by which the line is translated for good; only on equity accounts. Null means that none was
-- stored for that date when the line was posted, and on lines of earlier versions: then the latest rate up to the date counts.
ALTER TABLE journal_lines ADD COLUMN rates {text};

-- A fair value adjustment adds to the cost of an asset as often as it lessens it, so it is shown as an asset and not as a contra account: a gain is
-- positive. Only the sign of what is shown changes; lines and balances are stored by side.
UPDATE ledger_accounts SET normal_balance = 'debit' WHERE role = 'group:fair_value_adjustment' OR role LIKE 'fair_value_adjustment:%';

-- +goose Down

UPDATE ledger_accounts SET normal_balance = 'credit' WHERE role = 'group:fair_value_adjustment' OR role LIKE 'fair_value_adjustment:%';
ALTER TABLE journal_lines DROP COLUMN rates;
