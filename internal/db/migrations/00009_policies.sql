-- +goose Up

-- How an entity keeps its books where the rules leave a choice.
ALTER TABLE legal_entities ADD COLUMN framework {text} NOT NULL DEFAULT 'ifrs';
ALTER TABLE legal_entities ADD COLUMN fee_treatment {text} NOT NULL DEFAULT 'expense';
ALTER TABLE legal_entities ADD COLUMN short_disposal {text} NOT NULL DEFAULT 'block';
ALTER TABLE legal_entities ADD COLUMN intercompany_basis {text} NOT NULL DEFAULT 'carry_over';
ALTER TABLE legal_entities ADD COLUMN loans_out {text} NOT NULL DEFAULT 'derecognize';
UPDATE legal_entities SET framework = 'us_gaap' WHERE base_currency = 'USD';

-- What an organization says of an asset; what it says nothing of is as usual.
CREATE TABLE asset_policies (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    asset_type      {text} NOT NULL,
    asc350_60       {boolean} NOT NULL,
    own_token       {boolean} NOT NULL,
    created_at      {timestamp} NOT NULL,
    updated_at      {timestamp},
    PRIMARY KEY (organization_id, asset_type)
) {clustered};
