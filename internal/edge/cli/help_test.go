package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/edge/cli"
)

// walk calls do for a command and all commands below it.
func walk(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		walk(sub, do)
	}
}

func TestEveryCommandHasASummaryADescriptionAndAnExample(t *testing.T) {
	t.Parallel()
	walk(cli.Commands(), func(c *cobra.Command) {
		switch {
		case c.Short == "" || strings.HasSuffix(c.Short, "."):
			t.Errorf("%s: the summary %q should be a phrase without a full stop", c.CommandPath(), c.Short)
		case !strings.HasSuffix(c.Long, "."):
			t.Errorf("%s: the description %q should be sentences", c.CommandPath(), c.Long)
		case !strings.Contains(c.Example, "bursar"):
			t.Errorf("%s has no example: %q", c.CommandPath(), c.Example)
		}
	})
}

func TestEveryExampleNamesCommandsAndFlagsThatExist(t *testing.T) {
	t.Parallel()
	seen := 0
	walk(cli.Commands(), func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			line, _, _ = strings.Cut(line, " #")
			for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == '|' || r == '&' }) {
				words := shellWords(t, part)
				for len(words) > 0 && strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "-") {
					words = words[1:] // a variable of the environment
				}
				if len(words) == 0 || words[0] != "bursar" {
					continue
				}
				seen++
				root := cli.Commands()
				found, rest, err := root.Find(words[1:])
				if err != nil {
					t.Errorf("%s: %q: %v", c.CommandPath(), part, err)
					continue
				}
				if err := found.ParseFlags(rest); err != nil {
					t.Errorf("%s: %q: %v", c.CommandPath(), part, err)
					continue
				}
				if err := found.ValidateArgs(found.Flags().Args()); err != nil {
					t.Errorf("%s: %q: %v", c.CommandPath(), part, err)
				}
				if found.PreRunE != nil {
					if err := found.PreRunE(found, nil); err != nil {
						t.Errorf("%s: %q: %v", c.CommandPath(), part, err)
					}
				}
			}
		}
	})
	if seen < 20 {
		t.Errorf("only %d examples were found", seen)
	}
}

// shellWords splits a line as a shell does, as far as examples need it: quotes group words, and a redirection ends the command.
func shellWords(t *testing.T, line string) (words []string) {
	t.Helper()
	var quote rune
	nested := 0 // in $(…)
	word, started := "", false
	flush := func() {
		if started {
			words = append(words, word)
		}
		word, started = "", false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '(':
			nested++
		case r == ')':
			nested--
		case nested > 0:
			word += string(r)
		case r == '"' || r == '\'':
			quote, started = r, true
		case r == '>':
			flush()
			return words
		case r == ' ' || r == '\n':
			flush()
		default:
			word, started = word+string(r), true
		}
	}
	if quote != 0 {
		t.Errorf("%q has an unclosed quote", line)
	}
	flush()
	return words
}
