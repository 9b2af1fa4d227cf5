package lot

import (
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// ticket is a lot's turn to be consumed. It repeats what decides the order, so that the table of lots is looked at in ties only.
type ticket struct {
	unit  money.Decimal // what one unit cost, rounded; HIFO and LOFO only
	exact bool          // the unit was not rounded
	at    time.Time
	seq   int64
	slot  int32
}

// queue gives lots in the order of a method. By date, they mostly come in the order in which they go, and wait in a line; lots that moved in with an
// older date, and all lots of the other methods, are in a heap beside it.
type queue struct {
	method Method
	lots   *[]Lot
	line   []ticket
	head   int
	heap   []ticket
}

func (q *queue) byDate() bool { return q.method == FIFO || q.method == WeightedAverage }

// fill makes a queue of lots that are given oldest first, in one go.
func (q *queue) fill(oldestFirst []ticket) {
	if q.byDate() {
		q.line = oldestFirst
		return
	}
	q.heap = oldestFirst
	slices.Reverse(q.heap) // which is what LIFO wants already
	for i := len(q.heap)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

func (q *queue) push(t ticket) {
	if q.byDate() && (q.head == len(q.line) || !q.before(&t, &q.line[len(q.line)-1])) {
		q.line = append(q.line, t)
		return
	}
	q.heap = append(q.heap, t)
	q.up(len(q.heap) - 1)
}

// first is the lot whose turn it is. There must be one.
func (q *queue) first() *ticket {
	if q.inLine() {
		return &q.line[q.head]
	}
	return &q.heap[0]
}

func (q *queue) inLine() bool {
	return q.head < len(q.line) && (len(q.heap) == 0 || q.before(&q.line[q.head], &q.heap[0]))
}

// pop drops the lot whose turn it was.
func (q *queue) pop() {
	if q.inLine() {
		q.head++
		// The used half is given back in one go, so that it costs nothing per lot.
		if q.head >= lineMin && 2*q.head >= len(q.line) {
			q.line = q.line[:copy(q.line, q.line[q.head:])]
			q.head = 0
		}
		return
	}
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	q.down(0)
}

const lineMin = 1024

// settle puts the lot whose turn it is to where it belongs after its ticket changed.
func (q *queue) settle() {
	if !q.inLine() {
		q.down(0)
	}
}

func (q *queue) up(i int) {
	t := q.heap[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !q.before(&t, &q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = t
}

func (q *queue) down(i int) {
	if i >= len(q.heap) {
		return
	}
	t := q.heap[i]
	for {
		child := 2*i + 1
		if child >= len(q.heap) {
			break
		}
		if child+1 < len(q.heap) && q.before(&q.heap[child+1], &q.heap[child]) {
			child++
		}
		if !q.before(&q.heap[child], &t) {
			break
		}
		q.heap[i] = q.heap[child]
		i = child
	}
	q.heap[i] = t
}

// before is the order of the method.
func (q *queue) before(a, b *ticket) bool {
	switch q.method {
	case LIFO:
		return older(b, a)
	case HIFO:
		if c := q.compareUnits(a, b); c != 0 {
			return c > 0
		}
	case LOFO:
		if c := q.compareUnits(a, b); c != 0 {
			return c < 0
		}
	}
	return older(a, b)
}

func older(a, b *ticket) bool {
	if c := a.at.Compare(b.at); c != 0 {
		return c < 0
	}
	return a.seq < b.seq
}

// compareUnits compares what a unit cost. Rounding keeps the order, so only equal rounded units must be looked at exactly.
func (q *queue) compareUnits(a, b *ticket) int {
	if c := a.unit.Cmp(b.unit); c != 0 || a.exact && b.exact {
		return c
	}
	x, y := &(*q.lots)[a.slot], &(*q.lots)[b.slot]
	return x.Basis.Mul(y.Quantity).Cmp(y.Basis.Mul(x.Quantity))
}
