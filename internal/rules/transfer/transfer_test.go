package transfer_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/transfer"
)

var start = time.Date(2025, 6, 2, 9, 0, 0, 0, time.UTC)

// parse reads legs such as "a wallet out 1.5 ETH +30 chain=ethereum hash=0xab": id, source, direction, amount, minutes after the start.
func parse(text string) (legs []transfer.Leg) {
	for row := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		f := strings.Fields(row)
		minutes, err := strconv.Atoi(f[5])
		if err != nil {
			panic(err)
		}
		l := transfer.Leg{ID: f[0], SourceID: f[1], Inflow: f[2] == "in", Quantity: money.MustParse(f[3]), Asset: f[4],
			At: start.Add(time.Duration(minutes) * time.Minute), LegalEntityID: "us", Fiat: money.IsFiat(f[4])}
		for _, pair := range f[6:] {
			key, value, _ := strings.Cut(pair, "=")
			*map[string]*string{"chain": &l.Chain, "hash": &l.Hash, "group": &l.GroupKey, "from": &l.From, "to": &l.To, "own": &l.OwnAddress,
				"entity": &l.LegalEntityID, "contract": &l.Contract}[key] = value
		}
		legs = append(legs, l)
	}
	return legs
}

func show(r transfer.Result) string {
	var out []string
	for _, p := range r.Pairs {
		out = append(out, fmt.Sprintf("%s>%s %s by %s short %s", p.Out, p.In, p.Kind, p.Evidence, p.Shortfall))
	}
	for _, a := range r.Ambiguous {
		out = append(out, fmt.Sprintf("%s?%s", a.Leg, strings.Join(a.Candidates, ",")))
	}
	return strings.Join(out, "; ")
}

func TestLegsAreLinkedByTheStrongestEvidence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, legs, want string }{
		{"one hash", "a w1 out 1 ETH +0 chain=ethereum hash=0xAB\nb w2 in 1 ETH +0 chain=ethereum hash=0xab", "a>b internal by hash short 0"},
		{"one hash and a large fee", "a ex out 10 USDC +0 hash=0x1\nb w in 8 USDC +3000 hash=0x1", "a>b internal by hash short 2"},
		{"one hash, and more arrived", "a ex out 10 USDC +0 hash=0x1\nb w in 11 USDC +0 hash=0x1", "a?b; b?a"},
		{"one hash with gas as a leg of its own", "a w1 out 1 ETH +0 hash=0x1\ng w1 out 0.002 ETH +0 hash=0x1\nb w2 in 1 ETH +0 hash=0x1",
			"a>b internal by hash short 0"},
		{"one hash to two wallets", "a w1 out 3 ETH +0 hash=0x1\nb w2 in 3 ETH +0 hash=0x1\nc w3 in 3 ETH +0 hash=0x1", "a?b,c; b?a; c?a"},
		{"a transfer id between banks", "a b1 out 5000 USD +0 group=t9\nb b2 in 5000 USD +2000 group=t9", "a>b internal by group short 0"},
		{"a base58 hash in another case is another", "a w1 out 1 SOL +0 chain=solana hash=5Ab\nb w2 in 1 SOL +0 chain=solana hash=5aB", ""},
		{"two entities", "a w1 out 1 ETH +0 hash=0x1\nb w2 in 1 ETH +0 hash=0x1 entity=de", "a>b intercompany by hash short 0"},
		{"two entities on two chains", "a w1 out 1 ETH +0 chain=ethereum\nb w2 in 1 ETH +9 chain=base entity=de",
			"a>b intercompany by amount short 0"},
		{"one token name, two contracts", "a w1 out 1 USDC +0 chain=ethereum contract=0xa\nb w2 in 1 USDC +0 chain=ethereum contract=0xb", ""},

		{"both addresses", "a w1 out 1 ETH +0 own=0xA to=0xB\nb w2 in 0.999 ETH +5 own=0xb from=0xa\nc w3 in 1 ETH +5",
			"a>b internal by addresses short 0.001"},
		{"an exchange sends to a wallet",
			"a ex out 1000 USDC +0 to=0xB\nb w in 998 USDC +30 own=0xb from=0xHot\nc w2 in 998 USDC +30 own=0xc",
			"a>b internal by addresses short 2"},
		{"a wallet sends to an exchange", "a w out 1000 USDC +0 own=0xa to=0xdeposit\nb ex in 1000 USDC +30 from=0xA",
			"a>b internal by addresses short 0"},
		{"addresses, but two the same", "a ex out 5 ETH +0 to=0xb\nb ex out 5 ETH +60 to=0xb\nc w in 5 ETH +90 own=0xb", "a?c; b?c; c?a,b"},

		{"an amount and a fee", "a ex out 100 USDC +0\nb w in 98 USDC +1440", "a>b internal by amount short 2"},
		{"a little more is missing", "a ex out 100 USDC +0\nb w in 97.99 USDC +60", ""},
		{"a little more arrived", "a ex out 100 USDC +0\nb w in 100.000001 USDC +60", ""},
		{"a minute too late", "a ex out 100 USDC +0\nb w in 100 USDC +1441", ""},
		{"clocks differ", "a ex out 100 USDC +10\nb w in 100 USDC +0", "a>b internal by amount short 0"},
		{"clocks do not differ that much", "a ex out 100 USDC +11\nb w in 100 USDC +0", ""},
		{"the same source", "a w out 100 USDC +0\nb w in 100 USDC +5", ""},
		{"wrapped is another asset", "a w out 1 ETH +0\nb w2 in 1 WETH +5", ""},
		{"a bridge", "a w1 out 1 ETH +0 chain=ethereum hash=0x1 to=0xbridge\nb w2 in 0.998 ETH +25 chain=arbitrum hash=0x2 from=0xother",
			"a>b bridge by amount short 0.002"},
		{"one chain, two hashes", "a w1 out 1 ETH +0 chain=ethereum hash=0x1\nb w2 in 1 ETH +0 chain=ethereum hash=0x2", ""},
		{"one chain, sent elsewhere", "a w1 out 1 ETH +0 chain=ethereum to=0xsupplier\nb w2 in 1 ETH +0 chain=ethereum to=0xb", ""},
		{"one chain, from somebody else", "a w1 out 1 ETH +0 chain=ethereum from=0xa\nb w2 in 1 ETH +0 chain=ethereum from=0xcustomer", ""},
		{"two banks", "a b1 out 2500.00 USD +0\nb b2 in 2500 USD +600", "a>b internal by amount short 0"},
		{"two banks and a fee", "a b1 out 2525.00 USD +0\nb b2 in 2500 USD +600", "a>b internal by amount short 25"},
		{"a token called USD is no dollar", "a b1 out 2500 USD +0\nb w in 2500 usd +600 chain=ethereum", ""},
		{"two candidates", "a ex out 100 USDC +0\nb w1 in 100 USDC +5\nc w2 in 99 USDC +6", "a?b,c; b?a; c?a"},
		{"two of each", "a ex out 100 USDC +0\nb ex out 100 USDC +1\nc w in 100 USDC +5\nd w in 100 USDC +6", "a?c,d; b?c,d; c?a,b; d?a,b"},
		{"a hash leaves one candidate",
			"a ex out 100 USDC +0\nb w1 in 100 USDC +5 hash=0x1\nc w2 in 99 USDC +6\nd w3 out 100 USDC +5 hash=0x1",
			"a>c internal by amount short 1; d>b internal by hash short 0"},
		{"nothing moved", "a ex out 0 USDC +0\nb w in 0 USDC +5", ""},

		{"a trade", "a ex out 2500 USD +0 group=t1\nb ex in 1 ETH +0 group=t1", "a>b swap by group short 0"},
		{"a swap and its change", "a w out 1 ETH +0 hash=0x1\nb w in 2400 USDC +0 hash=0x1\nc w in 0.01 ETH +0 hash=0x1",
			"a>b swap by hash short 0"},
		{"a swap and its gas", "a w out 2400 USDC +0 hash=0x1\nb w in 1 ETH +0 hash=0x1\ng w out 0.001 ETH +0 hash=0x1",
			"a>b swap by hash short 0"},
		{"liquidity of two assets", "a w out 2400 USDC +0 hash=0x1\nb w out 1 ETH +0 hash=0x1\nc w in 7 UNI-V2 +0 hash=0x1", "a?c; b?c; c?a,b"},
		{"never a swap by amount", "a w out 100 USDC +0\nb w in 100 USDT +0", ""},
		{"two exchanges number trades alike",
			"a e1 out 2500 USD +0 group=1001\nb e1 in 1 ETH +0 group=1001\nc e2 out 2 ETH +5 group=1001\nd e2 in 2400 USD +5 group=1001",
			"a>b swap by group short 0; c>d swap by group short 0"},
		{"one trade id on two sources is no swap", "a e1 out 2500 USD +0 group=t1\nb e2 in 1 ETH +0 group=t1", ""},
	} {
		if got := show(transfer.Match(parse(c.legs))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAmbiguitiesSayWhy(t *testing.T) {
	t.Parallel()
	r := transfer.Match(parse("a ex out 100 USDC +0\nb w1 in 100 USDC +5\nc w2 in 99 USDC +6\nd ex out 10 DAI +0 hash=0x1\ne w in " +
		"11 DAI +0 hash=0x1\nf w out 1 UNI +0 hash=0x2\ng w out 1 ETH +0 hash=0x2\nh w in 7 LP +0 hash=0x2"))
	want := map[string]string{
		"a": "2 transactions match by amount",
		"b": "the only transaction that matches by amount matches others as well",
		"d": "more arrived (11) than left (10) under the same transaction hash",
		"h": "several transactions of one source share the same transaction hash (2 out, 1 in)",
	}
	for _, a := range r.Ambiguous {
		if w := want[a.Leg]; w != "" && a.Why != w {
			t.Errorf("%s: %q, want %q", a.Leg, a.Why, w)
		}
		delete(want, a.Leg)
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
}

func TestNothingIsMadeOfNothing(t *testing.T) {
	t.Parallel()
	if r := transfer.Match(nil); len(r.Pairs)+len(r.Ambiguous) != 0 {
		t.Errorf("%+v", r)
	}
}
