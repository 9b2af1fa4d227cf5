package identity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/base/wording"
	"github.com/bursarhq/bursar/internal/db"
)

// pace says how fast wrong passwords may follow each other: after some, each further one doubles the wait before the next, up to a maximum.
type pace struct {
	free  int64
	first time.Duration
	max   time.Duration
}

// The paces. Somebody who guesses the password of an account from one address or device is stopped soon. One who has many addresses is
// slowed down, but not so much that the owner of the account is kept out on a new device. An address may belong to an office, where more
// people mistype.
var (
	ofAccountFromOrigin = pace{free: 5, first: time.Second, max: 15 * time.Minute}
	ofAccount           = pace{free: 30, first: time.Second, max: 20 * time.Second}
	ofAddress           = pace{free: 30, first: time.Second, max: 15 * time.Minute}
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
	hash    string
	pace    pace
	cleared bool // a success forgets all failures, and not only takes back its own attempt
}

// subjects returns what the failures of an attempt count for. An account that does not exist is counted too, so that nobody can tell. Those
// on a device on which the person has signed in before count apart, so that nobody who guesses elsewhere makes the person wait.
func (s *Service) subjects(email string, o Origin) []subject {
	if device := s.deviceOf(email, o); device != "" {
		return []subject{{token.Hash("account and device\n" + email + "\n" + device), ofAccountFromOrigin, true}}
	}
	return []subject{
		{token.Hash("account and address\n" + email + "\n" + o.Network), ofAccountFromOrigin, true},
		{token.Hash("account\n" + email), ofAccount, false},
		ofNetwork(o),
	}
}

// ofNetwork returns what failures from an address count for, whoever they are of.
func ofNetwork(o Origin) subject {
	return subject{hash: token.Hash("address\n" + o.Network), pace: ofAddress}
}

// attempt counts an attempt before it is checked, so that attempts at the same time are counted too. It returns a RateLimited fault, and
// counts nothing, if the attempt comes too soon after failures.
func (s *Service) attempt(ctx context.Context, counted []subject) error {
	if wait := s.refused.wait(counted, s.now()); wait > 0 {
		return s.tooSoon(wait)
	}
	ctx, cancel := lasting(ctx)
	defer cancel()
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		now, wait := tx.Now(), time.Duration(0)
		for _, one := range counted {
			f, err := lockFailures(ctx, tx, one.hash, now)
			if err != nil {
				return err
			}
			since := now.Sub(f.FailedAt)
			failures := decayed(f.Failures, since)
			if own := one.pace.wait(failures) - since; own > 0 {
				s.refused.add(one.hash, now, own)
				wait = max(wait, own)
			}
			if err := updateFailures(ctx, tx, one.hash, failures+1, now); err != nil {
				return err
			}
		}
		if wait > 0 {
			return s.tooSoon(wait)
		}
		return nil
	})
}

func (s *Service) tooSoon(wait time.Duration) error {
	s.attempts.WithLabelValues("delayed").Inc()
	return fault.RateLimitedf(wait, "there were too many attempts: wait %s, then try again", wording.Duration(wait))
}

// decayed returns how many failures still count after a time: half as many with each hour.
func decayed(failures int64, since time.Duration) int64 {
	return failures >> min(62, max(0, int64(since/time.Hour)))
}

// succeed takes back what an attempt has counted, and forgets the failures of an account from an address.
func (s *Service) succeed(ctx context.Context, counted []subject) error {
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		for _, one := range counted {
			forget := takeBackFailure
			if one.cleared {
				forget = deleteFailures
			}
			if err := forget(ctx, tx, one.hash); err != nil {
				return err
			}
		}
		return nil
	})
}

// takeBack takes back what an attempt has counted that was right as far as it went.
func (s *Service) takeBack(ctx context.Context, counted []subject) error {
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		for _, one := range counted {
			if err := takeBackFailure(ctx, tx, one.hash); err != nil {
				return err
			}
		}
		return nil
	})
}
