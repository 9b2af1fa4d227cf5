package wire

import (
	"io"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// MemoryDefault is how many bytes the bodies of requests and what is built from them may take on a node unless it is told otherwise.
const MemoryDefault = 192 << 20

const (
	// memoryFree is what a request may take without being counted, so that small requests are answered when large ones take all there is.
	memoryFree = 256 << 10
	// memoryStep is how much a request takes from the node at a time.
	memoryStep = 256 << 10
	// bodyFactor is how many times its size a usual body takes: its buffer, and what is built from it.
	bodyFactor = 4
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

// Memory bounds how many bytes the bodies of all requests to a node, and what is built from them, take at a time. An organization may take
// two thirds of it, and one of its callers three quarters of that, so that others of the organization find some.
type Memory struct {
	total, each, caller int

	mu      sync.Mutex
	taken   int
	byOwner map[string]int
}

// NewMemory returns a Memory of so many bytes.
func NewMemory(total int) *Memory {
	each := total / 3 * 2
	return &Memory{total: total, each: each, caller: each / 4 * 3, byOwner: map[string]int{}}
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
		r.held, r.left = 0, 0
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
