package coinbasetest

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
)

// Credentials are a key as Coinbase gives it to people, and the public key that Coinbase keeps.
type Credentials struct {
	Name   string
	Secret string
	public []byte // the two coordinates of a point for ES256, and a key for EdDSA
}

// Elliptic is a key for ECDSA.
var Elliptic = Credentials{
	Name: "organizations/0c0d2d0c-1d4b-4a55-9c1e-6f1f5b6a0c11/apiKeys/7f3a9e52-8f0c-4f8e-b0b8-1c1f3f6f0b7d",
	Secret: "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIC47FjiKgL0DR6qUmQLvvgYc2IVDTdDBpRQ0LH5nejLdoAoGCCqGSM49\n" +
		"AwEHoUQDQgAEQxQb4px5HUpVoH0TeKk5EybUL4HP4ykgb3orDuX3wD/JQSE0N1Cm\noA7MBs7pIDP6B6PRrvDJ9Sdwg+10ZSzF3A==\n" +
		"-----END EC PRIVATE KEY-----\n",
	public: decode("QxQb4px5HUpVoH0TeKk5EybUL4HP4ykgb3orDuX3wD/JQSE0N1CmoA7MBs7pIDP6B6PRrvDJ9Sdwg+10ZSzF3A=="),
}

// EllipticPKCS8 is the private key of Elliptic in the other format of its kind.
const EllipticPKCS8 = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLjsWOIqAvQNHqpSZ\n" +
	"Au++BhzYhUNN0MGlFDQsfmd6Mt2hRANCAARDFBvinHkdSlWgfRN4qTkTJtQvgc/j\nKSBveisO5ffAP8lBITQ3UKagDswGzukgM/oHo9Gu8Mn1J3CD7XRlLMXc\n" +
	"-----END PRIVATE KEY-----\n"

// Edwards is a key for Ed25519.
var Edwards = Credentials{Name: "5d3b1c1e-5d53-4f0f-9d2c-0f8c5d1f9f30", Secret: "Da4E0V0SIeM6+XoOc5C+zaSbyB3+9gLFEy5+bHsrqIc=",
	public: decode("KgTDKDH7V1yvcy5z2igJClMUYOh+BfdDqSyaBNx2iaU=")}

func decode(text string) []byte {
	out, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return out
}

// elliptic reports whether the key is one for ECDSA.
func (c Credentials) elliptic() bool { return len(c.public) == 2*elliptic.P256().Params().BitSize/8 }

// nonceMin is how many bytes of a nonce must be random. Coinbase accepts a token more than once.
const nonceMin = 8

// tokenMax is for how many seconds a token may be valid.
const tokenMax = 120

// verifies reports whether a request has a token as Coinbase demands it.
func (s *Server) verifies(r *http.Request) bool {
	bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	head, claims, valid := s.credentials.Verify(bearer)
	now, from, until := s.Now().Unix(), number(claims["nbf"]), number(claims["exp"])
	nonce, _ := head["nonce"].(string)
	if random, err := hex.DecodeString(nonce); err != nil || len(random) < nonceMin {
		return false
	}
	return ok && valid && head["kid"] == s.credentials.Name && claims["sub"] == s.credentials.Name && claims["iss"] == "cdp" &&
		claims["uri"] == r.Method+" api.coinbase.com"+r.URL.EscapedPath() && from <= now && now <= until && until-from <= tokenMax
}

func number(v any) int64 {
	n, _ := v.(json.Number)
	out, _ := n.Int64()
	return out
}

// Verify returns the two parts of a token, and whether the key has signed it.
func (c Credentials) Verify(token string) (head, claims map[string]any, valid bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, nil, false
	}
	for i, into := range []*map[string]any{&head, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		d := json.NewDecoder(strings.NewReader(string(text)))
		d.UseNumber()
		if err != nil || d.Decode(into) != nil {
			return nil, nil, false
		}
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	signed := []byte(parts[0] + "." + parts[1])
	switch {
	case err != nil:
		return nil, nil, false
	case !c.elliptic():
		return head, claims, head["alg"] == "EdDSA" && ed25519.Verify(c.public, signed, signature)
	}
	return head, claims, head["alg"] == "ES256" && verifyPoint(c.public, signed, signature)
}

// verifyPoint verifies an ES256 signature: the numbers r and s, each in half of its bytes.
func verifyPoint(public, signed, signature []byte) bool {
	half := len(public) / 2
	if len(signature) != 2*half {
		return false
	}
	const uncompressed = 4 // how a point with both coordinates begins
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append([]byte{uncompressed}, public...))
	if err != nil {
		return false
	}
	digest := sha256.Sum256(signed)
	return ecdsa.Verify(key, digest[:], new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:]))
}
