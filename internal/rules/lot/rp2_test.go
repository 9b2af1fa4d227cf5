package lot_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// rp2Case is a case of the tax program rp2 (github.com/eprbell/rp2, Apache-2.0): events, and every pair of event and lot that it found.
type rp2Case struct {
	LongDays      int                  `json:"long_days"`
	MethodsByYear map[string]string    `json:"methods_by_year"`
	Events        []rp2Event           `json:"events"`
	Expected      map[string][]rp2Pair `json:"expected"`
}

type rp2Event struct {
	Kind, Type, Asset string
	Row               int
	At                time.Time     `json:"ts"`
	Quantity          money.Decimal `json:"qty"`
	Spot, Proceeds    money.Decimal
	Basis             money.Decimal
	CryptoFee         money.Decimal `json:"crypto_fee"`
}

type rp2Pair struct {
	Asset                 string
	Quantity              money.Decimal `json:"qty"`
	Proceeds, Basis, Gain money.Decimal
	Long                  bool
	Event                 string
	At                    time.Time  `json:"event_ts"`
	LotAt                 *time.Time `json:"lot_ts"`
}

// rp2Tolerance is what rounding to cents may make of a pair.
var rp2Tolerance = money.MustParse("0.01")

func TestEveryPairOfRP2(t *testing.T) {
	t.Parallel()
	// Its licence allows copies; more cases can be put beside these.
	files, err := filepath.Glob("testdata/rp2/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	pairs := 0
	for _, file := range files {
		var c rp2Case
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err != nil {
			t.Fatal(file, err)
		}
		for name, expected := range c.Expected {
			pairs += len(expected)
			t.Run(filepath.Base(file)+" "+name, func(t *testing.T) { c.compare(t, name, expected) })
		}
	}
	t.Logf("%d pairs", pairs)
}

// config is that of a method. rp2 orders HIFO and LOFO by the price without fees, so the test picks the lots of those.
func (c *rp2Case) config(name string) lot.Config {
	config := method(lot.Method(name))
	config.Places = 2
	if len(c.MethodsByYear) > 0 {
		config.Elections = nil
		for year, m := range c.MethodsByYear {
			from, err := time.Parse("2006", year)
			if err != nil {
				panic(err)
			}
			config.Elections = append(config.Elections, lot.Election{Method: lot.Method(m), From: from})
		}
		slices.SortFunc(config.Elections, func(a, b lot.Election) int { return a.From.Compare(b.From) })
	}
	return config
}

// apply lets an event happen under the method of its time.
func (c *rp2Case) apply(p *lot.Pool, config lot.Config, spots map[string]money.Decimal, e *lot.Event) (*lot.Pool, lot.Result, error) {
	at := (&reference{config: config}).at(e.At)
	if e.Kind == lot.Acquire || at != lot.HIFO && at != lot.LOFO {
		r, err := p.Apply(e)
		return p, r, err
	}
	picking := method(lot.SpecificID)
	picking.Places = 2
	picked := *e
	picked.Picks = pickBySpot(p.Lots(), spots, at, e.Quantity)
	q := lot.Restore(picking, p.Checkpoint())
	r, err := q.Apply(&picked)
	return lot.Restore(config, q.Checkpoint()), r, err
}

// events are those of an asset: rp2 has one pool for all places.
func (c *rp2Case) events(asset string) (events []lot.Event, spots map[string]money.Decimal) {
	spots = map[string]money.Decimal{}
	for i, e := range c.Events {
		if e.Asset != asset {
			continue
		}
		id := fmt.Sprintf("%s %d", e.Kind, e.Row)
		place := lot.Place{At: e.At, Sequence: int64(i), ID: id, Kind: lot.Dispose}
		if e.Kind == "in" {
			place.Kind = lot.Acquire
			events = append(events, lot.Event{Place: place, Quantity: e.Quantity, Basis: e.Basis})
			spots[id] = e.Spot
			if place.Kind = lot.Fee; !e.CryptoFee.IsZero() {
				events = append(events, lot.Event{Place: place, Quantity: e.CryptoFee, Proceeds: e.CryptoFee.Mul(e.Spot)})
			}
			continue
		}
		// A transfer without a fee is nothing within one pool.
		if !e.Quantity.IsZero() {
			events = append(events, lot.Event{Place: place, Quantity: e.Quantity, Proceeds: e.Proceeds})
		}
	}
	slices.SortFunc(events, func(a, b lot.Event) int { return lot.Compare(a.Place, b.Place) })
	return events, spots
}

func (c *rp2Case) compare(t *testing.T, name string, expected []rp2Pair) {
	byAsset := map[string][]rp2Pair{}
	for _, pair := range expected {
		if pair.LotAt != nil { // Others are income, which has no lot.
			byAsset[pair.Asset] = append(byAsset[pair.Asset], pair)
		}
	}
	for asset, pairs := range byAsset {
		var got []rp2Pair
		var in, out money.Decimal
		config := c.config(name)
		p := lot.New(config)
		events, spots := c.events(asset)
		for i := range events {
			e := &events[i]
			var r lot.Result
			var err error
			if p, r, err = c.apply(p, config, spots, e); err != nil {
				t.Fatal(asset, err)
			}
			in, out = in.Add(e.Basis.Round(2)), out.Add(r.Basis())
			for _, u := range r.Uses {
				got = append(got, rp2Pair{Quantity: u.Quantity, Proceeds: u.Proceeds, Basis: u.Basis, Gain: u.Gain, At: u.At, LotAt: &u.AcquiredAt,
					Long: int(u.At.Sub(u.AcquiredAt).Hours())/24 >= c.LongDays})
			}
		}
		if !in.Equal(out.Add(p.Basis())) {
			t.Errorf("%s: %s came, %s went and %s is left", asset, in, out, p.Basis())
		}
		if len(got) != len(pairs) {
			t.Fatalf("%s: %d pairs, want %d", asset, len(got), len(pairs))
		}
		sortPairs(got)
		sortPairs(pairs)
		for i := range pairs {
			if !got[i].is(&pairs[i]) {
				t.Errorf("%s: pair %d is\n%v, want\n%v", asset, i, got[i], pairs[i])
			}
		}
	}
}

func sortPairs(pairs []rp2Pair) {
	slices.SortFunc(pairs, func(a, b rp2Pair) int {
		return cmp.Or(a.At.Compare(b.At), a.LotAt.Compare(*b.LotAt), a.Quantity.Cmp(b.Quantity), a.Basis.Cmp(b.Basis))
	})
}

func (p *rp2Pair) is(want *rp2Pair) bool {
	near := func(a, b money.Decimal) bool { return a.Sub(b).Abs().Cmp(rp2Tolerance) <= 0 }
	return p.At.Equal(want.At) && p.LotAt.Equal(*want.LotAt) && p.Quantity.Equal(want.Quantity) && p.Long == want.Long &&
		near(p.Proceeds, want.Proceeds) && near(p.Basis, want.Basis) && near(p.Gain, want.Gain)
}

func (p rp2Pair) String() string {
	return fmt.Sprintf("%s of %s at %s: %s for %s, gain %s, long %t", p.Quantity, p.LotAt, p.At, p.Basis, p.Proceeds, p.Gain, p.Long)
}
