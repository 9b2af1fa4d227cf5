package db

import (
	"fmt"
	"slices"
)

// The gate decides whether a transaction that is bound to an organization may run a statement. Every table with rows of
// organizations must be tied to @org: by a condition that each row has to meet, directly or through a table that is tied
// itself. It understands the SQL that we write, which is a part of what the engines do, and refuses what it cannot prove.

// relation is a table, a subquery or a common table expression that a query reads or writes.
type relation struct {
	name   string // the alias, if there is one
	scoped bool   // it is a table with rows of organizations
	tied   bool   // all its rows that count are those of @org
}

// scope holds the relations of a query, and those of the queries around it, which a condition may name as well.
type scope struct {
	relations []*relation
	outer     *scope
}

func (s *scope) find(name string) *relation {
	for ; s != nil; s = s.outer {
		for _, r := range s.relations {
			if r.name == name {
				return r
			}
		}
	}
	return nil
}

// gate examines one statement.
type gate struct {
	common map[string]bool // common table expressions, and whether all their rows are those of @org
	found  int             // how many relations are tables with rows of organizations
	faults []string
}

// provenBound returns nil if every table with rows of organizations in a statement is tied to @org.
func provenBound(text string) error {
	nodes, err := parseNodes(text)
	if err != nil {
		return fmt.Errorf("db: the statement cannot be shown to be tied to @org, because it %w: %s", err, text)
	}
	g := &gate{common: map[string]bool{}}
	g.query(nodes, nil)
	if named := countScoped(nodes); len(g.faults) == 0 && named != g.found {
		g.faultf("%d tables with rows of organizations are named, but only %d are understood to be read or written", named, g.found)
	}
	if len(g.faults) > 0 {
		return fmt.Errorf("db: the statement cannot be shown to be tied to @org: %s: %s", g.faults[0], text)
	}
	return nil
}

func (g *gate) faultf(format string, args ...any) {
	g.faults = append(g.faults, fmt.Sprintf(format, args...))
}

// countScoped counts how often tables with rows of organizations are named, other than to qualify a column.
func countScoped(nodes []sqlNode) (n int) {
	for i, node := range nodes {
		if node.isWord() && tablesByName[node.text].scoped() && !(i+1 < len(nodes) && nodes[i+1].is(".")) {
			n++
		}
		n += countScoped(node.group)
	}
	return n
}

// query examines a statement, a subquery or the content of a common table expression.
func (g *gate) query(nodes []sqlNode, outer *scope) {
	for len(nodes) > 0 && nodes[0].is("explain", "query", "plan", "analyze") {
		nodes = nodes[1:]
	}
	nodes = g.with(nodes, outer)
	if len(nodes) > 0 && nodes[0].is("insert") {
		g.insert(nodes, outer)
		return
	}
	for _, part := range splitAt(nodes, "union", "intersect", "except") {
		for len(part) > 0 && part[0].is("all", "distinct") {
			part = part[1:]
		}
		switch {
		case len(part) == 0:
		case part[0].is("select", "update", "delete"):
			g.simple(part, outer)
		default:
			g.expressions(part, outer)
		}
	}
}

// with examines the common table expressions that a query begins with, and returns the rest of it.
func (g *gate) with(nodes []sqlNode, outer *scope) []sqlNode {
	if len(nodes) == 0 || !nodes[0].is("with") {
		return nodes
	}
	name := ""
	for i, n := range nodes[1:] {
		switch {
		case n.is("select", "insert", "update", "delete", "values"):
			return nodes[1+i:]
		case n.isWord() && !n.is("recursive", "as", "not", "materialized"):
			name = n.text
			g.common[name] = true
		case n.isQuery():
			g.query(n.group, outer)
			g.common[name] = g.common[name] && !renamesOrganization(n.group)
		default: // the names of its columns
			g.common[name] = g.common[name] && !namesOrganization(n.group)
		}
	}
	return nil
}

// simple examines a SELECT, UPDATE or DELETE.
func (g *gate) simple(nodes []sqlNode, outer *scope) {
	s := &scope{outer: outer}
	var ties []tie
	var joined *relation
	kind := ""
	for _, c := range clausesOf(nodes) {
		switch c.keyword {
		case "from", "update":
			for _, one := range splitAt(c.nodes, ",") {
				g.relation(one, s)
			}
		case "join":
			kind, joined = c.kind, g.relation(c.nodes, s)
			if kind == "right" || kind == "full" || kind == "natural" {
				g.faultf("it has a %s join", kind)
			}
		case "on":
			only := joined
			if kind != "left" {
				only = nil
			}
			ties = append(ties, tiesIn(c.nodes, only)...)
		case "where":
			ties = append(ties, tiesIn(c.nodes, nil)...)
		case "set":
			g.assignments(c.nodes)
		}
	}
	s.resolve(ties)
	for _, r := range s.relations {
		if r.scoped && !r.tied {
			g.faultf("%s is not", r.name)
		}
	}
	for _, c := range clausesOf(nodes) {
		if c.keyword != "from" && c.keyword != "update" && c.keyword != "join" {
			g.expressions(c.nodes, s)
		}
	}
}

// relation examines a table, a subquery or a function in FROM, adds it to a scope and returns it.
func (g *gate) relation(nodes []sqlNode, s *scope) *relation {
	outer := s.outer
	for len(nodes) > 0 && (nodes[0].is("only", "lateral") || nodes[0].kind == fragment && nodes[0].text == "each") {
		if nodes[0].is("lateral") {
			outer = s
		}
		nodes = nodes[1:]
	}
	r := &relation{}
	if len(nodes) == 0 {
		return r
	}
	switch first := nodes[0]; {
	case first.isQuery():
		g.query(first.group, outer)
		r.tied = !renamesOrganization(first.group)
	case first.isWord() && len(nodes) > 1 && nodes[1].kind == inParentheses: // a function
		g.expressions(nodes[1:2], outer)
		nodes = nodes[1:]
	case first.isWord():
		r.name, r.scoped, r.tied = first.text, tablesByName[first.text].scoped(), g.common[first.text]
		if r.scoped {
			g.found++
		}
	case first.kind == inParentheses:
		g.faultf("it has a join in parentheses")
	}
	nodes = nodes[1:]
	if len(nodes) > 0 && nodes[0].is("as") {
		nodes = nodes[1:]
	}
	if len(nodes) > 0 && nodes[0].isWord() {
		r.name = nodes[0].text
	}
	r.tied = r.tied && !namesOrganization(nodes) // in the names of its columns
	s.relations = append(s.relations, r)
	return r
}

// insert examines an INSERT. Rows of a table with rows of organizations must begin with @org.
func (g *gate) insert(nodes []sqlNode, outer *scope) {
	if len(nodes) < 4 || !nodes[1].is("into") || !nodes[2].isWord() {
		g.faultf("an INSERT is not understood")
		return
	}
	r := &relation{name: nodes[2].text, scoped: tablesByName[nodes[2].text].scoped(), tied: true}
	body := nodes[3:]
	if body[0].is("as") && len(body) > 2 {
		r.name, body = body[1].text, body[2:]
	}
	columns := body[0].group
	if columns != nil {
		body = body[1:]
	}
	end := slices.IndexFunc(body, func(n sqlNode) bool { return n.is("conflict", "returning") })
	tail := []sqlNode{}
	if end >= 0 {
		body, tail = body[:end], body[end:]
	}
	if end > 0 && body[end-1].is("on") {
		body = body[:end-1]
	}
	if r.scoped {
		g.found++
		if len(columns) == 0 || !columns[0].is("organization_id") || !beginsWithOrganization(body) {
			g.faultf("%s does not begin with organization_id, or a new row of it is not", r.name)
		}
	}
	g.query(body, outer)
	for _, c := range clausesOf(tail) {
		if c.keyword == "set" {
			g.assignments(c.nodes)
		}
	}
	g.expressions(tail, &scope{relations: []*relation{r}, outer: outer})
}

// beginsWithOrganization reports whether the first value of every row that an INSERT adds is @org.
func beginsWithOrganization(body []sqlNode) bool {
	first := func(nodes []sqlNode) bool {
		return len(nodes) > 0 && nodes[0].is("@org") && (len(nodes) == 1 || nodes[1].is(","))
	}
	if len(body) > 1 && body[0].is("values") {
		for _, row := range splitAt(body[1:], ",") {
			if len(row) != 1 || !first(row[0].group) {
				return false
			}
		}
		return true
	}
	for _, part := range splitAt(body, "union", "intersect", "except") {
		if len(part) > 0 && part[0].is("all") {
			part = part[1:]
		}
		if len(part) == 0 || !part[0].is("select") || !first(part[1:]) {
			return false
		}
	}
	return true
}

// assignments refuses to change the organization of a row.
func (g *gate) assignments(nodes []sqlNode) {
	for _, one := range splitAt(nodes, ",") {
		end := slices.IndexFunc(one, func(n sqlNode) bool { return n.is("=") })
		if end >= 0 && namesOrganization(one[:end]) {
			g.faultf("it changes organization_id")
		}
	}
}

// expressions examines the subqueries of expressions.
func (g *gate) expressions(nodes []sqlNode, s *scope) {
	for _, n := range nodes {
		if n.isQuery() {
			g.query(n.group, s)
		} else {
			g.expressions(n.group, s)
		}
	}
}

// tie is a condition that organization_id is equal to @org, or to that of another relation.
type tie struct {
	a, b operand
	only *relation // in the condition of a left join, which leaves the rows of other relations unrestricted
}

// operand is one side of a tie: @org, or the column of a relation.
type operand struct {
	org      bool
	relation string // empty where the column is not qualified
}

// tiesIn returns the ties that every row has to meet according to a condition.
func tiesIn(nodes []sqlNode, only *relation) (all []tie) {
	if slices.ContainsFunc(nodes, func(n sqlNode) bool { return n.is("or") }) {
		return nil
	}
	between := false
	for _, one := range splitAt(nodes, "and") {
		upper := between // the upper end of BETWEEN is not a condition
		between = slices.ContainsFunc(one, func(n sqlNode) bool { return n.is("between") }) && !upper
		if upper {
			continue
		}
		if len(one) == 1 && one[0].kind == inParentheses && !one[0].isQuery() {
			all = append(all, tiesIn(one[0].group, only)...)
			continue
		}
		a, rest, ok := parseOperand(one)
		if !ok || len(rest) == 0 || !rest[0].is("=") {
			continue
		}
		if b, rest, ok := parseOperand(rest[1:]); ok && len(rest) == 0 {
			all = append(all, tie{a, b, only})
		}
	}
	return all
}

func parseOperand(nodes []sqlNode) (o operand, rest []sqlNode, ok bool) {
	if len(nodes) > 0 && nodes[0].kind == fragment && nodes[0].text == "unindexed" {
		nodes = nodes[1:]
	}
	switch {
	case len(nodes) > 0 && nodes[0].is("@org"):
		return operand{org: true}, nodes[1:], true
	case len(nodes) > 0 && nodes[0].is("organization_id"):
		return operand{}, nodes[1:], true
	case len(nodes) > 2 && nodes[0].isWord() && nodes[1].is(".") && nodes[2].is("organization_id"):
		return operand{relation: nodes[0].text}, nodes[3:], true
	}
	return operand{}, nil, false
}

// resolve marks the relations of a scope that are tied, directly or through others.
func (s *scope) resolve(ties []tie) {
	for changed := true; changed; {
		changed = false
		for _, t := range ties {
			for _, sides := range [][2]operand{{t.a, t.b}, {t.b, t.a}} {
				r := s.own(sides[0])
				if r == nil || r.tied || t.only != nil && r != t.only || !s.isTied(sides[1]) {
					continue
				}
				r.tied, changed = true, true
			}
		}
	}
}

// own returns the relation of the scope itself that an operand names. A column without a qualifier is that of the only
// table that has it: the engines refuse it if there are several.
func (s *scope) own(o operand) (found *relation) {
	for _, r := range s.relations {
		switch {
		case o.org:
		case o.relation != "" && r.name == o.relation:
			return r
		case o.relation == "" && r.scoped && found == nil:
			found = r
		case o.relation == "" && r.scoped:
			return nil
		}
	}
	return found
}

func (s *scope) isTied(o operand) bool {
	if o.org || o.relation == "" {
		return o.org
	}
	r := s.find(o.relation)
	return r != nil && r.tied
}
