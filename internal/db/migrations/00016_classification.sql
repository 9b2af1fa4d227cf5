-- +goose Up

-- What a classification run proposes, until it is booked.
ALTER TABLE transactions ADD COLUMN suggested {text};

-- Classification runs. One goes through the transactions that its filter finds and that had come when it was made, in the order in which they
-- happened; at_date and at_number say how far it is and move in the transaction that writes what a batch came to. revision freezes the rules.
CREATE TABLE classification_runs (
    organization_id  {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    run_id           {text} NOT NULL,
    action           {text} NOT NULL,
    dry_run          {boolean} NOT NULL,
    filter           {text} NOT NULL,
    limited_to       {text} NOT NULL,
    revision         {integer} NOT NULL,
    up_to            {integer} NOT NULL,
    status           {text} NOT NULL,
    has_learned      {boolean} NOT NULL,
    at_date          {timestamp},
    at_number        {integer} NOT NULL,
    total_count      {integer} NOT NULL,
    counts           {text} NOT NULL,
    error_message    {text},
    user_id          {text},
    api_key_id       {text},
    request_id       {text},
    claim            {text},
    claimed_until    {timestamp},
    tries            {integer} NOT NULL,
    created_at       {timestamp} NOT NULL,
    started_at       {timestamp},
    finished_at      {timestamp},
    PRIMARY KEY (organization_id, run_id)
) {updated};
CREATE INDEX classification_runs_by_status ON classification_runs (organization_id, status, run_id);
CREATE INDEX classification_runs_unfinished ON classification_runs (status, created_at) WHERE status IN ('pending', 'running');

-- What a run came to, one row a transaction in the order of the run. outcome can be asked for.
CREATE TABLE classification_results (
    organization_id {text} NOT NULL,
    run_id          {text} NOT NULL,
    position        {integer} NOT NULL,
    transaction_id  {text} NOT NULL,
    number          {integer} NOT NULL,
    outcome         {text} NOT NULL,
    rule_id         {text},
    body            {text} NOT NULL,
    PRIMARY KEY (organization_id, run_id, position)
) {clustered};
CREATE INDEX classification_results_by_outcome ON classification_results (organization_id, run_id, outcome, position);
CREATE INDEX classification_results_by_rule ON classification_results (organization_id, run_id, rule_id, position) WHERE rule_id IS NOT NULL;

-- What was learned of each posted transaction, and of each feature the latest transactions that have it and how they were booked.
CREATE TABLE precedents (
    organization_id   {text} NOT NULL,
    transaction_id    {text} NOT NULL,
    booked_to         {text} NOT NULL,
    transaction_type  {text} NOT NULL,
    transaction_date  {timestamp} NOT NULL,
    features          {text} NOT NULL,
    PRIMARY KEY (organization_id, transaction_id)
) {clustered};
CREATE TABLE precedent_features (
    organization_id {text} NOT NULL,
    feature         {text} NOT NULL,
    latest          {text} NOT NULL,
    PRIMARY KEY (organization_id, feature)
) {updated};
CREATE TABLE precedent_marks (
    organization_id {text} NOT NULL,
    sequence        {integer} NOT NULL,
    PRIMARY KEY (organization_id)
) {updated};
