package lot

import (
	"cmp"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Kind is what an event does to a pool.
type Kind string

// The kinds. The first two add lots, the others consume them.
const (
	Acquire Kind = "acquire"
	Arrive  Kind = "arrive"
	Move    Kind = "move"
	Convert Kind = "convert"
	Dispose Kind = "dispose"
	Fee     Kind = "fee"
)

// Event adds lots to a pool or consumes them.
type Event struct {
	Place
	// Quantity is the quantity added or consumed. It is not used for an arrival, whose slices have quantities.
	Quantity money.Decimal
	// Basis is the cost of an acquisition, including capitalized fees.
	Basis money.Decimal
	// Proceeds are the proceeds of a disposal, before the fee. For a fee it is the value of the quantity paid.
	Proceeds money.Decimal
	// Fee is the cost of a disposal that was deducted from its proceeds.
	Fee money.Decimal
	// Lot is the id of the acquired lot. If empty, it is the id of the event. Ids are unique within a pool.
	Lot string
	// AcquiredAt is when the lot was acquired, if not at the time of the event: an opening balance enters its pool before
	// everything else. It determines the order of consumption and the holding period, not what the lot is available for.
	AcquiredAt time.Time
	Marks
	// Slices are the parts of lots that arrive. An arrival is never earlier than the departure, whatever the clock of the
	// receiving side says.
	Slices []Slice
	// Picks are the chosen lots if the method is SpecificID. Without picks, the oldest lots are consumed.
	Picks []Pick
}

// lotID returns the id of lot i that the event creates.
func (e *Event) lotID(i int) string {
	if e.Kind == Acquire {
		return cmp.Or(e.Lot, e.ID)
	}
	if id := e.Slices[i].Lot; id != "" {
		return id
	}
	return e.ID + "." + strconv.Itoa(i+1)
}

// acquiredAt returns when the lot of an acquisition was acquired.
func (e *Event) acquiredAt() time.Time {
	if e.AcquiredAt.IsZero() {
		return e.At
	}
	return e.AcquiredAt
}

// Marks flag a lot whose basis is not final, and a use of such a lot.
type Marks struct {
	// BasisPending marks a lot whose basis is an estimate until the other half of a transfer is found.
	BasisPending bool
	// Provisional marks a lot whose transaction is not classified yet.
	Provisional bool
}

// Pick is one choice of a specific identification.
type Pick struct {
	Lot      string
	Quantity money.Decimal
}

// Slice is the part of a lot that moves from one pool to another.
type Slice struct {
	// Lot is the id of the lot it becomes. If empty, it is the id of the arrival and the number of the slice.
	Lot string
	// Parent is the lot that it was part of. The pool does not use it; callers store it.
	Parent     string
	Quantity   money.Decimal
	Basis      money.Decimal
	AcquiredAt time.Time
	Marks
}
