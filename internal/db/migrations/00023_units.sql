-- +goose Up

-- How many rows of a file state a balance that does not follow from its rows, and the first of them, as JSON; null if there are none.
ALTER TABLE imports ADD COLUMN warnings {text};

-- +goose Down

ALTER TABLE imports DROP COLUMN warnings;
