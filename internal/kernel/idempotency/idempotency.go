// Package idempotency lets a caller send a request again after a timeout: the claim of the key, the effect and the answer commit together.
package idempotency

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	// Header carries the key; Replayed marks an answer that was given before.
	Header   = "Idempotency-Key"
	Replayed = "Idempotency-Replayed"

	keyMax = 255
	// Kept is how long an answer is remembered: twice what is promised, because clocks and sweeps are not exact.
	Kept = 48 * time.Hour
)

// Answer is what a request was answered with.
type Answer struct {
	Status int
	Body   []byte
}

// Request is one keyed request.
type Request struct {
	key  string
	hash string
}

// NewRequest checks a key and takes the fingerprint of what was sent with it.
func NewRequest(key, method, path string, body []byte) (Request, error) {
	if n := utf8.RuneCountInString(key); n < 1 || n > keyMax {
		return Request{}, fault.Invalidf(Header, "must have 1 to %d characters", keyMax)
	}
	h := sha256.New()
	for _, part := range []string{method, path} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	h.Write(body)
	return Request{key, hex.EncodeToString(h.Sum(nil))}, nil
}

// keyHash is what is stored of a key.
func (r Request) keyHash() string {
	sum := sha256.Sum256([]byte(r.key))
	return hex.EncodeToString(sum[:])
}

// Claim takes the key in this transaction. It gives the stored answer when the same request was answered before, waiting for one
// that is under way, and refuses another request under the same key.
func (r Request) Claim(ctx context.Context, tx *db.Tx) (*Answer, error) {
	if tx.Group().Shared() {
		return r.claimTogether(ctx, tx)
	}
	fresh, err := claim(ctx, tx, r)
	if err != nil || fresh {
		return nil, err
	}
	stored, err := find(ctx, tx, r)
	if err != nil {
		return nil, err
	}
	return r.answered(stored)
}

// answered is the stored answer, if it was to the same request.
func (r Request) answered(stored row) (*Answer, error) {
	if stored.RequestHash != r.hash {
		return nil, fault.Conflictf("the idempotency key was used for another request")
	}
	body, err := r.open(stored.Answer)
	return &Answer{int(stored.Status), body}, err
}

// Store keeps the answer in the transaction of the effect.
func (r Request) Store(ctx context.Context, tx *db.Tx, a Answer) error {
	sealed, err := r.seal(tx.DB().Random(), a.Body)
	if err != nil {
		return err
	}
	if tx.Group().Shared() {
		claimsOf(tx).add(tx, row{KeyHash: r.keyHash(), RequestHash: r.hash, Status: int64(a.Status), Answer: sealed, CreatedAt: tx.Now()})
		return nil
	}
	return store(ctx, tx, r, a.Status, sealed)
}

// Recall looks for an answer after a commit whose outcome was lost; nil means it did not happen. It refuses another
// request under the same key.
func (r Request) Recall(ctx context.Context, d *db.DB, organizationID string) (answer *Answer, err error) {
	err = d.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		stored, err := find(ctx, tx, r)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err = r.answered(stored)
		return err
	})
	return answer, err
}

// An answer may hold what is shown only once, such as a new API key. It is sealed under the caller's idempotency key, of which only the
// hash is stored, so that a copy of the database gives none of it away.

func (r Request) seal(random io.Reader, body []byte) ([]byte, error) {
	box, err := r.box()
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return nil, err
	}
	return box.Seal(nonce, nonce, body, nil), nil
}

func (r Request) open(sealed []byte) ([]byte, error) {
	box, err := r.box()
	if err != nil {
		return nil, err
	}
	n := box.NonceSize()
	if len(sealed) < n {
		return nil, errors.New("idempotency: a stored answer is cut short")
	}
	return box.Open(nil, sealed[:n], sealed[n:], nil)
}

func (r Request) box() (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(r.key), []byte(r.hash), "bursar idempotent answer", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// Sweep is the job that forgets answers whose time is over.
type Sweep struct{}

// Kind names the job.
func (Sweep) Kind() string { return "idempotency_sweep" }

// sweepMax bounds one transaction of the sweep, so that writers do not wait for it.
const sweepMax = 1000

// Forget deletes what is older than Kept, a bounded number at a time.
func Forget(ctx context.Context, d *db.DB) error {
	for {
		var n int64
		err := d.WriteAcross(ctx, "answers of all organizations grow old alike", func(ctx context.Context, tx *db.Tx) (err error) {
			n, err = deleteBefore(ctx, tx, tx.Now().Add(-Kept), sweepMax)
			return err
		})
		if err != nil || n < sweepMax {
			return err
		}
	}
}
