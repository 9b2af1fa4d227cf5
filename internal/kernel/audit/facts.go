package audit

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// Records of earlier versions have no state. They are compared by their facts, as far as these have the names of columns.

// factLists are the actions whose facts list other resources, with the name of the list and the type of the resources.
var factLists = map[string]struct{ list, kind string }{
	chartCreated:                 {"ledger_accounts", "ledger_account"},
	"accounting_period.closed":   {"legal_entities", "period_closing"},
	"accounting_period.reopened": {"legal_entities", "period_closing"},
	"fx_rate.stored":             {"rates", "fx_rate"},
}

// earlier returns what a record of an earlier version states.
func (c *comparison) earlier(ctx context.Context, own resource, r *LogRecord) ([]statement, error) {
	facts := factsOf(r.After)
	if _, ok := factLists[r.Action]; ok {
		return listed(own, r), nil
	}
	if first, last := number(facts["first"]), number(facts["last"]); own.kind == "transaction" && first > 0 {
		ids, _, err := readNumbered(ctx, c.tx, own.kind, first, last)
		out := make([]statement, len(ids))
		for i, id := range ids {
			out[i] = statement{resource: resource{own.kind, id}, record: r, exists: true}
		}
		return out, err
	}
	if facts == nil {
		return nil, nil // what was deleted may still have rows
	}
	return []statement{{resource: own, record: r, facts: facts, exists: true}}, nil
}

// PastValues returns the values that a fact of a resource has had, as far as it is a text: each once, the last first.
func PastValues(ctx context.Context, tx *db.Tx, kind, id, fact string) (out []string, err error) {
	all, err := selectFacts(ctx, tx, resource{kind, id})
	for _, facts := range all {
		if value, ok := factsOf(facts)[fact].(string); ok && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out, err
}

// number returns the number in a text such as OT-12, or 0.
func number(v any) int64 {
	text, _ := v.(string)
	_, digits, _ := strings.Cut(text, "-")
	n, _ := strconv.ParseInt(digits, 10, 64) // 0 for a text without a number
	return n
}

// listed returns what a record of an earlier version states of the resources in a list of its facts.
func listed(own resource, r *LogRecord) (out []statement) {
	l := factLists[r.Action]
	items, _ := factsOf(r.After)[l.list].([]any)
	for _, item := range items {
		facts, _ := item.(map[string]any)
		var id string
		switch l.kind {
		case "fx_rate":
			date, _ := facts["date"].(string)
			id = own.id + " " + date
		case "period_closing":
			id, _ = facts["period_closing_id"].(string)
		default:
			id, _ = facts["id"].(string)
		}
		if id != "" {
			out = append(out, statement{resource: resource{l.kind, id}, record: r, facts: facts, exists: true})
		}
	}
	return out
}

// unlike are facts of records of earlier versions that have the name of a column and another value: the version of a document or
// a rule is a text, and migrations have changed the normal balance of fair value adjustments and the date of opening balances.
var unlike = []string{"version", "normal_balance", "accounting_date"}

// compareFacts compares the columns of a resource that its facts name, and reports whether one differs.
func (c *comparison) compareFacts(s statement, now stored) (differs bool) {
	for _, t := range db.StatedTablesOf(s.kind) {
		rows := now[t.Table]
		if t.Facts == "" {
			if len(rows) == 1 && t.Order == "" {
				differs = c.compareRowFacts(s, t, s.facts, rows[0]) || differs
			}
			continue
		}
		items, listed := s.facts[t.Facts].([]any)
		if listed && len(items) != len(rows) {
			differs = true
			c.found.Addf("resources that were changed", "%s has %d rows in %s, but %s states %d", s.resource, len(rows), t.Table,
				s.record.describe(), len(items))
			continue
		}
		for i, item := range items {
			facts, _ := item.(map[string]any)
			differs = c.compareRowFacts(s, t, facts, rows[i]) || differs
		}
	}
	return differs
}

func (c *comparison) compareRowFacts(s statement, t *db.StatedTable, facts map[string]any, row db.TextRow) (differs bool) {
	for column, text := range row {
		fact, stated := facts[column]
		if !stated || t.LeaveOut(column) || s.digest == "" && slices.Contains(unlike, column) {
			continue
		}
		value, scalar := factText(fact)
		if !scalar || sameText(value, db.OrEmpty(text.Value)) {
			continue
		}
		differs = true
		c.found.Addf("resources that were changed", "%s: %s of %s is %s, but %s states %s", s.resource, column, t.Table,
			shown(text.Value), s.record.describe(), strconv.Quote(value))
	}
	return differs
}

// factText returns a fact as the text of a column, unless it is a list or an object.
func factText(v any) (text string, scalar bool) {
	switch t := v.(type) {
	case nil:
		return "", true
	case string:
		return t, true
	case json.Number:
		return t.String(), true
	case bool:
		if t {
			return "1", true
		}
		return "0", true
	}
	return "", false
}

// sameText reports whether two texts are the same value: the same text, time or number.
func sameText(a, b string) bool {
	if a == b {
		return true
	}
	if x, err := time.Parse(time.RFC3339, a); err == nil {
		y, err := time.Parse(time.RFC3339, b)
		return err == nil && x.Equal(y)
	}
	x, err := money.Parse(a)
	if err != nil {
		return false
	}
	y, err := money.Parse(b)
	return err == nil && x.Equal(y)
}
