package arch

import (
	"go/ast"
	"testing"
)

func TestTimeComesFromTheClock(t *testing.T) {
	t.Parallel()
	obey(t, checkTime)
}

func checkTime(files []*source) []finding {
	var found []finding
	for _, s := range files {
		if s.test() || !s.in("internal/rules") && !domain(s.dir()) {
			continue
		}
		for _, use := range s.uses("time", "Now", "Since", "Until") {
			found = append(found, s.at(use.Pos(), "time.%s reads the system clock: rules get the time as an argument and "+
				"use cases from the transaction, so that tests and simulations can set it", use.Sel.Name))
		}
	}
	return found
}

func TestTheClockRuleFires(t *testing.T) {
	t.Parallel()
	prove(t, checkTime,
		sample{"internal/rules/a/a.go", "package a\nimport \"time\"\nvar t = time.Now()", "system clock"},
		sample{"internal/books/a/a.go", "package a\nimport \"time\"\nvar now = time.Now", "system clock"},
		sample{"internal/books/a/a.go", "package a\nimport t \"time\"\nvar d = t.Since(x)", "time.Since"},
		sample{"internal/books/a/a.go", "package a\nimport \"time\"\nvar d = time.Second", ""},
		sample{"internal/books/a/a.go", "package a\nvar d = time.Now()", ""},
		sample{"internal/books/a/a_test.go", "package a\nimport \"time\"\nvar t = time.Now()", ""},
		sample{"internal/db/a.go", "package a\nimport \"time\"\nvar t = time.Now()", ""},
	)
}

func TestTheEnvironmentIsReadInOnePlace(t *testing.T) {
	t.Parallel()
	obey(t, checkEnvironment)
}

func checkEnvironment(files []*source) []finding {
	var found []finding
	for _, s := range files {
		if s.testing() || s.in("internal/edge/cli", "bench") {
			continue
		}
		for _, use := range s.uses("os", "Getenv", "LookupEnv", "Environ") {
			found = append(found, s.at(use.Pos(), "os.%s outside internal/edge/cli: settings are read, checked and documented "+
				"in one place and passed as arguments", use.Sel.Name))
		}
	}
	return found
}

func TestTheEnvironmentRuleFires(t *testing.T) {
	t.Parallel()
	const text = "package a\nimport \"os\"\nvar v = os.Getenv(\"X\")"
	prove(t, checkEnvironment,
		sample{"internal/db/a.go", text, "one place"},
		sample{"cmd/bursar/main.go", text, "one place"},
		sample{"internal/edge/cli/a.go", text, ""},
		sample{"internal/db/a_test.go", text, ""},
		sample{"internal/db/dbtest/a.go", text, ""},
		sample{"bench/a.go", text, ""},
	)
}

// floatsAllowed are files that may name floats, each with its reason.
var floatsAllowed = map[string]string{}

func TestAmountsNeverTouchFloats(t *testing.T) {
	t.Parallel()
	obey(t, checkFloats(floatsAllowed))
}

func checkFloats(allowed map[string]string) rule {
	return func(files []*source) []finding {
		var found []finding
		for _, s := range files {
			if s.test() || !s.in("internal/base", "internal/rules") && !domain(s.dir()) {
				continue
			}
			floats := s.floats()
			switch {
			case allowed[s.path] == "":
				found = append(found, floats...)
			case len(floats) == 0:
				found = append(found, finding{s.path, 1, "names no float any more: remove it from floatsAllowed"})
			}
		}
		return found
	}
}

func (s *source) floats() []finding {
	const because = "a float loses cents: amounts are money.Amount; a file with a good reason goes into floatsAllowed"
	var found []finding
	ast.Inspect(s.file, func(n ast.Node) bool {
		if ident, ok := n.(*ast.Ident); ok && (ident.Name == "float32" || ident.Name == "float64") {
			found = append(found, s.at(ident.Pos(), "%s: %s", ident.Name, because))
		}
		return true
	})
	for _, use := range s.uses("strconv", "ParseFloat", "FormatFloat") {
		found = append(found, s.at(use.Pos(), "strconv.%s: %s", use.Sel.Name, because))
	}
	return found
}

func TestTheFloatRuleFires(t *testing.T) {
	t.Parallel()
	prove(t, checkFloats(nil),
		sample{"internal/base/money/a.go", "package a\nvar x float64", "loses cents"},
		sample{"internal/rules/a/a.go", "package a\nfunc f(x any) { _ = x.(float32) }", "loses cents"},
		sample{"internal/books/a/a.go", "package a\nimport \"strconv\"\nvar x, _ = strconv.ParseFloat(s, 64)", "ParseFloat"},
		sample{"internal/books/a/a_test.go", "package a\nvar x float64", ""},
		sample{"internal/app/a.go", "package a\nvar x float64", ""},
		sample{"internal/books/a/a.go", "package a\nvar x = \"float64\" // float64", ""},
	)
	allow := map[string]string{"internal/base/money/a.go": "a driver's float is refused there"}
	prove(t, checkFloats(allow),
		sample{"internal/base/money/a.go", "package a\nvar x float64", ""},
		sample{"internal/base/money/a.go", "package a\nvar x int", "remove it from floatsAllowed"},
	)
}
