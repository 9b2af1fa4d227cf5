package lot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// world is two wallets and a wrapped asset of one legal entity, with the events of each pool.
type world struct {
	config lot.Config
	pools  [3]*lot.Pool
	events [3][]lot.Event
	uses   [3][]lot.Use

	// bought and sold are the basis that entered and left the world; missing are the quantities that were not held.
	bought, sold money.Decimal
	in, out      [3]money.Decimal
	made         map[string]money.Decimal // the quantity of every lot at first
}

const wrapped = 2

var methods = []lot.Method{lot.FIFO, lot.LIFO, lot.HIFO, lot.LOFO, lot.WeightedAverage, lot.SpecificID}

var begin = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

func drawConfig(t *rapid.T) lot.Config {
	c := lot.Config{Places: rapid.SampledFrom([]int32{0, 2, 3}).Draw(t, "places"), ZeroBasis: rapid.Bool().Draw(t, "zero basis"),
		Identified: rapid.IntRange(0, 9).Draw(t, "identified") == 0}
	for n := range rapid.IntRange(1, 4).Draw(t, "elections") {
		c.Elections = append(c.Elections, lot.Election{Method: rapid.SampledFrom(methods).Draw(t, "method"), From: begin.AddDate(0, 0, 12*n)})
	}
	return c
}

// quantity and amount are often round, so that equal unit costs, whole lots and ties occur.
func quantity(t *rapid.T) money.Decimal {
	text := rapid.OneOf(rapid.StringMatching(`[1-3]`), rapid.StringMatching(`[0-2]\.[0-9]{0,17}[1-9]`),
		rapid.StringMatching(`[1-9]0{1,6}`)).Draw(t, "quantity")
	return money.MustParse(text)
}

func (w *world) amount(t *rapid.T) money.Decimal {
	text := rapid.OneOf(rapid.StringMatching(`0|10|20|30`), rapid.StringMatching(`[0-9]{1,5}\.[0-9]{3}`)).Draw(t, "amount")
	return money.MustParse(text).Round(w.config.Places)
}

// live draws a history.
func live(t *rapid.T) *world {
	w := &world{config: drawConfig(t), made: map[string]money.Decimal{}}
	for i := range w.pools {
		w.pools[i] = lot.New(w.config)
	}
	w.open(t)
	now := begin
	for n := range rapid.IntRange(1, 60).Draw(t, "events") {
		now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 24, 400}).Draw(t, "hours")) * time.Hour)
		place := lot.Place{At: now, ID: fmt.Sprintf("t%03d", n), Sequence: int64(n)}
		from := rapid.IntRange(0, len(w.pools)-1).Draw(t, "pool")
		place.Kind = rapid.SampledFrom([]lot.Kind{lot.Acquire, lot.Acquire, lot.Acquire, lot.Dispose, lot.Dispose, lot.Fee, lot.Move,
			lot.Convert}).Draw(t, "kind")
		e := lot.Event{Place: place, Quantity: quantity(t)}
		switch place.Kind {
		case lot.Acquire:
			e.Basis = w.amount(t)
			w.bought = w.bought.Add(e.Basis)
			w.apply(t, from, e)
		case lot.Dispose, lot.Fee:
			e.Proceeds, e.Fee = w.amount(t), w.amount(t)
			w.sold = w.sold.Add(w.apply(t, from, e).Basis())
		default:
			w.transfer(t, from, e)
		}
		w.check(t)
	}
	return w
}

// open enters opening balances, some of which were acquired after they are consumed first.
func (w *world) open(t *rapid.T) {
	for n := range rapid.IntRange(0, 3).Draw(t, "openings") {
		e := lot.Event{Place: lot.Place{Kind: lot.Acquire, ID: fmt.Sprintf("o%03d", n)}, Quantity: quantity(t), Basis: w.amount(t),
			AcquiredAt: begin.AddDate(0, 0, rapid.IntRange(-30, 60).Draw(t, "acquired"))}
		w.bought = w.bought.Add(e.Basis)
		w.apply(t, rapid.IntRange(0, len(w.pools)-1).Draw(t, "pool"), e)
		w.check(t)
	}
}

// transfer moves with a fee, to another pool, as it is or changed into something else.
func (w *world) transfer(t *rapid.T, from int, e lot.Event) {
	fee := lot.Event{Place: e.Place, Quantity: quantity(t), Proceeds: w.amount(t)}
	fee.Kind, fee.Principal = lot.Fee, e.Kind
	before := w.pools[0].Basis().Add(w.pools[1].Basis()).Add(w.pools[2].Basis())
	paid := w.apply(t, from, fee)
	w.sold = w.sold.Add(paid.Basis())
	moved := w.apply(t, from, e)
	if !moved.Gain().IsZero() {
		t.Fatalf("a %s gains %s", e.Kind, moved.Gain())
	}
	if len(moved.Uses) > 0 {
		slices, to := lot.Slices(moved.Uses), 1-min(from, 1)
		if e.Kind == lot.Convert {
			slices, to = lot.Converted(slices, quantity(t)), wrapped
		}
		if to == from {
			to = 0
		}
		for i := range slices {
			slices[i].Lot = fmt.Sprintf("%s/%d", e.ID, i)
		}
		e.Kind = lot.Arrive
		w.apply(t, to, lot.Event{Place: e.Place, Slices: slices})
	}
	if after := w.pools[0].Basis().Add(w.pools[1].Basis()).Add(w.pools[2].Basis()); !before.Equal(after.Add(paid.Basis())) {
		t.Fatalf("a %s makes of %s %s, with a fee of %s", e.Kind, before, after, paid.Basis())
	}
}

// pick chooses lots where one may, for as much as is there, some of the time.
func (w *world) pick(t *rapid.T, pool int, e *lot.Event) {
	if (&reference{config: w.config}).at(e.At) != lot.SpecificID || rapid.Bool().Draw(t, "unidentified") {
		return
	}
	rest := e.Quantity
	for _, l := range rapid.Permutation(w.pools[pool].Lots()).Draw(t, "lots") {
		if rest.IsZero() {
			break
		}
		part := l.Quantity
		if part.Cmp(rest) > 0 {
			part = rest
		}
		e.Picks = append(e.Picks, lot.Pick{Lot: l.ID, Quantity: part})
		rest = rest.Sub(part)
	}
}

func (w *world) apply(t *rapid.T, pool int, e lot.Event) lot.Result {
	if e.Kind != lot.Acquire && e.Kind != lot.Arrive {
		w.pick(t, pool, &e)
	}
	r, err := w.pools[pool].Apply(&e)
	if err != nil {
		if w.config.ZeroBasis || !strings.Contains(err.Error(), "are missing") {
			t.Fatal(err)
		}
		return lot.Result{}
	}
	w.events[pool] = append(w.events[pool], e)
	w.uses[pool] = append(w.uses[pool], r.Uses...)
	var taken, proceeds, fee, gain money.Decimal
	for _, u := range r.Uses {
		taken, proceeds, fee, gain = taken.Add(u.Quantity), proceeds.Add(u.Proceeds), fee.Add(u.Fee), gain.Add(u.Gain)
	}
	switch e.Kind {
	case lot.Acquire:
		w.in[pool] = w.in[pool].Add(e.Quantity)
		w.made[e.ID] = e.Quantity
		return r
	case lot.Arrive:
		for _, s := range e.Slices {
			w.in[pool] = w.in[pool].Add(s.Quantity)
			w.made[s.Lot] = s.Quantity
		}
		return r
	}
	w.out[pool] = w.out[pool].Add(taken).Sub(r.Deficit)
	if !taken.Add(r.Dust).Equal(e.Quantity) || !proceeds.Equal(e.Proceeds) || !fee.Equal(e.Fee) {
		t.Fatalf("of %s for %s, fee %s, the uses have %s for %s, fee %s", e.Quantity, e.Proceeds, e.Fee, taken, proceeds, fee)
	}
	if e.Kind != lot.Move && e.Kind != lot.Convert && !gain.Equal(proceeds.Sub(r.Basis())) {
		t.Fatalf("the gain is %s", gain)
	}
	return r
}

// check checks the invariants after every step.
func (w *world) check(t *rapid.T) {
	var left money.Decimal
	for i, p := range w.pools {
		var quantity, basis money.Decimal
		for _, l := range p.Lots() {
			// What is left of a lot that cost little may have no basis: half a cent is rounded away. There is never basis without quantity.
			if l.Quantity.Sign() <= 0 || l.Quantity.Cmp(w.made[l.ID]) > 0 || l.Basis.Sign() < 0 {
				t.Fatalf("lot %v", l)
			}
			quantity, basis = quantity.Add(l.Quantity), basis.Add(l.Basis)
		}
		if !quantity.Equal(p.Quantity()) || !quantity.Equal(w.in[i].Sub(w.out[i])) {
			t.Fatalf("pool %d has lots of %s, says %s, and got %s less %s", i, quantity, p.Quantity(), w.in[i], w.out[i])
		}
		if !basis.Equal(p.Basis()) || quantity.IsZero() && !basis.IsZero() {
			t.Fatalf("pool %d has lots for %s and says %s", i, basis, p.Basis())
		}
		left = left.Add(basis)
	}
	if !w.bought.Equal(w.sold.Add(left)) {
		t.Fatalf("%s came, %s went and %s is left", w.bought, w.sold, left)
	}
}

func TestNothingIsLostAndNothingAppears(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { live(t) })
}

func TestTheEngineAgreesWithOneThatLooksAtEveryLot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := live(t)
		for i := range w.pools {
			r := reference{config: w.config}
			var want []lot.Use
			for n := range w.events[i] {
				want = append(want, r.apply(&w.events[i][n])...)
			}
			if got, want := describe(w.uses[i]), describe(want); got != want {
				t.Fatalf("uses\n%s\nwant\n%s", got, want)
			}
			if got, want := holds(w.pools[i].Lots()), holds(r.left()); strings.ReplaceAll(got, " pending", "") != want {
				t.Fatalf("holds\n%s\nwant\n%s", got, want)
			}
		}
	})
}

func describe(uses []lot.Use) string {
	var b strings.Builder
	for _, u := range uses {
		fmt.Fprintln(&b, u.ID, u.Kind, u.Lot, u.Quantity, u.Basis, u.Proceeds, u.Fee, u.Gain, u.AcquiredAt, u.At, u.Method)
	}
	return b.String()
}

func TestAReplayFromAnyCheckpointEndsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := live(t)
		for i := range w.pools {
			cut := rapid.IntRange(0, len(w.events[i])).Draw(t, "cut")
			p, before := lot.New(w.config), 0
			keep := func(_ *lot.Event, r lot.Result) error { before += len(r.Uses); return nil }
			if err := p.Replay(w.events[i][:cut], keep); err != nil {
				t.Fatal(err)
			}
			c := p.Checkpoint()
			untouched := c
			untouched.Lots = slices.Clone(c.Lots)
			p = lot.Restore(w.config, c)
			again := slices.Clone(w.uses[i][:before])
			if err := p.Replay(w.events[i][cut:], func(_ *lot.Event, r lot.Result) error {
				again = append(again, r.Uses...)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if describe(again) != describe(w.uses[i]) {
				t.Fatalf("takes\n%s, want\n%s", describe(again), describe(w.uses[i]))
			}
			if !sameCheckpoint(c, untouched) {
				t.Fatalf("the checkpoint became %v", c)
			}
			if !sameCheckpoint(p.Checkpoint(), w.pools[i].Checkpoint()) {
				t.Fatalf("ends with\n%v, want\n%v", p.Checkpoint(), w.pools[i].Checkpoint())
			}
		}
	})
}

func sameCheckpoint(a, b lot.Checkpoint) bool {
	return lot.Compare(a.After, b.After) == 0 && a.After.Principal == b.After.Principal && a.Seq == b.Seq &&
		a.Quantity.Equal(b.Quantity) && a.Basis.Equal(b.Basis) && slices.EqualFunc(a.Lots, b.Lots, func(x, y lot.Lot) bool {
		return x.ID == y.ID && x.AcquiredAt.Equal(y.AcquiredAt) && x.Seq == y.Seq && x.Quantity.Equal(y.Quantity) && x.Basis.Equal(y.Basis) &&
			x.Marks == y.Marks
	})
}
