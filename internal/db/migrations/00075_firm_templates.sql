-- +goose Up

-- Charts of accounts and rules that a firm offers to its clients, who take over copies.
CREATE TABLE firm_templates (
    organization_id  {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    firm_template_id {text} NOT NULL,
    name             {text} NOT NULL,
    description      {text},
    kind             {text} NOT NULL,
    content          {text} NOT NULL,
    item_count       {integer} NOT NULL,
    version          {integer} NOT NULL,
    created_by       {text},
    created_at       {timestamp} NOT NULL,
    updated_at       {timestamp},
    PRIMARY KEY (organization_id, firm_template_id)
) {clustered};

-- +goose Down

DROP TABLE firm_templates;
