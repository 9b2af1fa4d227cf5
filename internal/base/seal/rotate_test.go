package seal_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func stateOf(t *testing.T, k *seal.Key) seal.State {
	t.Helper()
	s, err := k.State()
	must(t, err)
	return s
}

func opens(t *testing.T, what string, k *seal.Key, sealed, want string) {
	t.Helper()
	if plain, err := k.Open(sealed, "a"); err != nil || plain.Reveal() != want {
		t.Errorf("%s: %q %v", what, plain.Reveal(), err)
	}
}

func TestARotationTakesEffectInProcessesThatRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), seal.File)
	server, command := seal.New(secret.Text{}, path), seal.New(secret.Text{}, path)
	before := mustSeal(t, server, "one", "a")
	first := stateOf(t, command).Primary

	must(t, command.Add())
	s := stateOf(t, server)
	if len(s.Keys) != 2 || s.Primary != first || s.Newest() == first || s.Path != path {
		t.Errorf("%+v", s)
	}
	if id, ok := seal.KeyOf(mustSeal(t, server, "two", "a")); !ok || id != first {
		t.Errorf("sealed under %s before the key seals", id)
	}
	must(t, command.Promote())
	after := mustSeal(t, server, "three", "a")
	if id, ok := seal.KeyOf(after); !ok || id != s.Newest() {
		t.Errorf("sealed under %s", id)
	}
	opens(t, "the former key", server, before, "one")

	only, err := command.Trimmed()
	must(t, err)
	opens(t, "trimmed", only, after, "three")
	if _, err := only.Open(before, "a"); err == nil {
		t.Error("the trimmed key opens what is sealed under another")
	}
	opens(t, "still there", command, before, "one")
	must(t, command.Trim())
	if s := stateOf(t, server); len(s.Keys) != 1 || s.Primary == first {
		t.Errorf("%+v", s)
	}
	opens(t, "afterwards", server, after, "three")
	if _, err := server.Open(before, "a"); err == nil {
		t.Error("a key that was removed opens something")
	}
	info, err := os.Stat(path)
	must(t, err)
	left, err := os.ReadDir(filepath.Dir(path))
	if must(t, err); info.Mode().Perm() != 0o600 || len(left) != 1 {
		t.Errorf("%v %v", info.Mode(), left)
	}
}

func TestAKeysetThatCannotBeReadAnyMoreOpensAndDoesNotSeal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), seal.File)
	k := seal.New(secret.Text{}, path)
	sealed := mustSeal(t, k, "one", "a")
	must(t, os.WriteFile(path, []byte("half of"), 0o600))
	opens(t, "half of a file", k, sealed, "one")
	if _, err := k.Seal(secret.New("two"), "a"); err == nil {
		t.Error("it seals with a key that may be about to be removed")
	}
}

func TestOneProcessRotatesAtATime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", seal.File)
	k := seal.New(secret.Text{}, path)
	unlock, err := k.Lock()
	must(t, err)
	if _, err := seal.New(secret.Text{}, path).Lock(); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("%v", err)
	}
	unlock()
	again, err := k.Lock()
	must(t, err)
	again()
	mustSeal(t, k, "one", "a")
	text, err := os.ReadFile(path)
	must(t, err)
	named := seal.New(secret.New(string(text)), path)
	if s := stateOf(t, named); s.Path != "" || len(s.Keys) != 1 {
		t.Errorf("%+v", s)
	}
	if _, err := named.Lock(); err == nil || !strings.Contains(err.Error(), "BURSAR_SECRET_KEY") {
		t.Errorf("%v", err)
	}
	if named.Add() == nil {
		t.Error("the key in the environment was changed")
	}
}

func TestOtherTextsHaveNoKey(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "?", "AQ==", base64.StdEncoding.EncodeToString([]byte("plain"))} {
		if id, ok := seal.KeyOf(text); ok {
			t.Errorf("%q: %s", text, id)
		}
	}
}

// vault is a server that speaks the wire format of Vault's Transit engine.
type vault struct {
	*httptest.Server
	mu    sync.Mutex
	down  bool
	calls int
}

const vaultToken = "hvs.CAESIJ"

func newVault(t *testing.T) *vault {
	t.Helper()
	v := &vault{}
	v.Server = httptest.NewServer(http.HandlerFunc(v.serve))
	t.Cleanup(v.Close)
	return v
}

func (v *vault) serve(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls++
	w.Header().Set("Content-Type", "application/json")
	answer := func(status int, out any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(out)
	}
	var in struct{ Plaintext, Ciphertext string }
	err := json.NewDecoder(r.Body).Decode(&in)
	sealed, ours := strings.CutPrefix(in.Ciphertext, "vault:v1:")
	switch {
	case v.down:
		answer(http.StatusServiceUnavailable, map[string]any{"errors": []string{"Vault is sealed"}})
	case err != nil || r.Method != http.MethodPost:
		answer(http.StatusBadRequest, map[string]any{"errors": []string{"failed to parse JSON input"}})
	case r.Header.Get("X-Vault-Token") != vaultToken:
		answer(http.StatusForbidden, map[string]any{"errors": []string{"permission denied"}})
	case r.URL.Path == "/v1/transit/encrypt/bursar" && in.Plaintext != "":
		answer(http.StatusOK, map[string]any{"request_id": "9d1f", "lease_id": "", "renewable": false, "data": map[string]any{
			"ciphertext": "vault:v1:" + reversed(in.Plaintext), "key_version": 1}})
	case r.URL.Path == "/v1/transit/decrypt/bursar" && ours:
		answer(http.StatusOK, map[string]any{"request_id": "9d20", "data": map[string]any{"plaintext": reversed(sealed)}})
	default:
		answer(http.StatusNotFound, map[string]any{"errors": []string{}})
	}
}

func reversed(text string) string {
	out := []byte(text)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

// key returns the key that the server keeps, as a client with a token.
func (v *vault) key(t *testing.T, token string) *seal.Vault {
	t.Helper()
	key, err := seal.ParseVault(strings.Replace(v.URL, "http://", "hcvault+http://", 1)+"/transit/keys/bursar", secret.New(token), "")
	must(t, err)
	return key
}

func TestAKeyFileInClearIsMovedUnderAKeyOfVault(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), seal.File)
	v := newVault(t)
	sealed := mustSeal(t, seal.New(secret.Text{}, path), "one", "a")
	k := seal.NewProtected(secret.Text{}, path, v.key(t, vaultToken))
	opens(t, "in clear", k, sealed, "one")
	if stateOf(t, k).Encrypted || v.calls != 0 {
		t.Error("it is not encrypted yet")
	}
	clear, err := os.ReadFile(path)
	must(t, err)
	must(t, k.Protect())
	content, err := os.ReadFile(path)
	must(t, err)
	if !stateOf(t, k).Encrypted || !strings.Contains(string(content), "encryptedKeyset") || strings.Contains(string(content), "keyData") ||
		!strings.Contains(string(clear), "keyData") {
		t.Errorf("%s", content)
	}
	must(t, k.Add())
	must(t, k.Promote())

	other := seal.NewProtected(secret.Text{}, path, v.key(t, vaultToken))
	calls := v.calls
	for range 3 {
		opens(t, "encrypted", other, sealed, "one")
	}
	if v.calls != calls+1 {
		t.Errorf("%d calls, want one when the file is read", v.calls-calls)
	}
	if _, err := seal.New(secret.Text{}, path).Open(sealed, "a"); err == nil || !strings.Contains(err.Error(), "--kms-uri") {
		t.Errorf("without Vault: %v", err)
	}
	if _, err := seal.NewProtected(secret.Text{}, path, v.key(t, "other")).Open(sealed, "a"); err == nil ||
		!strings.Contains(err.Error(), "permission denied") {
		t.Errorf("with another token: %v", err)
	}
	v.down = true
	late := seal.NewProtected(secret.Text{}, path, v.key(t, vaultToken))
	if _, err := late.Open(sealed, "a"); err == nil || !strings.Contains(err.Error(), "Vault is sealed") {
		t.Errorf("while it is down: %v", err)
	}
	opens(t, "a process that has read it", other, sealed, "one")
	v.down = false
	opens(t, "up again", late, sealed, "one")
}

func TestANewKeyFileIsEncryptedByVaultFromTheStart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), seal.File)
	v := newVault(t)
	v.down = true
	k := seal.NewProtected(secret.Text{}, path, v.key(t, vaultToken))
	if _, err := k.Seal(secret.New("one"), "a"); err == nil {
		t.Error("sealed while Vault is down")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a key file that Vault has not encrypted")
	}
	v.down = false
	opens(t, "new", k, mustSeal(t, k, "one", "a"), "one")
	if !stateOf(t, k).Encrypted {
		t.Error("it is in clear")
	}
}

func TestTheAddressOfAKeyOfVaultIsChecked(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"hcvault://vault.example.com:8200/transit/keys/bursar":      true,
		"hcvault://vault.example.com/teams/books/keys/bursar":       true,
		"hcvault+http://127.0.0.1:8200/transit/keys/bursar":         true,
		"hcvault+http://localhost:8200/transit/keys/bursar":         true,
		"hcvault+http://vault.example.com:8200/transit/keys/bursar": false,
		"https://vault.example.com/transit/keys/bursar":             false,
		"hcvault://vault.example.com/transit/bursar":                false,
		"hcvault://vault.example.com/transit/keys/":                 false,
		"hcvault://vault.example.com/keys/bursar":                   false,
		"hcvault://token@vault.example.com/transit/keys/bursar":     false,
		"aws-kms://arn:aws:kms:us-east-1:1:key/1":                   false,
		"": false,
	} {
		if _, err := seal.ParseVault(address, secret.Text{}, ""); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}
