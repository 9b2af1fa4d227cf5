package arch

import (
	"strings"
	"testing"
)

// sample is an invented file and the words that the finding about it must contain; no words mean that it breaks no rule.
type sample struct {
	path, text, want string
}

// prove tests that a rule fires on the samples it should and on no other.
func prove(t *testing.T, check rule, samples ...sample) {
	t.Helper()
	for _, s := range samples {
		file, err := parseSource(s.path, s.text)
		if err != nil {
			t.Fatalf("%s: %v", s.path, err)
		}
		proveFiles(t, check, s.want, file)
	}
}

func proveFiles(t *testing.T, check rule, want string, files ...*source) {
	t.Helper()
	found := check(files)
	switch {
	case want == "" && len(found) > 0:
		t.Errorf("%s is fine, but: %v", files[0].path, found)
	case want != "" && len(found) != 1:
		t.Errorf("%s: %d findings %v, want one about %q", files[0].path, len(found), found, want)
	case want != "" && !strings.Contains(found[0].String(), want):
		t.Errorf("%s: found %q, want it to mention %q", files[0].path, found[0], want)
	}
}

// importing returns the text of a file that imports the packages.
func importing(packages ...string) string {
	text := "package p\n"
	for _, p := range packages {
		text += "import \"" + p + "\"\n"
	}
	return text
}

func TestTheModuleIsFoundAndRead(t *testing.T) {
	t.Parallel()
	files, err := wholeTree()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.path == "internal/arch/rules_test.go" {
			return
		}
	}
	t.Fatal("the tree does not hold this very file, so the rules see nothing")
}
