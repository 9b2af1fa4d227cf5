package transfer_test

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/transfer"
)

// drawLegs draws from few values, so that legs fit each other often, and in more ways than one.
func drawLegs(t *rapid.T) (legs []transfer.Leg) {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	for n := range rapid.IntRange(0, 24).Draw(t, "legs") {
		l := transfer.Leg{ID: fmt.Sprintf("l%02d", n), SourceID: pick("source", "s1", "s2", "s3", "s4"), Inflow: rapid.Bool().Draw(t,
			"in"), Asset: pick("asset", "ETH", "ETH", "eth", "USDC"),
			Quantity: money.MustParse(pick("quantity", "100", "100.0", "98", "97.99", "99", "102.040816326530612244",
				"102.040816326530612245", "1", "0")),
			At: start.Add(time.Duration(rapid.SampledFrom([]int{0, 5, 10, 11, 700, 1439, 1440, 1441, 1450, 1451, 2890}).Draw(t,
				"minutes")) * time.Minute),
			Hash: pick("hash", "", "", "", "0xa", "0xA", "b"), GroupKey: pick("group", "", "", "", "g"), Chain: pick("chain", "", "x",
				"Y"), Contract: pick("contract", "", "", "0xc", "0xd"),
			From: pick("from", "", "", "0x1", "0x2"), To: pick("to", "", "", "0x1", "0X2"), OwnAddress: pick("own", "", "0x1", "0x2"),
			LegalEntityID: pick("entity", "us", "us", "de"), Fiat: rapid.IntRange(0, 9).Draw(t, "fiat") == 0}
		if rapid.IntRange(0, 9).Draw(t, "denied") == 0 {
			l.Excluded = []string{fmt.Sprintf("l%02d", rapid.IntRange(0, 24).Draw(t, "not"))}
		}
		legs = append(legs, l)
	}
	return legs
}

// reference matches by definition: for each kind of evidence in turn, it compares every leg with every other.
type reference struct {
	legs  []transfer.Leg
	taken map[string]bool
	pairs map[string]string // "out>in" to evidence
	doubt map[string][]string
}

func fold(s string) string {
	if strings.HasPrefix(strings.ToLower(s), "0x") {
		return strings.ToLower(s)
	}
	return s
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func same(o, i transfer.Leg) bool {
	if slices.Contains(o.Excluded, i.ID) {
		return false
	}
	clash := strings.EqualFold(o.Chain, i.Chain) && o.Contract != "" && i.Contract != "" && fold(o.Contract) != fold(i.Contract)
	return !o.Inflow && i.Inflow && strings.EqualFold(o.Asset, i.Asset) && o.Fiat == i.Fiat && o.SourceID != i.SourceID &&
		o.Quantity.Sign() > 0 && i.Quantity.Sign() > 0 && !clash
}

func fits(o, i transfer.Leg) bool {
	after := i.At.Sub(o.At)
	missing := o.Quantity.Sub(i.Quantity)
	return same(o, i) && after <= 24*time.Hour && after >= -10*time.Minute && missing.Sign() >= 0 &&
		missing.Mul(money.FromInt(50)).Cmp(o.Quantity) <= 0
}

func consistent(o, i transfer.Leg) bool {
	if o.Chain != "" && i.Chain != "" && !strings.EqualFold(o.Chain, i.Chain) {
		return true
	}
	for _, p := range [][2]string{{o.Hash, i.Hash}, {o.From, i.From}, {o.To, i.To}} {
		if p[0] != "" && p[1] != "" && fold(p[0]) != fold(p[1]) {
			return false
		}
	}
	return true
}

// stage pairs legs that are each other's only candidate and marks the others with candidates as ambiguous.
func (r *reference) stage(by string, may func(o, i transfer.Leg) bool) {
	candidates := map[string][]string{}
	for _, o := range r.legs {
		for _, i := range r.legs {
			if !r.taken[o.ID] && !r.taken[i.ID] && may(o, i) {
				candidates[o.ID] = append(candidates[o.ID], i.ID)
				candidates[i.ID] = append(candidates[i.ID], o.ID)
			}
		}
	}
	for id, c := range candidates {
		r.taken[id] = true
		if len(c) == 1 && len(candidates[c[0]]) == 1 {
			if !r.leg(id).Inflow {
				r.pairs[id+">"+c[0]] = by
			}
			continue
		}
		slices.Sort(c)
		r.doubt[id] = c
	}
}

func (r *reference) leg(id string) transfer.Leg {
	return r.legs[slices.IndexFunc(r.legs, func(l transfer.Leg) bool { return l.ID == id })]
}

// shared pairs legs with the same hash or id.
func (r *reference) shared(by string, key func(transfer.Leg) string) {
	keys := map[string]bool{}
	for _, l := range r.legs {
		keys[key(l)] = true
	}
	delete(keys, "")
	for k := range keys {
		in := func(l transfer.Leg) bool { return key(l) == k && !r.taken[l.ID] }
		if by == "group" {
			r.swapsOfSources(by, in)
		}
		for _, a := range []string{"ETH", "USDC"} {
			for _, fiat := range []bool{false, true} {
				r.transfers(by, func(l transfer.Leg) bool { return in(l) && strings.EqualFold(l.Asset, a) && l.Fiat == fiat })
			}
		}
		if by == "hash" {
			r.swapsOfSources(by, in)
		}
	}
}

func (r *reference) swapsOfSources(by string, in func(transfer.Leg) bool) {
	for _, s := range []string{"s1", "s2", "s3", "s4"} {
		r.swaps(by, func(l transfer.Leg) bool { return in(l) && l.SourceID == s && l.Quantity.Sign() > 0 })
	}
}

func (r *reference) split(in func(transfer.Leg) bool) (outs, ins []transfer.Leg) {
	for _, l := range r.legs {
		if in(l) && l.Inflow {
			ins = append(ins, l)
		} else if in(l) {
			outs = append(outs, l)
		}
	}
	return outs, ins
}

func (r *reference) transfers(by string, in func(transfer.Leg) bool) {
	outs, ins := r.split(in)
	if len(outs) != 1 || len(ins) != 1 {
		r.stage(by, func(o, i transfer.Leg) bool { return in(o) && in(i) && fits(o, i) })
		return
	}
	o, i := outs[0], ins[0]
	if !same(o, i) {
		return
	}
	r.taken[o.ID], r.taken[i.ID] = true, true
	if i.Quantity.Cmp(o.Quantity) <= 0 {
		r.pairs[o.ID+">"+i.ID] = by
	} else {
		r.doubt[o.ID], r.doubt[i.ID] = []string{i.ID}, []string{o.ID}
	}
}

func (r *reference) swaps(by string, in func(transfer.Leg) bool) {
	outs, ins := r.split(in)
	if len(outs) == 0 || len(ins) == 0 {
		return
	}
	other := func(than transfer.Leg) func(transfer.Leg) bool {
		return func(l transfer.Leg) bool { return strings.EqualFold(l.Asset, than.Asset) && l.Fiat == than.Fiat }
	}
	if len(ins) == 1 {
		outs = slices.DeleteFunc(outs, other(ins[0]))
	}
	if len(outs) == 1 {
		ins = slices.DeleteFunc(ins, other(outs[0]))
	}
	if len(outs) == 1 && len(ins) == 1 && slices.Contains(outs[0].Excluded, ins[0].ID) {
		return
	}
	if len(outs) == 1 && len(ins) == 1 {
		r.pairs[outs[0].ID+">"+ins[0].ID] = by
		r.taken[outs[0].ID], r.taken[ins[0].ID] = true, true
		return
	}
	if len(outs) == 0 || len(ins) == 0 {
		return
	}
	for _, o := range outs {
		for _, i := range ins {
			r.taken[o.ID], r.taken[i.ID] = true, true
			r.doubt[o.ID], r.doubt[i.ID] = append(r.doubt[o.ID], i.ID), append(r.doubt[i.ID], o.ID)
		}
	}
}

// refer matches until another pass finds no further pairs.
func refer(legs []transfer.Leg) *reference {
	r := referOnce(legs)
	if len(r.pairs) == 0 {
		return r
	}
	var rest []transfer.Leg
	for _, l := range legs {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(r.pairs)), func(pair string) bool {
			return strings.HasPrefix(pair, l.ID+">") || strings.HasSuffix(pair, ">"+l.ID)
		}) {
			rest = append(rest, l)
		}
	}
	further := refer(rest)
	maps.Copy(further.pairs, r.pairs)
	return further
}

func referOnce(legs []transfer.Leg) *reference {
	r := &reference{legs, map[string]bool{}, map[string]string{}, map[string][]string{}}
	r.shared("hash", func(l transfer.Leg) string { return fold(l.Hash) })
	r.shared("group", func(l transfer.Leg) string { return l.GroupKey })
	sent := func(o, i transfer.Leg) bool { return o.To != "" && fold(o.To) == fold(or(i.To, i.OwnAddress)) }
	came := func(o, i transfer.Leg) bool { return i.From != "" && fold(i.From) == fold(or(o.From, o.OwnAddress)) }
	r.stage("addresses", func(o, i transfer.Leg) bool { return fits(o, i) && consistent(o, i) && sent(o, i) && came(o, i) })
	r.stage("addresses", func(o, i transfer.Leg) bool { return fits(o, i) && consistent(o, i) && sent(o, i) })
	r.stage("addresses", func(o, i transfer.Leg) bool { return fits(o, i) && consistent(o, i) && came(o, i) })
	r.stage("amount", func(o, i transfer.Leg) bool { return fits(o, i) && consistent(o, i) })
	return r
}

func TestMatchingAgreesWithItsDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		legs := drawLegs(t)
		got, want := transfer.Match(legs), refer(legs)
		pairs := map[string]string{}
		for _, p := range got.Pairs {
			pairs[p.Out+">"+p.In] = string(p.Evidence)
		}
		if !maps.Equal(pairs, want.pairs) {
			t.Fatalf("pairs %v, want %v of %+v", pairs, want.pairs, legs)
		}
		doubt := map[string]int{}
		for _, a := range got.Ambiguous {
			doubt[a.Leg]++
			if c := want.doubt[a.Leg]; len(c) <= 8 && !slices.Equal(a.Candidates, c) || len(a.Candidates) == 0 || a.Why == "" {
				t.Fatalf("%s has %v, want %v of %+v", a.Leg, a.Candidates, c, legs)
			}
		}
		if len(doubt) != len(want.doubt) || len(doubt) != len(got.Ambiguous) {
			t.Fatalf("doubts %v, want %v of %+v", doubt, want.doubt, legs)
		}
	})
}

func TestEveryPairIsOneEventAndNoLegIsUsedTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		legs := drawLegs(t)
		byID, used := map[string]transfer.Leg{}, map[string]bool{}
		for _, l := range legs {
			byID[l.ID] = l
		}
		for _, p := range transfer.Match(legs).Pairs {
			o, i := byID[p.Out], byID[p.In]
			if used[p.Out] || used[p.In] || o.Inflow || !i.Inflow {
				t.Fatalf("%+v uses %+v and %+v", p, o, i)
			}
			used[p.Out], used[p.In] = true, true
			if p.Kind == transfer.Swap {
				if o.SourceID != i.SourceID || strings.EqualFold(o.Asset, i.Asset) && o.Fiat == i.Fiat || p.Evidence != transfer.ByHash &&
					p.Evidence != transfer.ByGroup {
					t.Fatalf("%+v is no swap of %+v and %+v", p, o, i)
				}
				continue
			}
			if !same(o, i) || !p.Shortfall.Equal(o.Quantity.Sub(i.Quantity)) || p.Shortfall.Sign() < 0 ||
				(p.Kind == transfer.Intercompany) != (o.LegalEntityID != i.LegalEntityID) {
				t.Fatalf("%+v is no transfer of %+v and %+v", p, o, i)
			}
			if (p.Evidence == transfer.ByAmount || p.Evidence == transfer.ByAddresses) && !fits(o, i) {
				t.Fatalf("%+v does not fit %+v and %+v", p, o, i)
			}
		}
	})
}

func TestTheOrderOfLegsDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		legs := drawLegs(t)
		if a, b := transfer.Match(legs), transfer.Match(rapid.Permutation(legs).Draw(t, "shuffled")); !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v or %+v of %+v", a, b, legs)
		}
	})
}

// traffic is what many sources do: transfers by hash, by addresses and by amount, and payments that are none, spread over two years.
func traffic(n int) (legs []transfer.Leg) {
	assets := []string{"ETH", "USDC", "USDT", "BTC", "DAI", "LINK", "UNI", "ARB"}
	for k := 0; len(legs) < n; k++ {
		x := uint64(k+1) * 0x9E3779B97F4A7C15
		x ^= x >> 31
		at := start.Add(time.Duration(x%(2*365*24*3600)) * time.Second)
		q := money.FromInt(int64(x%1_000_003+17)).Quo(money.FromInt(1000), 3)
		o := transfer.Leg{ID: fmt.Sprintf("o%d", k), SourceID: fmt.Sprintf("s%d", k%40), Asset: assets[k%8], Quantity: q, At: at}
		i := o
		i.ID, i.SourceID, i.Inflow, i.At = fmt.Sprintf("i%d", k), fmt.Sprintf("s%d", (k+1)%40), true, at.Add(time.Minute)
		switch k % 4 {
		case 0:
			o.Hash = fmt.Sprintf("0x%x", x)
			i.Hash = o.Hash
		case 1:
			o.To, i.OwnAddress = fmt.Sprintf("0x%d", k%40), fmt.Sprintf("0x%d", k%40)
		case 2:
			i.Asset = assets[(k+3)%8] // a payment out and another in
		}
		legs = append(legs, o, i)
	}
	return legs
}

// crowd is a day on which very many legs have one amount: all fit each other, or none because they are on one source
// or contradict each other.
func crowd(n int, of func(k int, l *transfer.Leg)) (legs []transfer.Leg) {
	for k := range n {
		l := transfer.Leg{ID: fmt.Sprintf("l%06d", k), SourceID: "s" + fmt.Sprint(k%2), Inflow: k%2 == 0, Asset: "USDC",
			Quantity: money.FromInt(100), At: start.Add(time.Duration(k%3600) * time.Second)}
		of(k, &l)
		legs = append(legs, l)
	}
	return legs
}

func TestManyLegsTakeSecondsHoweverAlikeTheyAre(t *testing.T) {
	t.Parallel()
	const n, limit = 20_000, 10 * time.Second // a quadratic search would take minutes, these take less than a second
	for name, legs := range map[string][]transfer.Leg{
		"ordinary traffic": traffic(n),
		"all fit":          crowd(n, func(k int, l *transfer.Leg) {}),
		"one source":       crowd(n, func(k int, l *transfer.Leg) { l.SourceID = "s" }),
		"other hashes":     crowd(n, func(k int, l *transfer.Leg) { l.Chain, l.Hash = "x", fmt.Sprint("h", k) }),
		"one hash":         crowd(n, func(k int, l *transfer.Leg) { l.Hash = "h" }),
		"one address":      crowd(n, func(k int, l *transfer.Leg) { l.To, l.From = "a", "b" }),
		"about one amount": crowd(n, func(k int, l *transfer.Leg) {
			l.Quantity = money.FromInt(int64(100_000_000+k)).Quo(money.FromInt(1_000_000), 6)
			l.SourceID = "s"
		}),
	} {
		var r transfer.Result
		took := time.Duration(math.MaxInt64)
		for try := 0; try < 3 && took > limit; try++ { // a machine that stood still does not do so every time
			begun := time.Now()
			r = transfer.Match(legs)
			took = time.Since(begun)
		}
		if took > limit {
			t.Errorf("%s: %d legs took %s", name, n, took)
		}
		t.Logf("%s: %s, %d pairs, %d ambiguous", name, took, len(r.Pairs), len(r.Ambiguous))
		if name == "all fit" && (len(r.Pairs) != 0 || len(r.Ambiguous) != n) {
			t.Errorf("%d pairs and %d ambiguous legs where all fit all", len(r.Pairs), len(r.Ambiguous))
		}
	}
}

func BenchmarkMatchAMillionLegs(b *testing.B) {
	legs := traffic(1_000_000)
	for b.Loop() {
		transfer.Match(legs)
	}
}
