-- +goose Up

-- Why a period was closed although something stood in the way.
ALTER TABLE period_closings ADD COLUMN override_reason {text};

-- What was disposed of and was not there, which is rare.
CREATE INDEX lot_uses_missing ON lot_uses (organization_id, legal_entity_id) WHERE asset_id = '' AND kind <> 'relocate';

-- Which entries of transactions name an account, so that it can be told that none does.
CREATE INDEX bookings_by_account ON bookings (organization_id, ledger_account_id) WHERE ledger_account_id IS NOT NULL;
CREATE INDEX bookings_by_offset ON bookings (organization_id, offset_ledger_account_id) WHERE offset_ledger_account_id IS NOT NULL;
