package transaction

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
)

// condition is one condition of a query. In its text, § stands for the table alias before each column of a transaction.
type condition struct {
	text string
	args []any

	column   string      // the only column it restricts, or empty
	branches []condition // its alternatives, each served by an index in the order of dates
	indexed  bool        // an index finds its rows, in no useful order
	streams  bool        // that index returns rows one at a time, so that the first few are cheap
	lookup   *condition  // the condition to search that index by, if it is another one
	unique   bool        // it selects transactions one by one, by an index without the visibility

	acrossOrganizations bool // its index does not contain the organization either
}

// render writes the condition for a table alias. With indexed false, it keeps the database from using an index for it.
func (c condition) render(alias string, indexed bool) string {
	if alias += "."; !indexed {
		alias = "{unindexed}" + alias
	}
	return strings.ReplaceAll(c.text, "§", alias)
}

// oneOf restricts a column to some values. Repeated values are removed, because each one gets a branch that would find
// the same rows again.
func oneOf(column string, values []string) condition {
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	if len(values) == 1 {
		c := condition{text: "§" + column + " = ?", args: []any{values[0]}, column: column, indexed: true, streams: true}
		c.branches = []condition{c}
		return c
	}
	c := condition{text: "§" + column + " {any}", args: []any{values}, column: column, indexed: true, streams: true}
	for _, v := range values {
		c.branches = append(c.branches, oneOf(column, []string{v}))
	}
	return c
}

// searchCondition matches transactions whose search text contains the text searched for. The index is searched by the
// rarest trigrams of the text.
func (q query) searchCondition(e db.Engine) condition {
	text, arg := db.Contains(e, "§search", q.search)
	c := condition{text: text, args: []any{arg}, indexed: len(q.trigrams) > 0}
	if c.indexed {
		find, args := db.HasTrigrams(e, "§search", "transaction_texts", "§row_key", q.trigrams)
		c.lookup = &condition{text: find, args: args, acrossOrganizations: e == db.SQLite}
	}
	return c
}

// conditions lists the conditions of the query except visibility and date, roughly the most selective first.
func (q query) conditions(e db.Engine) (all []condition) {
	if q.ids != nil {
		all = append(all, condition{text: "§transaction_id {any}", args: []any{q.ids}, indexed: true, unique: true})
	}
	if len(q.numbers) > 0 {
		c := condition{text: "§number IN (" + strings.TrimSuffix(strings.Repeat("?, ", len(q.numbers)), ", ") + ")", indexed: true, unique: true}
		for _, n := range q.numbers {
			c.args = append(c.args, n)
		}
		all = append(all, c)
	}
	if q.addresses != nil {
		c := condition{text: "(§from_key {any} OR §to_key {any} OR §source_id {any})", args: []any{q.addresses, q.addresses, q.owners},
			indexed: true, streams: true}
		for _, a := range q.addresses {
			c.branches = append(c.branches, oneOf("from_key", []string{a}), oneOf("to_key", []string{a}))
		}
		for _, s := range q.owners {
			c.branches = append(c.branches, oneOf("source_id", []string{s}))
		}
		c.lookup = &condition{args: c.args}
		for i, column := range []string{"from_key", "to_key", "source_id"} {
			alias := string(rune('a' + i))
			c.lookup.text += " UNION ALL SELECT " + alias + ".transaction_id FROM transactions " + alias + " WHERE " + alias +
				".organization_id = @org AND " +
				q.visibilityCondition().render(alias, true) + " AND " + alias + "." + column + " {any}"
		}
		c.lookup.text = "§transaction_id IN (" + strings.TrimPrefix(c.lookup.text, " UNION ALL ") + ")"
		all = append(all, c)
	}
	all = append(all, q.facetConditions()...)
	if q.search != "" {
		all = append(all, q.searchCondition(e))
	}
	if !q.since.IsZero() {
		all = append(all, condition{text: "§updated_at >= ?", args: []any{q.since}, indexed: true, streams: true})
	}
	all = append(all, q.price.conditions("gross_price_key")...)
	all = append(all, q.amount.conditions("gross_amount_key")...)
	if q.direction != "" {
		all = append(all, condition{text: "§direction = ?", args: []any{q.direction}})
	}
	if q.lastNumber > 0 {
		all = append(all, condition{text: "§number <= ?", args: []any{q.lastNumber}})
	}
	if q.excluded != nil {
		all = append(all, condition{text: "NOT (§transaction_id {any})", args: []any{q.excluded}})
	}
	return all
}

// visibilityCondition restricts a query to its visibilities.
func (q query) visibilityCondition() condition {
	texts := make([]string, len(q.visibilities))
	for i, visibility := range q.visibilities {
		texts[i] = strconv.FormatInt(visibility, 10)
	}
	if len(texts) == 1 {
		return condition{text: "§visibility = " + texts[0]}
	}
	return condition{text: "§visibility IN (" + strings.Join(texts, ", ") + ")"}
}

// facetConditions are the conditions on columns that have an index by date and a count for each value.
func (q query) facetConditions() (all []condition) {
	for _, facet := range []struct {
		column string
		values []string
	}{{"category_key", q.categories}, {"source_id", q.sources}, {"asset_type", q.assets}, {"chain", q.chains}, {"transaction_type", q.types}} {
		if facet.values != nil {
			all = append(all, oneOf(facet.column, facet.values))
		}
	}
	if q.status != "" {
		statuses := []string{q.status}
		if len(q.visibilities) > 1 { // status narrows the listed ones only: keep the spam
			statuses = append(statuses, string(Spam))
		}
		all = append(all, oneOf("status", statuses))
	}
	return all
}

// conditions restrict a column to the bounds. Unknown amounts, whose key is empty, never match.
func (b bounds) conditions(column string) []condition {
	switch {
	case b.low != "" && b.high != "":
		return []condition{{text: "§" + column + " BETWEEN ? AND ?", args: []any{b.low, b.high}, indexed: true, streams: true}}
	case b.low != "":
		return []condition{{text: "§" + column + " >= ?", args: []any{b.low}, indexed: true, streams: true}}
	case b.high != "":
		return []condition{{text: "§" + column + " > '' AND §" + column + " <= ?", args: []any{b.high}, indexed: true, streams: true}}
	}
	return nil
}

// dateConditions restrict the date, as one condition, so that an index is read between both ends.
func (q query) dateConditions() []condition {
	switch {
	case !q.first.IsZero() && !q.last.IsZero():
		return []condition{{text: "§transaction_date BETWEEN ? AND ?", args: []any{q.first, q.last}, indexed: true, streams: true}}
	case !q.first.IsZero():
		return []condition{{text: "§transaction_date >= ?", args: []any{q.first}, indexed: true, streams: true}}
	case !q.last.IsZero():
		return []condition{{text: "§transaction_date <= ?", args: []any{q.last}, indexed: true, streams: true}}
	}
	return nil
}

// matchesNothing reports whether the query cannot match any transaction.
func (q query) matchesNothing() bool {
	if len(q.visibilities) == 0 || q.numbers != nil && len(q.numbers) == 0 {
		return true
	}
	for _, list := range [][]string{q.sources, q.categories} {
		if list != nil && len(list) == 0 {
			return true
		}
	}
	return false
}

// countConditions are the conditions on source and status, which every kept count has.
func (q query) countConditions() (all []condition) {
	if q.sources != nil {
		all = append(all, oneOf("source_id", q.sources))
	}
	statuses := []string{q.status}
	if q.status == "" {
		statuses = []string{string(Pending), string(Posted)}
	}
	switch {
	case len(q.visibilities) == 2:
		statuses = append(statuses, string(Spam))
	case q.visibilities[0] == spammed:
		statuses = []string{string(Spam)}
	}
	return append(all, oneOf("status", statuses))
}

// facets returns the columns that have kept counts and the values that the query restricts them to.
func (q query) facets() map[string][]string {
	all := map[string][]string{"category_key": q.categories, "asset_type": q.assets, "chain": q.chains, "transaction_type": q.types}
	if q.direction != "" {
		all["direction"] = []string{q.direction}
	}
	maps.DeleteFunc(all, func(_ string, values []string) bool { return values == nil })
	return all
}

// countable reports whether the kept counts suffice to count the matching transactions.
func (q query) countable() bool {
	return q.ids == nil && q.excluded == nil && q.numbers == nil && q.addresses == nil && q.search == "" && q.price == bounds{} &&
		q.amount == bounds{} &&
		q.first.IsZero() && q.last.IsZero() && q.since.IsZero() && len(q.facets()) <= 1
}
