package arch

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
	"testing"
)

const (
	fileLinesMax     = 500
	testFileLinesMax = 800
	funcLinesMax     = 70
	testFuncLinesMax = 120
	areaFilesMax     = 15
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
		sample{"client/a_test.go", text(testFuncLinesMax + 1), "f has 121 lines"},
		sample{"client/a_test.go", text(testFuncLinesMax), ""},
	)
}

func TestAreasStaySmall(t *testing.T) {
	t.Parallel()
	obey(t, checkAreaFiles)
}

func checkAreaFiles(files []*source) []finding {
	count := map[string]int{}
	var found []finding
	for _, s := range files {
		if s.test() || !s.in("internal/area") {
			continue
		}
		count[s.dir()]++
		// Only the first file too many is reported, because the folder is at fault and not the file.
		if count[s.dir()] == areaFilesMax+1 {
			found = append(found, finding{s.dir(), areaFilesMax, fmt.Sprintf(
				"more than %d files: this is two areas, and newcomers cannot see where to start", areaFilesMax)})
		}
	}
	return found
}

func TestTheAreaSizeRuleFires(t *testing.T) {
	t.Parallel()
	folder := func(name string, n int) []*source {
		var files []*source
		for i := range n {
			file, err := parseSource(fmt.Sprintf(name, i), "package a\n")
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		return files
	}
	proveFiles(t, checkAreaFiles, "this is two areas", folder("internal/area/a/f%d.go", areaFilesMax+3)...)
	proveFiles(t, checkAreaFiles, "", folder("internal/area/a/f%d.go", areaFilesMax)...)
	proveFiles(t, checkAreaFiles, "", folder("internal/area/a/f%d_test.go", 2*areaFilesMax)...)
	proveFiles(t, checkAreaFiles, "", folder("internal/edge/api/f%d.go", 2*areaFilesMax)...)
}

// vague are package names that attract whatever has no home.
var vague = map[string]bool{
	"util": true, "utils": true, "common": true, "helper": true, "helpers": true, "models": true, "types": true,
}

func TestPackagesAreNamedForWhatTheyHold(t *testing.T) {
	t.Parallel()
	obey(t, checkNames)
}

func checkNames(files []*source) []finding {
	var found []finding
	for _, s := range files {
		name := strings.TrimSuffix(s.file.Name.Name, "_test")
		if vague[name] || vague[path.Base(s.dir())] {
			found = append(found, s.at(s.file.Name.Pos(), "package %s in %s: the name says nothing, so everything would end up "+
				"there; name the noun it is about", name, s.dir()))
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

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
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
				"readers find their way by these"})
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
