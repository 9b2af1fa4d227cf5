package diff

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestADifferenceReadsAsPeopleKnowIt(t *testing.T) {
	t.Parallel()
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for name, c := range map[string]struct{ old, new, want string }{
		"nothing":  {ten, ten, ""},
		"new":      {"", "a\nb\n", "--- x\n+++ y\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		"gone":     {"a\n", "", "--- x\n+++ y\n@@ -1 +0,0 @@\n-a\n"},
		"one line": {ten, strings.Replace(ten, "5\n", "five\n", 1), "--- x\n+++ y\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		"two apart": {ten, strings.TrimSuffix("0\n"+ten, "10\n"),
			"--- x\n+++ y\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -7,4 +8,3 @@\n 7\n 8\n 9\n-10\n"},
		"no newline": {"a\nb", "a\nb\n", "--- x\n+++ y\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
	} {
		if got := Unified("x", "y", c.old, c.new); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestTheShortestWayIsFoundAndALongOneIsBounded(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b := letters(random), letters(random)
		edits := 0
		for _, c := range changes(split(a), split(b)) {
			edits += c.oldTo - c.oldFrom + c.newTo - c.newFrom
		}
		if want := editsBetween(split(a), split(b)); edits != want {
			t.Fatalf("%q to %q in %d edits, want %d", a, b, edits, want)
		}
	}
	var old, new strings.Builder
	for i := range 3 * editsMax {
		fmt.Fprintf(&old, "old %d\nboth\n", i)
		fmt.Fprintf(&new, "new %d\nboth\n", i)
	}
	if got, err := applied(old.String(), Unified("x", "y", old.String(), new.String())); err != nil || got != new.String() {
		t.Error("a long difference does not lead to the new text", err)
	}
}

func letters(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(12) {
		fmt.Fprintf(&b, "%c\n", 'a'+random.IntN(4))
	}
	return b.String()
}

// editsBetween counts edits by the table of longest common subsequences.
func editsBetween(a, b []string) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			table[i+1][j+1] = max(table[i][j+1], table[i+1][j])
			if a[i] == b[j] {
				table[i+1][j+1] = table[i][j] + 1
			}
		}
	}
	return len(a) + len(b) - 2*table[len(a)][len(b)]
}

func FuzzApplyingADifferenceGivesTheNewText(f *testing.F) {
	f.Add("", "a")
	f.Add("a\nb\nc\n", "a\nc\nd")
	f.Add("a\r\nb\n\n\nx", "a\nb\n\nx\n")
	f.Add(strings.Repeat("a\nb\n", 30), strings.Repeat("b\na\n", 30))
	f.Fuzz(func(t *testing.T, old, new string) {
		text := Unified("x", "y", old, new)
		if got, err := applied(old, text); err != nil || got != new {
			t.Errorf("%v: %q under\n%s\nis %q, want %q", err, old, text, got, new)
		}
	})
}

// applied applies a difference to a text as patch does, independently of how it was computed.
func applied(old, patch string) (string, error) {
	if patch == "" {
		return old, nil
	}
	lines, at := strings.SplitAfter(old, "\n"), 0
	var out strings.Builder
	steps := strings.SplitAfter(patch, "\n")
	for n := 2; n < len(steps) && steps[n] != ""; n++ {
		step := steps[n]
		if strings.HasPrefix(step, "@@ -") {
			first, _, _ := strings.Cut(strings.TrimPrefix(step, "@@ -"), " ")
			from, count, counted := strings.Cut(first, ",")
			line, err := strconv.Atoi(from)
			if err != nil {
				return "", err
			}
			if !counted || count != "0" {
				line--
			}
			for ; at < line; at++ {
				out.WriteString(lines[at])
			}
			continue
		}
		text := step[1:]
		if n+1 < len(steps) && strings.HasPrefix(steps[n+1], "\\ No newline") {
			text = strings.TrimSuffix(text, "\n")
			n++
		}
		if step[0] != '+' {
			if at >= len(lines) || lines[at] != text {
				return "", fmt.Errorf("line %d is not %q", at+1, text)
			}
			at++
		}
		if step[0] != '-' {
			out.WriteString(text)
		}
	}
	return out.String() + strings.Join(lines[at:], ""), nil
}
