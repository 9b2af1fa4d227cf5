package book_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// parse reads lines in an accountant's notation: "US Dr Bank 100.00 EUR #a #b".
func parse(text string) (lines []book.Line) {
	for row := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		f := strings.Fields(row)
		l := book.Line{Entity: f[0], Account: f[2], Amount: money.MustParse(f[3]), Currency: f[4], Side: book.Debit}
		if f[1] == "Cr" {
			l.Side = book.Credit
		}
		for _, tag := range f[5:] {
			l.Tags = append(l.Tags, strings.TrimPrefix(tag, "#"))
		}
		lines = append(lines, l)
	}
	return lines
}

func TestDifferencesAreNamedPerEntityAndCurrency(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, lines, want string }{
		{"balanced", "US Dr Bank 100.00 USD\nUS Cr Sales 100 USD", ""},
		{"three lines", "US Dr Bank 9985.00 USD\nUS Dr Fees 15.00 USD\nUS Cr Capital 10000.00 USD", ""},
		{"short", "US Dr Bank 100.00 USD\nUS Cr Sales 99.99 USD", "US USD 0.01"},
		{"one side", "US Cr Sales 5 USD", "US USD -5"},
		{"two entities, each short", "A Dr Bank 100 USD\nB Cr Sales 100 USD", "A USD 100, B USD -100"},
		{"two entities, each balanced", "A Dr Due 1500 USD\nA Cr ETH 1500 USD\nB Dr ETH 1500 USD\nB Cr Due 1500 USD", ""},
		{"two currencies", "A Dr Bank 100 USD\nA Cr Bank 100 EUR", "A EUR -100, A USD 100"},
		{"many digits", "A Dr X 0.000000000000000000000000000001 USD\nA Cr Y 0.000000000000000000000000000002 USD",
			"A USD -0.000000000000000000000000000001"},
	} {
		var got []string
		for _, d := range book.Differences(parse(c.lines)) {
			got = append(got, fmt.Sprint(d.Entity, " ", d.Currency, " ", d.Amount()))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, strings.Join(got, ", "), c.want)
		}
	}
}

func TestTranslationBalancesWhateverTheRateRounds(t *testing.T) {
	t.Parallel()
	lines := parse("US Dr A 10.00 EUR\nUS Cr B 3.33 EUR\nUS Cr C 3.33 EUR\nUS Cr D 3.34 EUR\nUS Dr E 7.00 USD\nUS Cr F 7.00 USD")
	book.Translate(lines, func(string) string { return "USD" }, func(from, to string) money.Decimal { return money.MustParse("1.0857") })
	var got []string
	for _, l := range lines {
		got = append(got, l.Base.String())
	}
	if s := strings.Join(got, " "); s != "10.86 3.62 3.61 3.63 7 7" {
		t.Error(s)
	}
	book.MustBalance(lines)
}

func TestAnyBalancedLinesStayBalancedWhenTranslatedAndFolded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		amount := func(name string) money.Decimal {
			return money.FromInt(rapid.Int64Range(1, 1e9).Draw(r, name)).Quo(money.FromInt(1000), 3)
		}
		var lines []book.Line
		for _, entity := range []string{"US", "DE"} {
			for _, currency := range []string{"USD", "EUR", "JPY", "ETH"} {
				n := rapid.IntRange(0, 4).Draw(r, "lines")
				total := money.Decimal{}
				for i := range n {
					a := amount("amount")
					total = total.Add(a)
					lines = append(lines, book.Line{Entity: entity, Account: fmt.Sprint("a", i), Side: book.Debit, Amount: a, Currency: currency,
						Tags: []string{"t"}})
				}
				if n > 0 {
					lines = append(lines, book.Line{Entity: entity, Account: "b", Side: book.Credit, Amount: total, Currency: currency})
				}
			}
		}
		rate := amount("rate")
		own := map[string]string{"US": "USD", "DE": "EUR"}
		book.Translate(lines, func(e string) string { return own[e] }, func(from, to string) money.Decimal { return rate })
		book.MustBalance(lines)
		totals := book.Totals{}
		totals.Add("p", lines)
		debits, credits := money.Decimal{}, money.Decimal{}
		for k, v := range totals {
			if k.Tag == "" {
				debits, credits = debits.Add(v.Debits), credits.Add(v.Credits)
			}
		}
		if !debits.Equal(credits) {
			r.Fatalf("%s differs from %s", debits, credits)
		}
		totals.Remove("p", lines)
		for k, v := range totals {
			if !v.Debits.IsZero() || !v.Credits.IsZero() {
				r.Fatalf("%v is left with %v", k, v)
			}
		}
	})
}

func TestUnbalancedLinesPanicBeforeTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines string
		base  []int64
	}{
		{"US Dr A 1 USD\nUS Cr B 2 USD", []int64{1, 2}},
		{"US Dr A 1 USD\nUS Cr B 2 USD", []int64{1, 1}},
		{"US Dr A 1 USD\nUS Cr B 1 USD", []int64{1, 2}},
		{"US Dr A 1 USD\nDE Cr B 1 USD", []int64{1, 1}},
		{"US Dr A 1 USD\nUS Cr B 1 USD\nDE Dr A 1 USD\nDE Cr B 1 USD", []int64{2, 1, 1, 2}},
		{"US Dr A 1 USD\nUS Cr B 1 EUR", []int64{1, 1}},
	} {
		lines := parse(c.lines)
		for i, base := range c.base {
			lines[i].Base = money.FromInt(base)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q passed with %v", c.lines, c.base)
				}
			}()
			book.MustBalance(lines)
		}()
	}
}
