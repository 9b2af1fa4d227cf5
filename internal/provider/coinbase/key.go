package coinbase

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode"
)

const (
	// lifetime is for how long a token is valid. Coinbase allows 120 seconds.
	lifetime = time.Minute
	// lead is by how much a token is valid earlier than it is made, because the clock of Coinbase may be a little behind.
	lead = 5 * time.Second
	// scalarSize is the size of each of the two numbers of an ES256 signature.
	scalarSize = 32
)

// key signs tokens. Coinbase issues keys of two kinds: ECDSA, which the documents of this API ask for, and Ed25519, which the page that
// creates keys suggests.
type key struct {
	algorithm string
	sign      func(text []byte) ([]byte, error)
}

var (
	errKey = errors.New("is neither a private key in the PEM format nor one for Ed25519")
	// label is a line that begins or ends a key in the PEM format.
	label = regexp.MustCompile(`-----(BEGIN|END) [A-Z ]*-----`)
)

// parseKey reads a private key as people copy it: in lines, with \n instead of line breaks, or with none of them.
func parseKey(text string) (key, error) {
	text = strings.ReplaceAll(text, `\n`, "\n")
	labelled := label.MatchString(text)
	bare := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '"' {
			return -1
		}
		return r
	}, label.ReplaceAllString(text, ""))
	decoded, err := base64.StdEncoding.DecodeString(bare)
	if err != nil {
		return key{}, errKey
	}
	if !labelled {
		if n := len(decoded); n != ed25519.SeedSize && n != ed25519.PrivateKeySize {
			return key{}, errKey
		}
		private := ed25519.NewKeyFromSeed(decoded[:ed25519.SeedSize])
		if len(decoded) == ed25519.PrivateKeySize && !bytes.Equal(private, decoded) { // the public key follows, and is another one
			return key{}, errKey
		}
		return edwardsKey(private), nil
	}
	var parsed any
	if parsed, err = x509.ParseECPrivateKey(decoded); err != nil {
		parsed, err = x509.ParsePKCS8PrivateKey(decoded)
	}
	switch private := parsed.(type) {
	case *ecdsa.PrivateKey:
		if err == nil && private.Curve == elliptic.P256() {
			return ellipticKey(private), nil
		}
	case ed25519.PrivateKey:
		return edwardsKey(private), nil
	}
	return key{}, errKey
}

func edwardsKey(private ed25519.PrivateKey) key {
	return key{"EdDSA", func(text []byte) ([]byte, error) { return ed25519.Sign(private, text), nil }}
}

// ellipticKey returns a key whose signatures are two numbers, one after the other, as tokens have them.
func ellipticKey(private *ecdsa.PrivateKey) key {
	return key{"ES256", func(text []byte) ([]byte, error) {
		digest := sha256.Sum256(text)
		r, s, err := ecdsa.Sign(rand.Reader, private, digest[:])
		if err != nil {
			return nil, err
		}
		out := make([]byte, 2*scalarSize)
		r.FillBytes(out[:scalarSize])
		s.FillBytes(out[scalarSize:])
		return out, nil
	}}
}

// token returns the token for one request. name is that of the key; uri is the method, the host and the path, without the query.
func token(k key, name, uri, nonce string, now time.Time) (string, error) {
	head, err := json.Marshal(map[string]string{"alg": k.algorithm, "typ": "JWT", "kid": name, "nonce": nonce})
	if err != nil {
		return "", err
	}
	from := now.Add(-lead)
	claims, err := json.Marshal(map[string]any{"sub": name, "iss": "cdp", "nbf": from.Unix(), "exp": from.Add(lifetime).Unix(), "uri": uri})
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	signature, err := k.sign([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), err
}
