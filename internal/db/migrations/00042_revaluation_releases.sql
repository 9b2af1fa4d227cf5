-- +goose Up

-- What a run released of the adjustment of a lot that had been moved or taken over since the run before: the share of what was disposed of, and the part
-- of it that the lot had been taken over with. No row of another run has it. Runs of earlier versions did not keep it.
CREATE TABLE revaluation_releases (
    organization_id {text} NOT NULL,
    revaluation_id  {text} NOT NULL,
    legal_entity_id {text} NOT NULL,
    kind            {text} NOT NULL,
    unit            {text} NOT NULL,
    subject_id      {text} NOT NULL,
    order_key       {text} NOT NULL,
    quantity        {decimal} NOT NULL,
    share           {decimal} NOT NULL,
    taken_over      {decimal} NOT NULL,
    PRIMARY KEY (organization_id, revaluation_id, legal_entity_id, kind, unit, subject_id, order_key)
) {clustered};

-- +goose Down

DROP TABLE revaluation_releases;
