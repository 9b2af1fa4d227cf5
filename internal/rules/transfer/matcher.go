package transfer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// item is a leg prepared to be compared with very many others.
type item struct {
	leg         *Leg
	asset       asset
	chain       string
	hash        string
	recorded    addresses // addresses as recorded
	from        string    // where it left, as recorded or by its source
	to          string    // where it arrived, likewise
	at          int64
	day         int64
	size        magnitude
	sizeMin     magnitude     // of what must arrive of it
	quantityMin money.Decimal // likewise
	state       state
}

type addresses struct{ from, to string }

// asset is what must be the same: USD in a bank is not a token of that name.
type asset struct {
	symbol string
	fiat   bool
}

type state byte

const (
	free state = iota
	paired
	unclear
)

type matcher struct {
	items      []item
	result     Result
	groupsSeen [][]int32 // what has one hash or id
	truncated  bool      // looking was given up somewhere, where others were paired
}

// all takes the evidence in order, and tells whether what is left may be clearer than it was.
func (m *matcher) matchOnce() (again bool) {
	m.groupsSeen, m.truncated = nil, false
	m.pairByHash()
	m.pairByGroup()
	m.pairByAddress()
	m.pairByAmount()
	return m.truncated || slices.ContainsFunc(m.groupsSeen, m.partlyPaired)
}

// rest begins again with the legs that have no partner.
func (m *matcher) resetUnpaired() {
	m.items = slices.DeleteFunc(m.items, func(t item) bool { return t.state == paired })
	for n := range m.items {
		m.items[n].state = free
	}
	m.result.Ambiguous = nil
}

func newMatcher(legs []Leg) *matcher {
	m := &matcher{items: make([]item, len(legs))}
	var buf [128]byte
	for i := range legs {
		l := &legs[i]
		t := &m.items[i]
		*t = item{leg: l, asset: asset{strings.ToUpper(l.Asset), l.Fiat}, chain: strings.ToLower(l.Chain), hash: canonical(l.Hash),
			at: l.At.UnixNano(), size: measure(l.Quantity, buf[:0])}
		t.day = dayOf(t.at)
		t.recorded = addresses{canonical(l.From), canonical(l.To)}
		t.from, t.to = t.recorded.from, t.recorded.to
		// A record is nearer to the fact than the address of its source, which may have several.
		if l.Inflow {
			t.to = cmp.Or(t.to, canonical(l.OwnAddress))
		} else {
			t.from = cmp.Or(t.from, canonical(l.OwnAddress))
			t.quantityMin = l.Quantity.Mul(arrivingMin)
			t.sizeMin = measure(t.quantityMin, buf[:0])
		}
	}
	return m
}

func dayOf(at int64) int64 {
	day := at / int64(Window)
	if at%int64(Window) < 0 {
		day--
	}
	return day
}

// canonical writes hexadecimal and bech32 in lower case; in base58 the case is part of an address or a hash.
func canonical(s string) string {
	if len(s) > 2 && (s[0] == '0' && (s[1] == 'x' || s[1] == 'X') || strings.EqualFold(s[:2], "bc")) {
		return strings.ToLower(s)
	}
	return s
}

// denied tells that somebody said that two legs do not belong together.
func excluded(o, i *item) bool {
	return len(o.leg.Excluded) > 0 && slices.Contains(o.leg.Excluded, i.leg.ID)
}

// apart tells why two legs of one asset cannot be one transfer whatever the evidence: nothing moved, it stayed in its
// source, it is another token of that name, or somebody said so.
func cannotMatch(o, i *item) bool {
	return excluded(o, i) || o.leg.SourceID == i.leg.SourceID || o.size == 0 || i.size == 0 ||
		o.chain == i.chain && o.leg.Contract != i.leg.Contract && o.leg.Contract != "" && i.leg.Contract != "" &&
			canonical(o.leg.Contract) != canonical(i.leg.Contract)
}

// bridged tells that two legs are on two chains, where a bridge stands between them and each has its own hash and addresses.
func bridged(o, i *item) bool { return o.chain != "" && i.chain != "" && o.chain != i.chain }

// contradict tells that two legs on one chain cannot be one transfer, because their records differ.
func contradict(o, i *item) bool {
	if bridged(o, i) {
		return false
	}
	return differ(o.hash, i.hash) || differ(o.recorded.to, i.recorded.to) || differ(o.recorded.from, i.recorded.from)
}

func differ(a, b string) bool { return a != "" && b != "" && a != b }

// covers tells that what arrived is what left, but for a fee.
func covers(o, i *item) bool { return atMost(i, o) && atLeast(i, o) }

func atMost(i, o *item) bool {
	if i.size != o.size {
		return i.size < o.size
	}
	return i.leg.Quantity.Cmp(o.leg.Quantity) <= 0
}

func atLeast(i, o *item) bool {
	if i.size != o.sizeMin {
		return i.size > o.sizeMin
	}
	return i.leg.Quantity.Cmp(o.quantityMin) >= 0
}

func (m *matcher) pair(o, i int32, by Evidence) {
	out, in := &m.items[o], &m.items[i]
	p := Pair{Out: out.leg.ID, In: in.leg.ID, Evidence: by, Kind: Internal}
	switch {
	case out.leg.SourceID == in.leg.SourceID:
		p.Kind = Swap
	case out.leg.LegalEntityID != in.leg.LegalEntityID:
		p.Kind = Intercompany
	case bridged(out, in):
		p.Kind = Bridge
	}
	if p.Kind != Swap {
		p.Shortfall = out.leg.Quantity.Sub(in.leg.Quantity)
	}
	out.state, in.state = paired, paired
	m.result.Pairs = append(m.result.Pairs, p)
}

// unclear reports a leg and keeps it from being linked by weaker evidence.
func (m *matcher) addAmbiguity(leg int32, candidates []int32, why string) {
	m.items[leg].state = unclear
	ids := make([]string, len(candidates))
	for n, c := range candidates {
		ids[n] = m.items[c].leg.ID
	}
	sortShort(ids)
	m.result.Ambiguous = append(m.result.Ambiguous, Ambiguity{m.items[leg].leg.ID, ids, why})
}

// sortShort sorts few strings without the weight of a sort made for many.
func sortShort(ids []string) {
	for n := 1; n < len(ids); n++ {
		for k := n; k > 0 && ids[k] < ids[k-1]; k-- {
			ids[k], ids[k-1] = ids[k-1], ids[k]
		}
	}
}

// magnitude is an amount as a whole number that sorts the same way: how many digits it has before the point, then its
// first sixteen. Amounts that differ further on share one. It is 0 for what is not positive.
type magnitude uint64

const (
	digitsKept   = 16
	exponentZero = 128
)

func measure(d money.Decimal, buf []byte) magnitude {
	if d.Sign() <= 0 {
		return 0
	}
	text := d.AppendFixed(buf, 0)
	exponent, digits, n, point := 0, uint64(0), 0, false
	for _, c := range text {
		switch {
		case c == '.':
			point = true
		case n == 0 && c == '0':
			if point {
				exponent--
			}
		default:
			if !point {
				exponent++
			}
			if n < digitsKept {
				digits = digits*10 + uint64(c-'0')
				n++
			}
		}
	}
	for ; n < digitsKept; n++ {
		digits *= 10
	}
	return magnitude(uint64(exponent+exponentZero)<<56 | digits)
}

// bounds are the first and the last instant at which the other side of a leg may be.
func (t *item) bounds() (earliest, latest int64) {
	if t.leg.Inflow {
		return t.at - int64(Window), t.at + int64(Skew)
	}
	return t.at - int64(Skew), t.at + int64(Window)
}
