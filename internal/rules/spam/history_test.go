package spam_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/rules/spam"
)

// pastStore stores the past as a database would and returns only the records that are looked up.
type pastStore struct {
	dealings  map[spam.Dealing]bool
	sightings map[[2]string]spam.Sighting
	bursts    map[[3]string]spam.Burst
}

func newKeeper() *pastStore {
	return &pastStore{map[spam.Dealing]bool{}, map[[2]string]spam.Sighting{}, map[[3]string]spam.Burst{}}
}

func (k *pastStore) answer(q spam.Lookups) (p spam.Past) {
	for d := range k.dealings {
		if slices.Contains(q.Shown, d.Shown) {
			p.Dealings = append(p.Dealings, d)
		}
	}
	for _, s := range k.sightings {
		if slices.Contains(q.TokenHours, s.TokenHour) {
			p.Sightings = append(p.Sightings, s)
		}
	}
	for _, b := range k.bursts {
		if slices.Contains(q.Hashes, b.Hash) {
			p.Bursts = append(p.Bursts, b)
		}
	}
	return p
}

func (k *pastStore) keep(p spam.Past) {
	for _, d := range p.Dealings {
		k.dealings[d] = true
	}
	for _, s := range p.Sightings {
		k.sightings[[2]string{s.TokenHour, s.SourceID}] = s
	}
	for _, b := range p.Bursts {
		k.bursts[[3]string{b.Hash, b.Token, b.SourceID}] = b
	}
}

// relevant filters a list by the keys that are looked up.
func relevant(l spam.List, q spam.Lookups) (out spam.List) {
	for _, c := range l.Contracts {
		if slices.Contains(q.Listed, spam.AddressKey(c.Address)) {
			out.Contracts = append(out.Contracts, c)
		}
	}
	for _, a := range l.Addresses {
		if slices.Contains(q.Listed, spam.AddressKey(a)) {
			out.Addresses = append(out.Addresses, a)
		}
	}
	for _, s := range l.Symbols {
		if slices.Contains(q.Listed, spam.SymbolKey(s)) {
			out.Symbols = append(out.Symbols, s)
		}
	}
	return out
}

func TestTheStoredPastScoresLikeTheWholeHistory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, kept := drawFacts(t), newKeeper()
		var past []spam.Arrival
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			batch := rapid.SliceOfN(rapid.Custom(drawArrival), 1, 8).Draw(t, "batch")
			past = append(past, batch...)
			q := spam.LookupsFor(batch)
			g := f
			g.Allow, g.Deny = relevant(f.Allow, q), relevant(f.Deny, q)
			l := spam.NewLearner(g)
			l.Restore(kept.answer(q))
			for _, a := range batch {
				l.Learn(a)
			}
			kept.keep(l.Changes())
			few, all := l.Knowledge(), spam.NewKnowledge(f, past)
			for _, a := range batch {
				if x, y := spam.Score(a, few), spam.Score(a, all); !reflect.DeepEqual(x, y) {
					t.Fatalf("%+v is %+v by what was kept, %+v by everything", a, x, y)
				}
			}
		}
	})
}

func TestTheStoredPastDoesNotGrowWithRepetition(t *testing.T) {
	t.Parallel()
	l := spam.NewLearner(facts())
	var all []spam.Arrival
	for i := range 1000 {
		all = append(all, spam.Arrival(in("5", "USDC", usdc).with(customer).worth("5")),
			spam.Arrival(in("9", "NEWT", unknown).at(time.Duration(i)*time.Second)))
	}
	for _, a := range all {
		l.Learn(a)
	}
	if p := l.Changes(); len(p.Dealings) != 1 || len(p.Sightings) != 1 || len(p.Bursts) != 0 {
		t.Errorf("%+v", p)
	}
	if q := spam.LookupsFor(all); len(q.Listed) > 7 || len(q.Shown) != 3 || len(q.TokenHours) != 3 || len(q.Hashes) != 0 {
		t.Errorf("%+v", q)
	}
}

func TestATextNoChainHasIsNotRemembered(t *testing.T) {
	t.Parallel()
	long := string(make([]byte, 200))
	l := spam.NewLearner(facts())
	for _, m := range []made{in("1", "NEWT", long), in("1", "NEWT", "a b"), in("1", "NEWT", unknown).on(long),
		out("1", "USDC", usdc).with(long), in("1", "NEWT", unknown).on("solana").hash(long)} {
		l.Learn(spam.Arrival(m))
	}
	if p := l.Changes(); len(p.Dealings) != 0 || len(p.Sightings) != 1 || len(p.Bursts) != 0 {
		t.Errorf("%+v", p)
	}
}

func TestAnAirdropIsCountedAnHourAroundAnArrival(t *testing.T) {
	t.Parallel()
	for first := 0; first < 60; first += 7 {
		for apart := -125; apart <= 125; apart++ {
			one, other := in("9", "NEWT", unknown).at(time.Duration(first)*time.Minute), in("9", "NEWT",
				unknown).source("payroll").at(time.Duration(first+apart)*time.Minute)
			k := spam.NewKnowledge(facts(), []spam.Arrival{spam.Arrival(one), spam.Arrival(other)})
			many := slices.ContainsFunc(one.judged(k).Reasons, func(r spam.Reason) bool { return r.Code == spam.MassAirdrop })
			if want := apart >= -60 && apart <= 60; many != want {
				t.Errorf("%d minutes past the hour and %d apart: %t", first, apart, many)
			}
		}
	}
}
