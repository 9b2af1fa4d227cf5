package spam

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	rules "github.com/bursarhq/bursar/internal/rules/spam"
)

// Judge tells spam among what has just arrived, knowing the organization's own addresses, its lists, all that arrived
// before and what arrives with it, and keeps what later arrivals will be judged by. Each arrival must be judged once:
// what is told twice would count twice. Where nobody can push anything the verdict is empty, and costs nothing. It is
// a building block, and takes the organization's head.
func Judge(ctx context.Context, tx *db.Tx, own []string, arrivals []rules.Arrival) ([]rules.Verdict, error) {
	verdicts := make([]rules.Verdict, len(arrivals))
	var places []int
	var judged []rules.Arrival
	for i, a := range arrivals {
		if a.Class == rules.ClassCrypto {
			a.At = clock.Stamp(a.At) // as it is kept
			places, judged = append(places, i), append(judged, a)
		}
	}
	if len(judged) == 0 {
		return verdicts, nil
	}
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return nil, err
	}
	q := rules.LookupsFor(judged)
	listings, err := selectKeyed(ctx, tx, q.Listed)
	if err != nil {
		return nil, err
	}
	past, err := selectPast(ctx, tx, q)
	if err != nil {
		return nil, err
	}
	l := rules.NewLearner(factsOf(own, listings))
	l.Restore(past)
	for _, a := range judged {
		l.Learn(a)
	}
	if err := savePast(ctx, tx, l.Changes()); err != nil {
		return nil, err
	}
	k := l.Knowledge()
	for n, a := range judged {
		verdicts[places[n]] = rules.Score(a, k)
	}
	return verdicts, nil
}

// factsOf is what the organization says itself.
func factsOf(own []string, listings []Listing) rules.Facts {
	f := rules.Facts{Own: own}
	for _, l := range listings {
		list := &f.Deny
		if l.Verdict == Allow {
			list = &f.Allow
		}
		switch l.Kind {
		case Contract:
			list.Contracts = append(list.Contracts, rules.Contract{Chain: l.Chain, Address: l.Value})
		case Address:
			list.Addresses = append(list.Addresses, l.Value)
		case Symbol:
			list.Symbols = append(list.Symbols, l.Value)
		}
	}
	return f
}
