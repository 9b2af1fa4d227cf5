-- +goose Up

-- Whether balances of an account in other units than the base currency are remeasured at the end of a period. Existing accounts get the
-- defaults of new ones: assets and liabilities are monetary, except the accounts of the default chart that are not, found by their roles
-- and names, and all accounts below those.
ALTER TABLE ledger_accounts ADD COLUMN is_monetary {boolean} NOT NULL DEFAULT FALSE;
UPDATE ledger_accounts SET is_monetary = TRUE WHERE type IN ('Asset', 'Liability');
WITH RECURSIVE nonmonetary (organization_id, ledger_account_id) AS (
    SELECT organization_id, ledger_account_id FROM ledger_accounts
    WHERE role = 'group:fair_value_adjustment' OR role LIKE 'fair_value_adjustment:%' OR role LIKE 'accumulated_impairment:%'
        OR type = 'Asset' AND name IN ('Digital assets', 'Digital assets on exchanges', 'Digital assets at cost', 'Stablecoins',
            'Staked digital assets', 'NFTs', 'Prepaid expenses', 'Fixed assets', 'Equipment', 'Accumulated depreciation')
        OR type = 'Liability' AND name = 'Deferred revenue'
    UNION
    SELECT a.organization_id, a.ledger_account_id FROM ledger_accounts a JOIN nonmonetary n
    ON n.organization_id = a.organization_id AND n.ledger_account_id = a.parent_account_id
)
UPDATE ledger_accounts SET is_monetary = FALSE WHERE EXISTS (SELECT 1 FROM nonmonetary n
    WHERE n.organization_id = ledger_accounts.organization_id AND n.ledger_account_id = ledger_accounts.ledger_account_id);

-- How a legal entity measured and from when; the row of the entity holds the latest. Without a first day it holds for every open period.
ALTER TABLE legal_entities ADD COLUMN measurement_from {text};
CREATE TABLE measurement_elections (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    legal_entity_id {text} NOT NULL,
    sequence        {integer} NOT NULL,
    measurement     {text} NOT NULL,
    effective_from  {text},
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, legal_entity_id, sequence)
) {clustered};
INSERT INTO measurement_elections (organization_id, legal_entity_id, sequence, measurement, effective_from, created_at)
    SELECT organization_id, legal_entity_id, 1, measurement, measurement_from, created_at FROM legal_entities;

-- +goose Down

DROP TABLE measurement_elections;
ALTER TABLE legal_entities DROP COLUMN measurement_from;
ALTER TABLE ledger_accounts DROP COLUMN is_monetary;
