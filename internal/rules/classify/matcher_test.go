package classify_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/rules/classify/classifytest"
)

func TestARuleMatchesWhenAllItAsksHolds(t *testing.T) {
	t.Parallel()
	coffee := classify.Subject{Texts: []string{"Blue  Bottle\tCoffee #12", "card ending 4411"}, Category: "Meals",
		Merchant: "Blue Bottle", From: "0xAbC", To: "0xDeF", Asset: "USDC"}
	in := coffee
	in.Inflow = true
	for name, c := range map[string]struct {
		rule classify.Rule
		of   classify.Subject
		want bool
	}{
		"a part of a text":                {classify.Rule{MemoContains: "bottle coffee"}, coffee, true},
		"in another case":                 {classify.Rule{MemoContains: "BOTTLE"}, coffee, true},
		"with more white space":           {classify.Rule{MemoContains: " blue \n bottle "}, coffee, true},
		"with white space there is not":   {classify.Rule{MemoContains: "bot tle"}, coffee, false},
		"a part of another text":          {classify.Rule{MemoContains: "4411"}, coffee, true},
		"a whole text":                    {classify.Rule{MemoContains: "card ending 4411"}, coffee, true},
		"not across texts":                {classify.Rule{MemoContains: "#12 card"}, coffee, false},
		"not across texts, without blank": {classify.Rule{MemoContains: "12card"}, coffee, false},
		"more than a text":                {classify.Rule{MemoContains: "card ending 44112"}, coffee, false},
		"a category":                      {classify.Rule{Category: "meals "}, coffee, true},
		"a part of a category":            {classify.Rule{Category: "meal"}, coffee, false},
		"a merchant":                      {classify.Rule{Merchant: "BLUE  BOTTLE"}, coffee, true},
		"a part of a merchant":            {classify.Rule{Merchant: "blue"}, coffee, false},
		"the sender":                      {classify.Rule{Address: "0xABC"}, coffee, true},
		"the receiver":                    {classify.Rule{Address: "0xdef"}, coffee, true},
		"a part of an address":            {classify.Rule{Address: "0xde"}, coffee, false},
		"an asset":                        {classify.Rule{Asset: "usdc"}, coffee, true},
		"another asset":                   {classify.Rule{Asset: "usd"}, coffee, false},
		"an asset going out":              {classify.Rule{Asset: "usdc", Direction: classify.Withdrawal}, coffee, true},
		"an asset not coming in":          {classify.Rule{Asset: "usdc", Direction: classify.Deposit}, coffee, false},
		"an asset coming in":              {classify.Rule{Asset: "usdc", Direction: classify.Deposit}, in, true},
		"an asset not going out":          {classify.Rule{Asset: "usdc", Direction: classify.Withdrawal}, in, false},
		"any way, in":                     {classify.Rule{Asset: "usdc", Direction: classify.Any}, in, true},
		"any way, out":                    {classify.Rule{Asset: "usdc", Direction: classify.Any}, coffee, true},
		"a direction written small":       {classify.Rule{Asset: "usdc", Direction: "deposit"}, in, true},
		"an unknown direction":            {classify.Rule{Asset: "usdc", Direction: "sideways"}, in, false},
		"all of it": {classify.Rule{MemoContains: "blue", Category: "meals", Merchant: "blue bottle",
			Address: "0xdef", Asset: "usdc", Direction: "WITHDRAWAL"}, coffee, true},
		"all but the category": {classify.Rule{MemoContains: "blue", Category: "fuel", Merchant: "blue bottle",
			Address: "0xdef", Asset: "usdc"}, coffee, false},
		"all but the memo": {classify.Rule{MemoContains: "red", Category: "meals", Merchant: "blue bottle",
			Address: "0xdef", Asset: "usdc"}, coffee, false},
		"all but the merchant": {classify.Rule{MemoContains: "blue", Category: "meals", Merchant: "red bottle",
			Address: "0xdef", Asset: "usdc"}, coffee, false},
		"all but the address": {classify.Rule{MemoContains: "blue", Category: "meals", Merchant: "blue bottle",
			Address: "0x123", Asset: "usdc"}, coffee, false},
		"all but the asset": {classify.Rule{MemoContains: "blue", Category: "meals", Merchant: "blue bottle",
			Address: "0xdef", Asset: "eth"}, coffee, false},
		"nothing":                          {classify.Rule{}, coffee, false},
		"white space":                      {classify.Rule{MemoContains: " \t", Category: " "}, coffee, false},
		"a direction alone":                {classify.Rule{Direction: classify.Withdrawal}, coffee, false},
		"what the transaction has not":     {classify.Rule{Category: "meals"}, classify.Subject{}, false},
		"Σ and σ":                          {classify.Rule{MemoContains: "ΣΑΣ"}, classify.Subject{Texts: []string{"x σασ y"}}, true},
		"a final ς is another letter":      {classify.Rule{MemoContains: "ΣΑΣ"}, classify.Subject{Texts: []string{"σας"}}, false},
		"ẞ and ß":                          {classify.Rule{MemoContains: "STRAẞE"}, classify.Subject{Texts: []string{"Hauptstraße 5"}}, true},
		"ß is not ss":                      {classify.Rule{MemoContains: "strasse"}, classify.Subject{Texts: []string{"Hauptstraße 5"}}, false},
		"İ and i":                          {classify.Rule{MemoContains: "istanbul"}, classify.Subject{Texts: []string{"İSTANBUL"}}, true},
		"a blank that must not be broken":  {classify.Rule{MemoContains: "a b"}, classify.Subject{Texts: []string{"A\u00a0\u2003B"}}, true},
		"text that is not valid":           {classify.Rule{MemoContains: "b"}, classify.Subject{Texts: []string{"a\xffB"}}, true},
		"the same address at both its end": {classify.Rule{Address: "0x1"}, classify.Subject{From: "0x1", To: "0X1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.rule.ID = "rul_1"
			var scratch classify.Scratch
			d := classify.Compile([]classify.Rule{c.rule}).Match(c.of, &scratch)
			if got := d.Rule != nil; got != c.want || len(d.Others) > 0 {
				t.Errorf("it matches: %t, want %t; others: %d", got, c.want, len(d.Others))
			}
			if got := brute([]classify.Rule{c.rule}, c.of); len(got) > 0 != c.want {
				t.Errorf("the reference says %v", got)
			}
		})
	}
}

func TestTheNarrowestRuleDecides(t *testing.T) {
	t.Parallel()
	s := classify.Subject{Texts: []string{"amazon web services ÜBER"}, Category: "cloud", Merchant: "aws", From: "0x1", Asset: "usdc",
		Inflow: true}
	best := []classify.Rule{ // each is better than the next
		{ID: "z", Address: "0x1"},
		{ID: "y", Merchant: "aws", MemoContains: "web", Category: "cloud", Asset: "USDC", Direction: classify.Deposit},
		{ID: "x", Merchant: "aws", Priority: -5},
		{ID: "w", MemoContains: "q", Category: "cloud", Priority: 99}, // does not match
		{ID: "v", MemoContains: "amazon", Category: "cloud"},
		{ID: "u", MemoContains: "a", Category: "cloud", Priority: 9},
		{ID: "t", MemoContains: "amazon web services", Direction: classify.Deposit},
		{ID: "s", MemoContains: "über"}, // four characters in five bytes
		{ID: "a", MemoContains: "  WEB "},
		{ID: "c", MemoContains: "am", Priority: 2},
		{ID: "d", MemoContains: "am", Priority: 1},
		{ID: "e", MemoContains: "we", Priority: 1},
		{ID: "f", MemoContains: "am"},
		{ID: "r", Category: "cloud", Asset: "usdc", Direction: classify.Deposit},
		{ID: "q", Category: "cloud", Asset: "usdc"},
		{ID: "p", Category: "cloud", Direction: classify.Deposit},
		{ID: "o", Category: "cloud"},
		{ID: "n", Asset: "usdc"},
	}
	want := []string{"z", "y", "x", "v", "u", "t", "s", "a", "c", "d", "e", "f", "r", "q", "p", "o", "n"}
	var scratch classify.Scratch
	for range 2 {
		if got := ids(classify.Compile(best).Match(s, &scratch)); !slices.Equal(got, want) {
			t.Errorf("they are %v, want %v", got, want)
		}
		slices.Reverse(best)
	}
}

func TestSpecificityIsASumOfWhatIsAsked(t *testing.T) {
	t.Parallel()
	for want, r := range map[int]classify.Rule{
		0: {Direction: classify.Any}, 1: {Direction: classify.Deposit}, 2: {Asset: "a"}, 4: {Category: "a"}, 8: {MemoContains: "a",
			Asset: " "}, 16: {Merchant: "a"}, 32: {Address: "a"},
		63: {Address: "a", Merchant: "a", MemoContains: "a", Category: "a", Asset: "a", Direction: classify.Withdrawal},
	} {
		if got := r.Specificity(); got != want {
			t.Errorf("%+v is %d specific, want %d", r, got, want)
		}
	}
}

func TestAMatcherKeepsWhatItWasGiven(t *testing.T) {
	t.Parallel()
	rules := []classify.Rule{{ID: "a", Category: "x"}, {ID: "b", Category: "x", Asset: "y"}}
	m := classify.Compile(rules)
	rules[0].ID, rules[1].ID = "c", "d"
	var scratch classify.Scratch
	if got := ids(m.Match(classify.Subject{Category: "x", Asset: "y"}, &scratch)); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("they are %v", got)
	}
}

func TestPatternsThatOverlapAreAllFound(t *testing.T) {
	t.Parallel()
	var rules []classify.Rule
	for _, p := range []string{"she", "he", "e", "hers", "his", "ers", "s", "usher", "sherry", "x"} {
		rules = append(rules, classify.Rule{ID: p, MemoContains: p})
	}
	var scratch classify.Scratch
	m := classify.Compile(rules)
	for text, want := range map[string]string{"usher": "usher she he e s", "USHERS": "usher hers ers she he e s", "sher": "she he e s",
		"h": "", "the": "he e", "": ""} {
		if got := strings.Join(ids(m.Match(classify.Subject{Texts: []string{text}}, &scratch)), " "); got != want {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
}

// A scratch serves one matcher after the other: what one has seen must not be seen by the next.
func TestAScratchForgets(t *testing.T) {
	t.Parallel()
	var scratch classify.Scratch
	for n := range 50 {
		var rules []classify.Rule
		for i := range 1 + n*7%20 {
			rules = append(rules, classify.Rule{ID: fmt.Sprintf("%02d", i), MemoContains: strings.Repeat("a", i+1)})
		}
		m := classify.Compile(rules)
		for range 2 {
			if got := ids(m.Match(classify.Subject{Texts: []string{"aaaa", "aaaaa"}}, &scratch)); len(got) != min(5, len(rules)) {
				t.Fatalf("of %d rules %d match", len(rules), len(got))
			}
		}
	}
}

func TestMatchingAllocatesNothing(t *testing.T) {
	m, subjects := classify.Compile(classifytest.Rules(1_000)), classifytest.Subjects(200, 1_000)
	var scratch classify.Scratch
	matchAll := func() {
		for i := range subjects {
			m.Match(subjects[i], &scratch)
		}
	}
	matchAll()
	if got := testing.AllocsPerRun(5, matchAll); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func TestAMatcherIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	m, subjects := classify.Compile(classifytest.Rules(500)), classifytest.Subjects(200, 500)
	match := func() (out [][]string) {
		var scratch classify.Scratch
		for _, s := range subjects {
			out = append(out, ids(m.Match(s, &scratch)))
		}
		return out
	}
	want := match()
	got := make([][][]string, 4)
	var all sync.WaitGroup
	for n := range got {
		all.Go(func() { got[n] = match() })
	}
	all.Wait()
	for n := range got {
		if !reflect.DeepEqual(got[n], want) {
			t.Errorf("number %d finds others", n)
		}
	}
}

// ids are the rules of a decision, the best first.
func ids(d classify.Decision) (out []string) {
	if d.Rule != nil {
		out = append(out, d.Rule.ID)
	}
	for _, r := range d.Others {
		out = append(out, r.ID)
	}
	return out
}
