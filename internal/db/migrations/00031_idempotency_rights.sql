-- +goose Up

-- The scopes and the legal entities of the caller when the request was answered. Who that was is part of request_hash now, so that answers of earlier
-- versions are not returned to anybody.
ALTER TABLE idempotency_keys ADD COLUMN rights {text} NOT NULL DEFAULT '';

-- +goose Down

ALTER TABLE idempotency_keys DROP COLUMN rights;
