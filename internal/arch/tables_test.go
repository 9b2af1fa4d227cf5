package arch

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
)

// mention is a place where a statement names a table.
type mention struct {
	table  string // empty where the statement gets the name from a variable
	writes bool
	pos    token.Pos
}

// reading permits a package to read tables of another in its own statements, because a function of the owner would cost a query for
// each row.
type reading struct {
	reader  string // below internal
	tables  []string
	because string
}

// sqlTable matches a table in a statement; the words before it show whether it is written. The mark stands for what is not a literal.
var sqlTable = regexp.MustCompile(`(?i)\b(DELETE\s+FROM|FROM|JOIN|INTO|UPDATE)\s+(?:ONLY\s+)?([a-z_][a-z0-9_]*|` + unknown + `)`)

// bound matches a statement that is tied to an organization, and sqlWord a name in it that no other name qualifies.
var (
	bound   = regexp.MustCompile(`@org\b`)
	sqlWord = regexp.MustCompile(`\b[a-z_][a-z0-9_]*\b`)
)

// unknown marks the part of a text that is not known before the program runs.
const unknown = "\x00"

// mentions returns the tables that the statements of a file name; constants are those of its package.
func (s *source) mentions(constants map[string]string) (all []mention) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && insertsRows(call) {
			all = append(all, mention{table: knownTable(flatten(call.Args[2], constants)), writes: true, pos: call.Args[2].Pos()})
		}
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text := flatten(e, constants)
		if text == unknown {
			return true
		}
		for _, m := range sqlTable.FindAllStringSubmatch(text, -1) {
			verb := strings.ToUpper(m[1])
			switch {
			case m[2] == unknown && strings.Contains(text, "organization_id"):
				all = append(all, mention{writes: verb != "FROM" && verb != "JOIN", pos: e.Pos()})
			case knownTable(m[2]) != "" && (verb == m[1] || bound.MatchString(text)):
				all = append(all, mention{table: m[2], writes: verb != "FROM" && verb != "JOIN", pos: e.Pos()})
			}
		}
		if bound.MatchString(text) { // after a comma, in quotes or in parentheses
			for _, word := range sqlWord.FindAllString(text, -1) {
				named := slices.ContainsFunc(all, func(m mention) bool { return m.table == word && m.pos == e.Pos() })
				if knownTable(word) != "" && !named {
					all = append(all, mention{table: word, pos: e.Pos()})
				}
			}
		}
		return false
	})
	return all
}

// insertsRows reports whether a call is one of db.Insert or db.Upsert, whose third argument is a table.
func insertsRows(call *ast.CallExpr) bool {
	fun := call.Fun
	if generic, ok := fun.(*ast.IndexExpr); ok {
		fun = generic.X
	}
	selector, ok := fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) < 3 || selector.Sel.Name != "Insert" && selector.Sel.Name != "Upsert" {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	return ok && pkg.Name == "db"
}

func knownTable(name string) string {
	if slices.ContainsFunc(db.Tables, func(t db.Table) bool { return t.Name == name }) {
		return name
	}
	return ""
}

// flatten returns the text of a string expression, with a mark for each part that is not a literal or a constant of the package.
func flatten(e ast.Expr, constants map[string]string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.Ident:
		if text, ok := constants[e.Name]; ok {
			return text
		}
	case *ast.ParenExpr:
		return flatten(e.X, constants)
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return flatten(e.X, constants) + flatten(e.Y, constants)
		}
	}
	return unknown
}

// constantsOf returns the string constants of each folder whose value is a table.
func constantsOf(files []*source) map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, s := range files {
		for _, d := range s.file.Decls {
			declared, ok := d.(*ast.GenDecl)
			if !ok || declared.Tok != token.CONST {
				continue
			}
			for _, spec := range declared.Specs {
				spec := spec.(*ast.ValueSpec)
				for i, name := range spec.Names {
					if i < len(spec.Values) && knownTable(flatten(spec.Values[i], nil)) != "" {
						if out[s.dir()] == nil {
							out[s.dir()] = map[string]string{}
						}
						out[s.dir()][name.Name] = flatten(spec.Values[i], nil)
					}
				}
			}
		}
	}
	return out
}

func TestOnlyTheOwnerOfATableAndItsListedReadersNameIt(t *testing.T) {
	t.Parallel()
	obey(t, checkTables(readings, computed))
}

// checkTables finds statements about tables of other packages. Writing is for the owner alone; a package may read what it is listed for,
// unless that belongs to a higher group. computed gives the packages that may take the name of a table from a variable.
func checkTables(readings []reading, computed map[string]string) rule {
	return func(files []*source) (found []finding) {
		constants, used := constantsOf(files), map[string]bool{}
		for _, s := range files {
			folder := strings.TrimPrefix(s.dir(), "internal/")
			if s.testing() || !s.in("internal") || s.in("internal/db", "internal/arch", "internal/tools") {
				continue
			}
			for _, m := range s.mentions(constants[s.dir()]) {
				if m.table == "" {
					if computed[folder] == "" {
						found = append(found, s.at(m.pos, "takes the name of a table from a variable: write it out, so that the owner of the "+
							"table finds all its statements"))
					}
					used[folder] = true
					continue
				}
				if why := forbids(folder, m, readings); why != "" {
					found = append(found, s.at(m.pos, "%s", why))
				}
				used[folder+" "+m.table] = true
			}
		}
		return append(found, stale(files, readings, computed, used)...)
	}
}

// forbids returns why a folder below internal may not name a table as it does, or an empty text.
func forbids(folder string, m mention, readings []reading) string {
	owner := db.TableNamed(m.table).Owner
	mine, _ := layerOf("internal/" + folder)
	its, _ := layerOf("internal/" + owner)
	switch {
	case owner == folder:
		return ""
	case m.writes:
		return "writes " + m.table + ", which " + owner + " alone writes, so that its rules are in one place"
	case its > mine:
		return "reads " + m.table + " of " + owner + ", which is above it: take a function from there, or use kernel/reference"
	}
	for _, r := range readings {
		if r.reader == folder && slices.Contains(r.tables, m.table) {
			return ""
		}
	}
	return "reads " + m.table + " of " + owner + ": call a function of its owner, or add the package to readings with a reason"
}

// stale returns permissions that are no longer needed, in a tree that has the files they are for.
func stale(files []*source, readings []reading, computed map[string]string, used map[string]bool) (found []finding) {
	there := map[string]bool{}
	for _, s := range files {
		there[strings.TrimPrefix(s.dir(), "internal/")] = true
	}
	for _, r := range readings {
		for _, table := range r.tables {
			if there[r.reader] && !used[r.reader+" "+table] {
				found = append(found, finding{"internal/" + r.reader, 1, "reads " + table + " no longer: remove it from readings"})
			}
		}
	}
	for folder := range computed {
		if there[folder] && !used[folder] {
			found = append(found, finding{"internal/" + folder, 1, "no longer computes the name of a table: remove it from computed"})
		}
	}
	return found
}

func TestTheTableRuleFires(t *testing.T) {
	t.Parallel()
	text := func(statement string) string { return "package p\nconst table = \"tags\"\nvar x = " + statement }
	listed := []reading{{"reporting/statements", []string{"journal_lines"}, "a report adds up lines"}}
	rule := checkTables(listed, map[string]string{"kernel/task": "it runs tasks of several packages"})
	const upper, reader = "internal/automation/memory/sql.go", "internal/reporting/statements/sql.go"
	prove(t, rule,
		sample{upper, text("`SELECT 1 FROM journal_lines`"), "reads journal_lines of books/journal: call"},
		sample{upper, text("`SELECT 1 FROM x JOIN journal_lines l`"), "add the package to readings"},
		sample{upper, text("\"SELECT 1 FROM \" +\n\"journal_lines\""), "reads journal_lines"},
		sample{upper, text("`select 1 from journal_lines where organization_id = @org`"), "reads journal_lines"},
		sample{upper, text("`SELECT 1 FROM x, journal_lines WHERE organization_id = @org`"), "reads journal_lines"},
		sample{upper, text("`SELECT 1 FROM \"journal_lines\" WHERE organization_id = @org`"), "reads journal_lines"},
		sample{upper, text("`SELECT 1 FROM ` + table"), "reads tags of books/tag"},
		sample{upper, text("`SELECT 1 FROM ` + name + ` WHERE organization_id = @org`"), "from a variable"},
		sample{upper, text("`DELETE FROM journal_lines`"), "writes journal_lines, which books/journal alone"},
		sample{upper, text("`UPDATE journal_lines SET x = 1`"), "writes journal_lines"},
		sample{upper, text("`INSERT INTO journal_lines VALUES (1)`"), "writes journal_lines"},
		sample{upper, text("db.Insert(ctx, tx, \"journal_lines\", row)"), "writes journal_lines"},
		sample{upper, text("db.Upsert(ctx, tx, table, rows, ``)"), "writes tags"},
		sample{"internal/books/journal/sql.go", text("`SELECT 1 FROM transactions`"), "which is above it"},
		sample{"internal/kernel/audit/sql.go", text("`SELECT 1 FROM tags`"), "which is above it"},
		sample{reader, text("`SELECT 1 FROM journal_lines JOIN tags`"), "reads tags"},
		sample{reader, text("`UPDATE journal_lines SET x = 1`"), "writes journal_lines"},
	)
	prove(t, checkTables(listed, nil),
		sample{reader, text("`SELECT 1 FROM journal_lines`"), ""},
		sample{reader, text("1"), "remove it from readings"},
		sample{"internal/books/journal/sql.go", text("`SELECT 1 FROM journal_lines` + `DELETE FROM journal_lines`"), ""},
		sample{"internal/books/journal/sql.go", text("`the entry came from transactions`"), ""},
		sample{"internal/books/journal/a_test.go", text("`SELECT 1 FROM transactions`"), ""},
	)
	prove(t, checkTables(nil, map[string]string{"kernel/task": "it runs tasks of several packages"}),
		sample{"internal/kernel/task/sql.go", text("`SELECT 1 FROM ` + name + ` WHERE organization_id = @org`"), ""},
		sample{"internal/kernel/task/sql.go", text("1"), "remove it from computed"},
	)
}
