package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Tag is a label of entries and lines.
type Tag struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Kind      string     `json:"kind"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at"`
}

// CreateTag describes a new tag.
type CreateTag struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// UpdateTag describes changes; nil leaves a field as it is.
type UpdateTag struct {
	Name *string `json:"name,omitempty"`
	Kind *string `json:"kind,omitempty"`
}

// Tags iterates over the organization's tags in the order of their creation. The query takes the filters of GET /v1/tags.
func (c *Client) Tags(ctx context.Context, query url.Values) iter.Seq2[Tag, error] {
	return each[Tag](ctx, c, "/v1/tags", query)
}

// Tag returns a tag.
func (c *Client) Tag(ctx context.Context, id string) (Tag, error) {
	return one[Tag](ctx, c, Call{Method: http.MethodGet, Path: "/v1/tags/" + url.PathEscape(id)})
}

// CreateTag creates a tag.
func (c *Client) CreateTag(ctx context.Context, tag CreateTag) (Tag, error) {
	return post[Tag](ctx, c, "/v1/tags", tag)
}

// UpdateTag changes a tag.
func (c *Client) UpdateTag(ctx context.Context, id string, changes UpdateTag) (Tag, error) {
	return one[Tag](ctx, c, Call{Method: http.MethodPatch, Path: "/v1/tags/" + url.PathEscape(id), Body: changes})
}

// DeleteTag deletes an unused tag.
func (c *Client) DeleteTag(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/tags/" + url.PathEscape(id)}, nil)
}
