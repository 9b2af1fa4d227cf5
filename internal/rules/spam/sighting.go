package spam

import (
	"strconv"
	"strings"
	"time"
)

// tokenHour is a token and a clock hour.
type tokenHour struct {
	contract
	hour int64
}

func (t tokenHour) name() string { return strconv.FormatInt(t.hour, 10) + " " + t.contract.name() }

func tokenHourNamed(name string) (t tokenHour, ok bool) {
	hour, rest, _ := strings.Cut(name, " ")
	n, err := strconv.ParseInt(hour, 10, 64)
	c, ok := contractNamed(rest)
	return tokenHour{c, n}, ok && err == nil
}

// hourOf returns the number of the airdropWindow, one hour, that contains a time in nanoseconds.
func hourOf(at int64) int64 {
	hour := at / int64(airdropWindow)
	if at%int64(airdropWindow) < 0 {
		hour--
	}
	return hour
}

// span is the first and the last time that a token reached a source within an hour.
type span struct{ first, last int64 }

// changeSet collects what was learned beyond the restored past.
type changeSet struct {
	counterparties []counterpartyOf
	used           []contractOf
	seen           map[tokenHour]map[string]bool
	bursts         map[transferredTo]bool
}

// counterpartyOf, contractOf and transferredTo are what is stored for each source.
type (
	counterpartyOf struct {
		address
		sourceID string
	}
	contractOf struct {
		contract
		sourceID string
	}
	transferredTo struct {
		transferred
		sourceID string
	}
)

// stored is what is known of each source, whether restored or learned.
type stored struct {
	counterparties map[counterpartyOf]bool
	used           map[contractOf]bool
	transfers      map[transferredTo]int
}

func newStored() stored {
	return stored{map[counterpartyOf]bool{}, map[contractOf]bool{}, map[transferredTo]int{}}
}

func newChangeSet() changeSet {
	return changeSet{seen: map[tokenHour]map[string]bool{}, bursts: map[transferredTo]bool{}}
}

// recordSighting records the arrival of an unknown token.
func (l *Learner) recordSighting(c contract, a Arrival) {
	at := a.At.UnixNano()
	hour := tokenHour{c, hourOf(at)}
	if l.extendSpan(hour, a.SourceID, span{at, at}) {
		if l.changes.seen[hour] == nil {
			l.changes.seen[hour] = map[string]bool{}
		}
		l.changes.seen[hour][a.SourceID] = true
	}
	if a.Hash != "" && storable(a.Hash) {
		to := transferredTo{transferred{c, a.Hash}, a.SourceID}
		l.k.transfersByHash[to.transferred]++
		l.stored.transfers[to]++
		l.changes.bursts[to] = true
	}
}

// extendSpan extends the span of a source within an hour and reports whether it changed.
func (l *Learner) extendSpan(hour tokenHour, sourceID string, s span) bool {
	sources := l.k.seen[hour]
	if sources == nil {
		sources = map[string]span{}
		l.k.seen[hour] = sources
	}
	known, there := sources[sourceID]
	if there {
		s = span{min(known.first, s.first), max(known.last, s.last)}
	}
	sources[sourceID] = s
	return !there || s != known
}

// sourcesReached returns how many sources a token reached within airdropWindow before or after a time.
func (k *Knowledge) sourcesReached(c contract, at time.Time) int {
	t := at.UnixNano()
	hour := hourOf(t)
	before, here, after := k.seen[tokenHour{c, hour - 1}], k.seen[tokenHour{c, hour}], k.seen[tokenHour{c, hour + 1}]
	n := len(here)
	late := func(source string) bool {
		s, there := before[source]
		return there && s.last >= t-int64(airdropWindow)
	}
	for source := range before {
		if _, counted := here[source]; !counted && late(source) {
			n++
		}
	}
	for source, s := range after {
		if _, counted := here[source]; !counted && !late(source) && s.first <= t+int64(airdropWindow) {
			n++
		}
	}
	return n
}

// Restore loads the stored past. Call it before Learn.
func (l *Learner) Restore(p Past) {
	for _, d := range p.Dealings {
		if c, ok := contractNamed(d.Name); ok {
			l.markUsed(c)
			l.stored.used[contractOf{c, d.SourceID}] = true
		} else {
			a := parse(d.Name)
			l.k.counterparties[a] = true
			l.stored.counterparties[counterpartyOf{a, d.SourceID}] = true
		}
	}
	for _, s := range p.Sightings {
		if hour, ok := tokenHourNamed(s.TokenHour); ok {
			l.extendSpan(hour, s.SourceID, span{s.First.UnixNano(), s.Last.UnixNano()})
		}
	}
	for _, b := range p.Bursts {
		if c, ok := contractNamed(b.Token); ok {
			to := transferredTo{transferred{c, b.Hash}, b.SourceID}
			l.k.transfersByHash[to.transferred] += b.Transfers
			l.stored.transfers[to] = b.Transfers
		}
	}
}

// Changes returns the records to store: new dealings, and the current sightings and bursts, which replace the stored ones.
// Call it before Knowledge.
func (l *Learner) Changes() (p Past) {
	for _, a := range l.changes.counterparties {
		p.Dealings = append(p.Dealings, Dealing{a.shown(), a.String(), a.sourceID})
	}
	for _, c := range l.changes.used {
		p.Dealings = append(p.Dealings, Dealing{c.name(), c.name(), c.sourceID})
	}
	for hour, sources := range l.changes.seen {
		for source := range sources {
			s := l.k.seen[hour][source]
			p.Sightings = append(p.Sightings, Sighting{hour.name(), source, time.Unix(0, s.first).UTC(), time.Unix(0, s.last).UTC()})
		}
	}
	for t := range l.changes.bursts {
		p.Bursts = append(p.Bursts, Burst{t.hash, t.contract.name(), t.sourceID, l.stored.transfers[t]})
	}
	return p
}
