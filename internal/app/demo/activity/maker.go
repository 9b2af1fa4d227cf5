package activity

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// maker simulates two years in chronological order, so that balances are known when something is paid.
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

// holding is an asset of a source. In wallets it is identified by its contract, because anybody can send a token called USDC.
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

// has returns the balance of an asset.
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

// plan queues all events of a month.
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

// event is a planned event.
type event struct {
	at    time.Time
	order int // of planning, for events at the same time
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

// on returns a time on a day of the n-th month, at the latest its last day.
func (m *maker) on(n, day, hour, minute int) time.Time {
	start, end := m.first.Add(n).Bounds(time.UTC)
	t := start.AddDate(0, 0, day-1)
	if !t.Before(end) {
		t = end.AddDate(0, 0, -1)
	}
	return t.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
}

// workday is like on, but moves weekends to a working day of the same month, because banks are closed.
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

// add records a transaction and updates the balance. A negative balance is a defect of this package.
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

// number returns the next number of a kind of id.
func (m *maker) number(kind string) int {
	m.numbers[kind]++
	return m.numbers[kind]
}

// dice is a deterministic generator of pseudorandom numbers (splitmix64). Every kind of event has its own, so that a change to
// one does not change all others.
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

// between returns a number from low to high.
func (d *dice) between(low, high int) int { return low + int(d.next()%uint64(high-low+1)) }

func pick[T any](d *dice, from []T) T { return from[d.between(0, len(from)-1)] }

// hex returns so many hexadecimal digits.
func (d *dice) hex(digits int) string {
	text := ""
	for len(text) < digits {
		text += fmt.Sprintf("%016x", d.next())
	}
	return text[:digits]
}

// cents returns an amount with two decimal places.
func cents(n int) money.Decimal { return money.FromInt(int64(n)).Quo(money.FromInt(100), 2) }

// part returns so many thousandths of an amount, with a number of decimal places.
func part(d money.Decimal, thousandths int, places int32) money.Decimal {
	return d.Mul(money.FromInt(int64(thousandths))).Quo(money.FromInt(1000), places)
}

// worth returns a value that includes a fee: for an inflow, net is what arrived; for an outflow, gross is what left.
func worth(gross, fee money.Decimal, currency string) *Value {
	return &Value{Gross: gross, Fee: fee, Net: gross.Sub(fee), Currency: currency}
}
