-- +goose Up

-- Opening balances stand before every month (books/period.Opening). Until now they were entries of the month before the first one, which stayed
-- where it was when older history arrived. This moves them, with the corrections that are dated as they are, unless a period is closed for their
-- legal entity: what is closed does not change.
CREATE TABLE moved_openings (
    organization_id      {text} NOT NULL,
    journal_entry_id     {text} NOT NULL,
    legal_entity_id      {text} NOT NULL,
    accounting_period_id {text} NOT NULL,
    PRIMARY KEY (organization_id, journal_entry_id)
) {clustered};
INSERT INTO moved_openings (organization_id, journal_entry_id, legal_entity_id, accounting_period_id)
    WITH RECURSIVE chain AS (
        SELECT e.organization_id, e.journal_entry_id, e.journal_entry_id AS root, e.next_entry_id, e.legal_entity_id, e.accounting_period_id,
            e.accounting_date FROM journal_entries AS e
            WHERE e.originated_by = 'opening' AND e.status = 'posted' AND e.accounting_date > CAST('1900-01-01T12:00:00.000Z' AS {timestamp})
        UNION ALL SELECT n.organization_id, n.journal_entry_id, c.root, n.next_entry_id, n.legal_entity_id, n.accounting_period_id, n.accounting_date
            FROM chain AS c JOIN journal_entries AS n ON n.organization_id = c.organization_id AND n.journal_entry_id = c.next_entry_id)
    SELECT c.organization_id, c.journal_entry_id, c.legal_entity_id, c.accounting_period_id FROM chain AS c
    WHERE NOT EXISTS (SELECT 1 FROM chain AS o WHERE o.organization_id = c.organization_id AND o.root = c.root
            AND (o.accounting_date <> c.accounting_date OR o.legal_entity_id <> c.legal_entity_id))
        AND NOT EXISTS (SELECT 1 FROM period_closings AS p WHERE p.organization_id = c.organization_id
            AND p.legal_entity_id = c.legal_entity_id AND p.reopened_at IS NULL);

-- The same for lots that cost nothing and have no entry.
CREATE TABLE moved_lots (
    organization_id      {text} NOT NULL,
    asset_id             {text} NOT NULL,
    accounting_period_id {text} NOT NULL,
    PRIMARY KEY (organization_id, asset_id)
) {clustered};
INSERT INTO moved_lots (organization_id, asset_id, accounting_period_id)
    SELECT l.organization_id, l.asset_id, m.accounting_period_id FROM lots AS l
    JOIN moved_openings AS m ON m.organization_id = l.organization_id AND m.journal_entry_id = l.journal_entry_id
    UNION ALL SELECT l.organization_id, l.asset_id, l.opened_in FROM lots AS l
    WHERE l.origin = 'manual' AND l.journal_entry_id = '' AND l.opened_in IS NOT NULL AND l.opened_in <> 'ap_' || substr(l.organization_id, 5)
        AND NOT EXISTS (SELECT 1 FROM period_closings AS p WHERE p.organization_id = l.organization_id
            AND p.legal_entity_id = l.legal_entity_id AND p.reopened_at IS NULL);

INSERT INTO accounting_periods (organization_id, accounting_period_id, key, start_date_utc, end_date_utc, created_at)
    SELECT o.organization_id, 'ap_' || substr(o.organization_id, 5), '1900-01', CAST('1900-01-01T00:00:00.000Z' AS {timestamp}),
        CAST('1900-02-01T00:00:00.000Z' AS {timestamp}), o.created_at FROM organizations AS o
    WHERE (EXISTS (SELECT 1 FROM moved_openings AS m WHERE m.organization_id = o.organization_id)
            OR EXISTS (SELECT 1 FROM moved_lots AS m WHERE m.organization_id = o.organization_id))
        AND NOT EXISTS (SELECT 1 FROM accounting_periods AS p WHERE p.organization_id = o.organization_id AND p.key = '1900-01');

-- The entries.
UPDATE journal_entries SET accounting_date = CAST('1900-01-01T12:00:00.000Z' AS {timestamp}), accounting_period_id = 'ap_' || substr(organization_id, 5)
    WHERE EXISTS (SELECT 1 FROM moved_openings AS m WHERE m.organization_id = journal_entries.organization_id
        AND m.journal_entry_id = journal_entries.journal_entry_id);
UPDATE journal_lines SET accounting_date = CAST('1900-01-01T12:00:00.000Z' AS {timestamp})
    WHERE EXISTS (SELECT 1 FROM moved_openings AS m WHERE m.organization_id = journal_lines.organization_id
        AND m.journal_entry_id = journal_lines.journal_entry_id);
UPDATE journal_tags SET accounting_date = CAST('1900-01-01T12:00:00.000Z' AS {timestamp})
    WHERE EXISTS (SELECT 1 FROM moved_openings AS m WHERE m.organization_id = journal_tags.organization_id
        AND m.journal_entry_id = journal_tags.journal_entry_id);

-- The balances of the months they leave and of the opening period are the sums of their lines.
CREATE TABLE moved_periods (
    organization_id      {text} NOT NULL,
    accounting_period_id {text} NOT NULL,
    PRIMARY KEY (organization_id, accounting_period_id)
) {clustered};
INSERT INTO moved_periods (organization_id, accounting_period_id)
    SELECT m.organization_id, m.accounting_period_id FROM moved_openings AS m
    UNION SELECT l.organization_id, l.accounting_period_id FROM moved_lots AS l
    UNION SELECT m.organization_id, 'ap_' || substr(m.organization_id, 5) FROM moved_openings AS m;
DELETE FROM account_balances WHERE EXISTS (SELECT 1 FROM moved_periods AS m WHERE m.organization_id = account_balances.organization_id
    AND m.accounting_period_id = account_balances.accounting_period_id);
DELETE FROM account_units WHERE EXISTS (SELECT 1 FROM moved_periods AS m WHERE m.organization_id = account_units.organization_id
    AND m.accounting_period_id = account_units.accounting_period_id);
INSERT INTO account_balances (organization_id, tag_id, legal_entity_id, ledger_account_id, accounting_period_id, debits, credits)
    SELECT l.organization_id, '', l.legal_entity_id, l.ledger_account_id, e.accounting_period_id,
        {dec_sum}(CASE WHEN l.credit_or_debit = 'DEBIT' THEN l.base_amount ELSE '0' END),
        {dec_sum}(CASE WHEN l.credit_or_debit = 'CREDIT' THEN l.base_amount ELSE '0' END)
    FROM moved_periods AS m
    JOIN journal_entries AS e ON e.organization_id = m.organization_id AND e.accounting_period_id = m.accounting_period_id AND e.status = 'posted'
    JOIN journal_lines AS l ON l.organization_id = e.organization_id AND l.journal_entry_id = e.journal_entry_id
    GROUP BY l.organization_id, l.legal_entity_id, l.ledger_account_id, e.accounting_period_id;
INSERT INTO account_balances (organization_id, tag_id, legal_entity_id, ledger_account_id, accounting_period_id, debits, credits)
    SELECT l.organization_id, t.tag_id, l.legal_entity_id, l.ledger_account_id, e.accounting_period_id,
        {dec_sum}(CASE WHEN l.credit_or_debit = 'DEBIT' THEN l.base_amount ELSE '0' END),
        {dec_sum}(CASE WHEN l.credit_or_debit = 'CREDIT' THEN l.base_amount ELSE '0' END)
    FROM moved_periods AS m
    JOIN journal_entries AS e ON e.organization_id = m.organization_id AND e.accounting_period_id = m.accounting_period_id AND e.status = 'posted'
    JOIN journal_tags AS t ON t.organization_id = e.organization_id AND t.journal_entry_id = e.journal_entry_id
    JOIN journal_lines AS l ON l.organization_id = e.organization_id AND l.journal_entry_id = e.journal_entry_id
        AND (' ' || e.tag_ids || ' ' LIKE '% ' || t.tag_id || ' %' OR ' ' || l.tag_ids || ' ' LIKE '% ' || t.tag_id || ' %')
    GROUP BY l.organization_id, t.tag_id, l.legal_entity_id, l.ledger_account_id, e.accounting_period_id;
INSERT INTO account_units (organization_id, legal_entity_id, ledger_account_id, unit, accounting_period_id, quantity, amount)
    SELECT l.organization_id, l.legal_entity_id, l.ledger_account_id, l.unit, e.accounting_period_id,
    {sqlite} dec_sum(CASE WHEN l.credit_or_debit = 'DEBIT' THEN l.quantity ELSE '-' || l.quantity END), dec_sum(CASE WHEN l.credit_or_debit = 'DEBIT' THEN l.base_amount ELSE '-' || l.base_amount END)
    {postgres} sum(CASE WHEN l.credit_or_debit = 'DEBIT' THEN l.quantity ELSE -l.quantity END), sum(CASE WHEN l.credit_or_debit = 'DEBIT' THEN l.base_amount ELSE -l.base_amount END)
    FROM moved_periods AS m
    JOIN journal_entries AS e ON e.organization_id = m.organization_id AND e.accounting_period_id = m.accounting_period_id AND e.status = 'posted'
    JOIN journal_lines AS l ON l.organization_id = e.organization_id AND l.journal_entry_id = e.journal_entry_id
    WHERE l.unit IS NOT NULL AND l.quantity IS NOT NULL AND l.base_amount IS NOT NULL
    GROUP BY l.organization_id, l.legal_entity_id, l.ledger_account_id, l.unit, e.accounting_period_id;

-- The lots and what is held by period. The time for which a lot was held is another one now. It is left unknown, as it is of a new opening balance.
UPDATE lots SET entered_at = NULL, emptied_at = NULL, interval_node = 0
    WHERE EXISTS (SELECT 1 FROM moved_openings AS m WHERE m.organization_id = lots.organization_id AND m.journal_entry_id = lots.journal_entry_id);
UPDATE lots SET opened_in = 'ap_' || substr(organization_id, 5) WHERE journal_entry_id = '' AND EXISTS (SELECT 1 FROM moved_lots AS m
    WHERE m.organization_id = lots.organization_id AND m.asset_id = lots.asset_id);
INSERT INTO lot_positions (organization_id, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id, accounting_period_id,
        quantity, basis, added_quantity, added_basis, lot_count)
    SELECT l.organization_id, l.legal_entity_id, COALESCE(l.source_id, ''), l.ledger_account_id, l.asset_type, COALESCE(l.chain, ''),
        COALESCE(l.token_id, ''), 'ap_' || substr(l.organization_id, 5), {dec_sum}(l.quantity), {dec_sum}(l.cost_basis), {dec_sum}(l.quantity),
        {dec_sum}(l.cost_basis), count(*)
    FROM moved_lots AS m JOIN lots AS l ON l.organization_id = m.organization_id AND l.asset_id = m.asset_id WHERE l.origin = 'manual'
    GROUP BY l.organization_id, l.legal_entity_id, COALESCE(l.source_id, ''), l.ledger_account_id, l.asset_type, COALESCE(l.chain, ''),
        COALESCE(l.token_id, '')
    ON CONFLICT (organization_id, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id, accounting_period_id) DO UPDATE SET
        quantity = {dec_add}(lot_positions.quantity, excluded.quantity), basis = {dec_add}(lot_positions.basis, excluded.basis),
        added_quantity = {dec_add}(lot_positions.added_quantity, excluded.added_quantity),
        added_basis = {dec_add}(lot_positions.added_basis, excluded.added_basis), lot_count = lot_positions.lot_count + excluded.lot_count;
INSERT INTO lot_positions (organization_id, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id, accounting_period_id,
        quantity, basis, added_quantity, added_basis, lot_count)
    SELECT l.organization_id, l.legal_entity_id, COALESCE(l.source_id, ''), l.ledger_account_id, l.asset_type, COALESCE(l.chain, ''),
        COALESCE(l.token_id, ''), m.accounting_period_id,
    {sqlite} dec_sum('-' || l.quantity), dec_sum('-' || l.cost_basis), dec_sum('-' || l.quantity), dec_sum('-' || l.cost_basis), -count(*)
    {postgres} -sum(l.quantity), -sum(l.cost_basis), -sum(l.quantity), -sum(l.cost_basis), -count(*)
    FROM moved_lots AS m JOIN lots AS l ON l.organization_id = m.organization_id AND l.asset_id = m.asset_id WHERE l.origin = 'manual'
    GROUP BY l.organization_id, l.legal_entity_id, COALESCE(l.source_id, ''), l.ledger_account_id, l.asset_type, COALESCE(l.chain, ''),
        COALESCE(l.token_id, ''), m.accounting_period_id
    ON CONFLICT (organization_id, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id, accounting_period_id) DO UPDATE SET
        quantity = {dec_add}(lot_positions.quantity, excluded.quantity), basis = {dec_add}(lot_positions.basis, excluded.basis),
        added_quantity = {dec_add}(lot_positions.added_quantity, excluded.added_quantity),
        added_basis = {dec_add}(lot_positions.added_basis, excluded.added_basis), lot_count = lot_positions.lot_count + excluded.lot_count;
DELETE FROM lot_positions WHERE quantity = '0' AND basis = '0' AND added_quantity = '0' AND added_basis = '0' AND lot_count = 0
    AND EXISTS (SELECT 1 FROM moved_periods AS m WHERE m.organization_id = lot_positions.organization_id
        AND m.accounting_period_id = lot_positions.accounting_period_id);

-- A first month in which nothing else ever happened is no longer one.
DELETE FROM accounting_periods WHERE key > '1900-01'
    AND EXISTS (SELECT 1 FROM moved_periods AS m WHERE m.organization_id = accounting_periods.organization_id
        AND m.accounting_period_id = accounting_periods.accounting_period_id)
    AND NOT EXISTS (SELECT 1 FROM accounting_periods AS p WHERE p.organization_id = accounting_periods.organization_id AND p.key > '1900-01'
        AND p.key < accounting_periods.key)
    AND EXISTS (SELECT 1 FROM accounting_periods AS p WHERE p.organization_id = accounting_periods.organization_id AND p.key > accounting_periods.key)
    AND NOT EXISTS (SELECT 1 FROM journal_entries AS e WHERE e.organization_id = accounting_periods.organization_id
        AND (e.accounting_period_id = accounting_periods.accounting_period_id
            OR e.accounting_date >= accounting_periods.start_date_utc AND e.accounting_date < accounting_periods.end_date_utc))
    AND NOT EXISTS (SELECT 1 FROM transactions AS t WHERE t.organization_id = accounting_periods.organization_id
        AND t.transaction_date >= accounting_periods.start_date_utc AND t.transaction_date < accounting_periods.end_date_utc)
    AND NOT EXISTS (SELECT 1 FROM period_closings AS c WHERE c.organization_id = accounting_periods.organization_id
        AND c.accounting_period_id = accounting_periods.accounting_period_id)
    AND NOT EXISTS (SELECT 1 FROM lot_uses AS u WHERE u.organization_id = accounting_periods.organization_id
        AND u.accounting_period_id = accounting_periods.accounting_period_id)
    AND NOT EXISTS (SELECT 1 FROM lot_positions AS l WHERE l.organization_id = accounting_periods.organization_id
        AND l.accounting_period_id = accounting_periods.accounting_period_id)
    AND NOT EXISTS (SELECT 1 FROM lots AS l WHERE l.organization_id = accounting_periods.organization_id
        AND l.opened_in = accounting_periods.accounting_period_id)
    AND NOT EXISTS (SELECT 1 FROM lot_gains AS g WHERE g.organization_id = accounting_periods.organization_id
        AND g.accounting_period_id = accounting_periods.accounting_period_id)
    AND NOT EXISTS (SELECT 1 FROM revaluations AS r WHERE r.organization_id = accounting_periods.organization_id
        AND r.accounting_period_id = accounting_periods.accounting_period_id);

DROP TABLE moved_openings;
DROP TABLE moved_lots;
DROP TABLE moved_periods;

-- Migration 17 rewrote the keys of events in blocks with more than 12 digits, by which lots sort, but did not number the lots anew.
CREATE TABLE lot_numbers (
    organization_id {text} NOT NULL,
    asset_id        {text} NOT NULL,
    seq             {integer} NOT NULL,
    PRIMARY KEY (organization_id, asset_id)
) {clustered};
INSERT INTO lot_numbers (organization_id, asset_id, seq)
    SELECT l.organization_id, l.asset_id, row_number() OVER (PARTITION BY l.organization_id, l.pool ORDER BY l.order_key, l.seq) FROM lots AS l
    WHERE EXISTS (SELECT 1 FROM lots AS w WHERE w.organization_id = l.organization_id AND w.pool = l.pool
        AND substr(w.order_key, 20, 1) BETWEEN 'a' AND 'g');
UPDATE lots SET seq = (SELECT n.seq FROM lot_numbers AS n WHERE n.organization_id = lots.organization_id AND n.asset_id = lots.asset_id)
    WHERE EXISTS (SELECT 1 FROM lot_numbers AS n WHERE n.organization_id = lots.organization_id AND n.asset_id = lots.asset_id);
DROP TABLE lot_numbers;

-- +goose Down
