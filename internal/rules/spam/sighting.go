package spam

import (
	"strconv"
	"strings"
	"time"
)

// tokenHour is an hour in the life of a token.
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

// hourOf counts hours as airdrops are counted: each is as long as half of what is looked at around a moment.
func hourOf(at int64) int64 {
	hour := at / int64(airdropWindow)
	if at%int64(airdropWindow) < 0 {
		hour--
	}
	return hour
}

// span is when a token reached a source first and last within an hour.
type span struct{ first, last int64 }

// lessons are what was learned beside what was known from the past.
type changeSet struct {
	dealt []address
	used  []contract
	seen  map[tokenHour]map[string]bool
	inOne map[transferred]bool
}

func newChangeSet() changeSet {
	return changeSet{seen: map[tokenHour]map[string]bool{}, inOne: map[transferred]bool{}}
}

// sight takes note that an unknown token arrived.
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
		l.k.transfersByHash[transferred{c, a.Hash}]++
		l.changes.inOne[transferred{c, a.Hash}] = true
	}
}

// see widens what is known of an hour, and tells whether that was news.
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

// spread is how many sources a token reached around a time.
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

// Recall takes into account what was kept. It comes before anything is learned.
func (l *Learner) Restore(p Past) {
	for _, d := range p.Dealings {
		if c, ok := contractNamed(d.Name); ok {
			l.markUsed(c)
		} else {
			l.k.counterparties[parse(d.Name)] = true
		}
	}
	for _, s := range p.Sightings {
		if hour, ok := tokenHourNamed(s.TokenHour); ok {
			l.extendSpan(hour, s.SourceID, span{s.First.UnixNano(), s.Last.UnixNano()})
		}
	}
	for _, b := range p.Bursts {
		if c, ok := contractNamed(b.Token); ok {
			l.k.transfersByHash[transferred{c, b.Hash}] = b.Transfers
		}
	}
}

// Lessons are what is to be kept of what was learned: new dealings, and sightings and bursts as they are now, which
// replace what was kept of them. They are taken before the Knowledge is.
func (l *Learner) Changes() (p Past) {
	for _, a := range l.changes.dealt {
		p.Dealings = append(p.Dealings, Dealing{a.shown(), a.String()})
	}
	for _, c := range l.changes.used {
		p.Dealings = append(p.Dealings, Dealing{c.name(), c.name()})
	}
	for hour, sources := range l.changes.seen {
		for source := range sources {
			s := l.k.seen[hour][source]
			p.Sightings = append(p.Sightings, Sighting{hour.name(), source, time.Unix(0, s.first).UTC(), time.Unix(0, s.last).UTC()})
		}
	}
	for t := range l.changes.inOne {
		p.Bursts = append(p.Bursts, Burst{t.hash, t.contract.name(), l.k.transfersByHash[t]})
	}
	return p
}
