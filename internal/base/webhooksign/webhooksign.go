// Package webhooksign signs webhooks as the Standard Webhooks specification describes, so that receivers can use the libraries that exist
// for it.
package webhooksign

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of a webhook.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// prefix is what the text of a secret begins with.
const prefix = "whsec_"

// The sizes that the specification permits, in bytes, and the one of new keys.
const (
	keyMin = 24
	keyMax = 64
	keyNew = 32
)

// Key signs webhooks.
type Key struct{ bytes []byte }

// NewKey returns a random key.
func NewKey() Key {
	k := Key{make([]byte, keyNew)}
	_, _ = rand.Read(k.bytes) // it never fails
	return k
}

// ParseKey reads the text of a secret: whsec_ and the key in base64.
func ParseKey(secret string) (Key, error) {
	text, ok := strings.CutPrefix(secret, prefix)
	if !ok {
		return Key{}, errors.New("a secret begins with " + prefix)
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return Key{}, fmt.Errorf("a secret has base64 after %s: %w", prefix, err)
	}
	if len(key) < keyMin || len(key) > keyMax {
		return Key{}, fmt.Errorf("a secret has %d to %d bytes in base64, and not %d", keyMin, keyMax, len(key))
	}
	return Key{key}, nil
}

// Secret returns the text of the secret.
func (k Key) Secret() string { return prefix + base64.StdEncoding.EncodeToString(k.bytes) }

// Sign returns the signature of a webhook.
func (k Key) Sign(id string, at time.Time, body []byte) string {
	h := hmac.New(sha256.New, k.bytes)
	fmt.Fprintf(h, "%s.%d.%s", id, at.Unix(), body)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// SetHeaders sets the headers with which a receiver verifies a webhook.
func (k Key) SetHeaders(h http.Header, id string, at time.Time, body []byte) {
	h.Set(HeaderID, id)
	h.Set(HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(HeaderSignature, k.Sign(id, at, body))
}
