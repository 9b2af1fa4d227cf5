package provider_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
)

func TestTheMarkOfAJournalIsReadAgain(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "Sale of 2 BTC", strings.Repeat("ä", 300), strings.Repeat("🚀", 300), "[Bursar x] in the text", "a\nb"} {
		marked := provider.Mark(text, "je_01-a", 100)
		plain, key := provider.Unmark(marked)
		if n := len(utf16.Encode([]rune(marked))); n > 100 || key != "je_01-a" || !strings.HasPrefix(text, strings.TrimSuffix(plain, "…")) {
			t.Errorf("%q: %d %q %q", marked, n, plain, key)
		}
	}
	for _, text := range []string{"", "Rent", "[Bursar ]", "[Bursar open", "[Bursar a b]"} {
		if plain, key := provider.Unmark(text); plain != text || key != "" {
			t.Errorf("%q: %q %q", text, plain, key)
		}
	}
	if plain, key := provider.Unmark("Rent [Bursar k1] (checked)"); plain != "Rent  (checked)" || key != "k1" {
		t.Errorf("%q %q", plain, key)
	}
}

func TestATextIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]string{0: "", 1: "…", 2: "…", 3: "🚀…", 4: "🚀…", 5: "🚀🚀…", 6: "🚀🚀🚀"} {
		if got := provider.Shorten("🚀🚀🚀", limit); got != want {
			t.Errorf("%d: %q", limit, got)
		}
	}
}

// Fakes refuse amounts with too many decimals as well; a real system may round them instead.
func TestAmountsWithMoreDecimalsThanTheirCurrencyAreNotSent(t *testing.T) {
	t.Parallel()
	for text, fine := range map[string]bool{"USD 0.01": true, "USD 1.000": true, "USD 0.001": false, "JPY 400": true, "JPY 400.5": false,
		"KWD 0.001": true, "BTC 1": false, " 1": false} {
		currency, amount, _ := strings.Cut(text, " ")
		j := provider.Journal{Currency: currency, Lines: []provider.JournalLine{{Amount: money.MustParse(amount)}}}
		if err := j.CheckAmounts(); (err == nil) != fine || !fine && fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: %v", text, err)
		}
	}
}
