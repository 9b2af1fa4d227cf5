package page

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/fault"
)

const (
	notACursor   = "is not a cursor of this list; use next_cursor of the page before, or start again without a cursor"
	otherFilters = "belongs to a list with other filters; keep the filters of the first page, or start again without a cursor"
)

type filters struct {
	Status string   `json:"status"`
	Tags   []string `json:"tags"`
}

func TestACursorLeadsBackToItsKey(t *testing.T) {
	t.Parallel()
	list := Fingerprint("transactions", filters{Status: "pending"})
	for _, key := range [][]string{
		{"2025-09-15T00:00:00.000Z", "txn_01"},
		{""},
		{"", "", ""},
		{"日本 \x00\xff", strings.Repeat("k", 300)},
	} {
		cursor := Encode(list, key...)
		got, err := Decode(list, cursor, len(key))
		if err != nil || !slices.Equal(got, key) {
			t.Errorf("%q reads back as %q, %v", key, got, err)
		}
		if strings.Trim(cursor, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("cursor %q would have to be escaped in a URL", cursor)
		}
	}
}

func TestNoCursorMeansTheFirstPage(t *testing.T) {
	t.Parallel()
	if key, err := Decode("list", "", 2); key != nil || err != nil {
		t.Errorf("key %v, %v", key, err)
	}
}

func TestACursorOfOtherFiltersIsRefused(t *testing.T) {
	t.Parallel()
	cursor := Encode(Fingerprint("transactions", filters{Status: "pending"}), "a", "b")
	for _, other := range []string{
		Fingerprint("transactions", filters{Status: "posted"}),
		Fingerprint("transactions", filters{Status: "pending", Tags: []string{"x"}}),
		Fingerprint("journals", filters{Status: "pending"}),
		"",
	} {
		_, err := Decode(other, cursor, 2)
		mustBlameCursor(t, err, otherFilters)
	}
}

func TestWhatIsNotACursorIsRefused(t *testing.T) {
	t.Parallel()
	good := Encode("list", "a", "b")
	for name, cursor := range map[string]string{
		"text":           "hello",
		"not base64":     "!!!!",
		"spaces":         " " + good,
		"line break":     good[:4] + "\n" + good[4:],
		"padding":        good + "=",
		"cut short":      good[:len(good)-1],
		"longer":         good + "A",
		"twice":          good + good,
		"too long":       strings.Repeat("A", cursorMax+1),
		"empty body":     sealed([]byte{}),
		"other version":  sealed([]byte{2, 4, 'l', 'i', 's', 't', 1, 'a', 1, 'b'}),
		"no fingerprint": sealed([]byte{1}),
		"length beyond":  sealed([]byte{1, 4, 'l', 'i', 's', 't', 9, 'a'}),
		"endless length": sealed([]byte{1, 0x80}),
		"huge length":    sealed([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}),
		"one part":       Encode("list", "a"),
		"three parts":    Encode("list", "a", "b", "c"),
		"no parts":       Encode("list"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Decode("list", cursor, 2)
			mustBlameCursor(t, err, notACursor)
		})
	}
}

func TestAFingerprintIsShortAndStable(t *testing.T) {
	t.Parallel()
	a := Fingerprint("list", map[string]any{"b": 1, "a": []string{"x"}})
	b := Fingerprint("list", map[string]any{"a": []string{"x"}, "b": 1})
	if a != b || len(a) != 16 {
		t.Errorf("fingerprints %q and %q", a, b)
	}
	// Cursors outlive a deployment, so the hash must not move between builds.
	if got := Fingerprint("list", nil); got != "FwyXNBOqSyfTy3Js" {
		t.Errorf("fingerprint %q", got)
	}
	if Fingerprint("lis", "t") == Fingerprint("list", "") {
		t.Error("a scope ran into its filters")
	}
}

func TestFiltersThatDoNotEncodePanic(t *testing.T) {
	t.Parallel()
	defer func() {
		if got, ok := recover().(string); !ok || !strings.HasPrefix(got, "page: filters of list: ") {
			t.Errorf("panic says %v", got)
		}
	}()
	Fingerprint("list", func() {})
}

func TestAKeyTooLongForACursorPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if got, ok := recover().(string); !ok || !strings.HasSuffix(got, "want at most 1024") {
			t.Errorf("panic says %v", got)
		}
	}()
	Encode("list", strings.Repeat("k", cursorMax))
}

func TestEveryAlterationOfACursorIsRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := Fingerprint(rapid.String().Draw(t, "scope"), map[string]string{"q": rapid.String().Draw(t, "filter")})
		key := rapid.SliceOfN(rapid.StringN(0, 40, 60), 0, 4).Draw(t, "key")
		cursor := Encode(list, key...)
		got, err := Decode(list, cursor, len(key))
		if err != nil || !slices.Equal(got, key) {
			t.Fatalf("%q reads back as %q, %v", key, got, err)
		}
		if _, err := Decode(Fingerprint("other", list), cursor, len(key)); message(err) != otherFilters {
			t.Fatalf("another list says %v", err)
		}
		replacement := rapid.Byte().Draw(t, "byte")
		for at := range len(cursor) {
			if cursor[at] == replacement {
				continue
			}
			altered := cursor[:at] + string([]byte{replacement}) + cursor[at+1:]
			if _, err := Decode(list, altered, len(key)); message(err) != notACursor {
				t.Fatalf("altered at %d: %v", at, err)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add("list", Encode("list", "a", "b"), 2)
	f.Add("list", sealed([]byte{1, 4, 'l', 'i', 's', 't'}), 0)
	f.Add("", "hello", 1)
	f.Fuzz(func(t *testing.T, fingerprint, cursor string, parts int) {
		key, err := Decode(fingerprint, cursor, parts)
		switch {
		case err != nil:
			if got := message(err); got != notACursor && got != otherFilters {
				t.Fatalf("%q says %v", cursor, err)
			}
		case cursor != "" && (len(key) != parts || Encode(fingerprint, key...) != cursor):
			t.Fatalf("%q was taken for %q, which is written otherwise", cursor, key)
		}
	})
}

// sealed makes a cursor of any body with a checksum that fits it.
func sealed(body []byte) string {
	body = binary.BigEndian.AppendUint32(body, crc32.Checksum(body, castagnoli))
	return base64.RawURLEncoding.EncodeToString(body)
}

// message gives what an error says about the field cursor, and nothing when it
// is not a fault of that field alone.
func message(err error) string {
	var blamed *fault.Error
	if !errors.As(err, &blamed) || blamed.Kind != fault.Invalid || len(blamed.Fields) != 1 || blamed.Fields[0].Name != "cursor" {
		return ""
	}
	return blamed.Fields[0].Message
}

func mustBlameCursor(t *testing.T, err error, want string) {
	t.Helper()
	if message(err) != want {
		t.Errorf("error %v, want cursor %s", err, want)
	}
}
