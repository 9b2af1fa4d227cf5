package password_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/password"
	"github.com/bursarhq/bursar/internal/base/secret"
)

func verify(t *testing.T, hash string, plain secret.Text) (ok, outdated bool, err error) {
	t.Helper()
	place, err := password.NewHasher(1).Reserve()
	if err != nil {
		t.Fatal(err)
	}
	defer place.Leave()
	return place.Verify(t.Context(), hash, plain)
}

func TestAPasswordHasItsHashAndNoOther(t *testing.T) {
	t.Parallel()
	h := password.NewHasher(1)
	hash, err := h.Hash(t.Context(), secret.New("correct violin harvest"))
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("%s %v", hash, err)
	}
	again, err := h.Hash(t.Context(), secret.New("correct violin harvest"))
	if err != nil || again == hash {
		t.Error("two people with one password have the same hash")
	}
	for plain, want := range map[string]bool{"correct violin harvest": true, "correct violin harvest ": false, "": false} {
		if ok, outdated, err := verify(t, hash, secret.New(plain)); ok != want || outdated || err != nil {
			t.Errorf("%q: %t %t %v", plain, ok, outdated, err)
		}
	}
	if ok, _, err := verify(t, "", secret.New("")); ok || err != nil {
		t.Errorf("who has no password signs in: %t %v", ok, err)
	}
}

func TestAHashThatIsDamagedOrTooCostlyIsAnErrorAndACheapOneIsOutdated(t *testing.T) {
	t.Parallel()
	for name, hash := range map[string]string{
		"of another kind":     "$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"too much memory":     "$argon2id$v=19$m=99999999,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"no memory":           "$argon2id$v=19$m=0,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"a short salt":        "$argon2id$v=19$m=19456,t=2,p=1$c29t$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"an empty hash":       "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$",
		"something else":      "plain",
		"not even a notation": "$$$$$",
	} {
		if ok, _, err := verify(t, hash, secret.New("password")); ok || err == nil {
			t.Errorf("%s: %t %v", name, ok, err)
		}
	}
	cheap := "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$"
	if _, outdated, err := verify(t, cheap+strings.Repeat("A", 43), secret.New("x")); !outdated || err != nil {
		t.Errorf("a cheap hash: %t %v", outdated, err)
	}
}

func TestTooManyAtATimeAreRefusedAndWhoLeavesMakesRoom(t *testing.T) {
	t.Parallel()
	h := password.NewHasher(1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	results := make(chan error, 200)
	for range 200 {
		go func() {
			_, err := h.Hash(ctx, secret.New("correct violin harvest"))
			results <- err
		}()
	}
	busy := 0
	for range 200 {
		switch err := <-results; {
		case errors.Is(err, password.ErrBusy):
			busy++
		case errors.Is(err, context.Canceled):
		case err != nil:
			t.Error(err)
		default:
			cancel() // the others leave
		}
	}
	if busy < 100 || fault.KindOf(password.ErrBusy) != fault.Unavailable {
		t.Errorf("%d of 200 were refused", busy)
	}
	if _, err := h.Hash(t.Context(), secret.New("correct violin harvest")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestInAFloodThereIsAPauseAfterEachPassword(t *testing.T) {
	t.Parallel()
	h := password.NewHasher(1)
	took := func() time.Duration {
		began := time.Now()
		if _, err := h.Hash(t.Context(), secret.New("correct violin harvest")); err != nil {
			t.Fatal(err)
		}
		return time.Since(began)
	}
	for range 15 {
		place, err := h.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		defer place.Leave()
	}
	if first, second := took(), took(); second < 2*first {
		t.Errorf("the first took %s, and the next one %s", first, second)
	}
}

func TestWhatIsEasyToGuessIsRefused(t *testing.T) {
	t.Parallel()
	for plain, says := range map[string]string{
		"":                           "at least 12",
		"elevenchars":                "at least 12",
		"ääääääääääää":               "easy to guess",
		"Password1234":               "easy to guess",
		"P@ssw0rd!2026":              "easy to guess",
		"qwertyuiop123":              "easy to guess",
		"123456789012":               "easy to guess",
		"abcdefghijklmnop":           "easy to guess",
		"abcabcabcabcabc":            "easy to guess",
		"ada.lovelace1815":           "easy to guess",
		"AcmeHoldings2026!":          "easy to guess",
		"CorrectHorseBatteryStaple":  "easy to guess",
		strings.Repeat("xk4v ", 100): "at most 256",
		"correct violin harvest":     "",
		"Xq7#vL2pR9!z":               "",
		"дождь фонарь скрипка":       "",
		"三つの静かな川と青い山の上":              "",
	} {
		err := password.Check("password", secret.New(plain), "ada.lovelace@acme.example", "Acme Holdings")
		switch {
		case says == "" && err != nil:
			t.Errorf("%q: %v", plain, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%q: %v, want %q", plain, err, says)
		}
	}
}
