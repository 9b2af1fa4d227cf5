package reconciliation

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/reconcile"
	"github.com/bursarhq/bursar/internal/treasury/observation"
)

const (
	// observationsMax is how many observed balances of an asset are looked at, the latest.
	observationsMax = 1000

	// stepsMax is how many spans in which a difference appeared are told apart. What is older is one.
	stepsMax = 4

	// looksMax is how often the books are compared with an observed balance to find them.
	looksMax = 30
)

// search finds when a difference appeared.
type search struct {
	c     *comparison
	asset string
	known []observation.Observed // the latest first; the first one is that of the figures
	rest  map[int]money.Decimal  // what would remain of the difference at some of them if everything were booked, and exactly
	looks int

	roundings roundings // what rounding explains is left out
}

// steps returns when the rest of a difference appeared that would remain if everything were booked exactly. They add up to it.
func (c *comparison) steps(ctx context.Context, tx *db.Tx, f Figures, rounded roundings) ([]reconcile.Step, error) {
	older, err := observation.History(ctx, tx, c.source.ID, f.AssetType, f.Observed.At, observationsMax)
	if err != nil {
		return nil, err
	}
	s := &search{c: c, asset: f.AssetType, known: append([]observation.Observed{*f.Observed}, older...),
		roundings: rounded, rest: map[int]money.Decimal{0: rounded.rest(f)}}
	var out []reconcile.Step
	for n := 0; !s.rest[n].IsZero(); {
		same, other, err := s.before(ctx, tx, n)
		if err != nil {
			return nil, err
		}
		step := reconcile.Step{Until: s.known[same].At, Amount: s.rest[same]}
		if other == len(s.known) || len(out) == stepsMax-1 || s.looks >= looksMax {
			step.Until = s.known[same].At
			return append(out, step), nil
		}
		step.After, step.Amount = s.known[other].At, s.rest[same].Sub(s.rest[other])
		out = append(out, step)
		n = other
	}
	return out, nil
}

// before returns the neighbors between which the rest became what it is at n: the oldest one known to have the same, and the one before it,
// which is len(s.known) if none is known to differ. It looks back in growing distances and bisects.
func (s *search) before(ctx context.Context, tx *db.Tx, n int) (same, other int, err error) {
	same, other = n, len(s.known)
	for distance := 1; same+distance < len(s.known) && s.looks < looksMax; distance *= 2 {
		rest, err := s.look(ctx, tx, same+distance)
		if err != nil {
			return 0, 0, err
		}
		if !rest.Equal(s.rest[n]) {
			other = same + distance
			break
		}
		same += distance
		s.rest[same] = rest
	}
	if other == len(s.known) && same < other-1 && s.looks < looksMax { // the oldest one was skipped
		rest, err := s.look(ctx, tx, other-1)
		if err != nil {
			return 0, 0, err
		}
		if rest.Equal(s.rest[n]) {
			return other - 1, other, nil
		}
		other--
	}
	for other-same > 1 && other < len(s.known) {
		middle := same + (other-same)/2
		rest, err := s.look(ctx, tx, middle)
		if err != nil {
			return 0, 0, err
		}
		if rest.Equal(s.rest[n]) {
			same = middle
		} else {
			other = middle
		}
	}
	return same, other, nil
}

// look returns the rest of the difference at an observed balance.
func (s *search) look(ctx context.Context, tx *db.Tx, n int) (money.Decimal, error) {
	if rest, there := s.rest[n]; there {
		return rest, nil
	}
	s.looks++
	f := []Figures{{AssetType: s.asset, ComparedAt: s.known[n].At, Observed: &s.known[n]}}
	if err := s.c.fill(ctx, tx, f); err != nil {
		return money.Decimal{}, err
	}
	s.rest[n] = s.roundings.rest(f[0])
	return s.rest[n], nil
}

// spanOf returns the span that the transactions behind some steps are in.
func spanOf(steps []reconcile.Step, until time.Time) (after, to time.Time) {
	if len(steps) == 0 {
		return time.Time{}, until
	}
	return steps[len(steps)-1].After, steps[0].Until
}
