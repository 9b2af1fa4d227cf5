-- +goose Up

ALTER TABLE heads ADD COLUMN transaction_number {integer} NOT NULL DEFAULT 0;

-- Where transactions come from. account_id is the id of the wallet, exchange account or bank account it stands for. A source of a connection
-- belongs to it, and its account at the provider to an item of the provider's.
CREATE TABLE sources (
    organization_id   {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    source_id         {text} NOT NULL,
    account_id        {text},
    source_type       {text} NOT NULL,
    provider          {text} NOT NULL,
    name              {text} NOT NULL,
    legal_entity_id   {text} NOT NULL,
    ledger_account_id {text} NOT NULL,
    chain             {text},
    address           {text},
    address_key       {text},
    currency          {text},
    is_manual         {boolean} NOT NULL,
    item_id           {text},
    external_id       {text},
    deleted_at        {timestamp},
    created_at        {timestamp} NOT NULL,
    updated_at        {timestamp},
    PRIMARY KEY (organization_id, source_id)
) {clustered};
CREATE UNIQUE INDEX sources_by_account ON sources (organization_id, account_id) WHERE account_id IS NOT NULL;
CREATE INDEX sources_by_entity ON sources (organization_id, legal_entity_id);
CREATE INDEX sources_by_ledger_account ON sources (organization_id, ledger_account_id);
CREATE INDEX sources_by_address ON sources (organization_id, address_key) WHERE address_key IS NOT NULL;
CREATE INDEX sources_by_item ON sources (organization_id, item_id) WHERE item_id IS NOT NULL;

-- One sign-in at a bank, as an aggregator calls it: it holds one or more accounts. removed_at says that the provider has forgotten it.
CREATE TABLE aggregator_items (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    item_id         {text} NOT NULL,
    provider        {text} NOT NULL,
    external_id     {text} NOT NULL,
    removed_at      {timestamp},
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, item_id)
) {clustered};

-- Rows refer to other tables without foreign keys, as entries do. shelf is where a row stands: 0 in lists, 1 with the spam, 2 deleted; every
-- index begins with it, so that a wallet full of spam is as quick to list as one without. Keys ending in _key are what is compared: addresses
-- and categories in lower case, amounts as text that sorts as the number does and is empty where it is not known.
CREATE TABLE transactions (
    {row_key} organization_id   {text} NOT NULL,
    transaction_id    {text} NOT NULL,
    number            {integer} NOT NULL,
    shelf             {integer} NOT NULL,
    source_id         {text} NOT NULL,
    external_id       {text} NOT NULL,
    transaction_date  {timestamp} NOT NULL,
    description       {text} NOT NULL,
    direction         {text} NOT NULL,
    quantity          {decimal},
    currency          {text} NOT NULL,
    value_gross       {decimal},
    value_fee         {decimal},
    value_currency    {text},
    provider_category {text},
    vendor            {text},
    memo              {text},
    details           {text},
    asset_type        {text} NOT NULL,
    chain             {text} NOT NULL,
    from_key          {text},
    to_key            {text},
    category_key      {text},
    gross_amount_key  {text} NOT NULL,
    net_amount_key    {text} NOT NULL,
    gross_price_key   {text} NOT NULL,
    search            {text} NOT NULL,
    event_key         {text},
    group_id          {text},
    transaction_type  {text} NOT NULL,
    type_before_spam  {text},
    status            {text} NOT NULL,
    spam              {text},
    journal_entry_id  {text},
    tag_ids           {text} NOT NULL,
    created_at        {timestamp} NOT NULL,
    updated_at        {timestamp} NOT NULL,
    {primary_key} (organization_id, transaction_id)
) {heap};
CREATE UNIQUE INDEX transactions_by_number ON transactions (organization_id, number);
CREATE UNIQUE INDEX transactions_by_external_id ON transactions (organization_id, source_id, external_id);
CREATE INDEX transactions_by_date ON transactions (organization_id, shelf, transaction_date, number);
CREATE INDEX transactions_by_status ON transactions (organization_id, shelf, status, transaction_date, number);
CREATE INDEX transactions_by_source ON transactions (organization_id, shelf, source_id, transaction_date, number);
CREATE INDEX transactions_by_type ON transactions (organization_id, shelf, transaction_type, transaction_date, number);
CREATE INDEX transactions_by_asset ON transactions (organization_id, shelf, asset_type, transaction_date, number);
CREATE INDEX transactions_by_chain ON transactions (organization_id, shelf, chain, transaction_date, number);
CREATE INDEX transactions_by_sender ON transactions (organization_id, shelf, from_key, transaction_date, number) WHERE from_key IS NOT NULL;
CREATE INDEX transactions_by_recipient ON transactions (organization_id, shelf, to_key, transaction_date, number) WHERE to_key IS NOT NULL;
CREATE INDEX transactions_by_category ON transactions (organization_id, shelf, category_key, transaction_date, number) WHERE category_key IS NOT NULL;
CREATE INDEX transactions_by_gross_amount ON transactions (organization_id, shelf, gross_amount_key, number);
CREATE INDEX transactions_by_net_amount ON transactions (organization_id, shelf, net_amount_key, number);
CREATE INDEX transactions_by_gross_price ON transactions (organization_id, shelf, gross_price_key, number);
CREATE INDEX transactions_by_creation ON transactions (organization_id, shelf, created_at, number);
CREATE INDEX transactions_by_update ON transactions (organization_id, shelf, updated_at, number);
CREATE INDEX transactions_by_group ON transactions (organization_id, group_id) WHERE group_id IS NOT NULL;

-- Texts are searched by the three letters in a row that they hold: PostgreSQL has an index for it, SQLite a table that the engine keeps in step.
{postgres} CREATE EXTENSION IF NOT EXISTS pg_trgm;
{postgres} CREATE EXTENSION IF NOT EXISTS btree_gin;
{postgres} CREATE INDEX transactions_by_text ON transactions USING gin (organization_id, search gin_trgm_ops);
{sqlite} CREATE VIRTUAL TABLE transaction_texts USING fts5(search, content='transactions', content_rowid='row_key', tokenize='trigram', detail='none');
{sqlite} CREATE TRIGGER transactions_inserted AFTER INSERT ON transactions BEGIN INSERT INTO transaction_texts (rowid, search) VALUES (new.row_key, new.search); END;
{sqlite} CREATE TRIGGER transactions_searched AFTER UPDATE OF search ON transactions WHEN old.search <> new.search BEGIN INSERT INTO transaction_texts (transaction_texts, rowid, search) VALUES ('delete', old.row_key, old.search); INSERT INTO transaction_texts (rowid, search) VALUES (new.row_key, new.search); END;
{sqlite} CREATE TRIGGER transactions_deleted AFTER DELETE ON transactions BEGIN INSERT INTO transaction_texts (transaction_texts, rowid, search) VALUES ('delete', old.row_key, old.search); END;

-- How many transactions there are of each source and status: in all, where facet is empty, and by each value of some columns, so that counting
-- need not read them.
CREATE TABLE transaction_counts (
    organization_id {text} NOT NULL,
    facet           {text} NOT NULL,
    value           {text} NOT NULL,
    source_id       {text} NOT NULL,
    status          {text} NOT NULL,
    count           {integer} NOT NULL,
    PRIMARY KEY (organization_id, facet, value, source_id, status)
) {updated};

-- One row a tag of a transaction.
CREATE TABLE transaction_tags (
    organization_id {text} NOT NULL,
    tag_id          {text} NOT NULL,
    transaction_id  {text} NOT NULL,
    PRIMARY KEY (organization_id, tag_id, transaction_id)
) {clustered};
