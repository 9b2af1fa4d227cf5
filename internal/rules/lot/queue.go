package lot

import (
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// queueItem is a lot in a queue. It copies the fields that decide the order, so that the table of lots is read only to
// break ties.
type queueItem struct {
	unit    money.Decimal // rounded unit cost; HIFO and LOFO only
	rounded rounding
	at      time.Time
	seq     int64
	slot    int32
}

// rounding says whether the unit cost of an item is exact. It is computed only when a tie has to be broken.
type rounding byte

const (
	unknown rounding = iota
	exact
	inexact
)

// queue returns lots in the order of a method. If dates decide, lots mostly enter in their order and are kept in a line,
// which is consumed from its old end or from its new one. Lots that were moved in with an older date, and all lots of
// the methods that order by cost, are kept in a heap.
type queue struct {
	method Method
	lots   *table
	line   []int32 // oldest first
	head   int     // of the line
	heap   []queueItem
}

// lineMin is the length below which copying a queue is negligible.
const lineMin = 1024

func (q *queue) ordersByCost() bool { return q.method == HIFO || q.method == LOFO }

// fill fills an empty queue with lots that are sorted oldest first.
func (q *queue) fill(oldestFirst []int32) {
	if !q.ordersByCost() {
		q.line = oldestFirst
		return
	}
	// Spare capacity, so that the next lots do not cause a copy.
	q.heap = make([]queueItem, len(oldestFirst), len(oldestFirst)+len(oldestFirst)/8+lineMin)
	for i, slot := range oldestFirst {
		q.heap[i] = q.newItem(slot)
	}
	q.heapify()
}

// heapify restores the heap order.
func (q *queue) heapify() {
	for i := len(q.heap)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

// remove removes the lots for which a function returns true.
func (q *queue) remove(some func(slot int32) bool) {
	q.line, q.head = slices.DeleteFunc(q.line[q.head:], some), 0
	q.heap = slices.DeleteFunc(q.heap, func(t queueItem) bool { return some(t.slot) })
	q.heapify()
}

func (q *queue) push(slot int32) {
	t := q.newItem(slot)
	if !q.ordersByCost() {
		last := len(q.line) - 1
		if last < q.head || !q.lots.at(q.line[last]).AcquiredAt.After(t.at) {
			q.line = append(q.line, slot)
			return
		}
	}
	q.heap = append(q.heap, t)
	q.up(len(q.heap) - 1)
}

// isEmpty reports whether the queue has no lots.
func (q *queue) isEmpty() bool { return q.head == len(q.line) && len(q.heap) == 0 }

// first returns the slot of the next lot. The queue must not be empty.
func (q *queue) first() int32 {
	if q.nextIsInLine() {
		return q.line[q.nextIndex()]
	}
	return q.heap[0].slot
}

// nextIndex returns the index of the next lot of the line.
func (q *queue) nextIndex() int {
	if q.method == LIFO {
		return len(q.line) - 1
	}
	return q.head
}

func (q *queue) nextIsInLine() bool {
	if q.head == len(q.line) || len(q.heap) == 0 {
		return q.head < len(q.line)
	}
	t := q.newItem(q.line[q.nextIndex()])
	return q.before(&t, &q.heap[0])
}

// pop removes the next lot. It must still be in the table.
func (q *queue) pop() {
	switch {
	case !q.nextIsInLine():
		last := len(q.heap) - 1
		q.heap[0] = q.heap[last]
		q.heap = q.heap[:last]
		q.down(0)
	case q.method == LIFO:
		q.line = q.line[:len(q.line)-1]
	default:
		q.head++
		// Compact only when half is unused, so that the amortized cost per lot is constant.
		if q.head >= lineMin && 2*q.head >= len(q.line) {
			q.line = q.line[:copy(q.line, q.line[q.head:])]
			q.head = 0
		}
	}
}

// reorder moves the lot whose turn it was to where it belongs after some of it was consumed. It may have another slot
// now; the old one must still be there.
func (q *queue) reorder(slot int32) {
	if q.nextIsInLine() {
		q.line[q.nextIndex()] = slot
		return
	}
	q.heap[0] = q.newItem(slot)
	q.down(0)
}

// unitDigits is the number of decimal places to which unit costs are rounded; equal ones are compared exactly.
const unitDigits = 6

func (q *queue) newItem(slot int32) queueItem {
	l := q.lots.at(slot)
	t := queueItem{at: l.AcquiredAt, seq: l.Seq, slot: slot}
	if q.ordersByCost() {
		t.unit = l.Basis.Quo(l.Quantity, unitDigits)
	}
	return t
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

// before reports whether a is consumed before b under the method.
func (q *queue) before(a, b *queueItem) bool {
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

func older(a, b *queueItem) bool {
	if c := a.at.Compare(b.at); c != 0 {
		return c < 0
	}
	return a.seq < b.seq
}

// compareUnits compares unit costs. Rounding preserves the order, so only equal rounded costs need an exact comparison.
func (q *queue) compareUnits(a, b *queueItem) int {
	if c := a.unit.Cmp(b.unit); c != 0 || q.exact(a) && q.exact(b) {
		return c
	}
	x, y := q.lots.at(a.slot), q.lots.at(b.slot)
	return x.Basis.Mul(y.Quantity).Cmp(y.Basis.Mul(x.Quantity))
}

func (q *queue) exact(t *queueItem) bool {
	if t.rounded == unknown {
		l := q.lots.at(t.slot)
		if t.rounded = inexact; t.unit.Mul(l.Quantity).Equal(l.Basis) {
			t.rounded = exact
		}
	}
	return t.rounded == exact
}

// slots returns the slots of all lots in no particular order, though nearly by date for methods that order by date.
func (q *queue) slots() []int32 {
	all := slices.Grow(slices.Clone(q.line[q.head:]), len(q.heap))
	for i := range q.heap {
		all = append(all, q.heap[i].slot)
	}
	return all
}
