-- +goose Up

-- What transactions add up to, by source, asset, day in UTC and status, so that the sum of a source need not read them. Spam is left out.
-- unknown counts the transactions of which it is not known how much moved.
CREATE TABLE transaction_quantities (
    organization_id {text} NOT NULL,
    source_id       {text} NOT NULL,
    asset_type      {text} NOT NULL,
    day             {text} NOT NULL,
    status          {text} NOT NULL,
    quantity        {decimal} NOT NULL,
    unknown         {integer} NOT NULL,
    count           {integer} NOT NULL,
    PRIMARY KEY (organization_id, source_id, asset_type, day, status)
) {updated};

-- The quantity, less the fee of an arrival in the same asset; a fee in another asset is taken from that one.
INSERT INTO transaction_quantities
    SELECT p.organization_id, p.source_id, p.asset_type, p.day, p.status, {dec_sum}(p.quantity), sum(p.unknown), sum(p.count) FROM (
        SELECT t.organization_id, t.source_id, t.asset_type, t.status,
            {sqlite} substr(t.transaction_date, 1, 10) AS day, CASE WHEN COALESCE(CASE WHEN t.value_currency = t.asset_type THEN t.value_gross END, t.quantity) IS NULL THEN '0' WHEN t.direction = 'credit' THEN COALESCE(CASE WHEN t.value_currency = t.asset_type THEN t.value_gross END, t.quantity) ELSE '-' || COALESCE(CASE WHEN t.value_currency = t.asset_type THEN t.value_gross END, t.quantity) END AS quantity,
            {postgres} to_char(t.transaction_date AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, COALESCE(CASE WHEN t.value_currency = t.asset_type THEN t.value_gross END, t.quantity, 0) * CASE WHEN t.direction = 'credit' THEN 1 ELSE -1 END AS quantity,
            CASE WHEN t.quantity IS NULL AND COALESCE(t.value_currency, '') <> t.asset_type THEN 1 ELSE 0 END AS unknown, 1 AS count
            FROM transactions t WHERE t.visibility = 0
        UNION ALL
        SELECT o.organization_id, o.source_id, o.asset_type, o.status, o.day,
            {sqlite} '-' || o.fee, 0, 0 FROM (
            {postgres} 0 - o.fee, 0, 0 FROM (
            SELECT t.organization_id, t.source_id, t.asset_type, t.status,
                {sqlite} substr(t.transaction_date, 1, 10) AS day, COALESCE(CASE WHEN COALESCE(json_extract(t.details, '$.crypto.fee_asset'), '') IN ('', t.asset_type) THEN NULLIF(json_extract(t.details, '$.crypto.fee'), '0') END, CASE WHEN t.value_currency = t.asset_type THEN t.value_fee END) AS fee
                {postgres} to_char(t.transaction_date AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, COALESCE(CASE WHEN COALESCE(t.details::json -> 'crypto' ->> 'fee_asset', '') IN ('', t.asset_type) THEN NULLIF((t.details::json -> 'crypto' ->> 'fee')::numeric, 0) END, CASE WHEN t.value_currency = t.asset_type THEN t.value_fee END) AS fee
                FROM transactions t WHERE t.visibility = 0 AND t.direction = 'credit'
                AND (t.quantity IS NOT NULL OR t.value_currency = t.asset_type)) o
            WHERE o.fee IS NOT NULL
        UNION ALL
        SELECT f.organization_id, f.source_id, f.fee_asset, f.status, f.day,
            {sqlite} '-' || f.fee, 0, 1 FROM (
            {postgres} 0 - f.fee, 0, 1 FROM (
            SELECT t.organization_id, t.source_id, t.asset_type, t.status,
                {sqlite} substr(t.transaction_date, 1, 10) AS day, COALESCE(json_extract(t.details, '$.crypto.fee_asset'), '') AS fee_asset, NULLIF(json_extract(t.details, '$.crypto.fee'), '0') AS fee
                {postgres} to_char(t.transaction_date AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, COALESCE(t.details::json -> 'crypto' ->> 'fee_asset', '') AS fee_asset, NULLIF((t.details::json -> 'crypto' ->> 'fee')::numeric, 0) AS fee
                FROM transactions t WHERE t.visibility = 0) f
            WHERE f.fee IS NOT NULL AND f.fee_asset NOT IN ('', f.asset_type)
    ) p GROUP BY p.organization_id, p.source_id, p.asset_type, p.day, p.status;

-- Where an observed balance comes from: a file, a connection, or somebody who entered it.
ALTER TABLE observed_balances ADD COLUMN import_id {text};
ALTER TABLE observed_balances ADD COLUMN user_id {text};
ALTER TABLE observed_balances ADD COLUMN api_key_id {text};
ALTER TABLE observed_balances ADD COLUMN memo {text};
CREATE INDEX observed_balances_by_period ON observed_balances (organization_id, observed_at, source_id);
CREATE INDEX observed_balances_by_time ON observed_balances (organization_id, source_id, observed_at, asset_type);

-- That the books of a source were compared with what it held up to an instant, by whom, and with which figures.
CREATE TABLE reconciliations (
    organization_id   {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    reconciliation_id {text} NOT NULL,
    source_id         {text} NOT NULL,
    reconciled_at     {timestamp} NOT NULL,
    note              {text},
    user_id           {text},
    api_key_id        {text},
    created_at        {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, reconciliation_id)
) {clustered};
CREATE UNIQUE INDEX reconciliations_by_source ON reconciliations (organization_id, source_id, reconciled_at);

CREATE TABLE reconciliation_figures (
    organization_id   {text} NOT NULL,
    reconciliation_id {text} NOT NULL,
    asset_type        {text} NOT NULL,
    compared_at       {timestamp} NOT NULL,
    book_quantity     {decimal},
    moved_quantity    {decimal},
    observed_quantity {decimal},
    PRIMARY KEY (organization_id, reconciliation_id, asset_type)
) {clustered};

-- +goose Down

DROP TABLE reconciliation_figures;
DROP TABLE reconciliations;
DROP INDEX observed_balances_by_time;
DROP INDEX observed_balances_by_period;
ALTER TABLE observed_balances DROP COLUMN memo;
ALTER TABLE observed_balances DROP COLUMN api_key_id;
ALTER TABLE observed_balances DROP COLUMN user_id;
ALTER TABLE observed_balances DROP COLUMN import_id;
DROP TABLE transaction_quantities;
