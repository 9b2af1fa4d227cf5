package lot

import (
	"fmt"

	"github.com/bursarhq/bursar/internal/base/money"
)

// dust is the share of a quantity that may be missing because data sources round.
var dust = money.MustParse("0.00000001")

// Shortage is the error of an event that consumes more than the pool holds.
type Shortage struct {
	ID       string
	Quantity money.Decimal // to be consumed
	Held     money.Decimal
	Missing  money.Decimal
}

func (s *Shortage) Error() string {
	return fmt.Sprintf("only %s of the %s to be consumed are available: %s are missing", s.Held, s.Quantity, s.Missing)
}

// PickError is the error of an invalid specific identification.
type PickError struct {
	ID     string
	Faults []PickFault
}

// PickFault is a fault of one pick, or of all picks together if Index is -1.
type PickFault struct {
	Index   int
	Message string
}

func (e *PickError) Error() string {
	return fmt.Sprintf("the lots chosen for %s: %s", e.ID, e.Faults[0].Message)
}

// usesUsual is how many lots most events consume.
const usesUsual = 2

// consume applies an event that consumes lots.
func (p *Pool) consume(e *Event, method Method) (Result, error) {
	result := Result{}
	wanted := e.Quantity
	if missing := wanted.Sub(p.quantity); missing.Sign() > 0 {
		switch {
		case missing.Cmp(wanted.Mul(dust)) <= 0:
			result.Dust = missing
		case p.config.ZeroBasis:
			result.Deficit = missing
		default:
			return Result{}, &Shortage{ID: e.ID, Quantity: wanted, Held: p.quantity, Missing: missing}
		}
		wanted = p.quantity
	}
	picked := len(e.Picks) > 0
	if picked {
		if err := p.validatePicks(e, method, wanted); err != nil {
			return Result{}, err
		}
	}
	p.useMethod(method)
	if method == SpecificID && !picked && !p.config.Identified {
		method = FIFO
	}
	t := consumption{pool: p, event: e, method: method, uses: make([]Use, 0, usesUsual)}
	var err error
	switch {
	case picked:
		t.consumePicked()
	case method == WeightedAverage:
		err = t.consumeAveraged(wanted)
	default:
		err = t.consumeQueued(wanted, true)
	}
	if err != nil {
		return Result{}, err
	}
	if !result.Deficit.IsZero() {
		t.uses = append(t.uses, Use{
			ID: e.ID, Kind: e.Kind, Quantity: result.Deficit, AcquiredAt: e.At, At: e.At, Method: method, Marks: Marks{BasisPending: true},
		})
	}
	if e.Kind == Dispose || e.Kind == Fee {
		p.config.realize(e, t.uses, wanted.Add(result.Deficit))
	}
	result.Uses = t.uses
	return result, nil
}

// validatePicks returns every fault of a specific identification.
func (p *Pool) validatePicks(e *Event, method Method, wanted money.Decimal) error {
	if method != SpecificID {
		message := fmt.Sprintf("lots can be chosen only under the method %s; the method is %s", SpecificID, method)
		return &PickError{e.ID, []PickFault{{-1, message}}}
	}
	p.useMethod(SpecificID)
	var faults []PickFault
	sum, seen := money.Decimal{}, make(map[string]bool, len(e.Picks))
	for i, pick := range e.Picks {
		slot, held := p.byID[pick.Lot]
		switch {
		case !held:
			faults = append(faults, PickFault{i, fmt.Sprintf("lot %s is not held at that time", pick.Lot)})
		case seen[pick.Lot]:
			faults = append(faults, PickFault{i, fmt.Sprintf("lot %s is chosen twice", pick.Lot)})
		case pick.Quantity.Sign() <= 0:
			faults = append(faults, PickFault{i, "must be positive"})
		case pick.Quantity.Cmp(p.lots.at(slot).Quantity) > 0:
			faults = append(faults, PickFault{i, fmt.Sprintf("lot %s has %s left", pick.Lot, p.lots.at(slot).Quantity)})
		}
		seen[pick.Lot] = true
		sum = sum.Add(pick.Quantity)
	}
	if !sum.Equal(wanted) {
		faults = append(faults, PickFault{-1, fmt.Sprintf("the chosen quantities add up to %s, but %s are consumed", sum, wanted)})
	}
	if len(faults) > 0 {
		return &PickError{e.ID, faults}
	}
	return nil
}

// consumption is an event being applied and the uses it has made so far.
type consumption struct {
	pool   *Pool
	event  *Event
	method Method
	uses   []Use
}

// consumeQueued consumes lots in the order of the queue. It returns an error if the pool was restored with fewer lots than
// its totals say; the pool must not be used afterwards.
func (t *consumption) consumeQueued(quantity money.Decimal, cost bool) error {
	p := t.pool
	for quantity.Sign() > 0 {
		if p.queue.isEmpty() {
			return fmt.Errorf("lot: event %s needs %s more, but the pool has no lots left although its total says so", t.event.ID, quantity)
		}
		slot := p.queue.first()
		if p.emptyQueued > 0 && p.isEmpty(slot) {
			p.queue.pop()
			p.lots.remove(slot)
			p.emptyQueued--
			continue
		}
		part, empty := t.addUse(slot, quantity, cost)
		if empty {
			p.queue.pop()
			p.removeFromIndex(slot)
			p.lots.remove(slot)
		} else {
			p.queue.reorder(t.reduceLot(slot))
		}
		quantity = quantity.Sub(part)
	}
	return nil
}

// consumeAveraged consumes the oldest lots, which determine the dates, at the average cost of the pool.
func (t *consumption) consumeAveraged(quantity money.Decimal) error {
	p := t.pool
	if quantity.IsZero() {
		return nil
	}
	basis := portion(p.basis, quantity, p.quantity, p.config.Places)
	p.basis = p.basis.Sub(basis)
	if err := t.consumeQueued(quantity, false); err != nil {
		return err
	}
	share := allocator{basis, quantity, p.config.Places}
	for i := range t.uses {
		t.uses[i].Basis = share.next(t.uses[i].Quantity)
	}
	return nil
}

// consumePicked consumes the picked lots. An emptied lot stays in the queue until it is reached, because its position there
// is not known.
func (t *consumption) consumePicked() {
	p := t.pool
	for _, pick := range t.event.Picks {
		slot := p.byID[pick.Lot]
		_, empty := t.addUse(slot, pick.Quantity, true)
		t.reduceLot(slot)
		if empty {
			p.removeFromIndex(slot)
			p.emptyQueued++
		}
	}
	if p.emptyQueued >= lineMin && p.emptyQueued > len(p.byID) {
		p.removeEmpty()
	}
}

// addUse adds a use of a lot, limited to what is left of it. Without cost, the use has no basis.
func (t *consumption) addUse(slot int32, wanted money.Decimal, cost bool) (part money.Decimal, empty bool) {
	p, e := t.pool, t.event
	l := p.lots.at(slot)
	part, empty = wanted, wanted.Cmp(l.Quantity) >= 0
	if empty {
		part = l.Quantity
	}
	var basis money.Decimal
	if cost {
		if basis = l.Basis; !empty {
			basis = portion(l.Basis, part, l.Quantity, p.config.Places)
		}
		p.basis = p.basis.Sub(basis)
	}
	p.quantity = p.quantity.Sub(part)
	t.uses = append(t.uses, Use{
		ID: e.ID, Kind: e.Kind, Lot: l.ID, Quantity: part, Basis: basis,
		AcquiredAt: l.AcquiredAt, At: e.At, Method: t.method, Empties: empty, Marks: l.Marks,
	})
	return part, empty
}

// reduceLot subtracts the last use from its lot and returns the slot of the lot, which may change.
func (t *consumption) reduceLot(slot int32) int32 {
	u := &t.uses[len(t.uses)-1]
	slot = t.pool.lots.writable(slot)
	l := t.pool.lots.at(slot)
	l.Quantity, l.Basis = l.Quantity.Sub(u.Quantity), l.Basis.Sub(u.Basis)
	return slot
}
