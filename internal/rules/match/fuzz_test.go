package match_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/match"
)

const fuzzBooks = `
	customer acme Acme Trading GmbH | 0xA1 | pay@acme.com
	customer rtl شركة النور
	customer globex Globex Inc
	invoice INV-1001 acme 1000.00 due 01-31
	invoice INV-1002 acme 250.00 due 02-01
	invoice 20240001 globex 1000.00 due 01-31
	invoice R/77-A rtl 500.00 due 01-31
	earlier 1 0 globex Wise`

func FuzzTextsOfPayersAreReadSafely(f *testing.F) {
	for _, text := range []string{"", "Acme Trading GmbH", "\u202eHbmG gnidarT emcA\u202c", "شركة النور", "INV-1001",
		"I\u200dN\u200dV-10\u20601",
		"\xff\xfe", "ｉｎｖ－１００１", "İNV-1001", "ǅ ﷺ ﷽", "a\u0301\u0301\u0301", "#R/77-A",
		"pay@acme.com <pay@acme.com>", "@", "0x", "INV-\x00-1001",
		strings.Repeat("INV-1001,", 1200), strings.Repeat("\u200f", 10_000), strings.Repeat("ﷺ", 3000), strings.Repeat("a1", 8000)} {
		f.Add(text, text)
		f.Add("Acme", text)
	}
	var c company
	c.read(fuzzBooks)
	m := match.New(c.customers, c.history, c.invoices)
	f.Fuzz(func(t *testing.T, payer, memo string) {
		core, _ := match.ParseName(payer)
		if again, _ := match.ParseName(core); !utf8.ValidString(core) || len(core) < 400 && again != core && !strings.HasPrefix(core, "the ") {
			t.Fatalf("%q is %q, then %q", payer, core, again)
		}
		d := match.Deposit{Amount: money.MustParse("1000"), Currency: "USD", Date: date("03-01"), PayerName: payer,
			PayerAddress: payer, Memo: memo}
		got := m.Match(d, match.Policy{})
		if again := m.Match(d, match.Policy{}); showAll(again) != showAll(got) || got.Steps > match.StepsMax {
			t.Fatalf("%s, then %s, in %d steps", showAll(got), showAll(again), got.Steps)
		}
		for _, s := range got.Suggestions {
			for _, r := range append(s.Reasons, s.Doubts...) {
				if !utf8.ValidString(r.Text) || r.Code == "" {
					t.Fatalf("the reason %q is not valid", r.Text)
				}
			}
			if !s.Total.Add(s.Delta).Equal(d.Amount) {
				t.Fatalf("%s does not add up", show(s))
			}
		}
		if got.Truncated != (len(memo) > 16_384) {
			t.Fatalf("a memo of %d bytes: truncated %t", len(memo), got.Truncated)
		}
	})
}
