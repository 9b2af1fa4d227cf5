// Package transfer finds the transactions that are two sides of one event: money that left one source of an
// organization and reached another, over a bridge or into another legal entity too, and the two sides of a swap.
//
// A wrong link moves cost basis to where it does not belong, and nobody notices; a missing one is seen in the
// clearing account. So evidence is taken in the order of its strength, and what fits more than one way is not linked
// but reported:
//
//  1. the same transaction hash, or the same id of a trade or transfer;
//  2. addresses: it was sent to where the other arrived, or came from where the other left;
//  3. amounts: the same asset within a day, with no more than a fee missing, and each the other's only candidate.
//
// Facts that contradict each other outweigh amounts: a transfer on one chain has one hash, one sender and one
// recipient. Legs that only pay a fee, and legs that are linked already, are not given.
package transfer

import (
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Leg is one side of what may have two: a transaction, which has one asset and one direction.
type Leg struct {
	ID            string
	SourceID      string
	LegalEntityID string
	Asset         string // symbol; a wrapped asset is another asset
	Contract      string
	Chain         string
	Inflow        bool
	Quantity      money.Decimal
	At            time.Time
	Hash          string
	GroupKey      string // id of a trade or transfer; with the platform's name in it where two may use the same
	From, To      string
	OwnAddress    string // of the source
	Fiat          bool
	Excluded      []string // ids of inflows that somebody said an outflow does not belong to
}

// Kind is what two legs are together.
type Kind string

// The kinds.
const (
	Internal     Kind = "internal"
	Intercompany Kind = "intercompany"
	Bridge       Kind = "bridge"
	Swap         Kind = "swap"
)

// By is the evidence for a pair.
type Evidence string

// The evidence, strongest first.
const (
	ByHash      Evidence = "hash"
	ByGroup     Evidence = "group"
	ByAddresses Evidence = "addresses"
	ByAmount    Evidence = "amount"
)

// Pair is two legs of one event, by their ids. What left and did not arrive is the shortfall: the fee of a transfer, nothing for a swap.
type Pair struct {
	Out, In   string
	Kind      Kind
	Evidence  Evidence
	Shortfall money.Decimal
}

// Ambiguity is a leg that has a partner, but which one it is cannot be told. Of very many candidates only some are listed.
type Ambiguity struct {
	Leg        string
	Candidates []string
	Why        string
}

// Result is what was found, ordered by the ids of outgoing legs and of ambiguous ones.
type Result struct {
	Pairs     []Pair
	Ambiguous []Ambiguity
}

// Window is how long a transfer may take.
const Window = 24 * time.Hour

// Skew is how much earlier than the outflow an inflow may be recorded, because two platforms have two clocks.
const Skew = 10 * time.Minute

// Reach is how far from a leg others can be that have a say in what becomes of it. A partner is within a Window, and
// what is free to be one depends on stronger evidence for another, which is within a Window of that, and so on
// through six kinds of evidence; outflows and inflows take turns on the way, so that every second step leads back.
// Whoever gives the legs of some days and of a Reach before and after gets for those days what all legs would give,
// unless one hash or id stands on legs that are further apart than a Window.
const Reach = 5 * Window

// kept is the least share of what left that arrives: a larger loss is not a fee. Only a shared hash or id outweighs it.
var arrivingMin = money.MustParse("0.98")

const (
	// candidatesMax is how many candidates are listed; beyond, a leg is ambiguous whatever else there may be.
	candidatesMax = 8
	// examinedMax is how many legs of about the same amount and time are looked at for one. It keeps the whole near
	// linear: an organization with more of them in a day cannot link by amounts anyway.
	examinedMax = 256
)

// Match links what belongs together. The result depends on the legs alone, not on their order, and uses none twice.
// To match again without the legs that were linked links nothing more.
func Match(legs []Leg) Result {
	m := newMatcher(legs)
	for m.matchOnce() {
		m.resetUnpaired()
	}
	slices.SortFunc(m.result.Pairs, func(a, b Pair) int { return strings.Compare(a.Out, b.Out) })
	slices.SortFunc(m.result.Ambiguous, func(a, b Ambiguity) int { return strings.Compare(a.Leg, b.Leg) })
	return m.result
}
