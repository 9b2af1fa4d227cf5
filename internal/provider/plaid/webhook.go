package plaid

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"time"
)

// webhookAge is how old a webhook may be, so that nobody can send it again later.
const webhookAge = 5 * time.Minute

// scalarSize is the size of a coordinate of the curve P-256, and of each of the two numbers of a signature.
const scalarSize = 32

// ErrWebhook means that a webhook is not from Plaid, or is too old.
var ErrWebhook = errors.New("plaid: the webhook is not one that Plaid has sent in the last minutes")

// WebhookKey is a public key as Plaid returns it for the id that a webhook names.
type WebhookKey struct {
	ID        string `json:"kid"`
	Algorithm string `json:"alg"`
	Curve     string `json:"crv"`
	X         string `json:"x"`
	Y         string `json:"y"`
	ExpiredAt *int64 `json:"expired_at"` // in seconds since 1970; nil for a key that is in use
}

// webhookHead is the head of the token in the header Plaid-Verification.
type webhookHead struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
}

// WebhookKeyID returns the id of the key that the value of the header Plaid-Verification says it is signed with. Nothing is verified yet.
func WebhookKeyID(token string) (string, error) {
	var head webhookHead
	first, _, _ := strings.Cut(token, ".")
	if !decodePart(first, &head) || head.Algorithm != "ES256" || head.KeyID == "" {
		return "", ErrWebhook
	}
	return head.KeyID, nil
}

// VerifyWebhook returns nil if the value of the header Plaid-Verification is signed with a key, belongs to a body as it was received, and
// is not older than five minutes. It returns ErrWebhook otherwise.
func VerifyWebhook(key WebhookKey, token string, body []byte, now time.Time) error {
	id, err := WebhookKeyID(token)
	parts := strings.Split(token, ".")
	public, valid := key.public()
	if err != nil || len(parts) != 3 || !valid || id != key.ID || key.ExpiredAt != nil {
		return ErrWebhook
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 2*scalarSize {
		return ErrWebhook
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, s := new(big.Int).SetBytes(signature[:scalarSize]), new(big.Int).SetBytes(signature[scalarSize:])
	if !ecdsa.Verify(public, digest[:], r, s) {
		return ErrWebhook
	}
	var claims struct {
		IssuedAt int64  `json:"iat"`
		BodyHash string `json:"request_body_sha256"`
	}
	if !decodePart(parts[1], &claims) {
		return ErrWebhook
	}
	hash := sha256.Sum256(body)
	same := subtle.ConstantTimeCompare([]byte(strings.ToLower(claims.BodyHash)), []byte(hex.EncodeToString(hash[:]))) == 1
	if age := now.Sub(time.Unix(claims.IssuedAt, 0)); !same || age.Abs() > webhookAge {
		return ErrWebhook
	}
	return nil
}

// public returns the key, and whether it is one that Plaid signs webhooks with.
func (k WebhookKey) public() (*ecdsa.PublicKey, bool) {
	x, errX := base64.RawURLEncoding.DecodeString(k.X)
	y, errY := base64.RawURLEncoding.DecodeString(k.Y)
	if k.Algorithm != "ES256" || k.Curve != "P-256" || errX != nil || errY != nil || len(x) != scalarSize || len(y) != scalarSize {
		return nil, false
	}
	point := append(append([]byte{4}, x...), y...) // the form of a point that is not compressed
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	return public, err == nil
}

// decodePart decodes a part of a token, and reports whether it is one.
func decodePart(part string, into any) bool {
	text, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(text, into) == nil
}
