package notation_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/rules/notation"
)

// write returns the text of a journal.
func write(t rapid.TB, format notation.Format, j journal) string {
	t.Helper()
	var out bytes.Buffer
	w := notation.NewWriter(format, &out)
	for i := range j.accounts {
		if err := w.Account(&j.accounts[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range j.prices {
		if err := w.Price(&j.prices[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range j.entries {
		if err := w.Entry(&j.entries[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// read parses a text.
func read(t rapid.TB, format notation.Format, text string) journal {
	t.Helper()
	var j journal
	for item, err := range notation.Read(format, "test", strings.NewReader(text)) {
		switch {
		case err != nil:
			t.Fatalf("%v\n%s", err, text)
		case item.Account != nil:
			j.accounts = append(j.accounts, *item.Account)
		case item.Price != nil:
			j.prices = append(j.prices, *item.Price)
		case item.Entry != nil:
			j.entries = append(j.entries, *item.Entry)
		}
	}
	return j
}

func showAccounts(accounts []notation.Account) string {
	var b strings.Builder
	for _, a := range accounts {
		fmt.Fprintf(&b, "%q %s code=%q id=%q tags=%q\n", a.Path, a.Type, a.Code, a.ID, a.Tags)
	}
	return b.String()
}

func showPrices(prices []notation.Price) string {
	var b strings.Builder
	for _, p := range prices {
		fmt.Fprintf(&b, "%s %q %s %q %q\n", p.Date, p.Base, p.Rate, p.Quote, p.Source)
	}
	return b.String()
}

func TestWhatIsWrittenIsReadBackTheSame(t *testing.T) {
	t.Parallel()
	for _, format := range notation.Formats {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				j := drawJournal(t, exact)
				text := write(t, format, j)
				got := read(t, format, text)
				if want, got := showAll(j.entries), showAll(got.entries); got != want {
					t.Fatalf("wrote\n%s\nread\n%s\nas\n%s", want, got, text)
				}
				if format == notation.CSV {
					return // CSV has neither prices nor accounts without entries.
				}
				if want, got := showAccounts(j.accounts), showAccounts(got.accounts); got != want {
					t.Fatalf("wrote\n%s\nread\n%s\nas\n%s", want, got, text)
				}
				if want, got := showPrices(j.prices), showPrices(got.prices); got != want {
					t.Fatalf("wrote\n%s\nread\n%s\nas\n%s", want, got, text)
				}
			})
		})
	}
}
