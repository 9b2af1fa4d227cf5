//go:build unix

package lot_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// trade is an unremarkable history: purchases and sales by turns, of amounts with many digits. Every hold-th purchase
// is never sold, so that the pool fills up with lots.
func trade(count, hold int) []lot.Event {
	random := rand.New(rand.NewPCG(7, 7))
	amount := func(low, high, places int64) money.Decimal {
		scale := int64(1)
		for range places {
			scale *= 10
		}
		return money.FromInt(low*scale+random.Int64N((high-low)*scale)).Quo(money.FromInt(scale), int32(places))
	}
	at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	var held money.Decimal
	events := make([]lot.Event, count)
	for n := range events {
		at = at.Add(time.Duration(1+random.IntN(120)) * time.Second)
		e := &events[n]
		e.At, e.Sequence, e.ID = at, int64(n), fmt.Sprintf("txn_%08d", n)
		e.Quantity = amount(0, 3, 8).Add(money.MustParse("0.00000001"))
		value := e.Quantity.Mul(amount(900, 3000, 2)).Round(2)
		switch {
		case n%2 == 1 && e.Quantity.Cmp(held) <= 0:
			e.Kind, e.Proceeds, e.Fee = lot.Dispose, value, amount(0, 3, 2)
			held = held.Sub(e.Quantity)
		default:
			e.Kind, e.Basis = lot.Acquire, value
			if n/2%hold != 0 {
				held = held.Add(e.Quantity)
			}
		}
	}
	return events
}

func replay(tb testing.TB, p *lot.Pool, events []lot.Event) int {
	tb.Helper()
	uses := 0
	if err := p.Replay(events, func(_ *lot.Event, r lot.Result) error { uses += len(r.Uses); return nil }); err != nil {
		tb.Fatal(err)
	}
	return uses
}

var fast = methods

func configOf(m lot.Method) lot.Config {
	c := method(m)
	c.Places = 2
	c.Zone, _ = time.LoadLocation("America/New_York")
	return c
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkAMillionEvents(b *testing.B) {
	for _, hold := range []int{2, 20} {
		events := trade(1_000_000, hold)
		for _, m := range fast {
			b.Run(fmt.Sprintf("%s/hold=%d", m, hold), func(b *testing.B) {
				uses, left := 0, 0
				before := processorTime()
				for b.Loop() {
					p := lot.New(configOf(m))
					uses = replay(b, p, events)
					left = len(p.Lots())
				}
				// Of a processor, not of the clock, of which others on the machine may have most. It includes the garbage collector.
				b.ReportMetric(float64(len(events)*b.N)/(processorTime()-before).Seconds(), "events/cpu-s")
				b.ReportMetric(float64(len(events)*b.N)/b.Elapsed().Seconds(), "events/s")
				b.ReportMetric(float64(uses), "uses")
				b.ReportMetric(float64(left), "lots-left")
			})
		}
	}
}

// checkpointAt is the state of a pool after so many events.
func checkpointAt(tb testing.TB, config lot.Config, events []lot.Event, count int) lot.Checkpoint {
	tb.Helper()
	p := lot.New(config)
	replay(tb, p, events[:count])
	return p.Checkpoint()
}

// insert replays what a late event at a place changes, from a checkpoint before it.
func insert(tb testing.TB, config lot.Config, c lot.Checkpoint, events []lot.Event, from int, late *lot.Event, place int) *lot.Pool {
	tb.Helper()
	p := lot.Restore(config, c)
	replay(tb, p, events[from:place])
	replay(tb, p, []lot.Event{*late})
	replay(tb, p, events[place:])
	return p
}

func lateEvent(events []lot.Event, place int) lot.Event {
	e := lot.Event{Place: events[place-1].Place, Quantity: money.MustParse("1.5"), Basis: money.MustParse("2000.00")}
	e.At, e.Kind, e.ID = e.At.Add(time.Nanosecond), lot.Acquire, "late"
	return e
}

func TestALateEventEndsAsIfItHadBeenInTime(t *testing.T) {
	t.Parallel()
	const count, place, from = 20_000, 19_000, 18_700
	events := trade(count, 3)
	late := lateEvent(events, place)
	for _, m := range fast {
		config := configOf(m)
		got := insert(t, config, checkpointAt(t, config, events, from), events, from, &late, place)
		want := lot.New(config)
		replay(t, want, slices.Insert(slices.Clone(events), place, late))
		if !sameCheckpoint(got.Checkpoint(), want.Checkpoint()) {
			t.Errorf("%s ends otherwise", m)
		}
		var quantity, basis money.Decimal
		for _, l := range got.Lots() {
			quantity, basis = quantity.Add(l.Quantity), basis.Add(l.Basis)
		}
		if !quantity.Equal(got.Quantity()) || !basis.Equal(got.Basis()) {
			t.Errorf("%s has lots of %s for %s, and says %s for %s", m, quantity, basis, got.Quantity(), got.Basis())
		}
	}
}

// The share of a full replay must be at most a twentieth.
func BenchmarkALateEvent(b *testing.B) {
	const count, place = 100_000, 99_000
	const from = place - 500 // with a checkpoint every thousand events, that is half way between two
	events := trade(count, 3)
	late := lateEvent(events, place)
	for _, m := range fast {
		b.Run(string(m), func(b *testing.B) {
			config := configOf(m)
			c := checkpointAt(b, config, events, from)
			before := processorTime()
			p := lot.New(config)
			replay(b, p, events)
			full := processorTime() - before
			before = processorTime()
			for b.Loop() {
				insert(b, config, c, events, from, &late, place)
			}
			b.ReportMetric(float64(full)*float64(b.N)/float64(processorTime()-before), "times-faster")
			b.ReportMetric(float64(len(p.Lots())), "lots-left")
		})
	}
}
