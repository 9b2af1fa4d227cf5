-- +goose Up

-- The rule of classification that asked for an entry, and which version of it; null where somebody did.
ALTER TABLE bookings ADD COLUMN rule_id {text};
ALTER TABLE bookings ADD COLUMN rule_version {integer};
