package transaction

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
)

// ordering is one sort order: columns that an index has after the visibility. The number of the transaction always comes
// last and breaks ties.
type ordering struct {
	columns []string
	key     func(t Transaction, k keys) []string
}

var orderings = map[string]ordering{
	"transaction_date": {[]string{"transaction_date"}, func(t Transaction, _ keys) []string { return []string{clock.Format(t.At)} }},
	"created_at":       {[]string{"created_at"}, func(t Transaction, _ keys) []string { return []string{clock.Format(t.CreatedAt)} }},
	"updated_at":       {[]string{"updated_at"}, func(t Transaction, _ keys) []string { return []string{clock.Format(t.UpdatedAt)} }},
	"gross_amount":     {[]string{"gross_amount_key"}, func(_ Transaction, k keys) []string { return []string{k.grossAmount} }},
	"net_amount":       {[]string{"net_amount_key"}, func(_ Transaction, k keys) []string { return []string{k.netAmount} }},
	"gross_price":      {[]string{"gross_price_key"}, func(_ Transaction, k keys) []string { return []string{k.grossPrice} }},
	"asset_type": {[]string{"asset_type", "transaction_date"}, func(t Transaction, k keys) []string {
		return []string{k.asset, clock.Format(t.At)}
	}},
	"chain": {[]string{"chain", "transaction_date"}, func(t Transaction, k keys) []string { return []string{k.chain, clock.Format(t.At)} }},
}

// sorts lists the valid values of sort_by.
var sorts = []string{"transaction_date", "created_at", "updated_at", "gross_amount", "net_amount", "gross_price", "asset_type", "chain"}

// Sort is the order of a list; the zero value is by date, the latest first.
type Sort struct {
	By    string
	Order string
}

// sorting is a validated Sort.
type sorting struct {
	ordering
	by         string
	descending bool
}

func (s Sort) validate() (sorting, error) {
	var faults fault.List
	if s.By == "" {
		s.By = "transaction_date"
	}
	o, ok := orderings[s.By]
	if !ok {
		faults.Addf("sort_by", "must be one of %s", strings.Join(sorts, ", "))
	}
	if s.Order != "" && s.Order != "asc" && s.Order != "desc" {
		faults.Addf("sort_order", "must be asc or desc")
	}
	return sorting{o, s.By, s.Order != "asc"}, faults.Err()
}

// position returns the sort key of a transaction in the list.
func (s sorting) position(t Transaction) []string {
	return append(s.key(t, t.keys()), strconv.FormatInt(t.Number, 10))
}

// text returns the ORDER BY clause, with a prefix before each column.
func (s sorting) text(before string) string {
	var out []string
	for _, c := range append(slices.Clone(s.columns), "number") {
		if c = before + c; s.descending {
			c += " DESC"
		}
		out = append(out, c)
	}
	return "ORDER BY " + strings.Join(out, ", ")
}

// after returns the condition for rows after a position, or nil for the beginning of the list.
func (s sorting) after(position []string) (*condition, error) {
	if position == nil {
		return nil, nil
	}
	var columns, marks []string
	c := &condition{}
	for i, column := range append(slices.Clone(s.columns), "number") {
		columns, marks = append(columns, "§"+column), append(marks, "?")
		var v any = position[i]
		var err error
		switch column {
		case "transaction_date", "created_at", "updated_at":
			v, err = time.Parse(time.RFC3339, position[i])
		case "number":
			v, err = strconv.ParseInt(position[i], 10, 64)
		}
		if err != nil {
			return nil, page.ErrCursor()
		}
		c.args = append(c.args, v)
	}
	sign := ">"
	if s.descending {
		sign = "<"
	}
	c.text = "(" + strings.Join(columns, ", ") + ") " + sign + " (" + strings.Join(marks, ", ") + ")"
	return c, nil
}
