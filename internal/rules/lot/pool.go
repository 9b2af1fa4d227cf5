package lot

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Lot is what is left of a quantity acquired at one time and cost. The original quantity is in the event that created it.
type Lot struct {
	ID         string
	AcquiredAt time.Time
	Seq        int64 // the order of arrival in the pool, which breaks ties between equal dates
	Quantity   money.Decimal
	Basis      money.Decimal
	Marks
}

// Pool holds the lots of one scope. It is not safe for concurrent use.
type Pool struct {
	config Config
	last   Place // the last event
	seq    int64

	// Totals of the pool. Under a weighted average only they are exact: its lots have no basis of their own.
	quantity, basis money.Decimal

	lots        table
	queue       queue            // ordered for a method; none at first
	byID        map[string]int32 // the index for picks; only under SpecificID
	emptyQueued int              // number of lots in the queue that picks have emptied
}

// New returns an empty pool.
func New(config Config) *Pool {
	return &Pool{config: config}
}

// Quantity returns the quantity that the pool holds.
func (p *Pool) Quantity() money.Decimal { return p.quantity }

// Basis returns the cost basis of the quantity that the pool holds.
func (p *Pool) Basis() money.Decimal { return p.basis }

// Apply applies an event and returns its uses. On an error the pool is unchanged. A *Shortage or a *PickError explains to
// the user what is wrong with the event; any other error is a defect of the caller.
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

// addLots creates the lots of an event.
func (p *Pool) addLots(e *Event) error {
	count := len(e.Slices)
	if e.Kind == Acquire {
		count = 1
	}
	// Picks name lots by id, so ids must be unique.
	if p.queue.method == SpecificID {
		for i := range count {
			if _, held := p.byID[e.lotID(i)]; held {
				return fmt.Errorf("lot: event %s creates lot %s, which already exists", e.ID, e.lotID(i))
			}
		}
	}
	if e.Kind == Acquire {
		p.addLot(Lot{ID: e.lotID(0), AcquiredAt: e.acquiredAt(), Quantity: e.Quantity,
			Basis: e.Basis.Round(p.config.Places), Marks: e.Marks})
		return nil
	}
	for i := range e.Slices {
		s := &e.Slices[i]
		p.addLot(Lot{ID: e.lotID(i), AcquiredAt: s.AcquiredAt, Quantity: s.Quantity, Basis: s.Basis.Round(p.config.Places),
			Marks: s.Marks})
	}
	return nil
}

// validate rejects malformed events, which are defects of the caller.
func (p *Pool) validate(e *Event) error {
	if p.last.Kind != "" && Compare(p.last, e.Place) >= 0 {
		return fmt.Errorf("lot: event %s of %s was applied after %s of %s, but sorts before it", e.ID, e.At, p.last.ID, p.last.At)
	}
	switch e.Kind {
	case Arrive:
		for i := range e.Slices {
			s := &e.Slices[i]
			if s.Quantity.Sign() <= 0 || s.Basis.Sign() < 0 {
				return fmt.Errorf("lot: slice %d of event %s has quantity %s and basis %s", i, e.ID, s.Quantity, s.Basis)
			}
		}
		return nil
	case Acquire, Move, Convert, Dispose, Fee:
	default:
		return fmt.Errorf("lot: event %s has the unknown kind %q", e.ID, e.Kind)
	}
	if e.Quantity.Sign() <= 0 {
		return fmt.Errorf("lot: event %s has the quantity %s, which must be positive", e.ID, e.Quantity)
	}
	if e.Basis.Sign() < 0 || e.Proceeds.Sign() < 0 || e.Fee.Sign() < 0 {
		return fmt.Errorf("lot: event %s has a negative amount", e.ID)
	}
	return nil
}

// addLot adds a lot to the pool and numbers it.
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

// removeFromIndex removes a lot from the index for picks.
func (p *Pool) removeFromIndex(slot int32) {
	if p.byID != nil {
		delete(p.byID, p.lots.at(slot).ID)
	}
}

// removeEmpty removes empty lots from the queue. It visits all lots, so it runs only when most are empty.
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

// isEmpty reports whether nothing is left of a lot.
func (p *Pool) isEmpty(slot int32) bool { return p.lots.at(slot).Quantity.IsZero() }

// useMethod orders the queue for a method. It visits every lot, which is fine because the method rarely changes.
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
		// A picked lot can be anywhere in the queue, so its slot must not change.
		p.byID = make(map[string]int32, len(slots))
		p.lots.own = slices.Grow(p.lots.own, len(slots))
		for i := range slots {
			slots[i] = p.lots.writable(slots[i])
			p.byID[p.lots.at(slots[i]).ID] = slots[i]
		}
	}
	p.queue.fill(slots)
}

// sortedSlots returns the slots of the lots that are left, oldest first.
func (p *Pool) sortedSlots() []int32 {
	if p.queue.method == "" { // No event since the checkpoint, whose lots are sorted.
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

// averageBases splits the basis of the pool among its lots by quantity.
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

// Lots returns the lots that are left, oldest first. Under a weighted average every lot has its share of the pool's basis.
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
