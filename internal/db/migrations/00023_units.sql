-- +goose Up

-- How many rows of a file state a balance that does not follow from its rows, and the first of them, as JSON; null if there are none.
ALTER TABLE imports ADD COLUMN warnings {text};

-- The ledger accounts among which a rule splits. What the splits say is in the last version of the rule.
CREATE TABLE memory_rule_splits (
    organization_id   {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    rule_id           {text} NOT NULL,
    position          {integer} NOT NULL,
    ledger_account_id {text} NOT NULL,
    PRIMARY KEY (organization_id, rule_id, position)
) {clustered};
CREATE INDEX memory_rule_splits_by_account ON memory_rule_splits (organization_id, ledger_account_id);

-- +goose Down

DROP TABLE memory_rule_splits;
ALTER TABLE imports DROP COLUMN warnings;
