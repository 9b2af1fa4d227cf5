package lot

import (
	"cmp"
	"fmt"
	"slices"
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
	Marks
}

// Pool is the lots of one scope. It is not safe for concurrent use.
type Pool struct {
	config Config
	last   Place // the last event
	seq    int64

	// The sums are the truth of a weighted average, whose lots have no basis of their own.
	quantity, basis money.Decimal

	lots        table
	queue       queue            // laid out for a method, which is none at first
	byID        map[string]int32 // for SpecificID beside the queue
	emptyQueued int              // how many lots in the queue were picked and are empty
}

// New gives an empty pool.
func New(config Config) *Pool {
	return &Pool{config: config}
}

// Quantity is what the pool holds.
func (p *Pool) Quantity() money.Decimal { return p.quantity }

// Basis is the cost of what the pool holds.
func (p *Pool) Basis() money.Decimal { return p.basis }

// Apply lets an event happen. When it answers with an error nothing has changed: a *Shortage or a *PickError tells a
// user what is wrong with the event, any other error whoever called.
func (p *Pool) Apply(e *Event) (Result, error) {
	if err := p.validate(e); err != nil {
		return Result{}, err
	}
	method := p.config.methodAt(e.At)
	var result Result
	var err error
	if e.Kind == Acquire || e.Kind == Arrive {
		p.useMethod(method)
		err = p.addLots(e)
	} else {
		result, err = p.consume(e, method)
	}
	if err != nil {
		return Result{}, err
	}
	p.last = e.Place
	return result, nil
}

// accept makes the lots of an event.
func (p *Pool) addLots(e *Event) error {
	count := len(e.Slices)
	if e.Kind == Acquire {
		count = 1
	}
	// Where lots are chosen, two of one name could not be told apart.
	if p.queue.method == SpecificID {
		for i := range count {
			if _, held := p.byID[e.lotID(i)]; held {
				return fmt.Errorf("lot: event %s makes the lot %s, which is there", e.ID, e.lotID(i))
			}
		}
	}
	if e.Kind == Acquire {
		p.addLot(Lot{ID: e.lotID(0), AcquiredAt: e.At, Quantity: e.Quantity, Basis: e.Basis.Round(p.config.Places), Marks: e.Marks})
		return nil
	}
	for i := range e.Slices {
		s := &e.Slices[i]
		p.addLot(Lot{ID: e.lotID(i), AcquiredAt: s.AcquiredAt, Quantity: s.Quantity, Basis: s.Basis.Round(p.config.Places),
			Marks: s.Marks})
	}
	return nil
}

// check finds what no event should be like: defects of the caller, not of the books.
func (p *Pool) validate(e *Event) error {
	if p.last.Kind != "" && Compare(p.last, e.Place) >= 0 {
		return fmt.Errorf("lot: event %s of %s comes after %s of %s, but belongs before it", e.ID, e.At, p.last.ID, p.last.At)
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

// add makes a lot.
func (p *Pool) addLot(l Lot) {
	p.seq++
	l.Seq = p.seq
	p.quantity, p.basis = p.quantity.Add(l.Quantity), p.basis.Add(l.Basis)
	slot := p.lots.add(l)
	p.queue.push(slot)
	if p.byID != nil {
		p.byID[l.ID] = slot
	}
}

// forget removes a lot from those that can be picked.
func (p *Pool) removeFromIndex(slot int32) {
	if p.byID != nil {
		delete(p.byID, p.lots.at(slot).ID)
	}
}

// sweep removes empty lots from the queue. It visits all lots, so it is done when most are empty.
func (p *Pool) removeEmpty() {
	p.queue.remove(func(slot int32) bool {
		if !p.isEmpty(slot) {
			return false
		}
		p.lots.remove(slot)
		return true
	})
	p.emptyQueued = 0
}

// empty tells a lot of which nothing is left.
func (p *Pool) isEmpty(slot int32) bool { return p.lots.at(slot).Quantity.IsZero() }

// layOut prepares the pool for a method. Elections are few, so it may look at every lot.
func (p *Pool) useMethod(method Method) {
	if p.queue.method == method {
		return
	}
	if p.emptyQueued > 0 {
		p.removeEmpty()
	}
	slots := p.sortedSlots()
	if p.queue.method == WeightedAverage {
		for i, basis := range p.averageBases(slots) {
			slots[i] = p.lots.writable(slots[i])
			p.lots.at(slots[i]).Basis = basis
		}
	}
	p.queue = queue{method: method, lots: &p.lots}
	p.byID = nil
	if method == SpecificID {
		// What is picked waits anywhere in the queue, where its slot must stay the same.
		p.byID = make(map[string]int32, len(slots))
		p.lots.own = slices.Grow(p.lots.own, len(slots))
		for i := range slots {
			slots[i] = p.lots.writable(slots[i])
			p.byID[p.lots.at(slots[i]).ID] = slots[i]
		}
	}
	p.queue.fill(slots)
}

// inOrder gives the slots of what is left, oldest first.
func (p *Pool) sortedSlots() []int32 {
	if p.queue.method == "" { // Nothing has happened since the checkpoint, which is in order.
		slots := make([]int32, len(p.lots.base))
		for i := range slots {
			slots[i] = int32(i)
		}
		return slots
	}
	slots := p.queue.slots()
	if p.emptyQueued > 0 {
		slots = slices.DeleteFunc(slots, p.isEmpty)
	}
	slices.SortFunc(slots, func(a, b int32) int {
		x, y := p.lots.at(a), p.lots.at(b)
		if c := x.AcquiredAt.Compare(y.AcquiredAt); c != 0 {
			return c
		}
		return cmp.Compare(x.Seq, y.Seq)
	})
	return slots
}

// averaged shares the basis of the pool among its lots.
func (p *Pool) averageBases(slots []int32) []money.Decimal {
	if len(slots) == 0 {
		return nil
	}
	weights := make([]money.Decimal, len(slots))
	for i, slot := range slots {
		weights[i] = p.lots.at(slot).Quantity
	}
	return money.Split(p.basis, weights, p.config.Places)
}

// Lots gives what is left, oldest first. Under a weighted average every lot has its share of the pool's basis.
func (p *Pool) Lots() []Lot {
	slots := p.sortedSlots()
	lots := make([]Lot, len(slots))
	for i, slot := range slots {
		lots[i] = *p.lots.at(slot)
	}
	if p.queue.method == WeightedAverage {
		for i, basis := range p.averageBases(slots) {
			lots[i].Basis = basis
		}
	}
	return lots
}
