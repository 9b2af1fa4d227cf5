package arch

import (
	"go/ast"
	"path"
	"strings"
	"testing"
)

const verifyList = "internal/app/verify.go"

// verifiesListed finds packages whose Verify is not in the list of bursar verify.
func verifiesListed(files []*source) (found []finding) {
	listed := map[string]bool{}
	for _, f := range files {
		if f.path != verifyList {
			continue
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Verify" {
				if x, ok := s.X.(*ast.Ident); ok {
					listed[x.Name] = true
				}
			}
			return true
		})
	}
	for _, f := range files {
		if !strings.HasPrefix(f.path, "internal/") || strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		for _, d := range f.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Name.Name == "Verify" && takesTransaction(fn) && !listed[path.Base(path.Dir(f.path))] {
				found = append(found, finding{f.path, f.fset.Position(fn.Pos()).Line, "bursar verify does not run this: list it in " + verifyList})
			}
		}
	}
	return found
}

// takesTransaction reports whether a function that is no method has a *db.Tx as its last parameter.
func takesTransaction(fn *ast.FuncDecl) bool {
	all := fn.Type.Params.List
	if fn.Recv != nil || len(all) == 0 {
		return false
	}
	pointer, ok := all[len(all)-1].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	s, ok := pointer.X.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Tx"
}

func TestEveryVerifyIsRunByBursarVerify(t *testing.T) {
	t.Parallel()
	const verify = "package tag\nfunc Verify(ctx context.Context, tx *db.Tx) ([]string, error) { return nil, nil }\n"
	for text, want := range map[string]string{
		"package app\nvar checks = []any{tag.Verify}\n":     "",
		"package app\nvar checks = []any{account.Verify}\n": "list it in internal/app/verify.go",
	} {
		list, err := parseSource(verifyList, text)
		if err != nil {
			t.Fatal(err)
		}
		owner, err := parseSource("internal/books/tag/verify.go", verify)
		if err != nil {
			t.Fatal(err)
		}
		proveFiles(t, verifiesListed, want, owner, list)
	}
	obey(t, verifiesListed)
}
