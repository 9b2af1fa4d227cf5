package transfer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// item is a leg with normalized fields for comparison.
type item struct {
	leg         *Leg
	asset       asset
	chain       string
	hash        string
	recorded    addresses // addresses as recorded
	from        string    // sender, as recorded or else the address of its source
	to          string    // recipient, likewise
	at          int64
	day         int64
	size        magnitude
	sizeMin     magnitude     // size of quantityMin
	quantityMin money.Decimal // the minimum that must arrive of an outflow
	state       state
}

type addresses struct{ from, to string }

// asset identifies an asset: USD in a bank is not a token of that name.
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
	groupsSeen [][]int32 // legs with the same hash or id
	truncated  bool      // a search was stopped at its limit in a bucket where legs were paired
}

// matchOnce applies the kinds of evidence in order and reports whether another pass may resolve ambiguities.
func (m *matcher) matchOnce() (again bool) {
	m.groupsSeen, m.truncated = nil, false
	m.pairByHash()
	m.pairByGroup()
	m.pairByAddress()
	m.pairByAmount()
	return m.truncated || slices.ContainsFunc(m.groupsSeen, m.partlyPaired)
}

// resetUnpaired prepares another pass over the legs that have no partner.
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
		// A recorded address takes precedence over that of the source, which may have several.
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

// canonical converts hexadecimal and bech32 to lower case; base58 is case-sensitive.
func canonical(s string) string {
	if len(s) > 2 && (s[0] == '0' && (s[1] == 'x' || s[1] == 'X') || strings.EqualFold(s[:2], "bc")) {
		return strings.ToLower(s)
	}
	return s
}

// excluded reports whether a user stated that two legs do not belong together.
func excluded(o, i *item) bool {
	return len(o.leg.Excluded) > 0 && slices.Contains(o.leg.Excluded, i.leg.ID)
}

// cannotMatch reports whether two legs of one asset cannot be one transfer whatever the evidence: nothing moved, both are
// on the same source, they are different tokens of that name, or a user excluded the pair.
func cannotMatch(o, i *item) bool {
	return excluded(o, i) || o.leg.SourceID == i.leg.SourceID || o.size == 0 || i.size == 0 ||
		o.chain == i.chain && o.leg.Contract != i.leg.Contract && o.leg.Contract != "" && i.leg.Contract != "" &&
			canonical(o.leg.Contract) != canonical(i.leg.Contract)
}

// bridged reports whether two legs are on different chains, so that each has its own hash and addresses.
func bridged(o, i *item) bool { return o.chain != "" && i.chain != "" && o.chain != i.chain }

// contradict reports whether two legs on one chain cannot be one transfer because their hashes or addresses differ.
func contradict(o, i *item) bool {
	if bridged(o, i) {
		return false
	}
	return differ(o.hash, i.hash) || differ(o.recorded.to, i.recorded.to) || differ(o.recorded.from, i.recorded.from)
}

func differ(a, b string) bool { return a != "" && b != "" && a != b }

// covers reports whether the quantity that arrived is what left, less at most a fee.
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

// addAmbiguity reports a leg as ambiguous and keeps it from being paired by weaker evidence.
func (m *matcher) addAmbiguity(leg int32, candidates []int32, why string) {
	m.items[leg].state = unclear
	ids := make([]string, len(candidates))
	for n, c := range candidates {
		ids[n] = m.items[c].leg.ID
	}
	sortShort(ids)
	m.result.Ambiguous = append(m.result.Ambiguous, Ambiguity{m.items[leg].leg.ID, ids, why})
}

// sortShort is an insertion sort, which is faster than slices.Sort for a few strings.
func sortShort(ids []string) {
	for n := 1; n < len(ids); n++ {
		for k := n; k > 0 && ids[k] < ids[k-1]; k-- {
			ids[k], ids[k-1] = ids[k-1], ids[k]
		}
	}
}

// magnitude is an amount as an integer that sorts the same way: its exponent, then its first sixteen digits. Amounts that
// differ only in later digits share a magnitude. It is 0 for amounts that are not positive.
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

// bounds returns the earliest and the latest time of a matching leg.
func (t *item) bounds() (earliest, latest int64) {
	if t.leg.Inflow {
		return t.at - int64(Window), t.at + int64(Skew)
	}
	return t.at - int64(Skew), t.at + int64(Window)
}
