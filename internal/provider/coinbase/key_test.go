package coinbase

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/provider/coinbase/coinbasetest"
)

// The values are those of RFC 8037, appendix A.4. Signatures for ES256 contain a random number, so that they have no such example; the fake
// verifies them.
func TestSignaturesForEd25519AreThoseOfTheStandard(t *testing.T) {
	t.Parallel()
	seed, err := base64.RawURLEncoding.DecodeString("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")
	if err != nil {
		t.Fatal(err)
	}
	pair := base64.StdEncoding.EncodeToString(ed25519.NewKeyFromSeed(seed))
	for name, text := range map[string]string{"seed": base64.StdEncoding.EncodeToString(seed), "seed and public key": pair} {
		k, err := parseKey(text)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := k.sign([]byte("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"))
		const want = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
		if got := base64.RawURLEncoding.EncodeToString(signature); err != nil || got != want || k.algorithm != "EdDSA" {
			t.Errorf("%s: %s %s %v, want %s", name, k.algorithm, got, err, want)
		}
	}
}

func TestPrivateKeysAreReadInEveryFormInWhichTheyAreCopied(t *testing.T) {
	t.Parallel()
	text := coinbasetest.Elliptic.Secret
	for name, form := range map[string]string{
		"lines":                    text,
		"lines of Windows":         strings.ReplaceAll(text, "\n", "\r\n"),
		"two characters":           strings.ReplaceAll(text, "\n", `\n`),
		"spaces":                   strings.ReplaceAll(text, "\n", " "),
		"one line":                 strings.ReplaceAll(text, "\n", ""),
		"with quotes from a file":  `"` + strings.ReplaceAll(text, "\n", `\n`) + `"`,
		"without an end of line":   strings.TrimSpace(text),
		"the other format, PKCS 8": coinbasetest.EllipticPKCS8,
	} {
		k, err := parseKey(form)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		bearer, err := token(k, coinbasetest.Elliptic.Name, "GET api.coinbase.com/v2/accounts", "00ff", time.Unix(1_700_000_000, 0))
		head, claims, valid := coinbasetest.Elliptic.Verify(bearer)
		if err != nil || !valid || head["kid"] != coinbasetest.Elliptic.Name || claims["uri"] != "GET api.coinbase.com/v2/accounts" {
			t.Errorf("%s: %v %v %t %v", name, head, claims, valid, err)
		}
	}
}

func TestPrivateKeysForEd25519AreReadInEveryFormInWhichTheyAreCopied(t *testing.T) {
	t.Parallel()
	seed, err := base64.StdEncoding.DecodeString(coinbasetest.Edwards.Secret)
	if err != nil {
		t.Fatal(err)
	}
	private := ed25519.NewKeyFromSeed(seed[:ed25519.SeedSize])
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	whole := base64.StdEncoding.EncodeToString(private)
	for name, form := range map[string]string{
		"the seed":              base64.StdEncoding.EncodeToString(private.Seed()),
		"with the public key":   whole,
		"with an end of line":   whole + "\n",
		"with quotes":           `"` + whole + `"`,
		"in two lines":          whole[:40] + "\n" + whole[40:],
		"lines in the PEM form": "-----BEGIN PRIVATE KEY-----\n" + base64.StdEncoding.EncodeToString(pkcs8) + "\n-----END PRIVATE KEY-----\n",
	} {
		k, err := parseKey(form)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		bearer, err := token(k, coinbasetest.Edwards.Name, "GET api.coinbase.com/v2/accounts", "00ff", time.Unix(1_700_000_000, 0))
		head, _, valid := coinbasetest.Edwards.Verify(bearer)
		if err != nil || !valid || head["alg"] != "EdDSA" {
			t.Errorf("%s: %v %t %v", name, head, valid, err)
		}
	}
	mixed := append(append([]byte{}, private.Seed()...), make([]byte, ed25519.PublicKeySize)...)
	if _, err := parseKey(base64.StdEncoding.EncodeToString(mixed)); err == nil {
		t.Error("a private key with another public key is accepted")
	}
}

func TestWhatIsNoPrivateKeyIsRefusedWithoutShowingIt(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "secret", "c2VjcmV0", "-----BEGIN EC PRIVATE KEY-----\nc2VjcmV0\n-----END EC PRIVATE KEY-----",
		"-----BEGIN EC PRIVATE KEY-----\nse?ret\n-----END EC PRIVATE KEY-----"} {
		if k, err := parseKey(text); err == nil || k.sign != nil || strings.Contains(err.Error(), "se") && strings.Contains(err.Error(), "ret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
