package notation_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/rules/notation"
)

// program runs another program on a journal, whose path replaces FILE in the arguments, and returns its output.
func program(t *testing.T, text, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "books."+name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, arg := range args {
		if arg == "FILE" {
			args[i] = path
		}
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v (scripts/setup installs it)\n%.4000s", name, args, err, complaint.String())
	}
	return string(out)
}

// manyEntries draws journals with fixed seeds and merges them, because starting another program is slow.
func manyEntries(count int, d digits) journal {
	var all journal
	seen := map[string]bool{}
	generator := rapid.Custom(func(t *rapid.T) journal { return drawJournal(t, d) })
	for seed := range count {
		j := generator.Example(seed)
		for _, a := range j.accounts {
			if key := showAccounts([]notation.Account{{Path: a.Path}}); !seen[key] {
				seen[key] = true
				all.accounts = append(all.accounts, a)
			}
		}
		all.prices = append(all.prices, j.prices...)
		all.entries = append(all.entries, j.entries...)
	}
	return all
}

func TestWhatHledgerPrintsOfOurJournalIsStillTheSameEntries(t *testing.T) {
	t.Parallel()
	j := manyEntries(200, exact)
	text := write(t, notation.Hledger, j)
	// hledger prints by date.
	slices.SortStableFunc(j.entries, func(a, b notation.Entry) int { return strings.Compare(a.Date, b.Date) })
	for _, args := range [][]string{{"-f", "FILE", "print"}, {"-f", "FILE", "print", "-x"}} {
		printed := program(t, text, "hledger", args...)
		got := read(t, notation.Hledger, printed)
		if len(got.entries) != len(j.entries) {
			t.Fatalf("%d entries of %d came back", len(got.entries), len(j.entries))
		}
		for i := range j.entries {
			if want, got := show(&j.entries[i]), show(&got.entries[i]); got != want {
				t.Fatalf("hledger %v: wrote\n%s\nread\n%s", args, want, got)
			}
		}
	}
}
