package db

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// statement is an SQL text compiled for an engine: fragments are expanded, parameters numbered and tables identified.
type statement struct {
	sql     string
	order   []int // for each parameter the index of the caller's argument, or orgParam
	unbound error // why a transaction bound to an organization may not run it
	writes  bool  // it changes data
	changes bool  // it changes data of an audited table
}

const orgParam = -1

var (
	wordRe  = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*\.?`)
	writeRe = regexp.MustCompile(`(?i)^\s*(INSERT|UPDATE|DELETE)\s`)
)

// statementsMax bounds the cache: lists with many filters result in many texts. A full cache is emptied.
const statementsMax = 4096

// compiled has the compiled statements of each engine. What a text is compiled to depends on nothing else, so that all databases of a
// process share them: a test process opens hundreds, and each would compile the same texts again.
var compiled = map[Engine]*statements{SQLite: {engine: SQLite}, Postgres: {engine: Postgres}}

// statements is a cache of compiled statements by text.
type statements struct {
	engine Engine
	mu     sync.RWMutex
	byText map[string]*statement
}

func (s *statements) get(text string) *statement {
	s.mu.RLock()
	st := s.byText[text]
	s.mu.RUnlock()
	if st != nil {
		return st
	}
	st = compile(s.engine, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byText == nil || len(s.byText) >= statementsMax {
		s.byText = make(map[string]*statement)
	}
	s.byText[text] = st
	return st
}

// compile prepares a text for an engine and finds out whether a transaction bound to an organization may run it.
func compile(e Engine, text string) *statement {
	st := &statement{unbound: provenBound(text)}
	audited := false
	for _, word := range wordRe.FindAllString(text, -1) {
		// A word with a dot qualifies a column of a table that is named elsewhere in the text.
		t, ok := tablesByName[strings.ToLower(word)]
		audited = audited || ok && t.Kind != Local && t.Unaudited == ""
	}
	st.writes = writeRe.MatchString(text)
	st.changes = audited && st.writes
	text = expand(e, text)
	if e == SQLite {
		// SQLite would plan for the bound number and compile the statement again whenever it is bound.
		text = strings.ReplaceAll(text, "LIMIT ?", "LIMIT ? + 0")
	}
	st.sql = st.number(e, text)
	return st
}

// number replaces ? and @org outside quotes by the engine's parameters. They are numbered on PostgreSQL, where @org has
// one number however often it occurs. They are not numbered on SQLite, which would search a list for each number.
func (st *statement) number(e Engine, text string) string {
	var out strings.Builder
	args, org, quoted := 0, 0, false
	add := func(arg int) {
		st.order = append(st.order, arg)
		if e == SQLite {
			out.WriteByte('?')
			return
		}
		out.WriteString("$" + strconv.Itoa(len(st.order)))
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'':
			quoted = !quoted
			out.WriteByte(c)
		case c == '?' && !quoted:
			add(args)
			args++
		case c == '@' && !quoted && strings.HasPrefix(text[i:], "@org"):
			if org == 0 || e == SQLite {
				add(orgParam)
				org = len(st.order)
			} else {
				out.WriteString("$" + strconv.Itoa(org))
			}
			i += len("@org") - 1
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// arguments returns the caller's values and the organization in the order of the parameters.
func (st *statement) arguments(e Engine, org string, args []any) ([]any, error) {
	out := make([]any, len(st.order))
	used := 0
	for i, o := range st.order {
		if o == orgParam {
			out[i] = org
			continue
		}
		if o >= len(args) {
			return nil, fmt.Errorf("db: only %d arguments for: %s", len(args), st.sql)
		}
		out[i] = bind(e, args[o])
		used++
	}
	if used != len(args) {
		return nil, fmt.Errorf("db: %d arguments, of which only %d are used in: %s", len(args), used, st.sql)
	}
	return out, nil
}
