package wire

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// MemoryDefault is how many bytes the bodies of requests, what is built from them, and answers may take on a node unless it is told
// otherwise.
const MemoryDefault = 192 << 20

const (
	// memoryFree is what a request may take without being counted, so that small requests are answered when large ones take all there is.
	memoryFree = 256 << 10
	// memoryStep is how much a request takes from the node at a time.
	memoryStep = 256 << 10
	// bodyFactor is how many times its size a usual body takes: its buffer, and what is built from it.
	bodyFactor = 4
	// readFactor is how many times their size the rows take that an answer is made of: themselves, and the answer while it is written.
	readFactor = 3
	// answerFactor is how many times its size an answer takes: a buffer has grown to up to twice the size of what is in it.
	answerFactor = 2
	// pageBytes bounds the rows of one page of a list. A page with more gets fewer items than the limit; one item is always shown.
	pageBytes = 8 << 20
	// pageShare is how many of the largest pages a caller may read at a time, at least.
	pageShare = 4
	// memoryRetry is when a request that found no memory should be sent again.
	memoryRetry = time.Second
)

// About how many bytes the parts of a parsed body take.
const (
	stringBytes   = 16
	numberBytes   = 8
	itemBytes     = 24  // a list has up to half as many places again as items
	emptyBytes    = 48  // an object without properties
	objectBytes   = 320 // one with room for eight
	propertyBytes = 80  // each of more properties than that
)

// Memory bounds how many bytes the bodies of all requests to a node, what is built from them, and their answers take at a time. An
// organization may take two thirds of it, and one of its callers three quarters of that, so that others of the organization find some.
type Memory struct {
	total, each, caller int
	page                int // of the rows of a page

	mu      sync.Mutex
	taken   int
	byOwner map[string]int
}

// NewMemory returns a Memory of so many bytes.
func NewMemory(total int) *Memory {
	each := total / 3 * 2
	caller := each / 4 * 3
	return &Memory{total: total, each: each, caller: caller, page: min(pageBytes, caller/readFactor/pageShare), byOwner: map[string]int{}}
}

// Taken returns how many bytes are taken, for metrics.
func (m *Memory) Taken() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken
}

// take takes bytes for a caller of an organization, and returns false if there are not as many.
func (m *Memory) take(organization, caller string, n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.taken+n > m.total || m.byOwner[organization]+n > m.each || m.byOwner[caller]+n > m.caller {
		return false
	}
	m.taken += n
	m.byOwner[organization] += n
	m.byOwner[caller] += n
	return true
}

// release returns bytes of a caller of an organization.
func (m *Memory) release(organization, caller string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken -= n
	for _, owner := range []string{organization, caller} {
		if m.byOwner[owner] -= n; m.byOwner[owner] == 0 {
			delete(m.byOwner, owner)
		}
	}
}

// Reserve returns a reservation for a request of a caller, by the id of its key or user. It holds nothing yet.
func (m *Memory) Reserve(organization, caller string) *Reservation {
	return &Reservation{memory: m, organization: organization, caller: caller, left: memoryFree}
}

// Reservation is the memory that one request takes. A nil Reservation takes memory without limit.
type Reservation struct {
	memory               *Memory
	organization, caller string
	held                 int
	left                 int // of what is held or free
	read                 int // taken by rows
	readMax              int // of rows; 0 if only the memory bounds them
}

// Take takes bytes for the request. It returns an error if the node has none left at present, or if no request may take as many.
func (r *Reservation) Take(n int) error {
	if r == nil {
		return nil
	}
	if err := r.hold(n); err != nil {
		return err
	}
	r.left -= n
	return nil
}

// Announce makes sure that there is memory for a body of an announced size and for what is usually built from it, so that requests which
// could not all be served do not keep each other from it.
func (r *Reservation) Announce(size int64) error {
	if r == nil || size <= 0 {
		return nil
	}
	return r.hold(int(min(size, BodyMax)) * bodyFactor)
}

// hold takes as many bytes from the node that so many are left.
func (r *Reservation) hold(n int) error {
	if r.left >= n {
		return nil
	}
	need := (n - r.left + memoryStep - 1) / memoryStep * memoryStep
	switch {
	case r.held+need > r.memory.caller:
		return errTooMuch
	case !r.memory.take(r.organization, r.caller, need):
		return fault.Busyf(memoryRetry, "the service has no memory left for a request of this size at present; send it again later, or in parts")
	}
	r.held += need
	r.left += need
	return nil
}

// Close returns what the request has taken.
func (r *Reservation) Close() {
	if r != nil && r.held > 0 {
		r.memory.release(r.organization, r.caller, r.held)
		r.held, r.left, r.read = 0, 0, 0
	}
}

// errPageFull ends the reading of a page that has become too large.
var errPageFull = errors.New("wire: the page is too large")

// reading begins to count rows that are read, and forgets those that were read before. A page may not become too large.
func (r *Reservation) reading(isPage bool) {
	r.left += r.read
	r.read, r.readMax = 0, 0
	if isPage {
		r.readMax = r.memory.page * readFactor
	}
}

// readRow takes the memory of a row of so many bytes and of its part of the answer.
func (r *Reservation) readRow(n int) error {
	n *= readFactor
	if r.readMax > 0 && r.read+n > r.readMax {
		return errPageFull
	}
	if err := r.takeForAnswer(n); err != nil {
		return err
	}
	r.read += n
	return nil
}

// takeForAnswer is Take for what an answer is made of.
func (r *Reservation) takeForAnswer(n int) error {
	if err := r.Take(n); err != errTooMuch {
		return err
	}
	return errLongAnswer
}

// Answer keeps what the body and an answer of so many bytes take, and returns the rest. It returns an error if there is no memory for the
// answer.
func (r *Reservation) Answer(size int) error {
	if r == nil {
		return nil
	}
	r.reading(false)
	n := size * answerFactor
	if err := r.takeForAnswer(n); err != nil {
		return err
	}
	r.read = n
	if spare := min(r.held, r.left/memoryStep*memoryStep); spare > 0 {
		r.memory.release(r.organization, r.caller, spare)
		r.held -= spare
		r.left -= spare
	}
	return nil
}

type reservationKey struct{}

// WithReservation returns a context of a request whose answer takes its memory from the reservation.
func WithReservation(ctx context.Context, r *Reservation) context.Context {
	return context.WithValue(ctx, reservationKey{}, r)
}

// ReservationFrom returns the reservation of a request, or nil.
func ReservationFrom(ctx context.Context) *Reservation {
	r, _ := ctx.Value(reservationKey{}).(*Reservation)
	return r
}

// paged is the input of a list.
type paged interface{ pageLimit() *int64 }

// Run runs the use case of a route. The rows that a read reads take memory of the request. A list whose page becomes too large is
// read again with a lower limit, so that it ends early: the cursor does not depend on the limit. A route that is Whole is read once.
func (r *Route) Run(ctx context.Context, in any) (any, error) {
	memory := ReservationFrom(ctx)
	if memory == nil || !r.Reads || r.Work == Backtest { // writes and back-tests read in parts, of which they keep little
		return r.Call(ctx, in)
	}
	for {
		limit := new(int64)
		if list, ok := in.(paged); ok && !r.Whole {
			limit = list.pageLimit()
		}
		memory.reading(*limit > 1)
		out, err := r.Call(db.WithMeter(ctx, memory.readRow), in)
		if !errors.Is(err, errPageFull) {
			return out, err
		}
		*limit = max(1, *limit/8)
	}
}

// accounted reads a body into memory. A buffer that grows has up to twice the size of what is in it.
type accounted struct {
	io.Reader
	memory *Reservation
}

func (a *accounted) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if full := a.memory.Take(2 * n); full != nil {
		return 0, full
	}
	return n, err
}
