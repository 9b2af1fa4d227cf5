package identity

import (
	"context"
	"net/netip"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
)

// pace says how fast wrong passwords may follow each other: after some, each further one doubles the wait before the next, up to a maximum.
type pace struct {
	free  int64
	first time.Duration
	max   time.Duration
}

// The paces. Somebody who guesses the password of an account from one address is stopped soon. One who has many addresses is slowed down,
// but not so much that the owner of the account is kept out. An address may belong to an office, where more people mistype.
var (
	ofAccountFromAddress = pace{free: 5, first: time.Second, max: 15 * time.Minute}
	ofAccount            = pace{free: 30, first: time.Second, max: 20 * time.Second}
	ofAddress            = pace{free: 30, first: time.Second, max: 15 * time.Minute}
)

// failuresKept is how long failures count.
const failuresKept = 24 * time.Hour

// wait returns how long after a number of failures the next attempt may come.
func (p pace) wait(failures int64) time.Duration {
	if failures < p.free {
		return 0
	}
	wait := p.first
	for range failures - p.free {
		if wait *= 2; wait >= p.max {
			return p.max
		}
	}
	return wait
}

// subject is what failures are counted of.
type subject struct {
	hash string
	pace pace
}

// subjects returns what the failures of an attempt count for. An account that does not exist is counted too, so that nobody can tell.
func subjects(email string, o Origin) []subject {
	network := networkOf(o.Address)
	return []subject{
		{token.Hash("account and address\n" + email + "\n" + network), ofAccountFromAddress},
		{token.Hash("account\n" + email), ofAccount},
		{token.Hash("address\n" + network), ofAddress},
	}
}

// networkOf returns the address, or the network of 64 bits of an IPv6 address, which is the least that a caller gets.
func networkOf(address string) string {
	at, err := netip.ParseAddr(address)
	if err != nil || at.Is4() {
		return address
	}
	network, _ := at.Prefix(64)
	return network.String()
}

// allow returns a RateLimited fault if an attempt comes too soon after failures.
func (s *Service) allow(ctx context.Context, of []subject) error {
	var wait time.Duration
	err := s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		for _, one := range of {
			f, err := selectFailures(ctx, tx, one.hash)
			if err != nil {
				return err
			}
			if since := s.now().Sub(f.FailedAt); since < failuresKept {
				wait = max(wait, one.pace.wait(f.Failures)-since)
			}
		}
		return nil
	})
	if err != nil || wait <= 0 {
		return err
	}
	return fault.RateLimitedf(wait, "too many attempts to sign in have failed: wait for %s, then try again", waitText(wait))
}

// waitText returns a duration as people say it, rounded up.
func waitText(d time.Duration) string {
	d = d.Truncate(time.Second) + time.Second
	if d < time.Minute {
		return d.String()
	}
	return (d.Truncate(time.Minute) + time.Minute).Truncate(time.Minute).String()
}

// fail counts a failed attempt.
func (s *Service) fail(ctx context.Context, of []subject) error {
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error { return countAll(ctx, tx, of) })
}

func countAll(ctx context.Context, tx *db.Tx, of []subject) error {
	for _, one := range of {
		if err := countFailure(ctx, tx, one.hash, tx.Now(), tx.Now().Add(-failuresKept)); err != nil {
			return err
		}
	}
	return nil
}

// succeed forgets the failures of an account from an address.
func (s *Service) succeed(ctx context.Context, of []subject) error {
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error { return deleteFailures(ctx, tx, of[0].hash) })
}
