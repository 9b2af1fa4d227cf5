package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// aVault starts a server that encrypts as Vault's Transit engine does, and returns the address of its key.
func aVault(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Plaintext, Ciphertext string }
		err := json.NewDecoder(r.Body).Decode(&in)
		if err != nil || r.Header.Get("X-Vault-Token") != "hvs.token" || !strings.HasSuffix(r.URL.Path, "/bursar") {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"errors":["permission denied"]}`))
			return
		}
		data := map[string]string{"plaintext": strings.TrimPrefix(in.Ciphertext, "vault:v1:")}
		if in.Plaintext != "" {
			data = map[string]string{"ciphertext": "vault:v1:" + in.Plaintext}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "http://", "hcvault+http://", 1) + "/transit/keys/bursar"
}

// keys runs a command about secrets on the database of the service.
func (x *exchange) keys(env []string, args ...string) result {
	x.Helper()
	return program(x.T, env, on(x.config, append([]string{"secrets"}, args...)...)...)
}

func TestTheKeyIsRotatedWhileTheServiceRunsAndThenKeptByVault(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		x := withExchange(t, c)
		path := filepath.Join(x.config.Dir, seal.File)
		x.keys(nil, "status").mustFail(t, 1, "there is no key in "+x.config.Dir)
		x.run(x.secrets(), "connect", "kraken").mustDo(t)
		x.keys(nil, "status").mustDo(t).says(t, "in clear", "credentials of connections  ", "seals")
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		x.keys(nil, "rotate", "--add-only").mustDo(t).says(t, "Added the key", "--add-only")
		x.keys(nil, "rotate", "--add-only").mustDo(t).says(t, "is there already")
		x.keys(nil, "status").mustDo(t).says(t, "opens", "A rotation is not finished")
		r := x.keys(nil, "rotate", "--settle", "10ms").mustDo(t).says(t, "1 value was sealed under it again", "The former key is removed")
		if said := strings.Index(r.err, "keep a copy of its file"); said < 0 || said > strings.Index(r.err, "seals from now on") {
			t.Errorf("it does not say before that backups need the former key:\n%s", r.err)
		}
		if r := x.keys(nil, "status").mustDo(t); strings.Contains(r.out, "opens") || strings.Contains(r.out, "A rotation") {
			t.Errorf("%s", r.out)
		}
		x.deposit(time.Now(), "5")
		x.run("", "connections", "sync", "Kraken", "--wait").mustDo(t)

		env := []string{"VAULT_TOKEN=hvs.token", "BURSAR_KMS_URI=" + aVault(t)}
		x.keys([]string{"VAULT_TOKEN=other", env[1]}, "rotate", "--settle", "0s").mustFail(t, 1, "permission denied")
		x.keys(env, "rotate", "--settle", "0s").mustDo(t).says(t, "is encrypted by the KMS now", "1 value was sealed")
		x.keys(nil, "status").mustFail(t, 1, "--kms-uri")
		x.keys(env, "status").mustDo(t).says(t, "encrypted by a KMS")
		p := start(t, env, on(x.config, "serve", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--allow-private-networks", "--provider-url",
			"kraken="+x.kraken.URL)...)
		x.address = p.ready(t)
		x.run(x.secrets(), "connections", "update", "Kraken", "--credentials").mustDo(t)

		// The key of before opens nothing, and the environment cannot be rotated.
		old := []string{"BURSAR_SECRET_KEY=" + string(before)}
		x.keys(old, "status").mustDo(t).says(t, "BURSAR_SECRET_KEY", "unknown", "1 value sealed under a key that is not in the keyset")
		x.keys(old, "rotate").mustFail(t, 1, "BURSAR_SECRET_KEY")
		x.keys(nil, "rotate", "--kms-uri", "https://vault.example.com/x").mustFail(t, 2, "--kms-uri")
		x.keys(nil, "rotate", "--settle", "-1s").mustFail(t, 2, "--settle")
	})
}
