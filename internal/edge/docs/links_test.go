package docs_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/bursarhq/bursar/docs/guides"
)

var (
	codeBlock    = regexp.MustCompile("(?ms)^```.*?^```")
	codeSpan     = regexp.MustCompile("`[^`\n]*`")
	linkTarget   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingLine  = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	documentRoot = filepath.Join("..", "..", "..")
)

// documents returns the text of each document of the repository, without blocks of code, by its path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(documentRoot, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != documentRoot && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".md") {
			return nil
		}
		text, err := os.ReadFile(path)
		out[path] = codeBlock.ReplaceAllString(string(text), "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// anchorOf returns the anchor of a heading: its letters and digits in lower case, with hyphens for spaces.
func anchorOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

// anchorsOf returns the anchors of the headings of a document.
func anchorsOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range headingLine.FindAllStringSubmatch(text, -1) {
		out[anchorOf(m[1])] = true
	}
	return out
}

func TestEveryLinkBetweenDocumentsLeadsToAFileAndAHeadingThatExist(t *testing.T) {
	t.Parallel()
	all, links := documents(t), 0
	site := described(t)
	for path, text := range all {
		for _, m := range linkTarget.FindAllStringSubmatch(codeSpan.ReplaceAllString(text, ""), -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			switch {
			case strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:"):
				continue
			case strings.HasPrefix(to, "/"): // of the running service
				if w := get(t, site, to); w.Code != 200 || anchor != "" && !strings.Contains(w.Body.String(), `id="`+anchor+`"`) {
					t.Errorf("%s links to %s, which the service does not have", path, m[1])
				}
				continue
			}
			links++
			target := path
			if to != "" {
				target = filepath.Join(filepath.Dir(path), filepath.FromSlash(to))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", path, m[1])
			} else if anchor != "" && !anchorsOf(all[target])[anchor] {
				t.Errorf("%s links to %s, which has no such heading", path, m[1])
			}
		}
	}
	if links < 30 {
		t.Errorf("only %d links were found", links)
	}
}

func TestTheAnchorOfAHeadingIsThatOfACodeHost(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]string{
		"SQLite or PostgreSQL": "sqlite-or-postgresql", "A report: `GET /v1/reports/balance-sheet`": "a-report-get-v1reportsbalance-sheet",
		"Chart of accounts, legal entities and FX rates": "chart-of-accounts-legal-entities-and-fx-rates",
	} {
		if got := anchorOf(heading); got != want {
			t.Errorf("the anchor of %q is %s, want %s", heading, got, want)
		}
	}
}

var loop = regexp.MustCompile(`(?ms)^while .*?^done`)

// TestTheLoopsOfTheGuidesEndWhenARequestFails runs them with a jq that always succeeds, as version 1.6 does on an empty input.
func TestTheLoopsOfTheGuidesEndWhenARequestFails(t *testing.T) {
	t.Parallel()
	const before = `jq() { command jq "$@"; return 0; }
api() { echo "the request fails" >&2; return 1; }
explain() { api "$1"; }
answer='{"data": {"parts": [{"explain": "report=balance-sheet"}]}}'
cursor= source=src_1 BURSAR_URL=http://127.0.0.1
`
	loops := 0
	for _, name := range guides.Order {
		for _, block := range blocks.FindAllStringSubmatch(textOfGuide(t, name), -1) {
			for _, commands := range loop.FindAllString(block[2], -1) {
				loops++
				ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
				c := exec.CommandContext(ctx, "bash", "-c", before+commands)
				c.WaitDelay = time.Second
				_ = c.Run() // it may fail, but must end
				if ctx.Err() != nil {
					t.Errorf("%s: this does not end:\n%s", name, commands)
				}
				stop()
			}
		}
	}
	if loops < 2 {
		t.Errorf("only %d loops were found", loops)
	}
}
