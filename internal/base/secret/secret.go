// Package secret provides Text, a string that cannot be printed, logged, encoded or
// stored by accident. Reveal is the only way to read it.
package secret

import (
	"crypto/sha256"
	"crypto/subtle"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// mask is printed instead of a secret.
const mask = "[secret]"

// Encoding fails instead of writing the mask: a masked secret in a response or a
// row would look like data and go unnoticed.
var errEncode = errors.New("secret: a secret cannot be encoded; call Reveal where the plain text is needed")

// Text is a secret string; its zero value is the empty one. It cannot be compared
// with ==, which would not be constant time: use Equal.
type Text struct {
	// A closure, because fmt and reflection can read any other kind of storage if
	// the Text is in an unexported field, where its methods are not called.
	reveal func() string
}

// New wraps a secret.
func New(s string) Text {
	if s == "" {
		return Text{}
	}
	return Text{reveal: func() string { return s }}
}

// Reveal returns the secret itself. It is the only way to read it, so that a search
// for its name finds every place where a secret is used.
func (t Text) Reveal() string {
	if t.reveal == nil {
		return ""
	}
	return t.reveal()
}

// IsZero reports whether there is no secret, or an empty one.
func (t Text) IsZero() bool { return t.reveal == nil }

// Equal compares in constant time. Both sides are hashed first, because a
// comparison of bytes would still tell their lengths apart.
func (t Text) Equal(other Text) bool {
	a, b := sha256.Sum256([]byte(t.Reveal())), sha256.Sum256([]byte(other.Reveal()))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// String returns the mask.
func (t Text) String() string { return mask }

// GoString returns the mask.
func (t Text) GoString() string { return mask }

// Format writes the mask for every verb, flag and width.
func (t Text) Format(state fmt.State, _ rune) {
	// A failed write cannot be reported from here; fmt ignores it as well.
	_, _ = io.WriteString(state, mask)
}

// LogValue returns the mask for structured logs.
func (t Text) LogValue() slog.Value { return slog.StringValue(mask) }

// MarshalJSON always fails.
func (t Text) MarshalJSON() ([]byte, error) { return nil, errEncode }

// MarshalText always fails; XML, YAML and map keys use it.
func (t Text) MarshalText() ([]byte, error) { return nil, errEncode }

// MarshalBinary always fails.
func (t Text) MarshalBinary() ([]byte, error) { return nil, errEncode }

// GobEncode always fails.
func (t Text) GobEncode() ([]byte, error) { return nil, errEncode }

// Value always fails: a database gets ciphertext or a hash, never the secret.
func (t Text) Value() (driver.Value, error) { return nil, errEncode }
