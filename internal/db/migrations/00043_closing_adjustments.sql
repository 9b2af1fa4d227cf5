-- +goose Up

-- What revaluations had adjusted each position by at the end of a closed period: all positions of the assets with an adjustment, also those without a
-- share. ledger_account_id is set only where there is no source. Closings of earlier versions have no rows: their reports allocate the adjustment to the
-- lots that are known now until the period is reopened and closed again.
CREATE TABLE period_closing_adjustments (
    organization_id   {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    period_closing_id {text} NOT NULL,
    asset_type        {text} NOT NULL,
    source_id         {text} NOT NULL,
    ledger_account_id {text} NOT NULL,
    chain             {text} NOT NULL,
    token_id          {text} NOT NULL,
    amount            {decimal} NOT NULL,
    PRIMARY KEY (organization_id, period_closing_id, asset_type, source_id, ledger_account_id, chain, token_id)
) {clustered};

-- +goose Down

DROP TABLE period_closing_adjustments;
