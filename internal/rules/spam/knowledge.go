package spam

import (
	"maps"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Facts are the settings of an organization.
type Facts struct {
	Own         []string // addresses
	Allow, Deny List
	Tokens      []Token        // known in addition to the built-in ones, such as those that the organization issued
	Dust        *money.Decimal // arrivals of a lower value are dust; nil for DustDefault
}

// List is an allow-list or a deny-list.
type List struct {
	Contracts []Contract
	Addresses []string
	Symbols   []string
}

// Contract is the contract of a token; without a chain, on every chain.
type Contract struct{ Chain, Address string }

// DustDefault is the value below which an arrival is dust. It is less than a test payment of one unit and more than
// spammers spend per address.
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

// Knowledge is what arrivals are scored with. It is immutable and safe for concurrent use.
type Knowledge struct {
	allow, deny list
	dust        money.Decimal
	own         map[address]bool
	wellKnown
	used            map[contract]string // tokens that the organization paid to send, with the text of the reason
	counterparties  map[address]bool    // genuine counterparties
	lookalikes      lookalikes
	transfersByHash map[transferred]int
	seen            map[tokenHour]map[string]span // by source id
}

// wellKnown holds genuine tokens.
type wellKnown struct {
	tokens    map[contract]string // with the text of the reason
	symbols   map[string]bool     // of tokens and native coins, as skeletons
	contracts map[symbolOn]string // the contract of the genuine token
}

// builtinTokens holds the built-in tokens, which every Knowledge shares.
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

// Learner builds Knowledge from the transactions of an organization. Their order does not matter.
type Learner struct {
	k       *Knowledge
	used    map[contract]string
	stored  stored
	changes changeSet
}

// NewLearner returns a Learner that knows the settings of the organization and the built-in tokens.
func NewLearner(f Facts) *Learner {
	k := &Knowledge{
		allow: newList(f.Allow), deny: newList(f.Deny), dust: DustDefault,
		own: map[address]bool{}, wellKnown: builtinTokens, counterparties: map[address]bool{}, lookalikes: lookalikes{},
		transfersByHash: map[transferred]int{}, seen: map[tokenHour]map[string]span{},
	}
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
	return &Learner{k, map[contract]string{}, newStored(), newChangeSet()}
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
	// Of several contracts the first in order is kept, so that the order of tokens does not matter.
	on := symbolOn{c.chain, plain}
	if text := c.address.String(); k.contracts[on] == "" || text < k.contracts[on] {
		k.contracts[on] = text
	}
}

// genuine reports whether an asset is a known token or the native coin of its chain.
func (k wellKnown) genuine(c contract, symbol string) bool {
	if !c.missing() {
		return k.tokens[c] != ""
	}
	coin := natives[c.chain]
	return coin != "" && (strings.EqualFold(symbol, coin) || renamed[strings.ToUpper(symbol)] == coin)
}

// Learn adds a transaction. Only what cannot be forged makes a counterparty genuine: known tokens that the organization
// sent or that arrived with a value, and unknown tokens for whose transfer it paid the network fee. The allow-list is not
// used here, so that allowing one token never makes another suspicious.
func (l *Learner) Learn(a Arrival) {
	if a.Class != ClassCrypto {
		return
	}
	s := scorer{a: a, k: l.k, chain: lower(a.Chain)}
	s.identify()
	if a.Inflow && !s.known && s.asset.isStorable() {
		l.recordSighting(s.asset, a)
	}
	if !l.isGenuineDealing(&s) || s.onList(&l.k.deny) {
		return
	}
	if of := (counterpartyOf{s.party, a.SourceID}); !s.party.isUnowned() && s.party.isStorable() && !l.stored.counterparties[of] {
		l.k.counterparties[s.party], l.stored.counterparties[of] = true, true
		l.changes.counterparties = append(l.changes.counterparties, of)
	}
	if of := (contractOf{s.asset, a.SourceID}); !s.known && s.asset.isStorable() && !l.stored.used[of] {
		l.markUsed(s.asset)
		l.stored.used[of] = true
		l.changes.used = append(l.changes.used, of)
	}
}

func (l *Learner) markUsed(c contract) {
	l.used[c] = c.place() + " is a token that the organization uses."
}

// isGenuineDealing reports whether a transaction shows that the organization deals with the counterparty.
func (l *Learner) isGenuineDealing(s *scorer) bool {
	switch {
	case s.a.Quantity.Sign() <= 0:
		return false
	case !s.a.Inflow:
		return s.known || s.a.PaidFee
	}
	return s.known && s.a.Value != nil && s.a.Value.Cmp(l.k.dust) >= 0
}

// Knowledge returns what was learned. The Learner must not be used afterwards.
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

// NewKnowledge returns the Knowledge learned from a complete history.
func NewKnowledge(f Facts, history []Arrival) *Knowledge {
	l := NewLearner(f)
	for _, a := range history {
		l.Learn(a)
	}
	return l.Knowledge()
}
