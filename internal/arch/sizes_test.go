package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

const (
	fileLinesMax     = 500
	testFileLinesMax = 800
	funcLinesMax     = 70
	testFuncLinesMax = 140 // most of a long test is its table
	lineColumnsMax   = 140
	unkeyedFieldsMax = 4
)

func TestFilesStayShort(t *testing.T) {
	t.Parallel()
	obey(t, checkFileLines)
}

func checkFileLines(files []*source) []finding {
	var found []finding
	for _, s := range files {
		limit := fileLinesMax
		if s.test() {
			limit = testFileLinesMax
		}
		if s.lines > limit {
			found = append(found, finding{s.path, limit, fmt.Sprintf(
				"%d lines, at most %d: split it by what its parts are about, so that each can be read in one sitting",
				s.lines, limit)})
		}
	}
	return found
}

func TestTheFileLengthRuleFires(t *testing.T) {
	t.Parallel()
	text := func(lines int) string { return "package a\n" + strings.Repeat("\n", lines-1) }
	prove(t, checkFileLines,
		sample{"client/a.go", text(fileLinesMax + 1), "501 lines"},
		sample{"client/a.go", text(fileLinesMax), ""},
		sample{"client/a_test.go", text(testFileLinesMax + 1), "801 lines"},
		sample{"client/a_test.go", text(testFileLinesMax), ""},
	)
}

func TestFunctionsStayShort(t *testing.T) {
	t.Parallel()
	obey(t, checkFuncLines)
}

func checkFuncLines(files []*source) []finding {
	var found []finding
	for _, s := range files {
		limit := funcLinesMax
		if s.test() {
			limit = testFuncLinesMax
		}
		for _, decl := range s.file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			if n := s.line(fn.Body.Rbrace) - s.line(fn.Body.Lbrace) - 1; n > limit {
				found = append(found, s.at(fn.Pos(), "%s has %d lines, at most %d: name its steps and make them functions",
					fn.Name.Name, n, limit))
			}
		}
	}
	return found
}

func TestTheFunctionLengthRuleFires(t *testing.T) {
	t.Parallel()
	text := func(lines int) string { return "package a\nfunc f() {\n" + strings.Repeat("\tg()\n", lines) + "}\n" }
	prove(t, checkFuncLines,
		sample{"client/a.go", text(funcLinesMax + 1), "f has 71 lines"},
		sample{"client/a.go", text(funcLinesMax), ""},
		sample{"client/a_test.go", text(testFuncLinesMax + 1), "f has 141 lines"},
		sample{"client/a_test.go", text(testFuncLinesMax), ""},
	)
}

func TestLinesStayNarrow(t *testing.T) {
	t.Parallel()
	obey(t, checkLineWidth)
}

func checkLineWidth(files []*source) []finding {
	var found []finding
	for _, s := range files {
		unbreakable := s.unbreakable()
		for i, line := range strings.Split(s.text, "\n") {
			if n := len([]rune(line)); n > lineColumnsMax && !unbreakable[i+1] {
				found = append(found, finding{s.path, i + 1, fmt.Sprintf("%d columns, at most %d: two files fit side by side", n, lineColumnsMax)})
			}
		}
	}
	return found
}

// unbreakable returns the lines that cannot be broken: those with the tag of a struct field, and in tests the rows of a
// table by text and the lines of raw strings, which are the files a test works on.
func (s *source) unbreakable() map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if n.Tag != nil {
				lines[s.line(n.Tag.Pos())] = true
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.BasicLit); ok && key.Kind == token.STRING && s.test() {
				lines[s.line(key.Pos())] = true
			}
		case *ast.BasicLit:
			for at := s.line(n.Pos()); s.test() && strings.HasPrefix(n.Value, "`") && at <= s.line(n.End()); at++ {
				lines[at] = true
			}
		}
		return true
	})
	return lines
}

func TestTheLineWidthRuleFires(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("x", lineColumnsMax)
	prove(t, checkLineWidth,
		sample{"client/a.go", "package a\n// " + wide, "143 columns"},
		sample{"client/a.go", "package a\n//" + wide[2:], ""},
		sample{"client/a.go", "package a\ntype t struct {\n\tF int `doc:\"" + wide + "\"`\n}", ""},
		sample{"client/a_test.go", "package a\nvar v = `" + wide + "`", ""},
		sample{"client/a.go", "package a\nvar v = `" + wide + "`", "150 columns"},
	)
}

func TestLongStructLiteralsNameTheirFields(t *testing.T) {
	t.Parallel()
	obey(t, checkKeyedLiterals)
}

// checkKeyedLiterals looks at literals of struct types that the module declares.
func checkKeyedLiterals(files []*source) []finding {
	structs := map[string]bool{} // "package.Type" by the name of the package, which is enough here
	for _, s := range files {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				_, is := spec.Type.(*ast.StructType)
				structs[s.file.Name.Name+"."+spec.Name.Name] = is
			}
			return true
		})
	}
	var found []finding
	for _, s := range files {
		ast.Inspect(s.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || len(lit.Elts) <= unkeyedFieldsMax || !structs[s.typeName(lit.Type)] {
				return true
			}
			if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); !keyed {
				found = append(found, s.at(lit.Pos(), "a literal with %d unnamed fields: name them, so that readers can tell them apart",
					len(lit.Elts)))
			}
			return true
		})
	}
	return found
}

// typeName returns the name of a literal's type with its package, or nothing for a type without a name.
func (s *source) typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return s.file.Name.Name + "." + e.Name
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok {
			return pkg.Name + "." + e.Sel.Name
		}
	}
	return ""
}

func TestTheLiteralRuleFires(t *testing.T) {
	t.Parallel()
	text := "package a\ntype t struct { a, b, c, d, e int }\ntype s []int\nvar v = "
	prove(t, checkKeyedLiterals,
		sample{"client/a.go", text + "t{1, 2, 3, 4, 5}", "5 unnamed fields"},
		sample{"client/a.go", text + "t{a: 1, b: 2, c: 3, d: 4, e: 5}", ""},
		sample{"client/a.go", text + "s{1, 2, 3, 4, 5}", ""},
	)
}

// vague lists package names that attract unrelated code.
var vague = map[string]bool{
	"util": true, "utils": true, "common": true, "helper": true, "helpers": true, "models": true, "types": true,
}

func TestPackagesAreNamedForTheirContents(t *testing.T) {
	t.Parallel()
	obey(t, checkNames)
}

func checkNames(files []*source) []finding {
	var found []finding
	for _, s := range files {
		name := strings.TrimSuffix(s.file.Name.Name, "_test")
		if vague[name] || vague[path.Base(s.dir())] {
			found = append(found, s.at(s.file.Name.Pos(), "package %s in %s: the name says nothing about its contents, so everything would end up "+
				"there; name it after its subject", name, s.dir()))
		}
	}
	return found
}

func TestTheNameRuleFires(t *testing.T) {
	t.Parallel()
	prove(t, checkNames,
		sample{"internal/base/util/a.go", "package util", "says nothing"},
		sample{"internal/base/types/a.go", "package kinds", "says nothing"},
		sample{"internal/base/a/a_test.go", "package helpers_test", "says nothing"},
		sample{"internal/base/money/a.go", "package money", ""},
	)
}

func TestEveryPackageHasADocComment(t *testing.T) {
	t.Parallel()
	obey(t, checkPackageDocs)
}

func checkPackageDocs(files []*source) []finding {
	said, first := map[string]bool{}, map[string]*source{}
	for _, s := range files {
		if s.test() {
			continue
		}
		if first[s.dir()] == nil {
			first[s.dir()] = s
		}
		// A sentence has some words and an end.
		if text := strings.TrimSpace(s.file.Doc.Text()); len(strings.Fields(text)) > 3 && strings.ContainsAny(text, ".:!") {
			said[s.dir()] = true
		}
	}
	var found []finding
	for _, s := range files {
		if first[s.dir()] == s && !said[s.dir()] {
			found = append(found, finding{s.path, 1, "package " + s.file.Name.Name + " has no sentence that says what it is for: " +
				"add a package comment"})
		}
	}
	return found
}

func TestThePackageDocRuleFires(t *testing.T) {
	t.Parallel()
	prove(t, checkPackageDocs,
		sample{"client/a.go", "package a", "no sentence"},
		sample{"client/a.go", "// Package a\npackage a", "no sentence"},
		sample{"client/a.go", "// Package a is about nothing.\n\npackage a", "no sentence"},
		sample{"client/a.go", "// Package a is about something.\npackage a", ""},
		sample{"client/a_test.go", "package a", ""},
	)
	with, err := parseSource("client/doc.go", "// Package a is about something.\npackage a")
	if err != nil {
		t.Fatal(err)
	}
	without, err := parseSource("client/a.go", "package a")
	if err != nil {
		t.Fatal(err)
	}
	proveFiles(t, checkPackageDocs, "", without, with)
}
