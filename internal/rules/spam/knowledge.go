package spam

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Facts are what an organization says itself.
type Facts struct {
	Own         []string // addresses
	Allow, Deny List
	Tokens      []Token        // known beside the built-in ones, such as those that the organization issued
	Dust        *money.Decimal // what is worth less is dust; nil for DustDefault
}

// List names what is always let through or never.
type List struct {
	Contracts []Contract
	Addresses []string
	Symbols   []string
}

// Contract is a token's contract; without a chain it is meant on all.
type Contract struct{ Chain, Address string }

// DustDefault is what an arrival must be worth to be more than dust. It is less than a test payment of one unit and more than poisoners spend.
var DustDefault = money.MustParse("0.10")

const (
	airdropWindow  = time.Hour
	recipientsMany = 10
	transfersMany  = 5
	sourcesMany    = 2
)

type list struct {
	contracts map[contract]bool
	addresses map[address]bool
	symbols   map[string]bool
}

func (l *list) hasContract(c contract) bool {
	return len(l.contracts) > 0 && (l.contracts[c] || l.contracts[contract{"", c.address}])
}

type symbolOn struct{ chain, symbol string }

type transferred struct {
	contract
	hash string
}

// Knowledge is what arrivals are judged by. It does not change, and any number may judge by it at once.
type Knowledge struct {
	allow, deny list
	dust        money.Decimal
	own         map[address]bool
	tokens      map[contract]string // known ones, with what is said of them
	used        map[contract]string // those that the organization paid to send, likewise
	symbols     map[string]bool     // of known tokens and coins, as they look
	contracts   map[symbolOn]string // where the real one is
	dealt       map[address]bool    // real counterparties
	alike       lookalikes
	inOne       map[transferred]int
	seen        map[contract]sightings
}

// sightings are when an unknown token arrived, in order, and how many sources it reached around each time.
type sightings struct {
	at      []int64
	sources []int
}

type sighting struct {
	at     int64
	source string
}

// Learner gathers knowledge from an organization's history, in any order: what it learned so far does not change what it learns next.
type Learner struct {
	k    *Knowledge
	used map[contract]string
	seen map[contract][]sighting
}

// NewLearner begins with what the organization says and the built-in tokens.
func NewLearner(f Facts) *Learner {
	k := &Knowledge{allow: newList(f.Allow), deny: newList(f.Deny), dust: DustDefault, own: map[address]bool{}, tokens: map[contract]string{}, symbols: map[string]bool{},
		contracts: map[symbolOn]string{}, dealt: map[address]bool{}, alike: lookalikes{}, inOne: map[transferred]int{}, seen: map[contract]sightings{}}
	if f.Dust != nil {
		k.dust = *f.Dust
	}
	for _, s := range f.Own {
		if a := parse(s); !a.nobody() {
			k.own[a] = true
		}
	}
	for chain, symbol := range natives {
		k.symbols[symbol] = true
		k.contracts[symbolOn{chain, symbol}] = "its coin, which has no contract"
	}
	for _, t := range slices.Concat(builtin, f.Tokens) {
		k.addToken(t)
	}
	return &Learner{k, map[contract]string{}, map[contract][]sighting{}}
}

func newList(l List) list {
	out := list{map[contract]bool{}, map[address]bool{}, map[string]bool{}}
	for _, c := range l.Contracts {
		out.contracts[contract{lower(c.Chain), parse(c.Address)}] = true
	}
	for _, s := range l.Addresses {
		out.addresses[parse(s)] = true
	}
	for _, s := range l.Symbols {
		out.symbols[strings.ToUpper(s)] = true
	}
	return out
}

func (k *Knowledge) addToken(t Token) {
	plain, _, _ := skeleton(t.Symbol)
	c := contract{lower(t.Chain), parse(t.Contract)}
	if c.missing() || plain == "" {
		return
	}
	k.tokens[c], k.symbols[plain] = c.place()+" is a well-known token.", true
	// Of several the first in order is named, so that it does not matter which was told first.
	on := symbolOn{c.chain, plain}
	if text := c.address.String(); k.contracts[on] == "" || text < k.contracts[on] {
		k.contracts[on] = text
	}
}

// genuine tells that an asset is a known token or the coin of its chain.
func (k *Knowledge) genuine(c contract, symbol string) bool {
	if !c.missing() {
		return k.tokens[c] != ""
	}
	coin := natives[c.chain]
	return coin != "" && (strings.EqualFold(symbol, coin) || renamed[strings.ToUpper(symbol)] == coin)
}

// Learn takes a transaction into account. Only what cannot be forged makes a counterparty real: known tokens that the organization sent, or that
// came with a value; of unknown ones those for which it paid the network. The allow-list has no part in it, so that to allow one thing never
// makes another suspicious.
func (l *Learner) Learn(a Arrival) {
	if a.Class != ClassCrypto {
		return
	}
	j := judge{a: a, k: l.k, chain: lower(a.Chain)}
	j.identify()
	if a.Inflow && !j.known && !j.asset.missing() {
		l.seen[j.asset] = append(l.seen[j.asset], sighting{a.At.UnixNano(), a.SourceID})
		if a.Hash != "" {
			l.k.inOne[transferred{j.asset, a.Hash}]++
		}
	}
	if !l.real(&j) || j.listed(&l.k.deny) {
		return
	}
	if !j.other.nobody() {
		l.k.dealt[j.other] = true
	}
	if !j.asset.missing() {
		l.used[j.asset] = j.asset.place() + " is a token that the organization uses."
	}
}

// real tells a transaction that shows with whom the organization deals.
func (l *Learner) real(j *judge) bool {
	switch {
	case j.a.Quantity.Sign() <= 0:
		return false
	case !j.a.Inflow:
		return j.known || j.a.PaidFee
	}
	return j.known && j.a.Value != nil && j.a.Value.Cmp(l.k.dust) >= 0
}

// Knowledge is what was learned; nothing may be learned afterwards.
func (l *Learner) Knowledge() *Knowledge {
	k := l.k
	l.k = nil
	k.used = l.used
	for a := range k.own {
		k.alike.add(a)
	}
	for a := range k.dealt {
		if !k.own[a] {
			k.alike.add(a)
		}
	}
	for c, all := range l.seen {
		k.seen[c] = around(all)
	}
	return k
}

// around counts the sources that a token reached within a window around each time it arrived, by one pass over the times.
func around(all []sighting) sightings {
	slices.SortFunc(all, func(a, b sighting) int { return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.source, b.source)) })
	out := sightings{make([]int64, len(all)), make([]int, len(all))}
	inside := map[string]int{}
	first, end := 0, 0
	for i, s := range all {
		for ; end < len(all) && all[end].at <= s.at+int64(airdropWindow); end++ {
			inside[all[end].source]++
		}
		for ; all[first].at < s.at-int64(airdropWindow); first++ {
			if inside[all[first].source]--; inside[all[first].source] == 0 {
				delete(inside, all[first].source)
			}
		}
		out.at[i], out.sources[i] = s.at, len(inside)
	}
	return out
}

// spread is how many sources a token reached around a time.
func (k *Knowledge) spread(c contract, at time.Time) int {
	s, ok := k.seen[c]
	if !ok {
		return 0
	}
	t := at.UnixNano()
	i, found := slices.BinarySearch(s.at, t)
	if found {
		return s.sources[i]
	}
	n := 0
	for _, near := range []int{i - 1, i} {
		if near >= 0 && near < len(s.at) && max(s.at[near]-t, t-s.at[near]) <= int64(airdropWindow) {
			n = max(n, s.sources[near])
		}
	}
	return n
}

// Know is a Learner for a history that is at hand as a whole.
func Know(f Facts, history []Arrival) *Knowledge {
	l := NewLearner(f)
	for _, a := range history {
		l.Learn(a)
	}
	return l.Knowledge()
}
