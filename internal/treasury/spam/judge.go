package spam

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	rules "github.com/bursarhq/bursar/internal/rules/spam"
)

// Judge detects spam among new arrivals. It considers the organization's own addresses, its listings, earlier arrivals
// and the other arrivals of the batch, and stores what it needs to judge later ones. Each arrival must be judged exactly
// once, because it would be counted twice otherwise. Only crypto arrivals are judged; the verdict on others is
// empty. Of earlier arrivals it considers those at some sources; nil means all. It is a building block and locks the
// organization state.
func Judge(ctx context.Context, tx *db.Tx, own, sources []string, arrivals []rules.Arrival) ([]rules.Assessment, error) {
	verdicts := make([]rules.Assessment, len(arrivals))
	var positions []int
	var judged []rules.Arrival
	for i, a := range arrivals {
		if a.Class == rules.ClassCrypto {
			a.At = clock.Stamp(a.At) // in the stored precision
			positions, judged = append(positions, i), append(judged, a)
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
	past, err := selectPast(ctx, tx, q, sources)
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
		verdicts[positions[n]] = rules.Score(a, k)
	}
	return verdicts, nil
}

// factsOf returns the organization's own addresses and listings, in the form that the rules expect.
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
