package transaction

import (
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
)

// plan is how a page is read. Ordered indexes return transactions in the order of the list, for one visibility and
// possibly one value of one column; each such range is a branch, and the branches are merged. Conditions that the
// ordered index does not cover are evaluated row by row. Where that would read too many rows, the plan finds the rows
// with another index (the lookup) and sorts them.
type plan struct {
	sorting
	q        query
	branches []condition // ranges of an ordered index, as alternatives; none means every transaction of the visibility
	distinct bool        // a row may be in several branches
	bounds   []condition // bounds of the range within the ordered index
	rest     []condition
	lookup   *condition // of the rest: the condition whose index finds the rows when the window does not fill the page
}

// These are variables so that tests can make them small and count the strategies used.
var (
	// branchesMax bounds how many branches are merged.
	branchesMax = 40
	// window is how many rows in order are read before the lookup index is used.
	window = 1000
	// fewRows is how many rows are looked up and sorted without trying the window first.
	fewRows = 300
	// onStrategy is called with the strategy that a page was read by.
	onStrategy = func(strategy string) {}
)

// plan chooses how to read a page. best is the most selective of the columns that have an index by date.
func (q query) plan(e db.Engine, s sorting, best string) plan {
	p := plan{sorting: s, q: q}
	all := q.conditions(e)
	if dates := q.dateConditions(); s.by == "transaction_date" {
		p.bounds = dates
	} else {
		all = append(all, dates...)
	}
	if s.by == "transaction_date" && q.ids == nil && q.numbers == nil {
		all = p.chooseBranches(all, best)
	}
	p.rest = all
	for i, c := range all {
		if c.indexed && (p.lookup == nil || p.lookup.column != "" && c.column == best) {
			p.lookup = &all[i]
		}
	}
	return p
}

// chooseBranches sets the branches from the condition on addresses or on the best column, and returns the other
// conditions.
func (p *plan) chooseBranches(all []condition, best string) (rest []condition) {
	for i, c := range all {
		n := len(c.branches) * len(p.q.visibilities)
		if n > 0 && n <= branchesMax && (c.column == "" || c.column == best) {
			p.branches, p.distinct = c.branches, c.column == ""
			return append(all[:i:i], all[i+1:]...)
		}
	}
	return all
}

// statement is an SQL text under construction, with its arguments.
type statement struct {
	strings.Builder
	args []any
}

func (s *statement) add(text string, args ...any) {
	s.WriteString(text)
	s.args = append(s.args, args...)
}

func (s *statement) and(alias string, indexed bool, all ...condition) {
	for _, c := range all {
		s.add(" AND "+c.render(alias, indexed), c.args...)
	}
}

var (
	rowColumns  = db.Columns[row]()
	allColumns  = db.Columns[keyedRow]()
	selectFound = "SELECT " + rowColumns + " FROM ("
)

// merge writes a query that reads the first rows of every branch in order and merges them. Each branch applies the
// conditions within.
func (p plan) merge(s *statement, after *condition, limit int, within []condition) {
	branches := p.branches
	if branches == nil {
		branches = []condition{{}}
	}
	union := " UNION ALL "
	if p.distinct {
		union = " UNION "
	}
	n := 0
	for _, visibility := range p.q.visibilities {
		for _, b := range branches {
			if n > 0 {
				s.add(union)
			}
			alias := fmt.Sprintf("t%d", n)
			s.add("SELECT * FROM (SELECT "+allColumns+" FROM transactions "+alias+" WHERE "+alias+".organization_id = @org AND "+alias+
				".visibility = ?", visibility)
			if b.text != "" {
				s.and(alias, true, b)
			}
			s.and(alias, true, p.bounds...)
			if after != nil {
				s.and(alias, true, *after)
			}
			s.and(alias, false, within...)
			s.add(" "+p.text(alias+".")+" LIMIT ?) "+fmt.Sprintf("u%d", n), limit)
			n++
		}
	}
	if n > 1 {
		s.add(" "+p.text("")+" LIMIT ?", limit)
	}
}

// scan reads a page in order and evaluates the remaining conditions on every row.
func (p plan) scan(after *condition, limit int) (s statement) {
	s.add(selectFound)
	p.merge(&s, after, limit, p.rest)
	s.add(") t " + p.text("t."))
	return s
}

// scanWindow reads the part of a page that lies within the window.
func (p plan) scanWindow(after *condition, limit int) (s statement) {
	s.add(selectFound)
	p.merge(&s, after, window, nil)
	s.add(") t WHERE 1 = 1")
	s.and("t", false, p.rest...)
	s.add(" "+p.text("t.")+" LIMIT ?", limit)
	return s
}

// probe counts the rows that the lookup index finds, up to one more than fewRows.
func (p plan) probe() (s statement) {
	by := *p.lookup
	if by.lookup != nil {
		by = *by.lookup
	}
	s.add("SELECT count(*) FROM (SELECT 1 FROM transactions t WHERE t.organization_id = @org")
	s.and("t", p.lookup.lookup == nil, p.q.visibilityCondition())
	s.and("t", true, by)
	s.add(" LIMIT ?) p", fewRows+1)
	return s
}

// lookupAndSort reads a page by finding all its rows with the lookup index and sorting them.
func (p plan) lookupAndSort(after *condition, limit int) (s statement) {
	s.add("WITH found AS MATERIALIZED (SELECT " + allColumns + " FROM transactions t WHERE ")
	p.writeConditions(&s)
	if after != nil {
		s.and("t", false, *after)
	}
	s.add(") SELECT "+rowColumns+" FROM found "+p.text("")+" LIMIT ?", limit)
	return s
}

// countAll counts all matching transactions.
func (p plan) countAll() (s statement) {
	s.add("SELECT count(*) FROM transactions t WHERE ")
	p.writeConditions(&s)
	return s
}

// writeConditions writes all conditions of the query so that only the index of the lookup is used.
func (p plan) writeConditions(s *statement) {
	by := p.lookup
	s.add(condition{text: "§organization_id = @org"}.render("t", by == nil || by.lookup == nil || !by.lookup.acrossOrganizations))
	if by != nil && by.lookup != nil {
		s.and("t", true, *by.lookup)
	}
	s.and("t", by == nil || by.lookup == nil && !by.unique, p.q.visibilityCondition())
	for i := range p.rest {
		s.and("t", &p.rest[i] == by && by.lookup == nil, p.rest[i])
	}
	s.and("t", by == nil, p.bounds...)
	for _, group := range p.alternatives() {
		s.and("t", by == nil, group)
	}
}

// alternatives returns the branches as one condition, if there are any.
func (p plan) alternatives() []condition {
	if p.branches == nil {
		return nil
	}
	var texts []string
	c := condition{}
	for _, b := range p.branches {
		texts, c.args = append(texts, b.text), append(c.args, b.args...)
	}
	c.text = "(" + strings.Join(texts, " OR ") + ")"
	return []condition{c}
}
