-- +goose Up

-- When lots are counted, where it is not when their entry is dated: an entry of a closed period that was corrected later, or one that was reversed on
-- another date. Lots, corrections and uses add up to lot_positions in every accounting period. accounting_period_id is the period of accounting_date.
CREATE TABLE lot_corrections (
    organization_id      {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    accounting_date      {timestamp} NOT NULL,
    legal_entity_id      {text} NOT NULL,
    source_id            {text} NOT NULL,
    ledger_account_id    {text} NOT NULL,
    asset_type           {text} NOT NULL,
    chain                {text} NOT NULL,
    token_id             {text} NOT NULL,
    accounting_period_id {text} NOT NULL,
    quantity             {decimal} NOT NULL,
    basis                {decimal} NOT NULL,
    added_quantity       {decimal} NOT NULL,
    added_basis          {decimal} NOT NULL,
    lot_count            {integer} NOT NULL,
    PRIMARY KEY (organization_id, accounting_date, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id)
) {updated};

-- Earlier versions kept only what everything added up to. Its difference to lots and uses is dated as the first true-up or reversal of its legal
-- entity in the period, or as the last entry if there is none. Other legal entities have no corrections.
CREATE TABLE late_entities (
    organization_id {text} NOT NULL,
    legal_entity_id {text} NOT NULL,
    PRIMARY KEY (organization_id, legal_entity_id)
) {clustered};
INSERT INTO late_entities (organization_id, legal_entity_id)
    WITH late AS (
        SELECT e.organization_id, e.journal_entry_id, e.previous_entry_id, e.legal_entity_id FROM journal_entries AS e
        LEFT JOIN journal_entries AS p ON p.organization_id = e.organization_id AND p.journal_entry_id = e.previous_entry_id
        WHERE e.status = 'posted' AND (e.originated_by = 'true_up' OR p.accounting_period_id <> e.accounting_period_id))
    SELECT organization_id, legal_entity_id FROM late
    UNION SELECT e.organization_id, l.legal_entity_id FROM late AS e
        JOIN journal_lines AS l ON l.organization_id = e.organization_id AND l.journal_entry_id = e.journal_entry_id
    UNION SELECT e.organization_id, s.legal_entity_id FROM late AS e
        JOIN bookings AS b ON b.organization_id = e.organization_id AND b.journal_entry_id IN (e.journal_entry_id, e.previous_entry_id)
        JOIN transactions AS t ON t.organization_id = e.organization_id AND t.transaction_id = b.partner_id
        JOIN sources AS s ON s.organization_id = e.organization_id AND s.source_id = t.source_id
    UNION SELECT u.organization_id, u.legal_entity_id FROM lot_uses AS u WHERE u.is_correction;
INSERT INTO lot_corrections (organization_id, accounting_date, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id,
        accounting_period_id, quantity, basis, added_quantity, added_basis, lot_count)
    SELECT d.organization_id, COALESCE(
            (SELECT min(e.accounting_date) FROM journal_entries AS e WHERE e.organization_id = d.organization_id AND e.status = 'posted'
                AND e.legal_entity_id = d.legal_entity_id AND e.accounting_period_id = d.accounting_period_id
                AND e.originated_by IN ('true_up', 'reversal')),
            (SELECT max(e.accounting_date) FROM journal_entries AS e WHERE e.organization_id = d.organization_id AND e.status = 'posted'
                AND e.legal_entity_id = d.legal_entity_id AND e.accounting_period_id = d.accounting_period_id),
            p.start_date_utc),
        d.legal_entity_id, d.source_id, d.ledger_account_id, d.asset_type, d.chain, d.token_id, d.accounting_period_id, d.quantity, d.basis,
        d.added_quantity, d.added_basis, d.lot_count
    FROM (SELECT m.organization_id, m.legal_entity_id, m.source_id, m.ledger_account_id, m.asset_type, m.chain, m.token_id, m.accounting_period_id,
            {dec_sum}(m.quantity) AS quantity, {dec_sum}(m.basis) AS basis, {dec_sum}(m.added_quantity) AS added_quantity,
            {dec_sum}(m.added_basis) AS added_basis, sum(m.lot_count) AS lot_count
        FROM (SELECT k.organization_id, k.legal_entity_id, k.source_id, k.ledger_account_id, k.asset_type, k.chain, k.token_id,
                k.accounting_period_id, k.quantity, k.basis, k.added_quantity, k.added_basis, k.lot_count FROM lot_positions AS k
            UNION ALL SELECT l.organization_id, l.legal_entity_id, COALESCE(l.source_id, ''), l.ledger_account_id, l.asset_type,
                COALESCE(l.chain, ''), COALESCE(l.token_id, ''), COALESCE(l.opened_in, e.accounting_period_id),
                {sqlite} '-' || l.quantity, '-' || l.cost_basis, CASE WHEN l.origin = 'move' THEN '0' ELSE '-' || l.quantity END, CASE WHEN l.origin = 'move' THEN '0' ELSE '-' || l.cost_basis END, -1
                {postgres} -l.quantity, -l.cost_basis, CASE WHEN l.origin = 'move' THEN 0 ELSE -l.quantity END, CASE WHEN l.origin = 'move' THEN 0 ELSE -l.cost_basis END, -1
                FROM lots AS l LEFT JOIN journal_entries AS e ON e.organization_id = l.organization_id AND e.journal_entry_id = l.journal_entry_id
            UNION ALL SELECT u.organization_id, u.legal_entity_id, COALESCE(u.source_id, ''), u.ledger_account_id, u.asset_type,
                COALESCE(u.chain, ''), COALESCE(u.token_id, ''), u.accounting_period_id, u.quantity, u.basis,
                {sqlite} '0', '0', -u.lot_count
                {postgres} 0, 0, -u.lot_count
                FROM lot_uses AS u WHERE u.asset_id <> '' OR u.kind = 'relocate') AS m
        JOIN late_entities AS n ON n.organization_id = m.organization_id AND n.legal_entity_id = m.legal_entity_id
        GROUP BY m.organization_id, m.legal_entity_id, m.source_id, m.ledger_account_id, m.asset_type, m.chain, m.token_id,
            m.accounting_period_id) AS d
    JOIN accounting_periods AS p ON p.organization_id = d.organization_id AND p.accounting_period_id = d.accounting_period_id
    WHERE d.quantity <> '0' OR d.basis <> '0' OR d.added_quantity <> '0' OR d.added_basis <> '0' OR d.lot_count <> 0;
DROP TABLE late_entities;

-- +goose Down

DROP TABLE lot_corrections;
