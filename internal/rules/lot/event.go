package lot

import (
	"cmp"
	"strconv"
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
	// Lot is the id of the lot to be acquired, that of the event if there is none. No two lots of a pool have the same.
	Lot string
	Marks
	// Slices are what arrives. It does so when it left, at the earliest, whatever the clock of the other side says.
	Slices []Slice
	// Picks are the lots that were chosen, where the method is SpecificID. Without any, the oldest go.
	Picks []Pick
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
	Marks
}
