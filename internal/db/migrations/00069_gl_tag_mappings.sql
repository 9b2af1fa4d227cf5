-- +goose Up

-- The text that searches look in, in lower case.
ALTER TABLE gl_dimension_values ADD COLUMN search {text} NOT NULL DEFAULT '';
UPDATE gl_dimension_values SET search = lower(dimension_name || ' ' || name);

-- Which value of a dimension of a general ledger stands for a tag.
CREATE TABLE gl_tag_mappings (
    organization_id       {text} NOT NULL,
    gl_tag_mapping_id     {text} NOT NULL,
    connection_id         {text} NOT NULL,
    tag_id                {text} NOT NULL,
    gl_dimension_value_id {text} NOT NULL,
    created_at            {timestamp} NOT NULL,
    updated_at            {timestamp},
    PRIMARY KEY (organization_id, gl_tag_mapping_id)
) {clustered};
CREATE UNIQUE INDEX gl_tag_mappings_by_tag ON gl_tag_mappings (organization_id, connection_id, tag_id);
CREATE INDEX gl_tag_mappings_of_tag ON gl_tag_mappings (organization_id, tag_id);
CREATE INDEX gl_tag_mappings_by_value ON gl_tag_mappings (organization_id, gl_dimension_value_id);

-- +goose Down

DROP TABLE gl_tag_mappings;
ALTER TABLE gl_dimension_values DROP COLUMN search;
