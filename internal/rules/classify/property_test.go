package classify_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/rules/classify/classifytest"
)

// brute is the reference by definition: it tries every rule and compares every two.
func brute(rules []classify.Rule, s classify.Subject) []string {
	var matching []classify.Rule
	for _, r := range rules {
		if tried(r, s) {
			matching = append(matching, r)
		}
	}
	out := make([]string, len(matching))
	for _, r := range matching {
		better := 0
		for _, o := range matching {
			if beats(o, r) {
				better++
			}
		}
		out[better] = r.ID
	}
	return out
}

func plain(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

func tried(r classify.Rule, s classify.Subject) bool {
	asked := 0
	for _, c := range []struct {
		want  string
		among []string
		is    func(have, want string) bool
	}{
		{r.MemoContains, s.Texts, strings.Contains},
		{r.Category, []string{s.Category}, func(a, b string) bool { return a == b }},
		{r.Merchant, []string{s.Merchant}, func(a, b string) bool { return a == b }},
		{r.Address, []string{s.From, s.To}, func(a, b string) bool { return a == b }},
		{r.Asset, []string{s.Asset}, func(a, b string) bool { return a == b }},
	} {
		if plain(c.want) == "" {
			continue
		}
		asked++
		if !slices.ContainsFunc(c.among, func(have string) bool { return c.is(plain(have), plain(c.want)) }) {
			return false
		}
	}
	switch plain(string(r.Direction)) {
	case "", "any":
		return asked > 0
	case "deposit":
		return asked > 0 && s.Inflow
	case "withdrawal":
		return asked > 0 && !s.Inflow
	}
	return false
}

func beats(a, b classify.Rule) bool {
	score := func(r classify.Rule) (n int) {
		for i, c := range []string{r.Asset, r.Category, r.MemoContains, r.Merchant, r.Address} {
			if plain(c) != "" {
				n += []int{2, 4, 8, 16, 32}[i]
			}
		}
		if d := plain(string(r.Direction)); d == "deposit" || d == "withdrawal" {
			n++
		}
		return n
	}
	if x, y := score(a), score(b); x != y {
		return x > y
	}
	if x, y := len([]rune(plain(a.MemoContains))), len([]rune(plain(b.MemoContains))); x != y {
		return x > y
	}
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.ID < b.ID
}

// letters are few, so that patterns overlap; most of the others fold to something else, some to another number of bytes.
var letters = [][]rune{[]rune("abΣ"), []rune("ab B"), []rune("aaaabbAB  \t\u00a0İiıßẞΣσςKk\u212aȺ\x00é")}

func drawWord(t *rapid.T, name string, of []rune, atMost int) string {
	return rapid.StringOfN(rapid.SampledFrom(of), 0, atMost, -1).Draw(t, name)
}

func drawRules(t *rapid.T, letters []rune) (rules []classify.Rule) {
	rare := func(name string, from ...string) string {
		return rapid.SampledFrom(append(from, "", "", "")).Draw(t, name)
	}
	for n := range rapid.IntRange(0, 30).Draw(t, "rules") {
		r := classify.Rule{ID: fmt.Sprintf("r%02d", n), Priority: int64(rapid.IntRange(-1, 1).Draw(t, "priority")),
			Category: rare("category", "x", "X ", "y"), Merchant: rare("merchant", "m", "M n"),
			Address: rare("address", "0x1", "0X1", "0x2"), Asset: rare("asset", "eth", "USDC", " "),
			Direction: classify.Direction(rare("direction", "ANY", "DEPOSIT", "WITHDRAWAL"))}
		if rapid.IntRange(0, 2).Draw(t, "asks a memo") > 0 {
			r.MemoContains = drawWord(t, "memo", letters, 4)
		}
		rules = append(rules, r)
	}
	return rules
}

func drawSubject(t *rapid.T, letters []rune) classify.Subject {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	s := classify.Subject{Inflow: rapid.Bool().Draw(t, "in"), Category: pick("of category", "", "x", " X", "y", "z"),
		Merchant: pick("of merchant", "", "m", "m  N", "o"),
		From:     pick("from", "", "0x1", "0x2", "0x3"), To: pick("to", "", "0x1", "0X2", "0x3"), Asset: pick("of asset", "", "ETH",
			"usdc", "dai")}
	for range rapid.IntRange(0, 3).Draw(t, "texts") {
		s.Texts = append(s.Texts, drawWord(t, "text", letters, 12))
	}
	return s
}

func TestTheMatcherAgreesWithTryingEveryRule(t *testing.T) {
	t.Parallel()
	var scratch classify.Scratch
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom(letters).Draw(t, "letters")
		rules := drawRules(t, letters)
		m := classify.Compile(rules)
		for range 8 {
			s := drawSubject(t, letters)
			if got, want := ids(m.Match(s, &scratch)), brute(rules, s); !slices.Equal(got, want) {
				t.Fatalf("they are %v, want %v\nof %+v\nin %+v", got, want, rules, s)
			}
		}
	})
}

// Many rules: so many states that not all have a row of transitions.
func TestTheMatcherAgreesWithTryingEveryOfManyRules(t *testing.T) {
	t.Parallel()
	rules, subjects := classifytest.Rules(1_000), classifytest.Subjects(200, 1_000)
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 2_000 {
		memo := make([]rune, 3+random.IntN(40))
		for i := range memo {
			memo[i] = []rune("abcdefghijklmnopqrstuvwxyzÄÖÜ Σß0123456789-*/.")[random.IntN(46)]
		}
		text := string(memo)
		subjects[n%len(subjects)].Texts = append(slices.Clip(subjects[n%len(subjects)].Texts), "ref "+strings.ToUpper(text)+text[len(text)/2:])
		rules = append(rules, classify.Rule{ID: fmt.Sprintf("more%05d", n), MemoContains: text})
	}
	m := classify.Compile(rules)
	var scratch classify.Scratch
	for _, s := range subjects[:10] {
		if got, want := ids(m.Match(s, &scratch)), brute(rules, s); !slices.Equal(got, want) {
			t.Fatalf("they are %v, want %v in %+v", got, want, s)
		}
	}
}

func TestTheOrderOfRulesDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules := drawRules(t, letters[2])
		if shuffled := rapid.Permutation(rules).Draw(t, "shuffled"); !reflect.DeepEqual(classify.Compile(rules), classify.Compile(shuffled)) {
			t.Fatal("they compile otherwise")
		}
	})
}
