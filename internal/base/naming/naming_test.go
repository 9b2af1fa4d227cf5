package naming_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/naming"
)

func TestNamesAreOneLineWithoutControlCharacters(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Acme", "Müller & Söhne GmbH", "株式会社アクメ", "شركة", "👩‍💻 Ada", "a  b", strings.Repeat("ä", 20),
		"שלום", "שָּׁלוֹם", "שַׁבָּת", "المُحَمَّد", "हिन्दी", "क़ुंदूज़", "ที่ดิน", "น้ำผึ้ง",
		"Nguyễn Thị Ánh", "Nguye\u0302\u0303n", "བསྒྲུབས", "မှုံ",
		"1\ufe0f\u20e3"} {
		if problem := naming.Problem(name, 20); problem != "" {
			t.Errorf("%q %s", name, problem)
		}
	}
	for name, says := range map[string]string{
		"Acme\nBcc: x":                    "U+000A",
		"Acme\r":                          "U+000D",
		"a\tb":                            "U+0009",
		"\x00":                            "U+0000",
		"\x1b[31mred":                     "U+001B",
		"a\x7f":                           "U+007F",
		"a\u0085b":                        "U+0085",
		"a\u2028b":                        "U+2028",
		"a\u2029b":                        "U+2029",
		"a\u202egnp.exe":                  "U+202E",
		"a\u2066b":                        "U+2066",
		"a\u061cb":                        "U+061C",
		"a\u200fb":                        "U+200F",
		"a\xffb":                          "UTF-8",
		" ":                               "can be seen",
		"Z\u0301\u0302\u0303":             "at most 2 accents",
		"Z\u0488\u0489\u0488":             "at most 2 accents",
		"ก็็็็":                           "at most 2 accents",
		"Z\u0336\u0e47\u0335\u0e47\u0334": "at most 2 accents",
		"\ufdfd":                          "U+FDFD",
		"Acme \U00012219":                 "U+12219",
		"Acme \U0001242b":                 "U+1242B",
		"\ufffc":                          "can be seen",
		"\U0001d159":                      "can be seen",
		"\u200b\u200d":                    "can be seen",
		"\u3164":                          "can be seen",
		"\u00a0\u2800\u00ad":              "can be seen",
		strings.Repeat("ä", 21):           "at most 20 characters, but has 21",
	} {
		if problem := naming.Problem(name, 20); !strings.Contains(problem, says) {
			t.Errorf("%q: %q, want %q", name, problem, says)
		}
	}
}
