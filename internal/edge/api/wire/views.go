package wire

import (
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
)

// Data wraps a single record.
type Data[T any] struct {
	Data T `json:"data" doc:"The record."`
}

// DataOf wraps a record.
func DataOf[T any](record T) Data[T] { return Data[T]{record} }

// List wraps one page of records.
type List[T any] struct {
	Data       []T     `json:"data" doc:"The records of this page."`
	HasMore    bool    `json:"has_more" doc:"Whether there are more pages."`
	NextCursor *string `json:"next_cursor" doc:"Pass this as cursor, with the same filters, to get the next page. Null on the last page."`
	TotalCount *int64  `json:"total_count,omitempty" minimum:"0" doc:"Number of records on all pages. Present only if it was requested."`
}

// Deleted confirms that a record was deleted.
type Deleted struct {
	ID      string `json:"id" doc:"Identifier of the deleted record."`
	Deleted bool   `json:"deleted" doc:"Always true."`
}

// DeletedOf confirms that the record with this identifier was deleted.
func DeletedOf(id string) Data[Deleted] { return DataOf(Deleted{ID: id, Deleted: true}) }

// Guidance lists which actions a record permits in its present state.
type Guidance struct {
	AllowedActions []string `json:"allowed_actions" doc:"Actions that the record permits now."`
	Warnings       []string `json:"warnings" doc:"Why an action is not permitted, or what its consequences would be, in sentences."`
	Version        string   `json:"version" doc:"Changes whenever the record changes."`
}

// OrNull is a record that may be null in an answer. Unlike a pointer, it says so in the description.
type OrNull[T any] struct{ Value *T }

// MarshalJSON writes the record or null.
func (o OrNull[T]) MarshalJSON() ([]byte, error) { return Encode(o.Value), nil }

// Schema returns the schema of the record or null.
func (o OrNull[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// Paging holds the parameters that every list has.
type Paging struct {
	Limit  int64  `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"Maximum number of records per page. A page of very large records has fewer, and has_more is true."`
	Cursor string `query:"cursor" minLength:"1" maxLength:"1024" doc:"The next_cursor of the previous page. The filters must be the same."`
}

// FullPaging holds the parameters of a list whose pages are as long as they can be unless the caller says otherwise.
type FullPaging struct {
	Limit  int64  `query:"limit" minimum:"1" maximum:"100" default:"100" doc:"Maximum number of records per page. A page of very large records has fewer, and has_more is true."`
	Cursor string `query:"cursor" minLength:"1" maxLength:"1024" doc:"The next_cursor of the previous page. The filters must be the same."`
}

func (p *FullPaging) pageLimit() *int64 { return &p.Limit }

// Request returns the parameters as the domain takes them.
func (p FullPaging) Request() page.Request { return Paging(p).Request() }

// LongPaging holds the parameters of a list of short records, whose pages may be ten times as long.
type LongPaging struct {
	Limit  int64  `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum number of records per page."`
	Cursor string `query:"cursor" minLength:"1" maxLength:"1024" doc:"The next_cursor of the previous page. The filters must be the same."`
}

func (p *LongPaging) pageLimit() *int64 { return &p.Limit }

// Request returns the parameters as the domain takes them.
func (p LongPaging) Request() page.Request { return Paging(p).Request() }

func (p *Paging) pageLimit() *int64 { return &p.Limit }

// Request returns the parameters as the domain takes them.
func (p Paging) Request() page.Request { return page.Request{Limit: int(p.Limit), Cursor: p.Cursor} }

// ListOf turns a page of domain records into a page of views.
func ListOf[T, V any](p page.Page[T], view func(T) V) List[V] {
	out := List[V]{Data: make([]V, len(p.Items)), HasMore: p.HasMore, TotalCount: p.TotalCount}
	for i, item := range p.Items {
		out.Data[i] = view(item)
	}
	if p.HasMore {
		out.NextCursor = &p.NextCursor
	}
	return out
}

// RequireChange makes the schema of an update require at least one property.
func RequireChange(s *huma.Schema) *huma.Schema {
	one := 1
	s.MinProperties = &one
	return s
}

// ParseDecimal parses a decimal string and adds a fault if it is not one.
func ParseDecimal(faults *fault.List, field, text string) money.Decimal {
	d, err := money.Parse(text)
	if err != nil {
		faults.Addf(field, "%s", err)
	}
	return d
}

// DecimalOrNull formats a decimal that may be absent.
func DecimalOrNull(d *money.Decimal) *string {
	if d == nil {
		return nil
	}
	text := d.String()
	return &text
}

// Timestamp formats a time in UTC with milliseconds.
func Timestamp(t time.Time) string { return clock.Format(t) }

// TimestampOrNull formats a time that may be absent.
func TimestampOrNull(t *time.Time) *string {
	if t == nil {
		return nil
	}
	text := clock.Format(*t)
	return &text
}

// Version formats the version number of a record.
func Version(n int64) string { return strconv.FormatInt(n, 10) }

// VersionOrNull formats a version number; 0 means that there is none.
func VersionOrNull(n int64) *string {
	if n == 0 {
		return nil
	}
	text := Version(n)
	return &text
}

// NonNil returns an empty list for nil, because answers never contain null in place of a list.
func NonNil(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}
