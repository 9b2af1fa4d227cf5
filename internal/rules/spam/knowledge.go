package spam

import (
	"maps"
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

// DustDefault is what an arrival must be worth to be more than dust. It is less than a test payment of one unit and
// more than poisoners spend.
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
	wellKnown
	used            map[contract]string // tokens that the organization paid to send, with what is said of them
	counterparties  map[address]bool    // real counterparties
	lookalikes      lookalikes
	transfersByHash map[transferred]int
	seen            map[tokenHour]map[string]span // by source
}

// wellKnown are tokens that are what they say they are.
type wellKnown struct {
	tokens    map[contract]string // with what is said of them
	symbols   map[string]bool     // theirs and those of coins, as they look
	contracts map[symbolOn]string // where the real one is
}

// everywhere are the built-in ones, which all knowledge shares.
var builtinTokens = func() wellKnown {
	w := wellKnown{map[contract]string{}, map[string]bool{}, map[symbolOn]string{}}
	for chain, symbol := range natives {
		w.symbols[symbol] = true
		w.contracts[symbolOn{chain, symbol}] = "the native coin, which has no contract"
	}
	for _, t := range builtin {
		w.add(t)
	}
	return w
}()

// Learner gathers knowledge from an organization's history, in any order: what it learned so far does not change what it learns next.
type Learner struct {
	k       *Knowledge
	used    map[contract]string
	changes changeSet
}

// NewLearner begins with what the organization says and the built-in tokens.
func NewLearner(f Facts) *Learner {
	k := &Knowledge{allow: newList(f.Allow), deny: newList(f.Deny), dust: DustDefault, own: map[address]bool{}, wellKnown: builtinTokens,
		counterparties: map[address]bool{}, lookalikes: lookalikes{}, transfersByHash: map[transferred]int{}, seen: map[tokenHour]map[string]span{}}
	if f.Dust != nil {
		k.dust = *f.Dust
	}
	for _, s := range f.Own {
		if a := parse(s); !a.isUnowned() {
			k.own[a] = true
		}
	}
	if len(f.Tokens) > 0 {
		k.wellKnown = wellKnown{maps.Clone(builtinTokens.tokens), maps.Clone(builtinTokens.symbols), maps.Clone(builtinTokens.contracts)}
	}
	for _, t := range f.Tokens {
		k.wellKnown.add(t)
	}
	return &Learner{k, map[contract]string{}, newChangeSet()}
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

func (k wellKnown) add(t Token) {
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
func (k wellKnown) genuine(c contract, symbol string) bool {
	if !c.missing() {
		return k.tokens[c] != ""
	}
	coin := natives[c.chain]
	return coin != "" && (strings.EqualFold(symbol, coin) || renamed[strings.ToUpper(symbol)] == coin)
}

// Learn takes a transaction into account. Only what cannot be forged makes a counterparty real: known tokens that the
// organization sent, or that came with a value; of unknown ones those for which it paid the network. The allow-list
// has no part in it, so that to allow one thing never makes another suspicious.
func (l *Learner) Learn(a Arrival) {
	if a.Class != ClassCrypto {
		return
	}
	j := scorer{a: a, k: l.k, chain: lower(a.Chain)}
	j.identify()
	if a.Inflow && !j.known && j.asset.isStorable() {
		l.recordSighting(j.asset, a)
	}
	if !l.isGenuineDealing(&j) || j.onList(&l.k.deny) {
		return
	}
	if !j.party.isUnowned() && j.party.isStorable() && !l.k.counterparties[j.party] {
		l.k.counterparties[j.party] = true
		l.changes.dealt = append(l.changes.dealt, j.party)
	}
	if !j.known && j.asset.isStorable() && l.used[j.asset] == "" {
		l.markUsed(j.asset)
		l.changes.used = append(l.changes.used, j.asset)
	}
}

func (l *Learner) markUsed(c contract) {
	l.used[c] = c.place() + " is a token that the organization uses."
}

// real tells a transaction that shows with whom the organization deals.
func (l *Learner) isGenuineDealing(j *scorer) bool {
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
		k.lookalikes.add(a)
	}
	for a := range k.counterparties {
		if !k.own[a] {
			k.lookalikes.add(a)
		}
	}
	return k
}

// Know is a Learner for a history that is at hand as a whole.
func NewKnowledge(f Facts, history []Arrival) *Knowledge {
	l := NewLearner(f)
	for _, a := range history {
		l.Learn(a)
	}
	return l.Knowledge()
}
