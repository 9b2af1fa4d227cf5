// Package totp computes the codes of authenticator apps as RFC 6238 defines them: six digits that change every thirty seconds.
package totp

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // authenticator apps support nothing else, and HMAC does not need what SHA-1 lost
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
)

const (
	secretBytes = 20 // as RFC 4226 recommends
	period      = 30 * time.Second
	digits      = 6
	modulus     = 1_000_000

	// skew is how many periods the clock of a phone may be ahead or behind.
	skew = 1
)

var encoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewSecret returns a new secret in base 32, as people type it.
func NewSecret(random io.Reader) (secret.Text, error) {
	raw := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return secret.Text{}, err
	}
	return secret.New(encoding.EncodeToString(raw)), nil
}

// URL returns the address that an app reads from a QR code.
func URL(s secret.Text, issuer, account string) string {
	q := url.Values{"secret": {s.Reveal()}, "issuer": {issuer}}
	return "otpauth://totp/" + url.PathEscape(issuer+":"+account) + "?" + strings.ReplaceAll(q.Encode(), "+", "%20")
}

// Step returns the number of the period of a time.
func Step(at time.Time) int64 { return at.Unix() / int64(period/time.Second) }

// Code returns the code of a period.
func Code(s secret.Text, step int64) (string, error) {
	key, err := encoding.DecodeString(s.Reveal())
	if err != nil {
		return "", fmt.Errorf("totp: the secret is not in base 32")
	}
	mac := hmac.New(sha1.New, key)
	if err := binary.Write(mac, binary.BigEndian, step); err != nil {
		return "", err
	}
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0xf
	value := binary.BigEndian.Uint32(sum[offset:offset+4]) & 0x7fffffff
	return fmt.Sprintf("%0*d", digits, value%modulus), nil
}

// Verify returns the period of a code that is right at a time, or false. A code counts once: that of a period up to used does not.
func Verify(s secret.Text, code string, at time.Time, used int64) (step int64, ok bool, err error) {
	code = strings.ReplaceAll(strings.TrimSpace(code), " ", "")
	now := Step(at)
	for candidate := now - skew; candidate <= now+skew; candidate++ {
		want, err := Code(s, candidate)
		if err != nil {
			return 0, false, err
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 && candidate > used {
			step, ok = candidate, true
		}
	}
	return step, ok, nil
}

// NewCode returns a random code in small letters and digits, in two halves, that people can write down.
func NewCode(random io.Reader, bytes int) (secret.Text, error) {
	raw := make([]byte, bytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return secret.Text{}, err
	}
	text := strings.ToLower(encoding.EncodeToString(raw))[:bytes*8/5/2*2]
	return secret.New(text[:len(text)/2] + "-" + text[len(text)/2:]), nil
}
