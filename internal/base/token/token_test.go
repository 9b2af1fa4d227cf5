package token_test

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
)

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func TestATextIsAPrefixAndFortyThreeDigitsAndEveryDigitOccurs(t *testing.T) {
	t.Parallel()
	seen := map[rune]bool{}
	for range 200 {
		text, err := token.New(rand.Reader, "bur_")
		if err != nil || !token.Looks(text.Reveal(), "bur_") {
			t.Fatal(err, text.Reveal())
		}
		for _, c := range strings.TrimPrefix(text.Reveal(), "bur_") {
			if !strings.ContainsRune(digits, c) {
				t.Fatalf("%q is no digit", c)
			}
			seen[c] = true
		}
	}
	if len(seen) != len(digits) {
		t.Errorf("only %d digits occur", len(seen))
	}
	if _, err := token.New(bytes.NewReader(nil), "bur_"); err == nil {
		t.Error("a text was made of no randomness")
	}
}

func TestRandomBytesThatWouldFavorSomeDigitsAreDrawnAgain(t *testing.T) {
	t.Parallel()
	raw := append(bytes.Repeat([]byte{0xff}, 33), make([]byte, 33)...) // the first number is too large
	text, err := token.New(bytes.NewReader(raw), "x_")
	if want := "x_" + strings.Repeat("0", token.Digits); err != nil || text.Reveal() != want {
		t.Errorf("%s %v, want %s", text.Reveal(), err, want)
	}
}

func TestOnlyTextsOfTheRightFormCanBeTokens(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("aZ9", 14) + "0"
	for text, want := range map[string]bool{
		"bur_" + good: true, "bur_": false, "": false, good: false, "bul_" + good: false, "BUR_" + good: false, "bur_" + good + "0": false,
		"bur_" + good[1:]: false, "bur_" + good[1:] + "~": false, "bur_" + good[1:] + "_": false, "bur_~" + good[1:]: false,
		"bur_" + good[:20] + "-" + good[21:]: false, "bur_" + good[2:] + "é": false, " bur_" + good: false, "bur_" + good + "\n": false,
	} {
		if token.Looks(text, "bur_") != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

func TestAHashSaysNothingAboutItsText(t *testing.T) {
	t.Parallel()
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // SHA-256 of abc
	if got := token.Hash("abc"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestATextFollowsFromAnotherOneAndASalt(t *testing.T) {
	t.Parallel()
	from := secret.New("brt_1")
	a := token.Derive(from, "salt", "bua_").Reveal()
	if !token.Looks(a, "bua_") || a != token.Derive(from, "salt", "bua_").Reveal() {
		t.Errorf("%s is no text, or not always the same", a)
	}
	for _, other := range []string{token.Derive(from, "other", "bua_").Reveal(), token.Derive(secret.New("brt_2"), "salt", "bua_").Reveal()} {
		if other == a {
			t.Error("another text or salt results in the same text")
		}
	}
}
