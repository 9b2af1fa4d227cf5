-- +goose Up

-- The key that a key was created with: it does not outlive that one. A key whose creator was revoked before this version stays valid.
ALTER TABLE api_keys ADD COLUMN parent_api_key_id {text};
UPDATE api_keys SET parent_api_key_id = (SELECT min(a.api_key_id) FROM audit_log a JOIN api_keys p ON p.api_key_id = a.api_key_id
    WHERE a.organization_id = api_keys.organization_id AND a.resource_id = api_keys.api_key_id AND a.action = 'api_key.created'
    AND p.revoked_at IS NULL);
CREATE INDEX api_keys_by_parent ON api_keys (organization_id, parent_api_key_id);

-- The legal entity of the source that a ledger account was created for, and is named after. It may have been deleted since.
ALTER TABLE ledger_accounts ADD COLUMN named_after {text};
UPDATE ledger_accounts SET named_after = (SELECT min(s.legal_entity_id) FROM sources s WHERE s.organization_id = ledger_accounts.organization_id
    AND s.ledger_account_id = ledger_accounts.ledger_account_id AND s.created_at = ledger_accounts.created_at) WHERE role IS NULL;

-- +goose Down

ALTER TABLE ledger_accounts DROP COLUMN named_after;
DROP INDEX api_keys_by_parent;
ALTER TABLE api_keys DROP COLUMN parent_api_key_id;
