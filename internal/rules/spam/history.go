package spam

import (
	"strings"
	"time"
)

// Past is what must be kept of an organization's history so that later arrivals can be judged without reading it
// again. It grows with whom the organization deals with and with the strange tokens that reach it, not with its
// transactions.
type Past struct {
	Dealings  []Dealing
	Sightings []Sighting
	Bursts    []Burst
}

// Dealing is a real counterparty or a token in use.
type Dealing struct {
	Shown string // what it is found by: the characters that a shortened address shows, so that one that imitates it finds it too
	Name  string // an address, or a chain and a contract
}

// Sighting is that an unknown token reached a source within an hour. When it did so first and last is all that
// counts: an hour before or after any moment has one whole hour of the clock in it, the end of the one before and the
// beginning of the one after.
type Sighting struct {
	TokenHour   string // the hour, the chain and the contract
	SourceID    string
	First, Last time.Time
}

// Burst is how many transfers of an unknown token to the organization one transaction made.
type Burst struct {
	Hash, Token string
	Transfers   int
}

// Questions are what the keeper of an organization's past and of its lists must look up to judge some arrivals.
type Lookups struct {
	Listed     []string // keys of listings
	Shown      []string // of dealings
	TokenHours []string // of sightings
	Hashes     []string // of bursts
}

// Ask says what must be known to judge arrivals as if the whole past were.
func LookupsFor(arrivals []Arrival) (q Lookups) {
	asked := map[string]bool{}
	ask := func(list *[]string, kind byte, key string) {
		if k := string(kind) + key; !asked[k] {
			asked[k] = true
			*list = append(*list, key)
		}
	}
	for _, a := range arrivals {
		if a.Class != ClassCrypto {
			continue
		}
		j := scorer{a: a, k: &Knowledge{wellKnown: builtinTokens}, chain: lower(a.Chain)}
		j.identify()
		ask(&q.Listed, 'l', SymbolKey(a.Symbol))
		if !j.party.missing() {
			ask(&q.Listed, 'l', j.party.String())
		}
		if !j.party.isUnowned() && j.party.isStorable() {
			ask(&q.Shown, 'd', j.party.shown())
		}
		if j.asset.missing() {
			continue
		}
		ask(&q.Listed, 'l', j.asset.address.String())
		if !j.asset.isStorable() || j.known {
			continue
		}
		ask(&q.Shown, 'd', j.asset.name())
		if a.Inflow || a.Quantity.IsZero() {
			for h := hourOf(a.At.UnixNano()) - 1; h <= hourOf(a.At.UnixNano())+1; h++ {
				ask(&q.TokenHours, 'h', tokenHour{j.asset, h}.name())
			}
			if a.Hash != "" && storable(a.Hash) {
				ask(&q.Hashes, 'x', a.Hash)
			}
		}
	}
	return q
}

// AddressKey is an address or a contract as it is compared.
func AddressKey(s string) string { return parse(strings.TrimSpace(s)).String() }

// Somebody tells an address that somebody can have, not the one that what is minted comes from.
func HasOwner(s string) bool { return !parse(strings.TrimSpace(s)).isUnowned() }

// SymbolKey is a symbol as it is compared.
func SymbolKey(s string) string { return strings.ToUpper(s) }

const (
	addressMax = 128 // bytes, more than any chain's addresses and hashes have
	chainMax   = 64
)

// storable tells a text that can be part of a key. What is longer is nobody's address, but what a stranger made up, and is not remembered.
func storable(s string) bool { return len(s) <= addressMax && !strings.Contains(s, " ") }

func (a address) isStorable() bool { return !a.missing() && storable(a.text) }

func (c contract) isStorable() bool {
	return c.address.isStorable() && len(c.chain) <= chainMax && !strings.Contains(c.chain, " ")
}

// shown is what look-alikes of an address have in common with it, or all of one that is too short to be shortened.
func (a address) shown() string {
	var buf [64]byte
	if e, ok := endsOf(a.body(buf[:0])); ok {
		return string(e[:])
	}
	return a.String()
}

// name is a token as it is kept. The space tells it from an address.
func (c contract) name() string { return c.chain + " " + c.address.String() }

func contractNamed(name string) (contract, bool) {
	chain, text, ok := strings.Cut(name, " ")
	return contract{chain, parse(text)}, ok
}

// Sound tells that a dealing is as it would be kept, and found where it is looked for.
func (d Dealing) Valid() bool {
	if c, ok := contractNamed(d.Name); ok {
		return c.isStorable() && d == Dealing{c.name(), c.name()}
	}
	a := parse(d.Name)
	return !a.isUnowned() && a.isStorable() && d == Dealing{a.shown(), a.String()}
}

// Sound tells that a sighting is in its hour.
func (s Sighting) Valid() bool {
	t, ok := tokenHourNamed(s.TokenHour)
	return ok && t.isStorable() && t.name() == s.TokenHour && !s.Last.Before(s.First) && hourOf(s.First.UnixNano()) == t.hour &&
		hourOf(s.Last.UnixNano()) == t.hour
}

// Sound tells that a burst is of something.
func (b Burst) Valid() bool {
	c, ok := contractNamed(b.Token)
	return ok && c.isStorable() && c.name() == b.Token && b.Hash != "" && b.Transfers > 0
}
