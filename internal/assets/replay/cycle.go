package replay

import (
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// Lots that arrive come before what leaves at the same instant. If something leaves a pool and returns to it at one instant, by way
// of other pools, each of these moves then waits for the next one. Such a cycle is broken by letting the lots of one of the moves
// return: they arrive among the moves of their pool, in the order of the numbers of transactions, or after all of them. Which one
// it is must be tried, because what leaves has to be there. If none leads to an order in which everything is there when it leaves,
// the entries are refused.

// returns is when the lots of a move arrive: before all moves of the instant, unless it is set.
type returns int

const (
	amongMoves returns = iota + 1 // in the order of the numbers of transactions
	afterMoves
)

// returnOf returns when lots with an order key arrive.
func returnOf(key lot.OrderKey) returns {
	place, err := key.Place()
	switch {
	case err != nil || place.Kind != lot.Move:
		return 0
	case place.Returning(false).ReturnsLast():
		return afterMoves
	}
	return amongMoves
}

// returning returns the order key of an arrival if it is to return, or the key itself if it does so anyway.
func returning(key lot.OrderKey, as returns) lot.OrderKey {
	place, err := key.Place()
	if err != nil || place.Kind == lot.Acquire || as <= returnOf(key) {
		return key
	}
	place = place.Returning(as == afterMoves)
	return place.OrderKey()
}

// attemptsMax bounds how often a replay starts again.
const attemptsMax = 1000

// cycle is the error that moves at an instant wait for each other.
type cycle struct{ options []option }

// option is an entry, by key, and when its lots may arrive instead.
type option struct {
	key string
	as  returns
}

func (*cycle) Error() string { return "replay: moves at one instant wait for each other" }

// errCycle returns the error that no order exists.
func errCycle() error {
	return fault.Conflictf("transfers at the same instant form a cycle, so that none can come first: change the time of one of them")
}

// findCycle returns the cycle that begins and ends with a session. Its options are in the order in which they are to be tried: an
// arrival among the moves first, and one at a source before one on an account under which lots are parked.
func (r *run) findCycle(first *session) error {
	around := slices.Clone(r.stack[slices.Index(r.stack, first):])
	slices.SortFunc(around, func(a, b *session) int {
		if a.Parked() != b.Parked() {
			if b.Parked() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Key, b.Key)
	})
	out := &cycle{}
	for _, as := range []returns{amongMoves, afterMoves} {
		for _, s := range around {
			e := s.events[s.next]
			if key := returning(e.key, as); e.consumption == nil && key != e.key && !e.entry.consumesAt(s.Key, key) {
				out.options = append(out.options, option{e.entry.key, as})
			}
		}
	}
	return out
}

// consumesAt reports whether an entry consumes from a pool at an order key. A conversion into the same pool cannot return at the key at
// which it leaves.
func (e *entry) consumesAt(pool string, key lot.OrderKey) bool {
	for _, c := range e.consumptions {
		if c.Pool == pool && c.OrderKey == key {
			return true
		}
	}
	return false
}

// precedesReturn reports whether lots return to the pool at the instant of the event that is being applied, but after it.
func (s *session) precedesReturn(r *run) bool {
	instant, _, _ := strings.Cut(string(s.events[s.next].key), " ")
	for _, e := range s.events[s.next+1:] {
		if at, _, _ := strings.Cut(string(e.key), " "); at != instant {
			return false
		}
		if e.consumption == nil && r.returns[e.entry.key] > 0 {
			return true
		}
	}
	return false
}

// lacksLots reports whether no lots cover a part of what was consumed.
func lacksLots(uses []lots.Use) bool {
	return slices.ContainsFunc(uses, func(u lots.Use) bool { return u.LotID == "" })
}

// parksWhatIsMissing reports whether lots are parked on an account from which something was taken that no lots covered.
func (r *run) parksWhatIsMissing() bool {
	for _, s := range r.sessions {
		if s.Parked() && s.engine.Quantity().Sign() > 0 && slices.ContainsFunc(s.events, func(e *event) bool {
			return e.consumption != nil && lacksLots(e.consumption.after)
		}) {
			return true
		}
	}
	return false
}

// arrival returns the pool that the lots of an entry enter, and the order key at which they do.
func (r *run) arrival(e *entry) (lots.Pool, lot.OrderKey, bool) {
	p, key, enters := e.Effect.arrival(r.books)
	as := r.returns[e.key]
	for _, l := range e.before {
		if !e.isNew && l.Pool == p.Key {
			as = max(as, returnOf(l.OrderKey))
		}
	}
	return p, returning(key, as), enters
}

// choice is a cycle and which of its options is tried.
type choice struct {
	options []option
	at      int
}

// choices are the cycles that a replay has found, in order.
type choices []choice

// returns returns the entries that return, by key.
func (c choices) returns() map[string]returns {
	out := map[string]returns{}
	for _, one := range c {
		if one.at < len(one.options) {
			o := one.options[one.at]
			out[o.key] = max(out[o.key], o.as)
		}
	}
	return out
}

// involves reports whether an entry is part of a cycle.
func (c choices) involves(key string) bool {
	return slices.ContainsFunc(c, func(one choice) bool {
		return slices.ContainsFunc(one.options, func(o option) bool { return o.key == key })
	})
}

// next moves on to the next combination, and reports whether there is one.
func (c *choices) next() bool {
	for len(*c) > 0 {
		last := &(*c)[len(*c)-1]
		if last.at++; last.at < len(last.options) {
			return true
		}
		*c = (*c)[:len(*c)-1]
	}
	return false
}
