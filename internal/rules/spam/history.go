package spam

import (
	"strings"
	"time"
)

// Past is the part of an organization's history that is stored, so that later arrivals can be scored without reading all
// transactions. It grows with the number of counterparties and unknown tokens of each source, not with the number of transactions.
type Past struct {
	Dealings  []Dealing
	Sightings []Sighting
	Bursts    []Burst
}

// Dealing is a genuine counterparty of a source, or a token that it uses.
type Dealing struct {
	Shown    string // lookup key: the characters that a shortened address shows, so that an imitation finds it too
	Name     string // an address, or a chain and a contract
	SourceID string // empty if an earlier version stored it, which did not tell sources apart
}

// Sighting records that an unknown token reached a source within a clock hour. The first and the last time suffice: a window
// of an hour before and after any instant covers one whole clock hour, the end of the one before and the beginning of the
// one after.
type Sighting struct {
	TokenHour   string // the hour, the chain and the contract
	SourceID    string
	First, Last time.Time
}

// Burst counts the transfers of an unknown token to a source in one transaction.
type Burst struct {
	Hash, Token string
	SourceID    string // empty as for a Dealing
	Transfers   int
}

// Lookups are the keys of the stored records that are needed to score some arrivals.
type Lookups struct {
	Listed     []string // keys of listings
	Shown      []string // of dealings
	TokenHours []string // of sightings
	Hashes     []string // of bursts
}

// LookupsFor returns the keys of the records with which arrivals are scored as if the whole past were known.
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
		s := scorer{a: a, k: &Knowledge{wellKnown: builtinTokens}, chain: lower(a.Chain)}
		s.identify()
		ask(&q.Listed, 'l', SymbolKey(a.Symbol))
		if !s.party.missing() {
			ask(&q.Listed, 'l', s.party.String())
		}
		if !s.party.isUnowned() && s.party.isStorable() {
			ask(&q.Shown, 'd', s.party.shown())
		}
		if s.asset.missing() {
			continue
		}
		ask(&q.Listed, 'l', s.asset.address.String())
		if !s.asset.isStorable() || s.known {
			continue
		}
		ask(&q.Shown, 'd', s.asset.name())
		if a.Inflow || a.Quantity.IsZero() {
			for h := hourOf(a.At.UnixNano()) - 1; h <= hourOf(a.At.UnixNano())+1; h++ {
				ask(&q.TokenHours, 'h', tokenHour{s.asset, h}.name())
			}
			if a.Hash != "" && storable(a.Hash) {
				ask(&q.Hashes, 'x', a.Hash)
			}
		}
	}
	return q
}

// AddressKey returns an address or a contract in the form in which it is compared.
func AddressKey(s string) string { return parse(strings.TrimSpace(s)).String() }

// HasOwner reports whether an address can belong to somebody, unlike the zero address and burn addresses.
func HasOwner(s string) bool { return !parse(strings.TrimSpace(s)).isUnowned() }

// SymbolKey returns a symbol in the form in which it is compared.
func SymbolKey(s string) string { return strings.ToUpper(s) }

const (
	addressMax = 128 // bytes, more than any chain's addresses and hashes have
	chainMax   = 64
)

// storable reports whether a text can be part of a key. A longer text is not an address on any chain and is not stored.
func storable(s string) bool { return len(s) <= addressMax && !strings.Contains(s, " ") }

func (a address) isStorable() bool { return !a.missing() && storable(a.text) }

func (c contract) isStorable() bool {
	return c.address.isStorable() && len(c.chain) <= chainMax && !strings.Contains(c.chain, " ")
}

// shown returns the characters that a shortened address shows, or all of an address too short to be shortened.
func (a address) shown() string {
	var buf [64]byte
	if e, ok := endsOf(a.body(buf[:0])); ok {
		return string(e[:])
	}
	return a.String()
}

// name returns the token as it is stored. The space distinguishes it from an address.
func (c contract) name() string { return c.chain + " " + c.address.String() }

func contractNamed(name string) (contract, bool) {
	chain, text, ok := strings.Cut(name, " ")
	return contract{chain, parse(text)}, ok
}

// Valid reports whether a stored dealing is well-formed and has the right lookup key.
func (d Dealing) Valid() bool {
	if c, ok := contractNamed(d.Name); ok {
		return c.isStorable() && d == Dealing{c.name(), c.name(), d.SourceID}
	}
	a := parse(d.Name)
	return !a.isUnowned() && a.isStorable() && d == Dealing{a.shown(), a.String(), d.SourceID}
}

// Valid reports whether a stored sighting is well-formed and within its hour.
func (s Sighting) Valid() bool {
	t, ok := tokenHourNamed(s.TokenHour)
	return ok && t.isStorable() && t.name() == s.TokenHour && !s.Last.Before(s.First) && hourOf(s.First.UnixNano()) == t.hour &&
		hourOf(s.Last.UnixNano()) == t.hour
}

// Valid reports whether a stored burst is well-formed.
func (b Burst) Valid() bool {
	c, ok := contractNamed(b.Token)
	return ok && c.isStorable() && c.name() == b.Token && b.Hash != "" && b.Transfers > 0
}
