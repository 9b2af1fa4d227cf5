package memory

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestPathsOfDocuments(t *testing.T) {
	t.Parallel()
	for path, fine := range map[string]bool{
		"profile.md": true, "clients.yaml": true, "a.markdown": true, "a.yml": true, "knowledge/x.md": true,
		"deep/er/and/deeper.md": true, "Q3 plan (v2).md": true,
		"knowledge/Zürich.md": true, "日本/覚書.md": true, "refs.md": true, "journal.yaml": true, "knowledge/facts.md": true,
		"notes/refs/x.md": true, "refsx/a.md": true,
		"skills/month-end/SKILL.md": true, "skills/a1/SKILL.md": true, "skills.md": true, strings.Repeat("é", 509) + ".md": true,

		"": false, "a": false, "a.txt": false, "a.json": false, "a.jsonl": false, "knowledge/a.JSON": false, "a.md.json": false,
		"a.MD": false, "md": false, ".md": false, "x/.md": false,
		strings.Repeat("é", 510) + ".md": false,
		"/a.md":                          false, "//a.md": false, "a//b.md": false, "a/": false, "a.md/": false, "./a.md": false,
		"../a.md": false, "a/../b.md": false, "a/./b.md": false,
		"..md": false, "a/..": false, "...": false, ".hidden/a.md": false, ".git/a.md": false, "a\\b.md": false, "C:/a.md": false,
		"c:a.md": false, "\\\\host\\a.md": false,
		"a\x00.md": false, "a\n.md": false, "a\u007f.md": false, "a\u200b.md": false, "a\u202e.md": false, "a\u00a0b.md": false,
		"a\ufeff.md": false, "a\ue000.md": false,
		"%2e%2e/a.md": false, "a%2fb.md": false, "refs%2fa.md": false, "a%00.md": false, "\xff.md": false, "a\xed\xa0\x80.md": false,
		"Zu\u0308rich.md": false, "K.md": true, "\u212a.md": false,
		"a /b.md": false, " a/b.md": false, "a./b.md": false, "a.md ": false, "a.md.": false, " a.md": false,

		"refs/a.md": false, "REFS/a.md": false, "Refs/deep/a.md": false, "refs./a.md": false, "refs /a.md": false, "journal/a.md": false,
		"artifacts/a.yaml": false, "timeline/a.md": false,
		"workstreams/a.md": false, "WorkStreams/a.md": false, "knowledge/facts/a.md": false, "knowledge/preferences/a.md": false,
		"knowledge/decisions/a.md": false,
		"Knowledge/Facts/a.md":     false, "knowledge/facts/b/a.md": false, "ref\u017f/a.md": false, "\uff32\uff25\uff26\uff33/a.md": false, "x/../refs/a.md": false, "./refs/a.md": false,

		"skills/a.md": false, "skills/a/skill.md": false, "skills/a/SKILL.markdown": false, "skills/a/b/SKILL.md": false, "skills/A/SKILL.md": false, "skills/a_b/SKILL.md": false,
		"skills/-a/SKILL.md": false, "Skills/a/SKILL.md": false, "SKILLS/x.md": false, "skills/a/README.md": false, "skills/SKILL.md": false,
	} {
		if message := validatePath(path); (message == "") != fine {
			t.Errorf("%q: %q", path, message)
		}
	}
}

// Every accepted path must satisfy this condition, which is written independently of the rules it tests.
func FuzzNoPathSlipsThrough(f *testing.F) {
	for _, seed := range []string{"profile.md", "knowledge/x.yaml", "skills/a/SKILL.md", "refs/x.md", "../x.md", "REFS/x.md",
		"a//b.md", "ſkills/x.md", "a\u0301.md", "x/%2e/y.md", "knowledge/FACTS/x.yml"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if validatePath(path) != "" {
			return
		}
		if !utf8.ValidString(path) || utf8.RuneCountInString(path) > 512 || norm.NFC.String(path) != path {
			t.Errorf("%q is no text that can be stored", path)
		}
		folded := strings.Map(func(r rune) rune {
			for least, next := r, unicode.SimpleFold(r); ; next = unicode.SimpleFold(next) {
				if least = min(least, next); next == r {
					return unicode.ToLower(least)
				}
			}
		}, norm.NFKC.String(path))
		for _, bad := range []string{"refs/", "journal/", "artifacts/", "timeline/", "workstreams/", "knowledge/facts/",
			"knowledge/preferences/", "knowledge/decisions/"} {
			if strings.HasPrefix(folded, bad) {
				t.Errorf("%q is in %s", path, bad)
			}
		}
		if strings.HasPrefix(folded, "skills/") && (!strings.HasPrefix(path, "skills/") || !strings.HasSuffix(path, "/SKILL.md") ||
			strings.Count(path, "/") != 2) {
			t.Errorf("%q is no skill", path)
		}
		for _, bad := range []string{"\\", "%", ":", "//", "/./", "/../", "./", " /", "/ ", "/."} {
			if strings.Contains("/"+path+"/", bad) {
				t.Errorf("%q has %q", path, bad)
			}
		}
		for _, r := range path {
			if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) {
				t.Errorf("%q has %U", path, r)
			}
		}
		if end := path[strings.LastIndex(path, "."):]; end != ".md" && end != ".markdown" && end != ".yaml" && end != ".yml" {
			t.Errorf("%q is neither Markdown nor YAML", path)
		}
	})
}
