package transaction

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
)

// condition is one thing a filter asks. In its text § stands before each column of a transaction.
type condition struct {
	text string
	args []any

	column   string      // the one it asks of, where there is one
	branches []condition // what it asks as alternatives, for each of which an index gives rows by date
	finds    bool        // an index finds what it asks for, in no useful order
	quickly  bool        // and one row after the other, so that a few cost little
	by       *condition  // what is asked of that index, where that is not the condition itself
	names    bool        // it names transactions one by one, by an index without the visibility

	everywhere bool // its index does not know organizations either
}

// render writes a condition for a table, so that an index may serve it or so that none is tried.
func (c condition) render(alias string, indexed bool) string {
	if alias += "."; !indexed {
		alias = "{unindexed}" + alias
	}
	return strings.ReplaceAll(c.text, "§", alias)
}

// oneOf asks a column for some values, each once however often it is named: a branch for each would find the same rows again.
func oneOf(column string, values []string) condition {
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	if len(values) == 1 {
		c := condition{text: "§" + column + " = ?", args: []any{values[0]}, column: column, finds: true, quickly: true}
		c.branches = []condition{c}
		return c
	}
	c := condition{text: "§" + column + " {any}", args: []any{values}, column: column, finds: true, quickly: true}
	for _, v := range values {
		c.branches = append(c.branches, oneOf(column, []string{v}))
	}
	return c
}

// containing asks for a text in what is searched. An index is asked for the rarest letters that the text has, three in a row.
func (w wanted) containing(e db.Engine) condition {
	look, arg := db.Contains(e, "§search", w.search)
	c := condition{text: look, args: []any{arg}, finds: len(w.rare) > 0}
	if c.finds {
		find, args := db.FindsTrigrams(e, "§search", "transaction_texts", "§row_key", w.rare)
		c.by = &condition{text: find, args: args, everywhere: e == db.SQLite}
	}
	return c
}

// conditions lists what a filter asks beside the visibility and the date, what is likely to leave the least first.
func (w wanted) conditions(e db.Engine) (all []condition) {
	if w.ids != nil {
		all = append(all, condition{text: "§transaction_id {any}", args: []any{w.ids}, finds: true, names: true})
	}
	if len(w.numbers) > 0 {
		c := condition{text: "§number IN (" + strings.TrimSuffix(strings.Repeat("?, ", len(w.numbers)), ", ") + ")", finds: true, names: true}
		for _, n := range w.numbers {
			c.args = append(c.args, n)
		}
		all = append(all, c)
	}
	if w.addresses != nil {
		c := condition{text: "(§from_key {any} OR §to_key {any} OR §source_id {any})", args: []any{w.addresses, w.addresses, w.owners},
			finds: true, quickly: true}
		for _, a := range w.addresses {
			c.branches = append(c.branches, oneOf("from_key", []string{a}), oneOf("to_key", []string{a}))
		}
		for _, s := range w.owners {
			c.branches = append(c.branches, oneOf("source_id", []string{s}))
		}
		c.by = &condition{args: c.args}
		for i, column := range []string{"from_key", "to_key", "source_id"} {
			alias := string(rune('a' + i))
			c.by.text += " UNION ALL SELECT " + alias + ".transaction_id FROM transactions " + alias + " WHERE " + alias +
				".organization_id = @org AND " +
				w.withVisibility().render(alias, true) + " AND " + alias + "." + column + " {any}"
		}
		c.by.text = "§transaction_id IN (" + strings.TrimPrefix(c.by.text, " UNION ALL ") + ")"
		all = append(all, c)
	}
	all = append(all, w.tabled()...)
	if w.search != "" {
		all = append(all, w.containing(e))
	}
	if !w.since.IsZero() {
		all = append(all, condition{text: "§updated_at >= ?", args: []any{w.since}, finds: true, quickly: true})
	}
	all = append(all, w.price.conditions("gross_price_key")...)
	all = append(all, w.amount.conditions("gross_amount_key")...)
	if w.direction != "" {
		all = append(all, condition{text: "§direction = ?", args: []any{w.direction}})
	}
	if w.upTo > 0 {
		all = append(all, condition{text: "§number <= ?", args: []any{w.upTo}})
	}
	if w.excluded != nil {
		all = append(all, condition{text: "NOT (§transaction_id {any})", args: []any{w.excluded}})
	}
	return all
}

// withVisibility restricts to the visibilities of the list.
func (w wanted) withVisibility() condition {
	texts := make([]string, len(w.visibilities))
	for i, visibility := range w.visibilities {
		texts[i] = strconv.FormatInt(visibility, 10)
	}
	if len(texts) == 1 {
		return condition{text: "§visibility = " + texts[0]}
	}
	return condition{text: "§visibility IN (" + strings.Join(texts, ", ") + ")"}
}

// tabled are the conditions on columns that have an index by date and are counted.
func (w wanted) tabled() (all []condition) {
	for _, facet := range []struct {
		column string
		values []string
	}{{"category_key", w.categories}, {"source_id", w.sources}, {"asset_type", w.assets}, {"chain", w.chains}, {"transaction_type", w.types}} {
		if facet.values != nil {
			all = append(all, oneOf(facet.column, facet.values))
		}
	}
	if w.status != "" {
		statuses := []string{w.status}
		if len(w.visibilities) > 1 { // spam stays in
			statuses = append(statuses, string(Spam))
		}
		all = append(all, oneOf("status", statuses))
	}
	return all
}

// conditions of bounds leave out what is not known, whose key is empty.
func (b bounds) conditions(column string) []condition {
	switch {
	case b.low != "" && b.high != "":
		return []condition{{text: "§" + column + " BETWEEN ? AND ?", args: []any{b.low, b.high}, finds: true, quickly: true}}
	case b.low != "":
		return []condition{{text: "§" + column + " >= ?", args: []any{b.low}, finds: true, quickly: true}}
	case b.high != "":
		return []condition{{text: "§" + column + " > '' AND §" + column + " <= ?", args: []any{b.high}, finds: true, quickly: true}}
	}
	return nil
}

// span is what a filter asks of the date, as one condition, so that an index is read between both ends.
func (w wanted) span() []condition {
	switch {
	case !w.first.IsZero() && !w.last.IsZero():
		return []condition{{text: "§transaction_date BETWEEN ? AND ?", args: []any{w.first, w.last}, finds: true, quickly: true}}
	case !w.first.IsZero():
		return []condition{{text: "§transaction_date >= ?", args: []any{w.first}, finds: true, quickly: true}}
	case !w.last.IsZero():
		return []condition{{text: "§transaction_date <= ?", args: []any{w.last}, finds: true, quickly: true}}
	}
	return nil
}

// matchesNothing tells that no transaction can pass.
func (w wanted) matchesNothing() bool {
	if len(w.visibilities) == 0 || w.numbers != nil && len(w.numbers) == 0 {
		return true
	}
	for _, list := range [][]string{w.sources, w.categories} {
		if list != nil && len(list) == 0 {
			return true
		}
	}
	return false
}

// counted is what a filter asks of source and status, which every count knows; those on one column more can be counted too.
func (w wanted) counted() (all []condition) {
	if w.sources != nil {
		all = append(all, oneOf("source_id", w.sources))
	}
	statuses := []string{w.status}
	if w.status == "" {
		statuses = []string{string(Pending), string(Posted)}
	}
	switch {
	case len(w.visibilities) == 2:
		statuses = append(statuses, string(Spam))
	case w.visibilities[0] == spammed:
		statuses = []string{string(Spam)}
	}
	return append(all, oneOf("status", statuses))
}

// facets are the columns by which is counted and what a filter asks of them.
func (w wanted) facets() map[string][]string {
	all := map[string][]string{"category_key": w.categories, "asset_type": w.assets, "chain": w.chains, "transaction_type": w.types}
	if w.direction != "" {
		all["direction"] = []string{w.direction}
	}
	maps.DeleteFunc(all, func(_ string, values []string) bool { return values == nil })
	return all
}

// countable tells that how many pass is known without reading them.
func (w wanted) countable() bool {
	return w.ids == nil && w.excluded == nil && w.numbers == nil && w.addresses == nil && w.search == "" && w.price == bounds{} &&
		w.amount == bounds{} &&
		w.first.IsZero() && w.last.IsZero() && w.since.IsZero() && len(w.facets()) <= 1
}
