package lot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// A script is a short journal of lots. Each line is an event and, after the arrow, the expected result:
//
//	2025-01-10 buy L1 2 @ 3000.00                                  a lot with its quantity and basis
//	2025-01-10 open L1 2 @ 3000.00                                 an opening balance, which comes before everything else
//	2025-09-15 sell 2.5 for 6000.00 fee 12.00 -> L1 2 3000.00 +1800.00; …   lot, quantity, basis and gain of each use
//	2025-09-15 fee 0.01 for 24.00 -> …                             a fee on its own
//	2025-09-15 gas 0.001 for 2.40 of move -> …                     the fee part of what follows
//	2025-09-15 move 0.999 to B -> …                                to another pool
//	2025-09-15 convert 2.5 to WETH 5 -> …                          the same, and there are 5 of it then
//	… pick L1 1, L2 0.5                                            specific identification
//	… partial                                                      consume what is held, without an error
//	… mark pending, … mark provisional                             of a lot
//	-> … by fifo                                                   the method of a use, where one is named
//	A holds L2 2.5 5000.00 2025-06-01; …                           what is left, oldest first
//
// A line begins with the name of a pool and a colon, unless that is A.
type script struct {
	t       *testing.T
	config  lot.Config
	special map[string]lot.Config
	pools   map[string]*lot.Pool
	n       int

	netFees bool                     // gains are shown after fees
	bySpot  lot.Method               // HIFO or LOFO: the script picks the lots by the price that was paid for them, without fees
	spots   map[string]money.Decimal // those prices, by lot
}

func newScript(t *testing.T, config lot.Config) *script {
	config.Places = 2
	return &script{t: t, config: config, pools: map[string]*lot.Pool{}, spots: map[string]money.Decimal{}}
}

// runBySpot plays a script in which lots are picked by the price that was paid for them, highest or lowest first. The
// engine orders by unit cost, which includes fees; this is what it is compared with.
func runBySpot(t *testing.T, order lot.Method, text string) {
	t.Helper()
	s := newScript(t, method(lot.SpecificID))
	s.bySpot = order
	s.play(text)
}

// pickBySpot picks lots for a quantity, by price and then by age, as HIFO or LOFO would.
func pickBySpot(lots []lot.Lot, spots map[string]money.Decimal, order lot.Method, quantity money.Decimal) (picks []lot.Pick) {
	slices.SortStableFunc(lots, func(a, b lot.Lot) int { // they are given oldest first
		if order == lot.HIFO {
			a, b = b, a
		}
		return spots[a.ID].Cmp(spots[b.ID])
	})
	for _, l := range lots {
		part := l.Quantity
		if part.Cmp(quantity) > 0 {
			part = quantity
		}
		if part.Sign() > 0 {
			picks = append(picks, lot.Pick{Lot: l.ID, Quantity: part})
			quantity = quantity.Sub(part)
		}
	}
	return picks
}

func run(t *testing.T, config lot.Config, text string) *script {
	t.Helper()
	s := newScript(t, config)
	s.play(text)
	return s
}

func (s *script) play(text string) {
	s.t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			s.line(line)
		}
	}
}

func (s *script) pool(name string) *lot.Pool {
	if s.pools[name] == nil {
		config := s.config
		if special, ok := s.special[name]; ok {
			config = special
		}
		s.pools[name] = lot.New(config)
	}
	return s.pools[name]
}

func (s *script) line(line string) {
	s.t.Helper()
	if name, want, ok := strings.Cut(line, " holds"); ok {
		if got := holds(s.pool(name).Lots()); got != strings.TrimSpace(want) {
			s.t.Errorf("%s\nholds %s", line, got)
		}
		return
	}
	text, want, _ := strings.Cut(line, "->")
	name := "A"
	if before, after, ok := strings.Cut(text, ": "); ok {
		name, text = before, after
	}
	e, to := s.event(strings.Fields(text))
	if s.bySpot != "" && e.Kind != lot.Acquire {
		e.Picks = pickBySpot(s.pool(name).Lots(), s.spots, s.bySpot, e.Quantity)
	}
	result, err := s.apply(name, e, to.partial)
	got := s.uses(result, strings.Contains(want, " by "))
	if err != nil {
		got = err.Error()
	}
	if got != strings.TrimSpace(want) {
		s.t.Errorf("%s\ngives %s", line, got)
	}
	if to.pool != "" && err == nil {
		moved := lot.Slices(result.Uses)
		if e.Kind == lot.Convert {
			moved = lot.Converted(moved, to.quantity)
		}
		arrival := &lot.Event{Place: e.Place, Slices: moved}
		arrival.Kind = lot.Arrive
		for i, slice := range moved {
			s.spots[fmt.Sprintf("%s.%d", e.ID, i+1)] = s.spots[slice.Parent]
		}
		if _, err := s.pool(to.pool).Apply(arrival); err != nil {
			s.t.Errorf("%s\narrives with %v", line, err)
		}
	}
}

// apply applies an event; a partial one consumes what is held, as in a pool with ZeroBasis.
func (s *script) apply(name string, e *lot.Event, partial bool) (lot.Result, error) {
	if !partial {
		return s.pool(name).Apply(e)
	}
	config := s.config
	if special, ok := s.special[name]; ok {
		config = special
	}
	lenient := config
	lenient.ZeroBasis = true
	p := lot.Restore(lenient, s.pool(name).Checkpoint())
	result, err := p.Apply(e)
	s.pools[name] = lot.Restore(config, p.Checkpoint())
	return result, err
}

type destination struct {
	pool     string
	quantity money.Decimal
	partial  bool
}

// event parses the words of a line.
func (s *script) event(words []string) (*lot.Event, destination) {
	s.t.Helper()
	var to destination
	e := &lot.Event{}
	e.At = instant(s.t, words[0])
	e.Sequence = int64(s.n + 1)
	e.ID = fmt.Sprintf("t%d", s.n+1)
	kind, rest := words[1], words[2:]
	next := func() string {
		if len(rest) == 0 {
			s.t.Fatalf("a word is missing in %q", words)
		}
		word := strings.TrimSuffix(rest[0], ",")
		rest = rest[1:]
		return word
	}
	switch kind {
	case "buy":
		e.Kind, e.Lot = lot.Acquire, next()
	case "open":
		e.Kind, e.Lot, e.At, e.AcquiredAt, e.Sequence = lot.Acquire, next(), time.Time{}, e.At, 0
	case "sell":
		e.Kind = lot.Dispose
	case "fee", "gas":
		e.Kind = lot.Fee
	case "move", "convert":
		e.Kind = lot.Kind(kind)
	default:
		s.t.Fatalf("nobody can %s", kind)
	}
	e.Quantity = money.MustParse(next())
	for len(rest) > 0 {
		switch word := next(); word {
		case "@":
			e.Basis = money.MustParse(next())
		case "for":
			e.Proceeds = money.MustParse(next())
		case "fee":
			e.Fee = money.MustParse(next())
		case "spot":
			s.spots[e.Lot] = money.MustParse(next())
		case "of":
			e.Principal = lot.Kind(next())
		case "to":
			if to.pool = next(); kind == "convert" {
				to.quantity = money.MustParse(next())
			}
		case "pick":
			for len(rest) > 0 {
				e.Picks = append(e.Picks, lot.Pick{Lot: next(), Quantity: money.MustParse(next())})
			}
		case "partial":
			to.partial = true
		case "mark":
			mark := next()
			e.BasisPending, e.Provisional = mark == "pending", mark == "provisional"
		default:
			s.t.Fatalf("%q means nothing", word)
		}
	}
	// The fee part has the id of what follows.
	if kind != "gas" {
		s.n++
	}
	return e, to
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	for _, layout := range []string{"2006-01-02", "2006-01-02T15:04", time.RFC3339Nano} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	t.Fatalf("%q is no time", text)
	return time.Time{}
}

func (s *script) uses(r lot.Result, methods bool) string {
	var parts []string
	for _, u := range r.Uses {
		name := u.Lot
		if name == "" {
			name = "nothing"
		}
		text := fmt.Sprintf("%s %s %s", name, u.Quantity, u.Basis.Fixed("USD"))
		if u.Kind == lot.Dispose || u.Kind == lot.Fee {
			sign, gain := "+", u.Gain
			if s.netFees {
				gain = u.NetGain()
			}
			if gain.Sign() < 0 {
				sign = ""
			}
			text += " " + sign + gain.Fixed("USD")
		}
		if u.Term == lot.Long {
			text += " long"
		}
		if methods {
			text += " by " + string(u.Method)
		}
		parts = append(parts, text+marks(u.Marks))
	}
	if !r.Dust.IsZero() {
		parts = append(parts, "dust "+r.Dust.String())
	}
	return strings.Join(parts, "; ")
}

func holds(lots []lot.Lot) string {
	var parts []string
	for _, l := range lots {
		parts = append(parts, fmt.Sprintf("%s %s %s %s", l.ID, l.Quantity, l.Basis.Fixed("USD"), l.AcquiredAt.Format("2006-01-02"))+
			marks(l.Marks))
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

func marks(m lot.Marks) string {
	text := ""
	if m.BasisPending {
		text += " pending"
	}
	if m.Provisional {
		text += " provisional"
	}
	return text
}

// method returns a config with one method for all time.
func method(m lot.Method) lot.Config {
	return lot.Config{Elections: []lot.Election{{Method: m}}}
}
