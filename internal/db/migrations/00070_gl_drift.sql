-- +goose Up

-- What a check found to differ in the general ledger from what was sent, until a later check finds it right or it is sent again; JSON.
ALTER TABLE gl_journals ADD COLUMN drift {text};
CREATE INDEX gl_journals_drifted ON gl_journals (organization_id, book) WHERE drift IS NOT NULL;
-- The code of the blocker because of which an entry was not sent.
ALTER TABLE gl_sync_attempts ADD COLUMN error_code {text};

-- +goose Down

ALTER TABLE gl_sync_attempts DROP COLUMN error_code;
DROP INDEX gl_journals_drifted;
ALTER TABLE gl_journals DROP COLUMN drift;
