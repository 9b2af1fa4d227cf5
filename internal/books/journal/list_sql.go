package journal

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
)

// listRange is a part of a list: a statement up to its last condition, which reads entries along an index. order is the alias of the table
// whose index has them in the order of the list.
type listRange struct {
	*db.Query
	order string
}

var entryColumns = "e." + strings.ReplaceAll(db.Columns[entryRow](), ", ", ", e.")

// joined begins a statement that reads entries along an index of another table.
func joined(table, alias string) string {
	return fmt.Sprintf("SELECT %[1]s FROM %[2]s %[3]s JOIN journal_entries e ON e.organization_id = %[3]s.organization_id "+
		"AND e.journal_entry_id = %[3]s.journal_entry_id WHERE %[3]s.organization_id = @org", entryColumns, table, alias)
}

// rangedEntitiesMax is the number of legal entities whose entries are read along an index each. The entries of more than that are so large
// a part of the journal that all of it is read in order.
const rangedEntitiesMax = 20

// concerned returns the legal entities of which an entry must have at least one, or none if every entry is meant. Those of the filter
// are ones that the actor may see.
func (f Filter) concerned() []string {
	if len(f.LegalEntityIDs) > 0 {
		return f.LegalEntityIDs
	}
	return f.limited
}

// ranges returns the ranges of indexes that have all entries of the list. An entry may be in several.
func (f Filter) ranges() []listRange {
	entities := f.concerned()
	var whole listRange
	switch {
	case f.LedgerAccountID != "":
		whole = listRange{db.Select(joined("journal_lines", "l")).And("l.ledger_account_id = ?", f.LedgerAccountID), "l"}
		// An entry with several lines on the account is found by the first of them that the actor may see.
		const earlier = `NOT EXISTS (SELECT 1 FROM journal_lines m WHERE m.organization_id = l.organization_id AND m.journal_entry_id =
			l.journal_entry_id AND m.ledger_account_id = l.ledger_account_id AND m.position < l.position`
		if len(f.limited) > 0 {
			whole.And("l.legal_entity_id {any}", f.limited).And(earlier+" AND m.legal_entity_id {any})", f.limited)
		} else {
			whole.And(earlier + ")")
		}
	case f.TagID != "":
		whole = listRange{db.Select(joined("journal_tags", "t")).And("t.tag_id = ?", f.TagID), "t"}
	case len(entities) > 0 && len(entities) <= rangedEntitiesMax && f.TransactionID == "" && f.Status != Draft:
		var out []listRange
		for _, id := range entities {
			out = append(out, listRange{db.Select("SELECT "+entryColumns+" FROM journal_entries e WHERE e.organization_id = @org").
				And("e.legal_entity_id = ?", id), "e"})
			out = append(out, listRange{db.Select(joined("journal_shares", "s")).And("s.legal_entity_id = ?", id), "s"})
		}
		return out
	default: // drafts and the entries of a transaction have indexes, and are few
		whole = listRange{db.Select("SELECT " + entryColumns + " FROM journal_entries e WHERE e.organization_id = @org"), "e"}
	}
	if len(entities) > 0 {
		whole.And(partlyVisible, entities, entities)
	}
	return []listRange{whole}
}

// pageQuery returns the statement that reads entries of the list backwards along the indexes that fit the filter best, so that the cost of
// a page depends on its size only.
func (f Filter) pageQuery(below *cursorKey, limit int) (text string, args []any) {
	ranges := f.ranges()
	texts := make([]string, len(ranges))
	for i, r := range ranges {
		f.addConditions(r.Query)
		f.Span.addConditions(r.Query, r.order)
		if below != nil {
			r.And("("+r.order+".accounting_date, "+r.order+".number) < (?, ?)", below.date, below.number)
		}
		texts[i] = r.Then("ORDER BY "+r.order+".accounting_date DESC, "+r.order+".number DESC LIMIT ?", limit)
		args = append(args, r.Args...)
	}
	if len(texts) == 1 {
		return texts[0], args
	}
	for i := range texts {
		texts[i] = fmt.Sprintf("SELECT * FROM (%s) r%d", texts[i], i)
	}
	return strings.Join(texts, " UNION ") + " ORDER BY accounting_date DESC, number DESC LIMIT ?", append(args, limit)
}

// selectPage returns the entries of a list below a position.
func selectPage(ctx context.Context, tx *db.Tx, f Filter, below *cursorKey, limit int) ([]Entry, error) {
	text, args := f.pageQuery(below, limit)
	rows, err := db.All[entryRow](ctx, tx, text, args...)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(rows))
	for i, r := range rows {
		entries[i] = r.entry()
	}
	return entries, fillLines(ctx, tx, entries)
}

// addConditions adds the conditions that no index serves, which are evaluated for each entry.
func (f Filter) addConditions(q *db.Query) {
	switch f.Status {
	case "":
		q.And("e.status <> 'deleted'")
	case Draft:
		q.And("e.status = 'draft'") // written out, so that the index of drafts is used
	default:
		q.And("e.status = ?", string(f.Status))
	}
	if f.TransactionID != "" {
		q.And("e.transaction_id = ?", f.TransactionID)
	}
	if f.TagID != "" && f.LedgerAccountID != "" {
		q.And("EXISTS (SELECT 1 FROM journal_tags t WHERE t.organization_id = e.organization_id AND t.journal_entry_id = "+
			"e.journal_entry_id AND t.tag_id = ?)", f.TagID)
	}
	if f.TagID != "" && len(f.limited) > 0 { // a tag of a line that the actor may not see does not find an entry
		q.And("(e.tag_ids LIKE ? OR EXISTS (SELECT 1 FROM journal_lines o WHERE o.organization_id = e.organization_id AND o.journal_entry_id = "+
			"e.journal_entry_id AND o.legal_entity_id {any} AND o.tag_ids LIKE ?))", "%"+f.TagID+"%", f.limited, "%"+f.TagID+"%")
	}
	if f.Search != "" {
		q.And(`e.search LIKE ? ESCAPE '\'`, containsPattern(f.Search))
	}
}

// addConditions limits the query to the span. A period is a range of dates here, because every entry is dated in its period.
func (s Span) addConditions(q *db.Query, order string) {
	if s.period.ID != "" {
		q.And(order+".accounting_date >= ?", s.period.Start).And(order+".accounting_date < ?", s.period.End)
	}
	if !s.first.IsZero() {
		q.And(order+".accounting_date >= ?", s.first)
	}
	if !s.last.IsZero() {
		q.And(order+".accounting_date <= ?", s.last)
	}
}
