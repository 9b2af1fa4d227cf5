-- +goose Up

-- Who sees a transaction: 0 is listed, 1 is spam, 2 is deleted. Both engines rename the column in the indexes as well.
ALTER TABLE transactions RENAME COLUMN shelf TO visibility;

-- +goose Down

ALTER TABLE transactions RENAME COLUMN visibility TO shelf;
