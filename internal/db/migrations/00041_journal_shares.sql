-- +goose Up

-- The legal entities, other than its own, that an entry has lines of, so that an entry is found by each of its legal entities. Most entries
-- have none. Date and number repeat those of the entry.
CREATE TABLE journal_shares (
    organization_id  {text} NOT NULL,
    journal_entry_id {text} NOT NULL,
    legal_entity_id  {text} NOT NULL,
    accounting_date  {timestamp} NOT NULL,
    number           {integer} NOT NULL,
    PRIMARY KEY (organization_id, journal_entry_id, legal_entity_id)
) {clustered};
CREATE INDEX journal_shares_by_date ON journal_shares (organization_id, legal_entity_id, accounting_date, number);

INSERT INTO journal_shares SELECT DISTINCT l.organization_id, l.journal_entry_id, l.legal_entity_id, e.accounting_date, e.number
    FROM journal_lines l JOIN journal_entries e ON e.organization_id = l.organization_id AND e.journal_entry_id = l.journal_entry_id
    WHERE l.legal_entity_id <> e.legal_entity_id;

-- +goose Down

DROP TABLE journal_shares;
