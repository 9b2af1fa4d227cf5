package access

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Key is an API key as it is stored, without its secret text.
type Key struct {
	ID             string
	OrganizationID string
	UserID         string
	ParentID       string // the key it was created with; empty if none
	Name           string
	LastFour       string
	Scopes         []actor.Scope
	LegalEntityIDs []string
	ExpiresAt      *time.Time
	RevokedAt      *time.Time
	CreatedAt      time.Time

	hash string
}

// facts returns the fields for the audit log and events.
func (k Key) facts() map[string]any {
	return map[string]any{
		"id": k.ID, "name": k.Name, "user_id": db.OrNull(k.UserID), "parent_api_key_id": db.OrNull(k.ParentID),
		"last_four": k.LastFour, "scopes": k.Scopes,
		"legal_entity_ids": k.LegalEntityIDs, "expires_at": k.ExpiresAt, "revoked_at": k.RevokedAt, "created_at": k.CreatedAt,
	}
}

const (
	keyPrefix = "bur_"
	keyDigits = 43 // of base 62: 256 bits

	lastCharacters = 4 // LastFour, by which people tell keys apart
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// newText generates the text of a key. Random bytes beyond the last whole multiple of 62 are drawn again, so that all
// digits are equally likely.
func newText(random io.Reader) (secret.Text, error) {
	limit := new(big.Int).Exp(big.NewInt(62), big.NewInt(keyDigits), nil)
	space := new(big.Int).Lsh(big.NewInt(1), 264)
	usable := new(big.Int).Sub(space, new(big.Int).Mod(space, limit))
	raw := make([]byte, 33)
	n := new(big.Int)
	for {
		if _, err := io.ReadFull(random, raw); err != nil {
			return secret.Text{}, err
		}
		if n.SetBytes(raw); n.Cmp(usable) < 0 {
			break
		}
	}
	n.Mod(n, limit)
	text := make([]byte, keyDigits)
	digit, sixtyTwo := new(big.Int), big.NewInt(62)
	for i := range text {
		n.DivMod(n, sixtyTwo, digit)
		text[i] = base62[digit.Int64()]
	}
	return secret.New(keyPrefix + string(text)), nil
}

// hashOf returns the hash that a key is found by. The text has 256 bits of randomness, so a plain hash is safe against
// guessing.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// looksLikeKey saves a database query for texts that cannot be a key.
func looksLikeKey(text string) bool {
	rest, ok := strings.CutPrefix(text, keyPrefix)
	return ok && len(rest) == keyDigits
}
