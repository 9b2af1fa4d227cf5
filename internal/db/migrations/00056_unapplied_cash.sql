-- +goose Up

-- The deposits of which something is unapplied, which are few.
CREATE INDEX cash_applications_available ON cash_applications (organization_id, cash_application_id) WHERE available_amount <> '0';

-- +goose Down

DROP INDEX cash_applications_available;
