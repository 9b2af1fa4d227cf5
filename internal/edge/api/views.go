package api

import (
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
)

// Data wraps a single record.
type Data[T any] struct {
	Data T `json:"data" doc:"The record"`
}

// List wraps one page of records.
type List[T any] struct {
	Data       []T     `json:"data" doc:"The records of this page"`
	HasMore    bool    `json:"has_more" doc:"Whether another page follows"`
	NextCursor *string `json:"next_cursor" doc:"Send it as cursor, with the same filters, for the next page; null on the last one"`
	TotalCount *int64  `json:"total_count,omitempty" minimum:"0" doc:"How many records match in all, where it was asked for"`
}

// Deleted says that a record is gone.
type Deleted struct {
	ID      string `json:"id" doc:"The record that is gone"`
	Deleted bool   `json:"deleted" doc:"Always true"`
}

// Guidance says what may be done to a record now.
type Guidance struct {
	AllowedActions []string `json:"allowed_actions" doc:"What may be done to it now"`
	Warnings       []string `json:"warnings" doc:"Why something may not be done, or what it would entail, in sentences"`
	Version        string   `json:"version" doc:"Changes whenever the record does"`
}

// OrNull is a record that may be missing in an answer. A pointer would do, but for its description.
type OrNull[T any] struct{ Value *T }

// MarshalJSON writes the record or null.
func (o OrNull[T]) MarshalJSON() ([]byte, error) { return encode(o.Value), nil }

// Schema is that of the record, or null.
func (o OrNull[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// paging are the parameters every list has.
type paging struct {
	Limit  int64  `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"How many records a page has at most"`
	Cursor string `query:"cursor" maxLength:"1024" doc:"The next_cursor of the page before, with the same filters"`
}

func (p paging) request() page.Request { return page.Request{Limit: int(p.Limit), Cursor: p.Cursor} }

// listOf turns a page of things into a page of views.
func listOf[T, V any](p page.Page[T], view func(T) V) List[V] {
	out := List[V]{Data: make([]V, len(p.Items)), HasMore: p.HasMore, TotalCount: p.TotalCount}
	for i, item := range p.Items {
		out.Data[i] = view(item)
	}
	if p.HasMore {
		out.NextCursor = &p.NextCursor
	}
	return out
}

// changing asks a body of changes for at least one.
func changing(s *huma.Schema) *huma.Schema {
	one := 1
	s.MinProperties = &one
	return s
}

func decimalOrNull(d *money.Decimal) *string {
	if d == nil {
		return nil
	}
	text := d.String()
	return &text
}

func stamp(t time.Time) string { return clock.Format(t) }

func stampOrNull(t *time.Time) *string {
	if t == nil {
		return nil
	}
	text := clock.Format(*t)
	return &text
}

// moment reads an instant, or a bare date as its first instant in UTC, or its last when it bounds a range from above.
func moment(faults *fault.List, field, text string, endOfDay bool) time.Time {
	if text == "" {
		return time.Time{}
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		faults.Addf(field, "must be an RFC 3339 time or a date such as 2026-01-31")
		return time.Time{}
	}
	if endOfDay {
		t = t.AddDate(0, 0, 1).Add(-time.Millisecond)
	}
	return t
}
