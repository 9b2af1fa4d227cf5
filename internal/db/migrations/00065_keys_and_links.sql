-- +goose Up

-- The key that replaced another one, or itself, by this key, which is revoked with it.
ALTER TABLE api_keys ADD COLUMN rotated_with_api_key_id {text};
CREATE INDEX api_keys_by_rotation ON api_keys (organization_id, rotated_with_api_key_id) WHERE rotated_with_api_key_id IS NOT NULL;

-- When a person has ended the link with their account at an OpenID provider. It is not made again unless the person asks for it.
ALTER TABLE user_identities ADD COLUMN unlinked_at {timestamp};

-- +goose Down

ALTER TABLE user_identities DROP COLUMN unlinked_at;

DROP INDEX api_keys_by_rotation;
ALTER TABLE api_keys DROP COLUMN rotated_with_api_key_id;
