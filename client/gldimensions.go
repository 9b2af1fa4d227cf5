package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// GLDimensionValue is a value of a dimension of a general ledger, such as a department.
type GLDimensionValue struct {
	ConnectionID  string    `json:"connection_id"`
	DimensionID   string    `json:"dimension_id"`
	DimensionName string    `json:"dimension_name"`
	ValueID       string    `json:"value_id"`
	ExternalID    string    `json:"external_id"`
	Name          string    `json:"name"`
	Active        bool      `json:"active"`
	CreatedAt     time.Time `json:"created_at"`
}

// GLTagMapping is a tag with the value of a dimension of a general ledger that stands for it.
type GLTagMapping struct {
	TagID          string             `json:"tag_id"`
	Name           string             `json:"name"`
	Kind           string             `json:"kind"`
	ConnectionID   string             `json:"connection_id"`
	Status         string             `json:"status"`
	DimensionValue *GLDimensionValue  `json:"dimension_value"`
	Suggestions    []GLDimensionValue `json:"suggestions"`
	UpdatedAt      *time.Time         `json:"updated_at"`
}

// SetGLTagMapping maps a tag, or removes its mapping if DimensionID and ValueID are nil.
type SetGLTagMapping struct {
	ConnectionID string  `json:"connection_id,omitempty"`
	DimensionID  *string `json:"dimension_id"`
	ValueID      *string `json:"value_id"`
}

// GLDimensions iterates over the values of the dimensions of general ledgers. The query takes the filters of GET /v1/gl-dimensions.
func (c *Client) GLDimensions(ctx context.Context, query url.Values) iter.Seq2[GLDimensionValue, error] {
	return each[GLDimensionValue](ctx, c, "/v1/gl-dimensions", query)
}

// GLTagMappings iterates over tags with what stands for them in a general ledger. The query takes the filters of
// GET /v1/gl-mappings/tags.
func (c *Client) GLTagMappings(ctx context.Context, query url.Values) iter.Seq2[GLTagMapping, error] {
	return each[GLTagMapping](ctx, c, "/v1/gl-mappings/tags", query)
}

// SetGLTagMapping maps a tag to a value of a dimension of a general ledger.
func (c *Client) SetGLTagMapping(ctx context.Context, tagID string, to SetGLTagMapping) (GLTagMapping, error) {
	return one[GLTagMapping](ctx, c, Call{Method: http.MethodPut, Path: "/v1/gl-mappings/tags/" + url.PathEscape(tagID), Body: to})
}
