package lot

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Kind is what an event does to a pool.
type Kind string

// The kinds. The first two bring lots, the others take them.
const (
	Acquire Kind = "acquire"
	Arrive  Kind = "arrive"
	Move    Kind = "move"
	Convert Kind = "convert"
	Dispose Kind = "dispose"
	Fee     Kind = "fee"
)

// Place is where an event stands among all others.
type Place struct {
	At   time.Time
	Kind Kind
	// Principal is the kind of the event whose fee this is. A fee on its own has none, nor has the fee of what comes in,
	// which may be paid from it.
	Principal Kind
	// Block, Index and Log are the place on a chain, Sequence the number of the transaction here.
	Block, Index, Log int64
	Sequence          int64
	// ID names the transaction. An event and its fee part share it.
	ID string
}

// Compare gives the order in which the events of a pool happen: by time, what comes before what goes at the same
// instant, then as the chain and the books number them. Two events are never equal unless they are the same.
func Compare(a, b Place) int {
	if c := a.At.Compare(b.At); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(a.rank(), b.rank()),
		cmp.Compare(a.Block, b.Block),
		cmp.Compare(a.Index, b.Index),
		cmp.Compare(a.Log, b.Log),
		cmp.Compare(a.Sequence, b.Sequence),
		strings.Compare(a.ID, b.ID),
		cmp.Compare(a.part(), b.part()),
		strings.Compare(string(a.Kind), string(b.Kind)),
	)
}

func (p *Place) rank() int {
	kind := p.Kind
	if kind == Fee && p.Principal != "" {
		kind = p.Principal
	}
	switch kind {
	case Acquire:
		return 0
	case Arrive:
		return 1
	case Move, Convert:
		return 2
	default:
		return 3
	}
}

// part puts a fee before its principal, with which it shares everything else.
func (p *Place) part() int {
	if p.Kind == Fee {
		return 0
	}
	return 1
}

// Event is one thing that happens to a pool.
type Event struct {
	Place
	// Quantity is what comes or goes; of an arrival the slices say it.
	Quantity money.Decimal
	// Basis is the cost of what is acquired, with fees that are capitalized.
	Basis money.Decimal
	// Proceeds is what was got for what is disposed of, before the fee; of a fee it is the value it paid.
	Proceeds money.Decimal
	// Fee is the cost of a disposal that was taken from its proceeds.
	Fee money.Decimal
	// Spot is the price of what is acquired without any fee, only for Config.BySpot.
	Spot money.Decimal
	// Lot is the id of the lot to be acquired, that of the event if there is none. No two lots of a pool have the same.
	Lot string
	Marks
	// Slices are what arrives. It does so when it left, at the earliest, whatever the clock of the other side says.
	Slices []Slice
	// Picks are the lots that were chosen, where the method is SpecificID. Without any, the oldest go.
	Picks []Pick
	// Partial takes what there is; what is missing goes at no cost, as Config.ZeroBasis has it for every event.
	Partial bool
}

// lotID is the id of a lot that the event makes.
func (e *Event) lotID(i int) string {
	if e.Kind == Acquire {
		return cmp.Or(e.Lot, e.ID)
	}
	if id := e.Slices[i].Lot; id != "" {
		return id
	}
	return e.ID + "." + strconv.Itoa(i+1)
}

// Marks say of a lot that its basis is not final, and of a use that it took from such a lot.
type Marks struct {
	// BasisPending is of a lot whose basis is a stand-in until the other half of a transfer is found.
	BasisPending bool
	// Provisional is of a lot whose transaction is not classified yet.
	Provisional bool
}

// Pick is one choice of a specific identification.
type Pick struct {
	Lot      string
	Quantity money.Decimal
}

// Slice is part of a lot on its way from one pool to another.
type Slice struct {
	// Lot is the id of the lot it becomes. Left out, it is the id of the arrival and the slice's number.
	Lot string
	// Parent is the lot it was cut from, for whoever keeps the lots.
	Parent     string
	Quantity   money.Decimal
	Basis      money.Decimal
	AcquiredAt time.Time
	Spot       money.Decimal
	Marks
}
