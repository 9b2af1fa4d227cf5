package seal

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
)

// Vault encrypts with a key of the Transit engine of a HashiCorp Vault server, or of OpenBao, which never gives the key out.
type Vault struct {
	address   string // of the key, without the operation
	key       string
	token     secret.Text
	namespace string
	client    *http.Client
}

const (
	vaultScheme  = "hcvault"
	vaultLocal   = "hcvault+http"
	vaultTimeout = 10 * time.Second
	vaultMax     = 1 << 20
)

// ParseVault returns the key with an address such as hcvault://vault.example.com:8200/transit/keys/bursar, which is reached by HTTPS. A
// Vault agent on the same machine can be reached without, as hcvault+http://127.0.0.1:8200/transit/keys/bursar. The token and the namespace
// may be empty.
func ParseVault(address string, token secret.Text, namespace string) (*Vault, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Scheme != vaultScheme && u.Scheme != vaultLocal {
		return nil, errors.New("it must be an address such as hcvault://vault.example.com:8200/transit/keys/bursar")
	}
	mount, key, ok := strings.Cut(strings.Trim(u.Path, "/"), "/keys/")
	if !ok || mount == "" || key == "" || strings.Contains(key, "/") {
		return nil, errors.New("its path must name the engine and the key, such as /transit/keys/bursar")
	}
	base := "https://" + u.Host
	if u.Scheme == vaultLocal {
		if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil, errors.New("hcvault+http is for a Vault agent on this machine only: use hcvault, which is HTTPS")
		}
		base = "http://" + u.Host
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the token is for this server
	return &Vault{address: base + "/v1/" + mount, key: key, token: token, namespace: namespace,
		client: &http.Client{Timeout: vaultTimeout, CheckRedirect: stay}}, nil
}

// Encrypt encrypts a keyset. The second argument, which Tink leaves empty, is not supported.
func (v *Vault) Encrypt(plain, associated []byte) ([]byte, error) {
	if len(associated) > 0 {
		return nil, errors.New("seal: Vault is used without associated data")
	}
	out, err := v.call("encrypt", map[string]string{"plaintext": base64.StdEncoding.EncodeToString(plain)})
	return []byte(out.Ciphertext), err
}

// Decrypt decrypts what Encrypt has returned.
func (v *Vault) Decrypt(sealed, associated []byte) ([]byte, error) {
	if len(associated) > 0 {
		return nil, errors.New("seal: Vault is used without associated data")
	}
	out, err := v.call("decrypt", map[string]string{"ciphertext": string(sealed)})
	if err != nil {
		return nil, err
	}
	plain, err := base64.StdEncoding.DecodeString(out.Plaintext)
	if err != nil || len(plain) == 0 {
		return nil, errors.New("the answer of Vault has no plaintext")
	}
	return plain, nil
}

// answered is what Vault returns.
type answered struct{ Ciphertext, Plaintext string }

// call has Vault encrypt or decrypt something. Errors repeat what Vault says about the request, and nothing of what was sent.
func (v *Vault) call(operation string, in map[string]string) (answered, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return answered{}, err
	}
	r, err := http.NewRequest(http.MethodPost, v.address+"/"+operation+"/"+url.PathEscape(v.key), bytes.NewReader(body))
	if err != nil {
		return answered{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Vault-Request", "true") // which agents may require
	if !v.token.IsZero() {
		r.Header.Set("X-Vault-Token", v.token.Reveal())
	}
	if v.namespace != "" {
		r.Header.Set("X-Vault-Namespace", v.namespace)
	}
	response, err := v.client.Do(r)
	if err != nil {
		return answered{}, fmt.Errorf("Vault does not answer: %w", err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, vaultMax))
	if err != nil {
		return answered{}, fmt.Errorf("Vault does not answer: %w", err)
	}
	var out struct {
		Data   answered
		Errors []string
	}
	malformed := json.Unmarshal(content, &out)
	switch {
	case response.StatusCode != http.StatusOK:
		return answered{}, fmt.Errorf("Vault answers with %s: %s", response.Status, strings.Join(out.Errors, "; "))
	case malformed != nil || out.Data.Ciphertext == "" && out.Data.Plaintext == "":
		return answered{}, errors.New("the answer of Vault cannot be understood: is it the address of a key of the Transit engine?")
	}
	return out.Data, nil
}
