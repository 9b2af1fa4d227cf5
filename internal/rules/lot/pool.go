package lot

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Lot is what is left of something acquired at one time and cost. What it was at first is known to whoever made the event.
type Lot struct {
	ID         string
	AcquiredAt time.Time
	Seq        int64 // the order of arrival in the pool, which decides between equal dates
	Quantity   money.Decimal
	Basis      money.Decimal
	Spot       money.Decimal
	Marks
}

// Pool is the lots of one scope. It is not safe for concurrent use.
type Pool struct {
	config Config
	after  Place // the last event
	seq    int64

	// The sums are the truth of a weighted average, whose lots have no basis of their own.
	quantity, basis money.Decimal

	// lots are in no order, and those of free are empty and used again.
	lots []Lot
	free []int32

	queue queue            // laid out for a method, which is none at first
	byID  map[string]int32 // for SpecificID instead of the queue
}

// New gives an empty pool.
func New(config Config) *Pool {
	p := &Pool{config: config}
	p.queue.lots = &p.lots
	return p
}

// Quantity is what the pool holds.
func (p *Pool) Quantity() money.Decimal { return p.quantity }

// Basis is the cost of what the pool holds.
func (p *Pool) Basis() money.Decimal { return p.basis }

// Apply lets an event happen. When it answers with an error nothing has changed: a *Shortage or a *PickError tells a user what is wrong with the
// event, any other error whoever called.
func (p *Pool) Apply(e *Event) (Result, error) {
	if err := p.check(e); err != nil {
		return Result{}, err
	}
	method := p.config.method(e.At)
	var result Result
	switch e.Kind {
	case Acquire:
		p.layOut(method)
		basis := e.Basis.Round(p.config.Places)
		p.add(Lot{ID: cmp.Or(e.Lot, e.ID), AcquiredAt: e.At, Quantity: e.Quantity, Basis: basis, Spot: e.Spot, Marks: e.Marks})
	case Arrive:
		p.layOut(method)
		for i := range e.Slices {
			s := &e.Slices[i]
			id := s.Lot
			if id == "" {
				id = e.ID + "." + strconv.Itoa(i+1)
			}
			basis := s.Basis.Round(p.config.Places)
			p.add(Lot{ID: id, AcquiredAt: s.AcquiredAt, Quantity: s.Quantity, Basis: basis, Spot: s.Spot, Marks: s.Marks})
		}
	default:
		var err error
		if result, err = p.release(e, method); err != nil {
			return Result{}, err
		}
	}
	p.after = e.Place
	return result, nil
}

// check finds what no event should be like: defects of the caller, not of the books.
func (p *Pool) check(e *Event) error {
	if p.after.Kind != "" && Compare(p.after, e.Place) >= 0 {
		return fmt.Errorf("lot: event %s of %s comes after %s of %s, but belongs before it", e.ID, e.At, p.after.ID, p.after.At)
	}
	switch e.Kind {
	case Arrive:
		for i := range e.Slices {
			s := &e.Slices[i]
			if s.Quantity.Sign() <= 0 || s.Basis.Sign() < 0 {
				return fmt.Errorf("lot: slice %d of event %s has quantity %s and basis %s", i, e.ID, s.Quantity, s.Basis)
			}
			// A lot is eligible from its date on. One from the future would have to wait in the pool without being held.
			if s.AcquiredAt.After(e.At) {
				return fmt.Errorf("lot: slice %d of event %s arrives at %s and was acquired at %s", i, e.ID, e.At, s.AcquiredAt)
			}
		}
		return nil
	case Acquire, Move, Convert, Dispose, Fee:
	default:
		return fmt.Errorf("lot: event %s is of the unknown kind %q", e.ID, e.Kind)
	}
	if e.Quantity.Sign() <= 0 {
		return fmt.Errorf("lot: event %s has the quantity %s", e.ID, e.Quantity)
	}
	if e.Basis.Sign() < 0 || e.Proceeds.Sign() < 0 || e.Fee.Sign() < 0 {
		return fmt.Errorf("lot: event %s has a negative amount", e.ID)
	}
	return nil
}

// add makes a lot. Its slot may be one that an empty lot left.
func (p *Pool) add(l Lot) {
	p.seq++
	l.Seq = p.seq
	p.quantity, p.basis = p.quantity.Add(l.Quantity), p.basis.Add(l.Basis)
	slot := int32(len(p.lots))
	if last := len(p.free) - 1; last >= 0 {
		slot, p.free = p.free[last], p.free[:last]
		p.lots[slot] = l
	} else {
		p.lots = append(p.lots, l)
	}
	p.enqueue(slot)
}

func (p *Pool) enqueue(slot int32) {
	if p.queue.method == SpecificID {
		p.byID[p.lots[slot].ID] = slot
		return
	}
	p.queue.push(p.ticket(slot))
}

func (p *Pool) ticket(slot int32) ticket {
	l := &p.lots[slot]
	t := ticket{at: l.AcquiredAt, seq: l.Seq, slot: slot}
	p.price(&t)
	return t
}

// unitDigits is how far units are rounded to be compared; what they share is compared exactly.
const unitDigits = 6

// price finds what a unit of a lot cost, where the method asks for it.
func (p *Pool) price(t *ticket) {
	if p.queue.method != HIFO && p.queue.method != LOFO {
		return
	}
	l := &p.lots[t.slot]
	if p.config.BySpot {
		t.unit, t.exact = l.Spot, true
		return
	}
	t.unit = l.Basis.Quo(l.Quantity, unitDigits)
	t.exact = t.unit.Mul(l.Quantity).Equal(l.Basis)
}

// layOut prepares the pool for a method. Elections are few, so it may look at every lot.
func (p *Pool) layOut(method Method) {
	if p.queue.method == method {
		return
	}
	slots := p.inOrder()
	if p.queue.method == WeightedAverage {
		for i, basis := range p.averaged(slots) {
			p.lots[slots[i]].Basis = basis
		}
	}
	p.queue = queue{method: method, lots: &p.lots}
	p.byID = nil
	if method == SpecificID {
		p.byID = make(map[string]int32, len(slots))
		for _, slot := range slots {
			p.byID[p.lots[slot].ID] = slot
		}
		return
	}
	tickets := make([]ticket, len(slots))
	for i, slot := range slots {
		tickets[i] = p.ticket(slot)
	}
	p.queue.fill(tickets)
}

// inOrder gives the slots of what is left, oldest first.
func (p *Pool) inOrder() []int32 {
	slots := make([]int32, 0, len(p.lots)-len(p.free))
	for i := range p.lots {
		if !p.lots[i].Quantity.IsZero() {
			slots = append(slots, int32(i))
		}
	}
	slices.SortFunc(slots, func(a, b int32) int {
		x, y := &p.lots[a], &p.lots[b]
		if c := x.AcquiredAt.Compare(y.AcquiredAt); c != 0 {
			return c
		}
		return cmp.Compare(x.Seq, y.Seq)
	})
	return slots
}

// averaged shares the basis of the pool among its lots.
func (p *Pool) averaged(slots []int32) []money.Decimal {
	if len(slots) == 0 {
		return nil
	}
	weights := make([]money.Decimal, len(slots))
	for i, slot := range slots {
		weights[i] = p.lots[slot].Quantity
	}
	return money.Split(p.basis, weights, p.config.Places)
}

// Lots gives what is left, oldest first. Under a weighted average every lot has its share of the pool's basis.
func (p *Pool) Lots() []Lot {
	slots := p.inOrder()
	lots := make([]Lot, len(slots))
	for i, slot := range slots {
		lots[i] = p.lots[slot]
	}
	if p.queue.method == WeightedAverage {
		for i, basis := range p.averaged(slots) {
			lots[i].Basis = basis
		}
	}
	return lots
}
