package memory

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestFrontMatterBecomesAnObject(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"# no front matter":                 "",
		"":                                  "",
		"text\n---\na: 1\n---\n":            "",
		"----\na: 1\n---\n":                 "",
		"---\n---\n":                        "{}",
		"---\n# only a comment\n---\n":      "{}",
		"---\na: 1\n---\ntext":              `{"a":1}`,
		"\ufeff---\r\na: 1\r\n--- \r\ntext": `{"a":1}`,
		"---\nn: 0.10\ni: 12345678901234567890123\nh: 0x1F\nf: .5\ninf: .inf\ne: 1e3\n---\n":       `{"e":1e3,"f":".5","h":31,"i":12345678901234567890123,"inf":".inf","n":0.10}`,
		"---\nt: 2026-01-31\ns: 2026-01-31T10:00:00Z\nb: yes\nc: true\nd: ~\n1: x\ntrue: y\n---\n": `{"1":"x","b":"yes","c":true,"d":null,"s":"2026-01-31T10:00:00Z","t":"2026-01-31","true":"y"}`,
		"---\nl: [a, {b: c}]\nq: \"<&>\"\n---\n":                                                   `{"l":["a",{"b":"c"}],"q":"<&>"}`,
		"---\nbase: &b {x: 1, y: 2}\nown:\n  <<: *b\n  y: 3\n---\n":                                `{"base":{"x":1,"y":2},"own":{"x":1,"y":3}}`,
		"---\nz: \"\\0\"\n---\n": `{"z":"\u0000"}`,
	} {
		got, err := frontmatterOf("a.md", content)
		if err != nil || got != want || got != "" && !json.Valid([]byte(got)) {
			t.Errorf("%q: %s %v, want %s", content, got, err, want)
		}
	}
}

func TestYAMLThatDoesNotParseIsNamedByItsLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, content, says string }{
		{"a.md", "---\na: 1\n", "line 1: the front matter that begins here does not end"},
		{"a.md", "---\na: 1\nb: [\n---\n", "line"},
		{"a.md", "---\n- a\n---\n", "one mapping"},
		{"a.md", "---\ntext\n---\n", "one mapping"},
		{"a.md", "---\na: 1\n--- x\n---\n", "one mapping"},
		{"a.md", "---\na: 1\nb: 2\na: 3\n---\n", `line 4: the name "a" occurs twice`},
		{"a.md", "---\n? [a]\n: b\n---\n", "line 2: a name must be a plain text"},
		{"a.yaml", "a: 1\n\tb: 2\n", "line 2"},
		{"a.yaml", "a: 1\n---\nb: *x\n", "unknown anchor"},
		{"a.yml", "a: 1\na: 2\n", "line 2: the name"},
		{"a.yaml", "a: &a [*a]\n", "deep"},
		{"a.yaml", strings.Repeat("[", 100) + strings.Repeat("]", 100), "deep"},
		{"a.yaml", strings.Repeat("[", 100_000), "max depth"},
		{"a.yaml", strings.Repeat("- ", 100_000), "max depth"},
	} {
		if _, err := frontmatterOf(c.path, c.content); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.60q: %v does not say %q", c.content, err, c.says)
		}
	}
	for _, fine := range []string{"", "a: 1\n---\nb: 2\n", "- 1\n- 2\n", "text", "# nothing\n"} {
		if got, err := frontmatterOf("a.yaml", fine); err != nil || got != "" {
			t.Errorf("%q: %q %v", fine, got, err)
		}
	}
}

// A few lines of aliases can expand to more than fits in memory.
func TestExponentialAliasExpansionIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [x, x]\n")
	for i := range 60 {
		fmt.Fprintf(&laughs, "a%d: &a%d [*a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i)
	}
	long := "a: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a ,", 20_000) + "]\n"
	keys := "a: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("{*a : 1},", 10_000) + "]\n"
	for _, bomb := range []string{laughs.String(), long, keys} {
		start := time.Now()
		for _, file := range []struct{ path, content string }{{"a.yaml", bomb}, {"a.md", "---\n" + bomb + "---\n"}} {
			if _, err := frontmatterOf(file.path, file.content); err == nil || !strings.Contains(err.Error(), "too large") {
				t.Errorf("%.20q in %s: %v", bomb, file.path, err)
			}
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%.20q took %s", bomb, took)
		}
	}
}

func FuzzFrontMatterIsAlwaysAnObject(f *testing.F) {
	for _, seed := range []string{"---\na: 1\n---\n", "---\n<<: {a: 1}\nb: &x [*x]\n---\n", "---\n? a\n: !!binary x\n---\n",
		"---\n\"\\ud800\": !foo bar\n---\n", "---\na: 0o17\nb: !!int x\nc: !!bool x\n---\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		got, err := frontmatterOf("a.md", content)
		if _, failed := frontmatterOf("a.yaml", content); failed == nil && len(content) > 1<<20 {
			t.Error("too large to be fine")
		}
		var object map[string]any
		if err == nil && got != "" && (json.Unmarshal([]byte(got), &object) != nil || object == nil) {
			t.Errorf("%q gave %s", content, got)
		}
	})
}
