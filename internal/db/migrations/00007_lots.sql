-- +goose Up

-- What a line is about, where that is not the currency of the books: so much of an asset, or so much foreign money.
ALTER TABLE journal_lines ADD COLUMN unit {text};
ALTER TABLE journal_lines ADD COLUMN quantity {decimal};
UPDATE journal_lines SET unit = currency, quantity = amount WHERE currency <> (SELECT e.base_currency FROM legal_entities e
    WHERE e.organization_id = journal_lines.organization_id AND e.legal_entity_id = journal_lines.legal_entity_id);

-- How people call the transaction of an entry.
ALTER TABLE journal_entries ADD COLUMN transaction_number {integer};

-- Totals of posted lines that have a unit, debits less credits: how much of it stands on an account, and what that is in the books.
CREATE TABLE account_units (
    organization_id      {text} NOT NULL,
    legal_entity_id      {text} NOT NULL,
    ledger_account_id    {text} NOT NULL,
    unit                 {text} NOT NULL,
    accounting_period_id {text} NOT NULL,
    quantity             {decimal} NOT NULL,
    amount               {decimal} NOT NULL,
    PRIMARY KEY (organization_id, legal_entity_id, ledger_account_id, unit, accounting_period_id)
) {updated};
INSERT INTO account_units (organization_id, legal_entity_id, ledger_account_id, unit, accounting_period_id, quantity, amount)
    SELECT l.organization_id, l.legal_entity_id, l.ledger_account_id, l.unit, e.accounting_period_id,
    {sqlite} dec_sum(CASE WHEN l.credit_or_debit = 'DEBIT' THEN l.quantity ELSE '-' || l.quantity END), dec_sum(CASE WHEN l.credit_or_debit = 'DEBIT' THEN l.base_amount ELSE '-' || l.base_amount END)
    {postgres} sum(CASE WHEN l.credit_or_debit = 'DEBIT' THEN l.quantity ELSE -l.quantity END), sum(CASE WHEN l.credit_or_debit = 'DEBIT' THEN l.base_amount ELSE -l.base_amount END)
    FROM journal_lines l JOIN journal_entries e ON e.organization_id = l.organization_id AND e.journal_entry_id = l.journal_entry_id
    WHERE l.unit IS NOT NULL AND l.is_posted GROUP BY l.organization_id, l.legal_entity_id, l.ledger_account_id, l.unit, e.accounting_period_id;

-- How the entry of a transaction was asked for, and everything it follows from, so that it can be made again when its lots change.
CREATE TABLE bookings (
    organization_id          {text} NOT NULL,
    journal_entry_id         {text} NOT NULL,
    transaction_id           {text} NOT NULL,
    partner_id               {text},
    transaction_type         {text} NOT NULL,
    ledger_account_id        {text},
    offset_ledger_account_id {text},
    input                    {text} NOT NULL,
    PRIMARY KEY (organization_id, journal_entry_id)
) {heap};
CREATE INDEX bookings_by_transaction ON bookings (organization_id, transaction_id);

-- The lots among which a disposal chooses. A pool's key says whose it is: of a legal entity, mostly of one of its sources, one asset; or what is
-- parked under a clearing account. quantity and basis are the sums of what is left, and of a weighted average they are the truth.
CREATE TABLE lot_pools (
    organization_id   {text} NOT NULL,
    pool              {text} NOT NULL,
    legal_entity_id   {text} NOT NULL,
    source_id         {text},
    ledger_account_id {text},
    asset_type        {text} NOT NULL,
    chain             {text},
    token_id          {text},
    currency          {text} NOT NULL,
    quantity          {decimal} NOT NULL,
    basis             {decimal} NOT NULL,
    seq               {integer} NOT NULL,
    last_place        {text} NOT NULL,
    PRIMARY KEY (organization_id, pool)
) {updated};
CREATE INDEX lot_pools_by_entity ON lot_pools (organization_id, legal_entity_id, asset_type);

-- Lots. place is where the lot entered its pool among everything that happened there, seq its order of arrival. unit_key sorts as the cost of one
-- does. Under a weighted average remaining_basis is not kept: the pool's is shared by quantity. opened_in is the accounting period of what was
-- entered by hand and cost nothing, so that no entry says it.
CREATE TABLE lots (
    organization_id    {text} NOT NULL,
    asset_id           {text} NOT NULL,
    pool               {text} NOT NULL,
    place              {text} NOT NULL,
    seq                {integer} NOT NULL,
    legal_entity_id    {text} NOT NULL,
    source_id          {text},
    ledger_account_id  {text} NOT NULL,
    asset_type         {text} NOT NULL,
    chain              {text},
    token_id           {text},
    acquired_at        {timestamp} NOT NULL,
    quantity           {decimal} NOT NULL,
    remaining_quantity {decimal} NOT NULL,
    cost_basis         {decimal} NOT NULL,
    remaining_basis    {decimal} NOT NULL,
    currency           {text} NOT NULL,
    unit_key           {text} NOT NULL,
    is_open            {boolean} NOT NULL,
    origin             {text} NOT NULL,
    parent_asset_id    {text},
    transaction_id     {text},
    journal_entry_id   {text} NOT NULL,
    opened_in          {text},
    basis_pending      {boolean} NOT NULL,
    provisional        {boolean} NOT NULL,
    created_at         {timestamp} NOT NULL,
    updated_at         {timestamp},
    PRIMARY KEY (organization_id, asset_id)
) {updated};
CREATE INDEX lots_by_place ON lots (organization_id, pool, place);
CREATE INDEX lots_by_age ON lots (organization_id, pool, is_open, acquired_at, seq);
CREATE INDEX lots_by_cost ON lots (organization_id, pool, is_open, unit_key);
CREATE INDEX lots_by_entry ON lots (organization_id, journal_entry_id);
CREATE INDEX lots_by_entity ON lots (organization_id, legal_entity_id, asset_type, asset_id);
CREATE INDEX lots_by_asset ON lots (organization_id, asset_type, asset_id);
CREATE INDEX lots_by_ledger_account ON lots (organization_id, ledger_account_id, is_open, legal_entity_id);
CREATE INDEX lots_pending ON lots (organization_id, legal_entity_id) WHERE basis_pending;

-- What entries ask of a pool. place says when; position is that of the request in its entry. is_net takes the costs off the gain.
CREATE TABLE lot_takes (
    organization_id  {text} NOT NULL,
    pool             {text} NOT NULL,
    place            {text} NOT NULL,
    journal_entry_id {text} NOT NULL,
    position         {integer} NOT NULL,
    transaction_id   {text},
    source_id        {text},
    ledger_account_id {text} NOT NULL,
    chain            {text},
    taken_at         {timestamp} NOT NULL,
    block_number     {integer} NOT NULL,
    number           {integer} NOT NULL,
    kind             {text} NOT NULL,
    quantity         {decimal} NOT NULL,
    fee_quantity     {decimal} NOT NULL,
    proceeds         {decimal} NOT NULL,
    fee_proceeds     {decimal} NOT NULL,
    costs            {decimal} NOT NULL,
    is_net           {boolean} NOT NULL,
    picks            {text},
    PRIMARY KEY (organization_id, pool, place)
) {clustered};
CREATE INDEX lot_takes_by_entry ON lot_takes (organization_id, journal_entry_id);

-- What was taken from which lot: one row a slice. asset_id is empty for what was not there. pool and place name the request. A correction says what
-- changed about a disposal whose period was closed; its quantities and amounts are differences, and may be negative. A relocation is of what stays in
-- its pool and is held elsewhere: it names no lot, and a second row with a negative quantity says where it is now. lot_count is -1 where the lot was
-- emptied.
CREATE TABLE lot_uses (
    organization_id      {text} NOT NULL,
    use_id               {text} NOT NULL,
    pool                 {text} NOT NULL,
    place                {text} NOT NULL,
    position             {integer} NOT NULL,
    asset_id             {text} NOT NULL,
    kind                 {text} NOT NULL,
    is_correction        {boolean} NOT NULL,
    journal_entry_id     {text} NOT NULL,
    transaction_id       {text},
    transaction_type     {text} NOT NULL,
    legal_entity_id      {text} NOT NULL,
    source_id            {text},
    ledger_account_id    {text} NOT NULL,
    asset_type           {text} NOT NULL,
    chain                {text},
    token_id             {text},
    accounting_date      {timestamp} NOT NULL,
    accounting_period_id {text} NOT NULL,
    quantity             {decimal} NOT NULL,
    basis                {decimal} NOT NULL,
    proceeds             {decimal} NOT NULL,
    fee                  {decimal} NOT NULL,
    gain                 {decimal} NOT NULL,
    currency             {text} NOT NULL,
    acquired_at          {timestamp} NOT NULL,
    disposed_at          {timestamp} NOT NULL,
    days_held            {integer} NOT NULL,
    term                 {text} NOT NULL,
    method               {text} NOT NULL,
    lot_count            {integer} NOT NULL,
    PRIMARY KEY (organization_id, use_id)
) {clustered};
CREATE INDEX lot_uses_by_place ON lot_uses (organization_id, pool, place);
CREATE INDEX lot_uses_by_lot ON lot_uses (organization_id, asset_id, disposed_at, use_id);
CREATE INDEX lot_uses_by_date ON lot_uses (organization_id, accounting_date, use_id);
CREATE INDEX lot_uses_by_entry ON lot_uses (organization_id, journal_entry_id);

-- What moved in an accounting period, by where it is held: so what is held at the end of one is a sum over periods. added_ is what was acquired,
-- not what came from another place; lot_count is how many more lots there are.
CREATE TABLE lot_positions (
    organization_id      {text} NOT NULL,
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
    PRIMARY KEY (organization_id, legal_entity_id, source_id, ledger_account_id, asset_type, chain, token_id, accounting_period_id)
) {updated};

-- What was realized in an accounting period.
CREATE TABLE lot_gains (
    organization_id      {text} NOT NULL,
    legal_entity_id      {text} NOT NULL,
    asset_type           {text} NOT NULL,
    source_id            {text} NOT NULL,
    accounting_period_id {text} NOT NULL,
    quantity             {decimal} NOT NULL,
    proceeds             {decimal} NOT NULL,
    fee                  {decimal} NOT NULL,
    basis                {decimal} NOT NULL,
    gain                 {decimal} NOT NULL,
    loss                 {decimal} NOT NULL,
    short_term           {decimal} NOT NULL,
    long_term            {decimal} NOT NULL,
    PRIMARY KEY (organization_id, legal_entity_id, asset_type, source_id, accounting_period_id)
) {updated};

-- The lots somebody chose for a disposal, before it is posted.
CREATE TABLE lot_selections (
    organization_id {text} NOT NULL,
    transaction_id  {text} NOT NULL,
    position        {integer} NOT NULL,
    asset_id        {text} NOT NULL,
    quantity        {decimal} NOT NULL,
    created_by      {text} NOT NULL,
    created_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, transaction_id, position)
) {clustered};
