package transaction

import (
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
)

// plan is how a page is found. Indexes give transactions in the order of the list, for a visibility and perhaps one value
// of one column: a branch each, merged. What no such index knows is looked at row by row; where that would take too
// long, an index that knows it gathers its rows first, and they are sorted.
type plan struct {
	sorting
	w        wanted
	branches []condition // conditions that an ordered index serves, one alternative each; none means every transaction of the visibility
	distinct bool        // a row may be in more than one branch
	inside   []condition // bounds within the ordered index
	rest     []condition
	gather   *condition // of the rest: what finds rows when the window does not fill the page
}

// These are variables so that tests can make them small and count the ways.
var (
	// branchesMax bounds how many ranges are merged.
	branchesMax = 40
	// window is how many rows in order are looked at before an index that gathers is asked.
	window = 1000
	// few is how many rows are gathered without a look at the window.
	few = 300
	// took is told by which way a page was read.
	took = func(way string) {}
)

// plan chooses. Best is the column whose values leave the least, of those that have an index by date.
func (w wanted) plan(e db.Engine, s sorting, best string) plan {
	p := plan{sorting: s, w: w}
	all := w.conditions(e)
	if span := w.span(); s.by == "transaction_date" {
		p.inside = span
	} else {
		all = append(all, span...)
	}
	if s.by == "transaction_date" && w.ids == nil && w.numbers == nil {
		all = p.drive(all, best)
	}
	p.rest = all
	for i, c := range all {
		if c.finds && (p.gather == nil || p.gather.column != "" && c.column == best) {
			p.gather = &all[i]
		}
	}
	return p
}

// drive takes out the condition whose index the list is read by: addresses, or the column that leaves the least.
func (p *plan) drive(all []condition, best string) (rest []condition) {
	for i, c := range all {
		n := len(c.branches) * len(p.w.visibilities)
		if n > 0 && n <= branchesMax && (c.column == "" || c.column == best) {
			p.branches, p.distinct = c.branches, c.column == ""
			return append(all[:i:i], all[i+1:]...)
		}
	}
	return all
}

// statement is a text that grows with its arguments.
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
	searchedFor = "SELECT " + rowColumns + " FROM ("
)

// ordered reads the first rows of every branch, in order, and merges them. What is given is looked at within.
func (p plan) ordered(s *statement, after *condition, limit int, within []condition) {
	branches := p.branches
	if branches == nil {
		branches = []condition{{}}
	}
	union := " UNION ALL "
	if p.distinct {
		union = " UNION "
	}
	n := 0
	for _, visibility := range p.w.visibilities {
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
			s.and(alias, true, p.inside...)
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

// walk reads a page in order, looking at every row.
func (p plan) walk(after *condition, limit int) (s statement) {
	s.add(searchedFor)
	p.ordered(&s, after, limit, p.rest)
	s.add(") t " + p.text("t."))
	return s
}

// peek reads what of a page is within the window.
func (p plan) peek(after *condition, limit int) (s statement) {
	s.add(searchedFor)
	p.ordered(&s, after, window, nil)
	s.add(") t WHERE 1 = 1")
	s.and("t", false, p.rest...)
	s.add(" "+p.text("t.")+" LIMIT ?", limit)
	return s
}

// probe counts what the gathering index finds, up to one more than a few.
func (p plan) probe() (s statement) {
	by := *p.gather
	if by.by != nil {
		by = *by.by
	}
	s.add("SELECT count(*) FROM (SELECT 1 FROM transactions t WHERE t.organization_id = @org")
	s.and("t", p.gather.by == nil, p.w.withVisibility())
	s.and("t", true, by)
	s.add(" LIMIT ?) p", few+1)
	return s
}

// gathered reads a page by way of the index that finds its rows.
func (p plan) gathered(after *condition, limit int) (s statement) {
	s.add("WITH found AS MATERIALIZED (SELECT " + allColumns + " FROM transactions t WHERE ")
	p.found(&s)
	if after != nil {
		s.and("t", false, *after)
	}
	s.add(") SELECT "+rowColumns+" FROM found "+p.text("")+" LIMIT ?", limit)
	return s
}

// counting counts all that pass.
func (p plan) counting() (s statement) {
	s.add("SELECT count(*) FROM transactions t WHERE ")
	p.found(&s)
	return s
}

// found lists everything a filter asks, for one index to serve the gathering condition.
func (p plan) found(s *statement) {
	by := p.gather
	s.add(condition{text: "§organization_id = @org"}.render("t", by == nil || by.by == nil || !by.by.everywhere))
	if by != nil && by.by != nil {
		s.and("t", true, *by.by)
	}
	s.and("t", by == nil || by.by == nil && !by.names, p.w.withVisibility())
	for i := range p.rest {
		s.and("t", &p.rest[i] == by && by.by == nil, p.rest[i])
	}
	s.and("t", by == nil, p.inside...)
	for _, group := range p.alternatives() {
		s.and("t", by == nil, group)
	}
}

// alternatives is the one condition that the branches are, if there are any.
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
