-- +goose Up

-- Row-level security is turned on after every migration, for each table with rows of organizations: see isolation.go. From
-- this version on, transactions name their organization. A program of an earlier version, whose transactions do not and
-- would see no rows, refuses to start on a database of this version.
SELECT 1;

-- +goose Down

SELECT 1;
