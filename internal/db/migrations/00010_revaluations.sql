-- +goose Up

-- Runs that measured what was held at the end of an accounting period.
CREATE TABLE revaluations (
    organization_id      {text} NOT NULL,
    revaluation_id       {text} NOT NULL,
    accounting_period_id {text} NOT NULL,
    as_of                {timestamp} NOT NULL,
    created_by           {text},
    created_at           {timestamp} NOT NULL,
    reversed_at          {timestamp},
    PRIMARY KEY (organization_id, revaluation_id)
) {clustered};

-- What a run measured, by legal entity and kind. The last run of each is current, until it is reversed or replaced by another.
CREATE TABLE revaluation_parts (
    organization_id      {text} NOT NULL,
    legal_entity_id      {text} NOT NULL,
    accounting_period_id {text} NOT NULL,
    kind                 {text} NOT NULL,
    revaluation_id       {text} NOT NULL,
    status               {text} NOT NULL,
    PRIMARY KEY (organization_id, legal_entity_id, accounting_period_id, kind, revaluation_id)
) {clustered};
CREATE INDEX revaluation_parts_by_run ON revaluation_parts (organization_id, revaluation_id);

-- One asset or currency of a legal entity, and the entry made for it. before and after are what its adjustment stood at, or, of foreign money and of what
-- is owed, what it stood at itself. The price is frozen: value, time and origin as they were.
CREATE TABLE revaluation_items (
    organization_id   {text} NOT NULL,
    revaluation_id    {text} NOT NULL,
    legal_entity_id   {text} NOT NULL,
    kind              {text} NOT NULL,
    unit              {text} NOT NULL,
    currency          {text} NOT NULL,
    quantity          {decimal} NOT NULL,
    cost              {decimal},
    before            {decimal} NOT NULL,
    price             {decimal},
    price_id          {text},
    priced_at         {timestamp},
    price_origin      {text},
    value             {decimal} NOT NULL,
    after             {decimal} NOT NULL,
    outcome           {text} NOT NULL,
    journal_entry_id  {text},
    replaced_entry_id {text},
    lines             {text} NOT NULL,
    PRIMARY KEY (organization_id, revaluation_id, legal_entity_id, kind, unit)
) {clustered};
CREATE INDEX revaluation_items_by_price ON revaluation_items (organization_id, price_id) WHERE price_id IS NOT NULL;

-- What an item is made of: its lots with what each has of the adjustment, or the accounts that foreign money stands on. A price of its own is one that
-- differs from that of the item.
CREATE TABLE revaluation_rows (
    organization_id   {text} NOT NULL,
    revaluation_id    {text} NOT NULL,
    legal_entity_id   {text} NOT NULL,
    kind              {text} NOT NULL,
    unit              {text} NOT NULL,
    subject_id        {text} NOT NULL,
    quantity          {decimal} NOT NULL,
    cost              {decimal},
    before            {decimal} NOT NULL,
    price             {decimal},
    price_id          {text},
    priced_at         {timestamp},
    price_origin      {text},
    value             {decimal} NOT NULL,
    after             {decimal} NOT NULL,
    PRIMARY KEY (organization_id, revaluation_id, legal_entity_id, kind, unit, subject_id)
) {clustered};
CREATE INDEX revaluation_rows_by_price ON revaluation_rows (organization_id, price_id) WHERE price_id IS NOT NULL;
