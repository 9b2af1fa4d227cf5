// Package transfer finds pairs of transactions that are the two sides of one event: a transfer from one source of an
// organization to another, possibly over a bridge or to another legal entity, or a swap.
//
// A wrong link moves cost basis to the wrong place without anyone noticing; a missing link shows up in the clearing
// account. Therefore evidence is applied in the order of its strength, and ambiguous matches are reported instead of
// linked:
//
//  1. the same transaction hash, or the same id of a trade or transfer;
//  2. addresses: the outflow was sent to the address of the inflow, or the inflow came from the address of the outflow;
//  3. amounts: the same asset within a day, with no more than a fee missing, and each leg the other's only candidate.
//
// Contradicting facts outweigh amounts: a transfer on one chain has one hash, one sender and one recipient. Callers must
// leave out legs that only pay a fee and legs that are linked already.
package transfer

import (
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Leg is a transaction, with one asset and one direction, that may be one side of a pair.
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
	GroupKey      string // id of a trade or transfer; includes the platform's name if two platforms may use the same ids
	From, To      string
	OwnAddress    string // of the source
	Fiat          bool
	Excluded      []string // for an outflow: ids of inflows that a user stated it does not belong to
}

// Kind is the kind of a pair.
type Kind string

// The kinds.
const (
	Internal     Kind = "internal"
	Intercompany Kind = "intercompany"
	Bridge       Kind = "bridge"
	Swap         Kind = "swap"
)

// Evidence is the evidence for a pair.
type Evidence string

// The kinds of evidence, strongest first.
const (
	ByHash      Evidence = "hash"
	ByGroup     Evidence = "group"
	ByAddresses Evidence = "addresses"
	ByAmount    Evidence = "amount"
)

// Pair is the ids of the two legs of one event. Shortfall is the quantity that left and did not arrive: the fee of a
// transfer, 0 for a swap.
type Pair struct {
	Out, In   string
	Kind      Kind
	Evidence  Evidence
	Shortfall money.Decimal
}

// Ambiguity is a leg with several possible partners. At most candidatesMax of them are listed.
type Ambiguity struct {
	Leg        string
	Candidates []string
	Why        string
}

// Result holds the pairs, sorted by the id of the outflow, and the ambiguous legs, sorted by id.
type Result struct {
	Pairs     []Pair
	Ambiguous []Ambiguity
}

// Window is how long a transfer may take.
const Window = 24 * time.Hour

// Skew is how much earlier than the outflow an inflow may be recorded, because two platforms have two clocks.
const Skew = 10 * time.Minute

// Reach is the maximum distance in time at which another leg can influence the match of a leg. A partner is within a
// Window; whether it is free depends on stronger evidence for another pair, which is within a Window of it, and so on
// through six kinds of evidence. Outflows and inflows alternate on the way, so that every second step leads back.
// Matching the legs of some days together with those of a Reach before and after gives the same result for those days as
// matching all legs, unless legs with the same hash or id are further apart than a Window.
const Reach = 5 * Window

// arrivingMin is the minimum share of an outflow that must arrive: a larger loss is not a fee. Only a shared hash or id
// overrides it.
var arrivingMin = money.MustParse("0.98")

const (
	// candidatesMax is how many candidates are listed. A leg with more is ambiguous.
	candidatesMax = 8
	// examinedMax is how many legs of similar amount and time are examined for one leg. It keeps matching nearly linear:
	// with more of them in a day, amounts cannot identify a pair anyway.
	examinedMax = 256
)

// Match pairs legs. The result does not depend on their order, and no leg is in two pairs. Matching the remaining legs
// again finds no further pairs.
func Match(legs []Leg) Result {
	m := newMatcher(legs)
	for m.matchOnce() {
		m.resetUnpaired()
	}
	slices.SortFunc(m.result.Pairs, func(a, b Pair) int { return strings.Compare(a.Out, b.Out) })
	slices.SortFunc(m.result.Ambiguous, func(a, b Ambiguity) int { return strings.Compare(a.Leg, b.Leg) })
	return m.result
}
