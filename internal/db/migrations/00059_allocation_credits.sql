-- +goose Up

-- What an allocation has credited to which ledger accounts, as JSON, so that a payment that goes back is booked to the same ones. Older
-- allocations have none.
ALTER TABLE cash_application_allocations ADD COLUMN credits {text};

-- +goose Down

ALTER TABLE cash_application_allocations DROP COLUMN credits;
