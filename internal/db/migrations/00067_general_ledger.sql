-- +goose Up

-- What a general ledger is like, as its provider told when it was read.
CREATE TABLE gl_charts (
    organization_id {text} NOT NULL,
    connection_id   {text} NOT NULL,
    currency        {text} NOT NULL,
    takes_foreign   {boolean} NOT NULL,
    locked_through  {text},
    PRIMARY KEY (organization_id, connection_id)
) {updated};

-- The accounts of a general ledger. One that is gone there stays, because accounts may be mapped to it.
CREATE TABLE gl_accounts (
    organization_id {text} NOT NULL,
    gl_account_id   {text} NOT NULL,
    connection_id   {text} NOT NULL,
    external_id     {text} NOT NULL,
    code            {text},
    name            {text} NOT NULL,
    account_type    {text},
    currency        {text},
    is_active       {boolean} NOT NULL,
    refusal         {text},
    search          {text} NOT NULL,
    created_at      {timestamp} NOT NULL,
    updated_at      {timestamp},
    PRIMARY KEY (organization_id, gl_account_id)
) {updated};
CREATE UNIQUE INDEX gl_accounts_by_external_id ON gl_accounts (organization_id, connection_id, external_id);

-- The values of the dimensions of a general ledger, such as departments.
CREATE TABLE gl_dimension_values (
    organization_id       {text} NOT NULL,
    gl_dimension_value_id {text} NOT NULL,
    connection_id         {text} NOT NULL,
    dimension_key         {text} NOT NULL,
    dimension_name        {text} NOT NULL,
    external_id           {text} NOT NULL,
    name                  {text} NOT NULL,
    is_active             {boolean} NOT NULL,
    created_at            {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, gl_dimension_value_id)
) {updated};
CREATE UNIQUE INDEX gl_dimension_values_by_external_id ON gl_dimension_values (organization_id, connection_id, dimension_key, external_id);

-- Which account of a general ledger stands for a ledger account.
CREATE TABLE gl_mappings (
    organization_id   {text} NOT NULL,
    gl_mapping_id     {text} NOT NULL,
    connection_id     {text} NOT NULL,
    ledger_account_id {text} NOT NULL,
    gl_account_id     {text} NOT NULL,
    created_at        {timestamp} NOT NULL,
    updated_at        {timestamp},
    PRIMARY KEY (organization_id, gl_mapping_id)
) {clustered};
CREATE UNIQUE INDEX gl_mappings_by_account ON gl_mappings (organization_id, connection_id, ledger_account_id);
CREATE INDEX gl_mappings_of_account ON gl_mappings (organization_id, ledger_account_id);
CREATE INDEX gl_mappings_by_gl_account ON gl_mappings (organization_id, gl_account_id);

-- Runs that send entries to a general ledger, or compare what it has with what was sent. book names the general ledger whatever the
-- connection: its provider and its account. scope, counts, totals, blockers and warnings are JSON.
CREATE TABLE gl_sync_runs (
    organization_id  {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    gl_sync_run_id   {text} NOT NULL,
    connection_id    {text} NOT NULL,
    book             {text} NOT NULL,
    kind             {text} NOT NULL,
    scope            {text} NOT NULL,
    status           {text} NOT NULL,
    stage            {text} NOT NULL,
    cancel_requested {boolean} NOT NULL,
    total_count      {integer} NOT NULL,
    done_count       {integer} NOT NULL,
    counts           {text} NOT NULL,
    totals           {text} NOT NULL,
    blockers         {text} NOT NULL,
    warnings         {text} NOT NULL,
    error_message    {text},
    user_id          {text},
    api_key_id       {text},
    claim            {text},
    claimed_until    {timestamp},
    tries            {integer} NOT NULL,
    created_at       {timestamp} NOT NULL,
    started_at       {timestamp},
    finished_at      {timestamp},
    PRIMARY KEY (organization_id, gl_sync_run_id)
) {updated};
CREATE INDEX gl_sync_runs_by_connection ON gl_sync_runs (organization_id, connection_id, gl_sync_run_id);
CREATE INDEX gl_sync_runs_unfinished ON gl_sync_runs (status, created_at) WHERE status IN ('pending', 'running');
-- One run at a time for each general ledger.
CREATE UNIQUE INDEX gl_sync_runs_by_book ON gl_sync_runs (organization_id, book) WHERE status IN ('pending', 'running');

-- What a run does with each entry, in the order in which it does so. changes is JSON: what differs in the general ledger.
CREATE TABLE gl_sync_attempts (
    organization_id    {text} NOT NULL,
    gl_sync_attempt_id {text} NOT NULL,
    gl_sync_run_id     {text} NOT NULL,
    position           {integer} NOT NULL,
    connection_id      {text} NOT NULL,
    provider           {text} NOT NULL,
    journal_entry_id   {text} NOT NULL,
    number             {integer} NOT NULL,
    part               {text} NOT NULL,
    action             {text} NOT NULL,
    status             {text} NOT NULL,
    tries              {integer} NOT NULL,
    external_id        {text},
    error_message      {text},
    changes            {text},
    attempted_at       {timestamp},
    PRIMARY KEY (organization_id, gl_sync_attempt_id)
) {updated};
CREATE UNIQUE INDEX gl_sync_attempts_by_run ON gl_sync_attempts (organization_id, gl_sync_run_id, position);
-- An entry, or a part of it, is sent once in a run.
CREATE UNIQUE INDEX gl_sync_attempts_by_part ON gl_sync_attempts (organization_id, gl_sync_run_id, journal_entry_id, part);
CREATE INDEX gl_sync_attempts_by_status ON gl_sync_attempts (organization_id, gl_sync_run_id, status, position);
CREATE INDEX gl_sync_attempts_by_entry ON gl_sync_attempts (organization_id, journal_entry_id, attempted_at)
    WHERE attempted_at IS NOT NULL;

-- What stands in a general ledger for an entry, or may. part is the legal entity whose lines were sent if it was not all of them. content is
-- what was sent as external_id, next what is being sent, and strays what was being sent when a run ended without an answer and is to be
-- removed if it is there; they are JSON, and each journal has a key of its own. state is uncertain while there is no answer.
CREATE TABLE gl_journals (
    organization_id  {text} NOT NULL,
    book             {text} NOT NULL,
    journal_entry_id {text} NOT NULL,
    part             {text} NOT NULL,
    connection_id    {text} NOT NULL,
    state            {text} NOT NULL,
    revision         {integer} NOT NULL,
    external_id      {text},
    external_number  {text},
    external_version {text},
    url              {text},
    content          {text},
    next             {text},
    strays           {text},
    entry_date       {text} NOT NULL,
    number           {integer} NOT NULL,
    first_synced_at  {timestamp},
    last_synced_at   {timestamp},
    last_unsynced_at {timestamp},
    PRIMARY KEY (organization_id, book, journal_entry_id, part)
) {heap};
CREATE INDEX gl_journals_by_entry ON gl_journals (organization_id, journal_entry_id);
CREATE INDEX gl_journals_by_date ON gl_journals (organization_id, book, entry_date, number);

-- +goose Down

DROP TABLE gl_journals;
DROP TABLE gl_sync_attempts;
DROP TABLE gl_sync_runs;
DROP TABLE gl_mappings;
DROP TABLE gl_dimension_values;
DROP TABLE gl_accounts;
DROP TABLE gl_charts;
