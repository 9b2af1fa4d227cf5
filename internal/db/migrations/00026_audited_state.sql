-- +goose Up

-- What is stored of a resource after the change that the record describes, so that a change past the program is noticed. Records of earlier
-- versions have none.
ALTER TABLE audit_log ADD COLUMN state {text};

-- +goose Down

ALTER TABLE audit_log DROP COLUMN state;
