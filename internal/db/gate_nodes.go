package db

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// nodeKind is what a node of a statement is.
type nodeKind int

const (
	word nodeKind = iota
	symbol
	literal
	parameter     // ? or @org
	fragment      // a name in braces
	inParentheses // a group
	inCase        // what is between CASE and END
)

// sqlNode is a token of a statement, or a group of them.
type sqlNode struct {
	kind  nodeKind
	text  string // words are in lower case
	group []sqlNode
}

// is reports whether the node is one of some words, symbols or parameters.
func (n sqlNode) is(texts ...string) bool {
	return n.kind <= parameter && n.kind != literal && slices.Contains(texts, n.text)
}

func (n sqlNode) isWord() bool { return n.kind == word }

// isQuery reports whether the node is a query in parentheses.
func (n sqlNode) isQuery() bool {
	return n.kind == inParentheses && len(n.group) > 0 &&
		(n.group[0].is("select", "with", "insert", "update", "delete", "values") || n.group[0].isQuery())
}

var (
	tokenRe = regexp.MustCompile(`^(?:\s+|[A-Za-z_][A-Za-z0-9_]*|"[^"]*"|'(?:[^']|'')*'|[0-9][0-9.]*|@org\b|\{[a-z_]+\}|\[\]|--|/\*|(?s:.))`)
	// unknownText is what may hide a table or end a condition in a way that is not looked for here.
	unknownText = []string{"--", "/*", ";", "$", "`", "[", "'", `"`}
)

// parseNodes divides a statement into nodes.
func parseNodes(text string) ([]sqlNode, error) {
	stack := [][]sqlNode{nil}
	var opened []nodeKind
	add := func(n sqlNode) { stack[len(stack)-1] = append(stack[len(stack)-1], n) }
	open := func(k nodeKind) { stack, opened = append(stack, nil), append(opened, k) }
	closes := func(k nodeKind) bool {
		last := len(opened) - 1
		if last < 0 || opened[last] != k {
			return false
		}
		group := stack[len(stack)-1]
		if group == nil {
			group = []sqlNode{}
		}
		stack, opened = stack[:len(stack)-1], opened[:last]
		add(sqlNode{kind: k, group: group})
		return true
	}
	for len(text) > 0 {
		t := tokenRe.FindString(text)
		text = text[len(t):]
		lower := strings.ToLower(t)
		switch first := t[0]; {
		case slices.Contains(unknownText, t):
			return nil, errors.New("contains " + t)
		case strings.TrimSpace(t) == "":
		case t == "(":
			open(inParentheses)
		case lower == "case":
			open(inCase)
		case t == ")" && !closes(inParentheses):
			return nil, errors.New("has a parenthesis too many")
		case t == ")" || lower == "end" && closes(inCase):
		case t == "@org" || t == "?":
			add(sqlNode{kind: parameter, text: t})
		case first == '{' && len(t) > 1:
			add(sqlNode{kind: fragment, text: t[1 : len(t)-1]})
		case first == '\'' && precededByE(stack[len(stack)-1]):
			return nil, errors.New("contains a text with escapes")
		case first == '\'' || first >= '0' && first <= '9':
			add(sqlNode{kind: literal, text: t})
		case first == '"':
			add(sqlNode{kind: word, text: strings.Trim(lower, `"`)})
		case first == '_' || lower[0] >= 'a' && lower[0] <= 'z':
			add(sqlNode{kind: word, text: lower})
		default:
			add(sqlNode{kind: symbol, text: t})
		}
	}
	if len(opened) > 0 {
		return nil, errors.New("lacks a closing parenthesis or END")
	}
	return stack[0], nil
}

// precededByE reports whether the last node is the prefix of a text with escapes, E'…'.
func precededByE(nodes []sqlNode) bool { return len(nodes) > 0 && nodes[len(nodes)-1].is("e", "u") }

// splitAt divides nodes at some words or symbols, which are left out.
func splitAt(nodes []sqlNode, at ...string) [][]sqlNode {
	parts := [][]sqlNode{nil}
	for _, n := range nodes {
		if n.is(at...) {
			parts = append(parts, nil)
			continue
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], n)
	}
	return parts
}

// clause is a part of a query that begins with a keyword.
type clause struct {
	keyword string
	kind    string // of a join: left, cross and so on
	nodes   []sqlNode
}

var (
	joinKinds      = []string{"left", "right", "full", "inner", "cross", "natural"}
	clauseKeywords = []string{"from", "on", "where", "set", "group", "having", "order", "limit", "offset", "for", "window", "returning",
		"fetch"}
)

// clausesOf divides a query into its clauses. The first has the keyword that the query begins with.
func clausesOf(nodes []sqlNode) (all []clause) {
	add := func(keyword, kind string) { all = append(all, clause{keyword: keyword, kind: kind}) }
	for i := 0; i < len(nodes); i++ {
		n := nodes[i]
		switch {
		case i == 0:
			add(n.text, "")
		case n.is("from") && nodes[i-1].is("distinct") && i > 1 && nodes[i-2].is("is", "not"): // IS DISTINCT FROM
			all[len(all)-1].nodes = append(all[len(all)-1].nodes, n)
		case n.is(joinKinds...) && i+1 < len(nodes) && nodes[i+1].is("join", "outer", "left", "right", "full", "inner"):
			add("join", n.text)
			for i+1 < len(nodes) && !nodes[i].is("join") {
				i++
			}
		case n.is("join"):
			add("join", "inner")
		case n.is("using") && all[len(all)-1].keyword == "join": // it ties nothing
			add("using", "")
		case n.is("using"): // of a DELETE
			add("from", "")
		case n.is(clauseKeywords...):
			add(n.text, "")
		case n.kind == fragment && (n.text == "for_update" || n.text == "skip_locked"):
			add("for", "")
		default:
			all[len(all)-1].nodes = append(all[len(all)-1].nodes, n)
		}
	}
	return all
}

// namesOrganization reports whether organization_id occurs in nodes.
func namesOrganization(nodes []sqlNode) bool {
	return slices.ContainsFunc(nodes, func(n sqlNode) bool { return n.is("organization_id") || namesOrganization(n.group) })
}

// renamesOrganization reports whether a query calls something else organization_id.
func renamesOrganization(nodes []sqlNode) bool {
	for i, n := range nodes {
		named := n.is("organization_id") && i > 0 && !nodes[i-1].is(".", ",", "=", "select", "where", "and", "by", "on", "distinct")
		if named || renamesOrganization(n.group) {
			return true
		}
	}
	return false
}
