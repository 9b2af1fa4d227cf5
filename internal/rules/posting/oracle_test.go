package posting_test

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// oracle reads testdata/examples.beancount: for every example, by the last part of each account's name, what its
// event posts. Legs without an amount are worked out as beancount does, with lots first in, first out; the figure
// that beancount came to stands in a comment above each example.
type oracle struct {
	posts map[string]map[string]money.Decimal // by example, and for those with several events by example and narration
	gains map[string]string
}

var (
	wantForm  = regexp.MustCompile(`^; (E\d\d) want gain leg (\S+)$`)
	eventForm = regexp.MustCompile(`^(\d{4}-\d\d-\d\d) \* "(.*)"$`)
	postForm  = regexp.MustCompile(`^  (\S+)(?:\s+(-?[\d.]+) (\w+)(?: (\{.*\}))?)?$`)
	costForm  = regexp.MustCompile(`^(\{+)([\d.]+) USD`)
)

type costed struct{ quantity, basis money.Decimal }

func readOracle(t *testing.T) oracle {
	t.Helper()
	text, err := os.ReadFile("testdata/examples.beancount")
	if err != nil {
		t.Fatal(err)
	}
	o := oracle{map[string]map[string]money.Decimal{}, map[string]string{}}
	held := map[string][]costed{}
	var example, event, elided string
	var open map[string]money.Decimal
	finish := func() {
		if open == nil {
			return
		}
		if elided != "" {
			var sum money.Decimal
			for _, amount := range open {
				sum = sum.Sub(amount)
			}
			open[elided] = open[elided].Add(sum)
		}
		if _, before := open["Opening"]; !before && event != "accrued interest" {
			for _, key := range []string{example, example + " " + event} {
				if o.posts[key] == nil {
					o.posts[key] = map[string]money.Decimal{}
				}
				for account, amount := range open {
					o.posts[key][account] = o.posts[key][account].Add(amount)
				}
			}
		}
		open, elided = nil, ""
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if m := wantForm.FindStringSubmatch(line); m != nil {
			finish()
			example, o.gains[m[1]] = m[1], m[2]
		} else if m := eventForm.FindStringSubmatch(line); m != nil {
			finish()
			event, open = m[2], map[string]money.Decimal{}
		} else if m := postForm.FindStringSubmatch(line); m != nil && open != nil {
			name := path.Base(strings.ReplaceAll(m[1], ":", "/"))
			if m[2] == "" {
				elided = name
				continue
			}
			open[name] = open[name].Add(weight(held, m[1]+m[3], dec(m[2]), m[4]))
		}
	}
	finish()
	return o
}

// weight is what a posting counts in USD: what it says, what its lot cost, or what the lots cost that it takes.
func weight(held map[string][]costed, pool string, number money.Decimal, cost string) money.Decimal {
	if cost == "" {
		return number
	}
	if m := costForm.FindStringSubmatch(cost); m != nil {
		basis := dec(m[2])
		if m[1] == "{" {
			basis = basis.Mul(number)
		}
		held[pool] = append(held[pool], costed{number, basis})
		return basis
	}
	var taken money.Decimal
	for want := number.Neg(); want.Sign() > 0; {
		first := &held[pool][0]
		if first.quantity.Cmp(want) > 0 {
			part := first.basis.Mul(want).Quo(first.quantity, 2)
			first.quantity, first.basis, taken = first.quantity.Sub(want), first.basis.Sub(part), taken.Add(part)
			break
		}
		want, taken = want.Sub(first.quantity), taken.Add(first.basis)
		held[pool] = held[pool][1:]
	}
	return taken.Neg()
}

func TestWorkedExamplesAgreeWithBeancount(t *testing.T) {
	t.Parallel()
	o := readOracle(t)
	checked := map[string]bool{}
	for _, x := range worked {
		if x.oracle == "" {
			continue
		}
		number := x.oracle[:3]
		checked[number] = true
		s := base()
		s.addLots(x.holds...)
		e, err := bookInput(t, s, x.input())
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		got := map[string]money.Decimal{}
		for _, l := range e.Lines {
			name := l.Account
			if strings.HasSuffix(name, " fees") {
				name = "Fees"
			}
			if l.Side == book.Credit {
				l.Amount = l.Amount.Neg()
			}
			got[name] = got[name].Add(l.Amount)
		}
		want := o.posts[x.oracle]
		for account := range want {
			if !got[account].Equal(want[account]) {
				t.Errorf("%s: %s is %s, beancount says %s", x.oracle, account, got[account], want[account])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d accounts %v, beancount has %d %v", x.oracle, len(got), got, len(want), want)
		}
		if figure := o.gains[number]; figure != "None" && !got["Gain"].Equal(dec(figure)) {
			t.Errorf("%s: gain %s, beancount computed %s", number, got["Gain"], figure)
		}
	}
	if len(checked) != 24 || len(o.gains) != 24 {
		t.Errorf("%d of %d examples were compared, want all 24", len(checked), len(o.gains))
	}
}
