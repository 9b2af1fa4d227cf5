-- +goose Up

-- Files of transactions on their way in. One is uploading until all of it is stored, and listed only from then on. rows_read and the counts move in
-- the transaction that adds what the rows tell, so that whoever takes an import up after a crash goes on behind them. claim is whose turn it is
-- until claimed_until; tries counts the turns that came to nothing in a row.
CREATE TABLE imports (
    organization_id {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    import_id       {text} NOT NULL,
    source_id       {text} NOT NULL,
    file_name       {text} NOT NULL,
    format          {text} NOT NULL,
    preset          {text},
    mapping         {text} NOT NULL,
    status          {text} NOT NULL,
    file_size       {integer} NOT NULL,
    bytes_read      {integer} NOT NULL,
    rows_read       {integer} NOT NULL,
    created_count   {integer} NOT NULL,
    duplicate_count {integer} NOT NULL,
    skipped_count   {integer} NOT NULL,
    faulty_count    {integer} NOT NULL,
    fault_count     {integer} NOT NULL,
    error_message   {text},
    user_id         {text},
    api_key_id      {text},
    request_id      {text},
    claim           {text},
    claimed_until   {timestamp},
    tries           {integer} NOT NULL,
    created_at      {timestamp} NOT NULL,
    started_at      {timestamp},
    finished_at     {timestamp},
    PRIMARY KEY (organization_id, import_id)
) {updated};
CREATE INDEX imports_by_source ON imports (organization_id, source_id, import_id);
CREATE INDEX imports_by_status ON imports (organization_id, status, import_id);
CREATE INDEX imports_unfinished ON imports (status, created_at) WHERE status IN ('uploading', 'pending', 'running');

-- The file of an import in pieces, so that any node can read it; they go when it has ended.
CREATE TABLE import_chunks (
    organization_id {text} NOT NULL,
    import_id       {text} NOT NULL,
    position        {integer} NOT NULL,
    content         {bytes} NOT NULL,
    PRIMARY KEY (organization_id, import_id, position)
) {heap};

-- What was wrong with rows that were left out, the first ones of each import.
CREATE TABLE import_faults (
    organization_id {text} NOT NULL,
    import_id       {text} NOT NULL,
    position        {integer} NOT NULL,
    line            {integer} NOT NULL,
    column_name     {text},
    message         {text} NOT NULL,
    PRIMARY KEY (organization_id, import_id, position)
) {clustered};
