// Package password hashes the passwords of people and judges new ones.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
)

// cost is what one hash costs. It is stored with each hash, so that it can be raised.
type cost struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
}

// present is the cost of new hashes: what OWASP recommends for argon2id with little memory, about 25 ms of a processor.
var present = cost{memory: 19 * 1024, passes: 2, threads: 1}

const (
	saltBytes = 16
	hashBytes = 32

	// The limits of what a stored hash may ask for, so that a damaged one does not exhaust the memory.
	memoryMax  = 256 * 1024
	passesMax  = 16
	threadsMax = 8
)

// Hasher hashes passwords. A hash takes a processor for a while, so that only some are computed at a time: others wait, and those that
// would wait for long are refused. While many wait, there is a pause after each, so that a flood of passwords leaves the processor to
// others most of the time.
type Hasher struct {
	random io.Reader
	turns  chan struct{} // one for each hash that is computed, or whose pause lasts
	queue  chan struct{} // one for each that is computed or waits
	none   string        // the hash of a password that nobody has
}

const (
	// waitingMax is how many hashes may wait for one that is computed: about five seconds in a flood.
	waitingMax = 24

	// floodAt is how many wait in a flood. As many people at a time are none.
	floodAt = 12

	// pauseShare is how long the pause is in a flood, for each part of the time that a hash has taken.
	pauseShare = 3
)

// NewHasher returns a Hasher that computes a number of hashes at a time.
func NewHasher(concurrent int) *Hasher {
	h := &Hasher{random: rand.Reader, turns: make(chan struct{}, concurrent), queue: make(chan struct{}, concurrent+waitingMax)}
	h.none = encode(present, make([]byte, saltBytes), make([]byte, hashBytes))
	return h
}

// ErrBusy means that too many passwords are being checked.
var ErrBusy = fault.Busyf(2*time.Second, "too many passwords are being checked: wait a few seconds, then try again")

// Hash returns the hash of a password, in the notation of the PHC: $argon2id$v=19$m=…,t=…,p=…$salt$hash.
func (h *Hasher) Hash(ctx context.Context, plain secret.Text) (string, error) {
	salt := make([]byte, saltBytes)
	if _, err := io.ReadFull(h.random, salt); err != nil {
		return "", err
	}
	place, err := h.Reserve()
	if err != nil {
		return "", err
	}
	defer place.Leave()
	if err := place.wait(ctx); err != nil {
		return "", err
	}
	return encode(present, salt, compute(present, salt, plain, hashBytes)), nil
}

// Place is a place in the queue of a Hasher.
type Place struct {
	hasher *Hasher
	began  time.Time // when its turn came; zero before
}

// Reserve returns a place in the queue, or ErrBusy if it is full. It takes no time, so that a caller can find out before it does anything.
// The place must be left.
func (h *Hasher) Reserve() (*Place, error) {
	select {
	case h.queue <- struct{}{}:
		return &Place{hasher: h}, nil
	default:
		return nil, ErrBusy
	}
}

// Leave gives the place to another.
func (p *Place) Leave() {
	h := p.hasher
	waiting := len(h.queue) - cap(h.turns)
	<-h.queue
	switch {
	case p.began.IsZero():
	case waiting < floodAt:
		<-h.turns
	default:
		time.AfterFunc(pauseShare*time.Since(p.began), func() { <-h.turns })
	}
}

// wait waits for a turn.
func (p *Place) wait(ctx context.Context) error {
	select {
	case p.hasher.turns <- struct{}{}:
		p.began = time.Now()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Verify reports whether a password has a hash. Without a hash it takes as long and reports false, so that nobody can tell whether there is
// one. It also reports whether the hash should be replaced, because hashes cost more now. It may be called once.
func (p *Place) Verify(ctx context.Context, hash string, plain secret.Text) (ok, outdated bool, err error) {
	missing := hash == ""
	if missing {
		hash = p.hasher.none
	}
	c, salt, want, err := decode(hash)
	if err != nil {
		return false, false, err
	}
	if err := p.wait(ctx); err != nil {
		return false, false, err
	}
	equal := subtle.ConstantTimeCompare(compute(c, salt, plain, len(want)), want) == 1
	return equal && !missing, c != present, nil
}

// compute returns the hash of a password. Two ways to write the same characters in Unicode are the same password.
func compute(c cost, salt []byte, plain secret.Text, size int) []byte {
	return argon2.IDKey([]byte(normal(plain)), salt, c.passes, c.memory, c.threads, uint32(size))
}

func normal(plain secret.Text) string { return norm.NFKC.String(plain.Reveal()) }

func encode(c cost, salt, hash []byte) string {
	b := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.memory, c.passes, c.threads, b.EncodeToString(salt),
		b.EncodeToString(hash))
}

var errHash = errors.New("password: what is stored is not a hash of argon2id")

func decode(text string) (c cost, salt, hash []byte, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return c, nil, nil, errHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.passes, &c.threads); err != nil ||
		c.memory == 0 || c.memory > memoryMax || c.passes == 0 || c.passes > passesMax || c.threads == 0 || c.threads > threadsMax {
		return c, nil, nil, errHash
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	hash, hashErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || hashErr != nil || len(salt) < saltBytes || len(hash) < hashBytes {
		return c, nil, nil, errHash
	}
	return c, salt, hash, nil
}
