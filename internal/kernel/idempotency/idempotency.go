// Package idempotency lets a caller repeat a request safely, for example after a timeout: the claim of the idempotency
// key, the effect of the request and the answer to it are committed together.
package idempotency

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

const (
	// Header is the request header with the key. Replayed is the response header that marks a repeated answer.
	Header   = "Idempotency-Key"
	Replayed = "Idempotency-Replayed"

	keyMax = 255
	// Kept is how long an answer is stored: twice the promised time, because clocks and sweeps are not exact.
	Kept = 48 * time.Hour
)

// Answer is the response to a request.
type Answer struct {
	Status int
	Body   []byte
}

// Request is a request of a caller with an idempotency key.
type Request struct {
	key    string
	hash   string
	rights rights
}

// ErrRightsLost is the Conflict fault for a request that was answered when its caller was allowed to do more: the answer may show
// what the caller no longer has access to.
var ErrRightsLost = fault.Conflictf("the idempotency key was used when the caller had more rights: send this request with a key of its own")

// NewRequest validates a key and returns the request, identified by a hash of caller, method, path and body. The caller is the user, or
// the API key if it belongs to no user, or the app: nobody else is given the stored answer. Another API key of the user is, if it may do as
// much. An app is not, because what it gets ends with its access.
func NewRequest(key string, caller actor.Actor, method, path string, body []byte) (Request, error) {
	if n := utf8.RuneCountInString(key); n < 1 || n > keyMax {
		return Request{}, fault.Invalidf(Header, "must have 1 to %d characters", keyMax)
	}
	return Request{
		key:    key,
		hash:   hashOf(cmp.Or(caller.AuthorizationID, caller.UserID, caller.APIKeyID), method, path, string(body)),
		rights: rightsOf(caller),
	}, nil
}

// Key returns the key.
func (r Request) Key() string { return r.key }

// hashOf returns a hash of texts.
func hashOf(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:", len(text))
		io.WriteString(h, text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// keyHash returns the hash of the key. The key itself is not stored.
func (r Request) keyHash() string {
	sum := sha256.Sum256([]byte(r.key))
	return hex.EncodeToString(sum[:])
}

// Claim claims the key in a transaction. It returns nil when the request is new, and the stored answer when it was
// answered before; it waits for the same request under way elsewhere. It returns a Conflict fault when the key was used
// for another request or by another caller.
func (r Request) Claim(ctx context.Context, tx *db.Tx) (*Answer, error) {
	if tx.Group().IsMember() {
		return r.claimInGroup(ctx, tx)
	}
	fresh, err := claim(ctx, tx, r)
	if err != nil || fresh {
		return nil, err
	}
	stored, err := find(ctx, tx, r)
	if err != nil {
		return nil, err
	}
	return r.storedAnswer(stored)
}

// storedAnswer decrypts the answer of a row. It returns a Conflict fault if the row is that of another request or of another caller, and
// ErrRightsLost if the caller may do less than when the request was answered.
func (r Request) storedAnswer(stored row) (*Answer, error) {
	if stored.RequestHash != r.hash {
		return nil, fault.Conflictf("the idempotency key was used for another request or by another caller: send this request with " +
			"a key of its own")
	}
	if !r.rights.include(rights(stored.Rights)) {
		return nil, ErrRightsLost
	}
	body, err := r.open(stored.Answer)
	return &Answer{int(stored.Status), body}, err
}

// Store stores the answer, in the transaction of the effect.
func (r Request) Store(ctx context.Context, tx *db.Tx, a Answer) error {
	sealed, err := r.seal(tx.DB().Random(), a.Body)
	if err != nil {
		return err
	}
	if tx.Group().IsMember() {
		claimsOf(tx).add(tx, row{KeyHash: r.keyHash(), RequestHash: r.hash, Rights: string(r.rights), Status: int64(a.Status), Answer: sealed,
			CreatedAt: tx.Now()})
		return nil
	}
	return store(ctx, tx, r, a.Status, sealed)
}

// Recall looks for the answer after a commit whose outcome is unknown. It returns nil when nothing was committed, and a
// Conflict fault when the key was used for another request.
func (r Request) Recall(ctx context.Context, d *db.DB, organizationID string) (answer *Answer, err error) {
	err = d.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		stored, err := find(ctx, tx, r)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err = r.storedAnswer(stored)
		return err
	})
	return answer, err
}

// An answer may contain a secret that is shown only once, such as a new API key. It is encrypted with a key derived from
// the idempotency key, of which only the hash is stored, so that a copy of the database does not reveal it.

func (r Request) seal(random io.Reader, body []byte) ([]byte, error) {
	box, err := r.cipher()
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
	box, err := r.cipher()
	if err != nil {
		return nil, err
	}
	n := box.NonceSize()
	if len(sealed) < n {
		return nil, errors.New("idempotency: a stored answer is too short to be decrypted")
	}
	return box.Open(nil, sealed[:n], sealed[n:], nil)
}

func (r Request) cipher() (cipher.AEAD, error) {
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

// Sweep is the job that deletes expired answers.
type Sweep struct{}

// Kind returns the name of the job.
func (Sweep) Kind() string { return "idempotency_sweep" }

// sweepMax bounds how many answers one transaction deletes, so that other writes do not wait for long.
const sweepMax = 1000

// DeleteExpired deletes the answers that are older than Kept.
func DeleteExpired(ctx context.Context, d *db.DB) error {
	for {
		var n int64
		err := d.WriteAcross(ctx, "answers of all organizations expire after the same time", func(ctx context.Context, tx *db.Tx) (err error) {
			n, err = deleteBefore(ctx, tx, tx.Now().Add(-Kept), sweepMax)
			return err
		})
		if err != nil || n < sweepMax {
			return err
		}
	}
}
