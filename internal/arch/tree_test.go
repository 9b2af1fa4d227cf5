package arch

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/bursarhq/bursar"

// source is one parsed Go file; its path is relative to the root of the module, with slashes.
type source struct {
	path  string
	text  string
	lines int
	fset  *token.FileSet
	file  *ast.File
}

// imported is one import of a file; inside the module the path is relative to its root.
type imported struct {
	path string
	own  bool
	line int
}

// finding is one place that breaks a rule.
type finding struct {
	path string
	line int
	why  string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.path, f.line, f.why) }

// rule looks at all files, because some rules are about folders.
type rule func(files []*source) []finding

// obey fails the test for every place in the module that breaks the rule.
func obey(t *testing.T, check rule) {
	t.Helper()
	files, err := wholeTree()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range check(files) {
		t.Error(f)
	}
}

// wholeTree is parsed once for all rules.
var wholeTree = sync.OnceValues(func() ([]*source, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	return readTree(root)
})

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

func readTree(root string) ([]*source, error) {
	var files []*source
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != root && foreign(name, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		file, err := parseSource(filepath.ToSlash(rel), string(text))
		files = append(files, file)
		return err
	})
	return files, err
}

// foreign reports whether a folder contains no packages of this module.
func foreign(dir, name string) bool {
	switch name {
	case "bin", "data", "dist", "node_modules", "testdata", "vendor":
		return true
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func parseSource(name, text string) (*source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &source{path: name, text: text, lines: strings.Count(text, "\n"), fset: fset, file: file}, nil
}

func (s *source) dir() string            { return path.Dir(s.path) }
func (s *source) test() bool             { return strings.HasSuffix(s.path, "_test.go") }
func (s *source) line(pos token.Pos) int { return s.fset.Position(pos).Line }

// in reports whether the file is in one of the folders or below.
func (s *source) in(folders ...string) bool { return within(s.dir(), folders...) }

// testing reports whether the file is only for tests: by its name, or because its package is.
func (s *source) testing() bool { return s.test() || s.in(testOnly...) }

func (s *source) at(pos token.Pos, format string, args ...any) finding {
	return finding{path: s.path, line: s.line(pos), why: fmt.Sprintf(format, args...)}
}

func (s *source) imports() []imported {
	var all []imported
	for _, spec := range s.file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		own := name == module || strings.HasPrefix(name, module+"/")
		name = strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
		all = append(all, imported{path: name, own: own, line: s.line(spec.Pos())})
	}
	return all
}

// uses returns the places where the file mentions one of the names of an imported package, called or passed on.
func (s *source) uses(pkg string, names ...string) []*ast.SelectorExpr {
	local := ""
	for _, spec := range s.file.Imports {
		if spec.Path.Value != strconv.Quote(pkg) {
			continue
		}
		local = path.Base(pkg)
		if spec.Name != nil {
			local = spec.Name.Name
		}
	}
	var found []*ast.SelectorExpr
	ast.Inspect(s.file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		for _, name := range names {
			if x, ok := selector.X.(*ast.Ident); ok && local != "" && x.Name == local && selector.Sel.Name == name {
				found = append(found, selector)
			}
		}
		return true
	})
	return found
}

// within reports whether a slash path is one of the folders or is below one.
func within(name string, folders ...string) bool {
	for _, folder := range folders {
		if name == folder || strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}
