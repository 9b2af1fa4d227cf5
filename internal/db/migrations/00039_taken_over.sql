-- +goose Up

-- The adjustment with which a lot was taken over from an asset or a legal entity that measures in another way. It is in no surplus. Null means none,
-- also in runs of earlier versions, which did not keep it.
ALTER TABLE revaluation_rows ADD COLUMN taken_over {decimal};

-- +goose Down

ALTER TABLE revaluation_rows DROP COLUMN taken_over;
