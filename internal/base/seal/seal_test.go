package seal_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
)

func mustSeal(t *testing.T, k *seal.Key, plain string, context ...string) string {
	t.Helper()
	sealed, err := k.Seal(secret.New(plain), context...)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestWhatIsSealedIsOpenedWithTheSameKeyAndContextOnly(t *testing.T) {
	t.Parallel()
	k := seal.Temporary()
	sealed := mustSeal(t, k, "sk_live_1", "org_1", "con_1")
	if strings.Contains(sealed, "sk_live") || sealed == mustSeal(t, k, "sk_live_1", "org_1", "con_1") {
		t.Errorf("%q reveals something", sealed)
	}
	if plain, err := k.Open(sealed, "org_1", "con_1"); err != nil || plain.Reveal() != "sk_live_1" {
		t.Errorf("%q %v", plain.Reveal(), err)
	}
	for _, context := range [][]string{nil, {"org_1"}, {"org_2", "con_1"}, {"org_1", "con_2"}, {"org_1con_1"}, {"con_1", "org_1"}} {
		if _, err := k.Open(sealed, context...); err == nil {
			t.Errorf("opened with the context %q", context)
		}
	}
	for _, other := range []string{"", "?", sealed[:len(sealed)-8], "B" + sealed[1:]} {
		if _, err := k.Open(other, "org_1", "con_1"); err == nil {
			t.Errorf("%q was opened", other)
		}
	}
	if _, err := seal.Temporary().Open(sealed, "org_1", "con_1"); err == nil || !strings.Contains(err.Error(), "another key") {
		t.Errorf("another key opened it: %v", err)
	}
}

func TestTheFileOfTheKeyIsCreatedOnceForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", seal.File)
	unused := seal.New(secret.Text{}, path)
	if _, err := os.Stat(path); err == nil {
		t.Error("the file exists before it is needed")
	}
	var wg sync.WaitGroup
	var texts [8]string
	for n := range texts {
		wg.Go(func() { texts[n] = mustSeal(t, seal.New(secret.Text{}, path), "secret", "a") })
	}
	wg.Wait()
	for _, text := range texts {
		if plain, err := unused.Open(text, "a"); err != nil || plain.Reveal() != "secret" {
			t.Errorf("%v", err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	named := seal.New(secret.New(string(content)), filepath.Join(t.TempDir(), "none"))
	if plain, err := named.Open(texts[0], "a"); err != nil || plain.Reveal() != "secret" {
		t.Errorf("the key as a text: %v", err)
	}
}

func TestAKeyThatCannotBeReadIsAnErrorThatRevealsNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), seal.File)
	if err := os.WriteFile(path, []byte("very secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	var none *seal.Key
	for _, k := range []*seal.Key{none, seal.New(secret.Text{}, path), seal.New(secret.New("very secret"), path)} {
		if _, err := k.Seal(secret.New("plain text")); err == nil || strings.Contains(err.Error(), "very secret") {
			t.Errorf("%v", err)
		}
	}
	if content, _ := os.ReadFile(path); string(content) != "very secret" {
		t.Error("the file was overwritten")
	}
}
