package activity

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// maker plays two years in order of time, so that whoever pays knows what is there to pay with.
type maker struct {
	first     calendar.Month
	purchases int // by employees, in all
	sources   []Source
	people    cast
	queue     events
	planned   int
	held      map[holding]money.Decimal
	out       []Transaction
	numbers   map[string]int
}

// holding is an asset in a source. In wallets it goes by its contract, because anybody can send something that is called USDC.
type holding struct {
	source int
	asset  string
}

func held(t *Transaction, s Source) holding {
	if s.Type == "wallet" && t.Crypto.Contract != "" {
		return holding{t.Source, t.Crypto.Contract}
	}
	return holding{t.Source, t.Currency}
}

// has is how much of an asset is there.
func (m *maker) has(source int, asset string) money.Decimal {
	if m.sources[source].Type == "wallet" && asset == "USDC" {
		asset = usdcOn(source)
	}
	return m.held[holding{source, asset}]
}

func newMaker(first calendar.Month, purchases int) *maker {
	m := &maker{first: first, purchases: purchases, people: newCast(), held: map[holding]money.Decimal{}, numbers: map[string]int{}}
	m.sources = m.people.sources()
	for n := range Months {
		m.plan(n)
	}
	return m
}

// plan puts everything of a month into the queue.
func (m *maker) plan(n int) {
	if n == 0 {
		m.founding()
	}
	m.payroll(n)
	m.suppliers(n)
	m.wires(n)
	m.berlin(n)
	m.cards(n)
	m.processor(n)
	m.invoicesInUSDC(n)
	m.staking(n)
	m.grants(n)
	m.bridges(n)
	m.trades(n)
	m.treasury(n)
	m.ventures(n)
	m.junk(n)
}

// event is something that will happen.
type event struct {
	at    time.Time
	order int // of planning, for what happens at once
	do    func(at time.Time)
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at.Before(e[j].at) || e[i].at.Equal(e[j].at) && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

func (m *maker) at(t time.Time, do func(at time.Time)) {
	m.planned++
	heap.Push(&m.queue, event{t, m.planned, do})
}

func (m *maker) run() {
	for m.queue.Len() > 0 {
		e := heap.Pop(&m.queue).(event)
		e.do(e.at)
	}
}

// on is a time of a day of the n-th month; days beyond its end are its last.
func (m *maker) on(n, day, hour, minute int) time.Time {
	start, end := m.first.Add(n).Bounds(time.UTC)
	t := start.AddDate(0, 0, day-1)
	if !t.Before(end) {
		t = end.AddDate(0, 0, -1)
	}
	return t.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
}

// workday is on, moved off weekends within its month, because banks do not move money on them.
func (m *maker) workday(n, day, hour, minute int) time.Time {
	t := m.on(n, day, hour, minute)
	step := 1
	if day > 24 {
		step = -1
	}
	for t.Weekday() == time.Saturday || t.Weekday() == time.Sunday {
		t = t.AddDate(0, 0, step)
	}
	return t
}

// add records a transaction and what it does to the balance. What is not there cannot be paid: that would be a mistake of this package.
func (m *maker) add(t Transaction) {
	if t.Quantity.Sign() != 0 {
		h := held(&t, m.sources[t.Source])
		change := t.Quantity
		if t.Direction == Debit {
			change = change.Neg()
		}
		m.held[h] = m.held[h].Add(change)
		if m.held[h].Sign() < 0 {
			panic(fmt.Sprintf("activity: %s has %s %s after %s on %s", m.sources[t.Source].Name, m.held[h], t.Currency, t.Description, t.At))
		}
	}
	m.out = append(m.out, t)
}

// number counts up the ids of a kind.
func (m *maker) number(kind string) int {
	m.numbers[kind]++
	return m.numbers[kind]
}

// dice are numbers without a pattern that are the same every time (splitmix64). Every kind of event has its own, so
// that a change to one does not change all others.
type dice uint64

func roll(kind string, n int) *dice {
	d := dice(14695981039346656037)
	for _, c := range []byte(kind) {
		d = (d ^ dice(c)) * 1099511628211
	}
	d += dice(n) * 7919
	return &d
}

func (d *dice) next() uint64 {
	*d += 0x9E3779B97F4A7C15
	x := uint64(*d)
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// between gives a number from low to high.
func (d *dice) between(low, high int) int { return low + int(d.next()%uint64(high-low+1)) }

func pick[T any](d *dice, from []T) T { return from[d.between(0, len(from)-1)] }

// hex gives so many hexadecimal digits.
func (d *dice) hex(digits int) string {
	text := ""
	for len(text) < digits {
		text += fmt.Sprintf("%016x", d.next())
	}
	return text[:digits]
}

// cents makes an amount of a currency with two minor units.
func cents(n int) money.Decimal { return money.FromInt(int64(n)).Quo(money.FromInt(100), 2) }

// part gives so many thousandths of an amount, to a number of places.
func part(d money.Decimal, thousandths int, places int32) money.Decimal {
	return d.Mul(money.FromInt(int64(thousandths))).Quo(money.FromInt(1000), places)
}

// worth is a value with a fee in it. Of an inflow net is what landed, of an outflow gross is what left.
func worth(gross, fee money.Decimal, currency string) *Value {
	return &Value{Gross: gross, Fee: fee, Net: gross.Sub(fee), Currency: currency}
}
