package spam_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/spam"
)

// few draws from so few values that arrivals, history and lists meet often.
var (
	addresses = []string{"", treasury, payroll, customer, supplier, stranger, faker, denied,
		"0x0000000000000000000000000000000000000000", "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM",
		"9WzDaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaAWWM"}
	contracts = []string{"", usdc, weth, unknown, ours, denied, saleMint}
	symbols   = []string{"USDC", "ETH", "UЅDC", "NEWT", "$USDC", "x.com", "GOOD", "", "SOL"}
)

func drawArrival(t *rapid.T) spam.Arrival {
	a := spam.Arrival{
		Class: rapid.SampledFrom([]string{"crypto", "crypto", "crypto", "fiat"}).Draw(t,
			"class"), SourceID: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "source"),
		Chain: rapid.SampledFrom([]string{"ethereum", "polygon", "solana"}).Draw(t, "chain"), Hash: rapid.SampledFrom([]string{"", "h1",
			"h2"}).Draw(t, "hash"),
		At: noon.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "minutes")) * time.Minute), Inflow: rapid.Bool().Draw(t, "inflow"),
		Symbol: rapid.SampledFrom(symbols).Draw(t, "symbol"), TokenName: rapid.SampledFrom([]string{"", "claim", "USD Coin"}).Draw(t, "name"),
		Contract: rapid.SampledFrom(contracts).Draw(t, "contract"), Quantity: money.FromInt(rapid.Int64Range(0, 2).Draw(t,
			"quantity")), Currency: "USD",
		From: rapid.SampledFrom(addresses).Draw(t, "from"), To: rapid.SampledFrom(addresses).Draw(t, "to"),
		Description: rapid.SampledFrom([]string{"", "visit x.com"}).Draw(t, "description"), Recipients: rapid.SampledFrom([]int{0,
			50}).Draw(t, "recipients"), PaidFee: rapid.Bool().Draw(t, "paid"),
	}
	if value := rapid.SampledFrom([]string{"", "0", "0.05", "20"}).Draw(t, "value"); value != "" {
		v := money.MustParse(value)
		a.Value = &v
	}
	return a
}

func drawList(t *rapid.T, name string) (l spam.List) {
	l.Addresses = rapid.SliceOfN(rapid.SampledFrom(addresses), 0, 2).Draw(t, name+" addresses")
	l.Symbols = rapid.SliceOfN(rapid.SampledFrom(symbols), 0, 2).Draw(t, name+" symbols")
	for _, c := range rapid.SliceOfN(rapid.SampledFrom(contracts), 0, 2).Draw(t, name+" contracts") {
		l.Contracts = append(l.Contracts, spam.Contract{Chain: rapid.SampledFrom([]string{"", "ethereum", "Polygon"}).Draw(t,
			name+" chain"), Address: c})
	}
	return l
}

func drawFacts(t *rapid.T) spam.Facts {
	f := spam.Facts{Own: []string{treasury, payroll}, Allow: drawList(t, "allow"), Deny: drawList(t, "deny")}
	if rapid.Bool().Draw(t, "tokens") {
		f.Tokens = []spam.Token{{Chain: "solana", Symbol: "SALE", Contract: saleMint}, {Chain: "ethereum", Symbol: "NEWT",
			Contract: ours}, {Chain: "ethereum", Symbol: "NEWT", Contract: unknown}}
	}
	return f
}

func TestAllowingMoreNeverRaisesAScore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, past := drawFacts(t), rapid.SliceOfN(rapid.Custom(drawArrival), 0, 8).Draw(t, "past")
		more, extra := f, drawList(t, "extra")
		more.Allow = spam.List{Contracts: append(extra.Contracts, f.Allow.Contracts...), Addresses: append(extra.Addresses,
			f.Allow.Addresses...), Symbols: append(extra.Symbols, f.Allow.Symbols...)}
		before, after := spam.NewKnowledge(f, past), spam.NewKnowledge(more, past)
		for range 5 {
			a := drawArrival(t)
			if x, y := spam.Score(a, before), spam.Score(a, after); y.Score > x.Score {
				t.Fatalf("%+v went from %+v to %+v", a, x, y)
			}
		}
	})
}

func TestTheOrderOfKnowledgeDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, past := drawFacts(t), rapid.SliceOfN(rapid.Custom(drawArrival), 0, 12).Draw(t, "past")
		g := f
		g.Own, g.Tokens = rapid.Permutation(f.Own).Draw(t, "own"), rapid.Permutation(f.Tokens).Draw(t, "tokens")
		g.Deny = spam.List{Contracts: rapid.Permutation(f.Deny.Contracts).Draw(t, "contracts"),
			Addresses: rapid.Permutation(f.Deny.Addresses).Draw(t, "addresses"), Symbols: rapid.Permutation(f.Deny.Symbols).Draw(t, "symbols")}
		one, other := spam.NewKnowledge(f, past), spam.NewKnowledge(g, rapid.Permutation(past).Draw(t, "shuffled"))
		for _, a := range append(past, drawArrival(t)) {
			if x, y := spam.Score(a, one), spam.Score(a, other); !reflect.DeepEqual(x, y) {
				t.Fatalf("%+v is %+v or %+v", a, x, y)
			}
		}
	})
}

func TestWhatListsSayIsFinal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, past, a := drawFacts(t), rapid.SliceOfN(rapid.Custom(drawArrival), 0, 5).Draw(t, "past"), drawArrival(t)
		a.Class = spam.ClassCrypto
		v := spam.Score(a, spam.NewKnowledge(f, past))
		if again := spam.Score(a, spam.NewKnowledge(f, past)); !reflect.DeepEqual(v, again) {
			t.Fatalf("%+v is %+v, then %+v", a, v, again)
		}
		f.Allow.Symbols = append(f.Allow.Symbols, a.Symbol)
		if v := spam.Score(a, spam.NewKnowledge(f, past)); v.Score != 0 || v.Spam || len(v.Reasons) != 1 || v.Reasons[0].Code != spam.Allowed {
			t.Fatalf("allowed: %+v", v)
		}
		f.Allow, f.Deny.Symbols = spam.List{}, append(f.Deny.Symbols, a.Symbol)
		if v := spam.Score(a, spam.NewKnowledge(f, past)); v.Score != 100 || !v.Spam || v.Reasons[0].Code != spam.Denied {
			t.Fatalf("denied: %+v", v)
		}
		a.Class = "fiat"
		if v := spam.Score(a, spam.NewKnowledge(f, past)); v.Score != 0 || v.Spam {
			t.Fatalf("in a bank: %+v", v)
		}
	})
}

func TestNoTextOfAStrangerBreaksAVerdict(t *testing.T) {
	t.Parallel()
	k := spam.NewKnowledge(facts(), history())
	rapid.Check(t, func(t *rapid.T) {
		a := drawArrival(t)
		a.Symbol, a.TokenName, a.Description, a.Contract, a.From = rapid.String().Draw(t, "s"), rapid.String().Draw(t,
			"n"), rapid.String().Draw(t, "d"), rapid.String().Draw(t, "c"), rapid.String().Draw(t, "f")
		v := spam.Score(a, k)
		for _, r := range v.Reasons {
			if len(r.Text) > 1200 {
				t.Fatalf("%d bytes: %q", len(r.Text), r.Text)
			}
		}
	})
}

// manyAddresses are as many real counterparties as no organization has.
func manyAddresses(n int) (all []spam.Arrival) {
	for i := range n {
		all = append(all, spam.Arrival(in("5", "USDC", usdc).with(spread(i)).worth("5")))
	}
	return all
}

// spread makes addresses without a pattern, by a multiplication that mixes the bits.
func spread(i int) string {
	x := uint64(i+1) * 0x9E3779B97F4A7C15
	y := (x ^ x>>29) * 0xBF58476D1CE4E5B9
	return fmt.Sprintf("0x%016x%016x%08x", x^x>>31, y^y>>27, uint32(y*0x94D049BB133111EB>>32))
}

// mixed is a stream such as a busy wallet sees: payments, false tokens, poison.
func mixed() (all []spam.Arrival) {
	for _, c := range cases {
		all = append(all, spam.Arrival(c.made))
	}
	for i := range 400 {
		real := spread(i * 199)
		all = append(all, spam.Arrival(in("25", "USDC", usdc).with(real).worth("25")),
			spam.Arrival(in("0", "USDC", usdc).with(real[:6]+stranger[6:38]+real[38:])))
	}
	return all
}

func TestManyCounterpartiesDoNotSlowAVerdict(t *testing.T) {
	t.Parallel()
	k, stream := spam.NewKnowledge(facts(), append(history(), manyAddresses(100_000)...)), mixed()
	for _, a := range stream[len(stream)-800:] {
		if v := spam.Score(a, k); v.Spam != a.Quantity.IsZero() {
			t.Fatalf("%+v: %+v", a, v)
		}
	}
	const rateMin = 10_000 // a second; an idle core does more than thirty times that
	best := time.Hour
	for range 10 { // one of ten is not disturbed by whatever else the machine does
		begun := time.Now()
		for _, a := range stream {
			spam.Score(a, k)
		}
		best = min(best, time.Since(begun))
	}
	if best > time.Duration(len(stream))*time.Second/rateMin {
		t.Errorf("%d verdicts took %s", len(stream), best)
	}
}

func BenchmarkScoreAmong100000Counterparties(b *testing.B) {
	k, stream := spam.NewKnowledge(facts(), append(history(), manyAddresses(100_000)...)), mixed()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		spam.Score(stream[i%len(stream)], k)
	}
}
