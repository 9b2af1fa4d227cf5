package classify

import (
	"math/bits"
	"slices"
)

// The fields that a rule wants equal to something.
const (
	address = iota
	merchant
	category
	asset
	fields
)

// withAddress are the shapes that ask for an address.
const withAddress shapes = 0xAAAA

// shape is a set of fields, a bit each; shapes is a set of those.
type (
	shape  uint8
	shapes uint16
)

// within is, for a set of fields, all of its subsets.
var within = func() (table [1 << fields]shapes) {
	for whole := range table {
		for part := range table {
			if part&^whole == 0 {
				table[whole] |= 1 << part
			}
		}
	}
	return table
}()

// key is all that a rule asks but the direction: a pattern and values, by number, with 0 for what it does not ask.
type key struct {
	memo   uint32
	values [fields]uint32
}

// bucket has the rules of a key, those for outflows first, then those for inflows. A rule for any direction is in both.
type bucket [2][]int32

// Matcher finds the rules that match a transaction. Each rule is filed under all that it asks, so that what is found
// there matches and nothing needs to be tried: what a transaction costs depends on how many patterns its texts have,
// not on how many rules there are. It never changes.
type Matcher struct {
	rules   []Rule // the best first
	memos   *automaton
	values  [fields]map[string]uint32 // what rules ask of each field, numbered from 1
	shapes  []shapes                  // by pattern, what rules ask beside it
	buckets map[key]*bucket
}

// Decision is which rules match a transaction.
type Decision struct {
	Rule   *Rule   // the one that decides; nil when none matches
	Others []*Rule // that match too, the best first; they are valid until the scratch is used again
}

// Scratch is what matching needs to remember on the way. The zero value is ready, for any matchers one after the other.
type Scratch struct {
	text  []byte
	seen  []uint32 // by pattern, in which match it was found last
	now   uint32
	memos []uint32
	found []int32
	rules []*Rule
}

// Compile makes a matcher of rules, whose ids must differ. The order in which they come is of no account.
func Compile(rules []Rule) *Matcher {
	m := &Matcher{rules: ranked(rules), buckets: map[key]*bucket{}}
	var patterns []string
	for i := range m.rules {
		if p := folded(m.rules[i].MemoContains); p != "" {
			patterns = append(patterns, p)
		}
	}
	slices.Sort(patterns)
	patterns = slices.Compact(patterns)
	m.memos = newAutomaton(patterns)
	m.shapes = make([]shapes, len(patterns)+1)
	for i := range m.values {
		m.values[i] = map[string]uint32{}
	}
	for i := range m.rules {
		m.index(int32(i), patterns)
	}
	return m
}

func (m *Matcher) index(rank int32, patterns []string) {
	r := &m.rules[rank]
	var k key
	if p := folded(r.MemoContains); p != "" {
		n, _ := slices.BinarySearch(patterns, p)
		k.memo = uint32(n + 1)
	}
	var asked shape
	for i, value := range r.values() {
		if value = folded(value); value == "" {
			continue
		}
		if m.values[i][value] == 0 {
			m.values[i][value] = uint32(len(m.values[i]) + 1)
		}
		k.values[i] = m.values[i][value]
		asked |= 1 << i
	}
	if k == (key{}) {
		return // it would match everything
	}
	m.shapes[k.memo] |= 1 << asked
	b := m.buckets[k]
	if b == nil {
		b = new(bucket)
		m.buckets[k] = b
	}
	for way := range b {
		if r.appliesTo(way == 1) {
			b[way] = append(b[way], rank)
		}
	}
}

// values are what a rule wants fields to be equal to.
func (r *Rule) values() [fields]string {
	return [fields]string{address: r.Address, merchant: r.Merchant, category: r.Category, asset: r.Asset}
}

// Match tells which rules match a transaction. Several may match at the same time, each with a scratch of its own.
func (m *Matcher) Match(s Subject, w *Scratch) Decision {
	w.begin(len(m.shapes))
	w.memos = append(w.memos[:0], 0) // the pattern of rules without one
	if len(m.shapes) > 1 {
		for _, text := range s.Texts {
			w.text = fold(w.text[:0], text)
			w.memos = m.memos.find(w.text, w.memos, w.seen, w.now)
		}
	}
	values := [fields]uint32{
		address:  m.number(address, s.From, w),
		merchant: m.number(merchant, s.Merchant, w),
		category: m.number(category, s.Category, w),
		asset:    m.number(asset, s.Asset, w),
	}
	way := 0
	if s.Inflow {
		way = 1
	}
	w.found = w.found[:0]
	m.collect(values, ^shapes(0), way, w)
	if to := m.number(address, s.To, w); to != values[address] {
		values[address] = to
		m.collect(values, withAddress, way, w)
	}
	return m.decision(w)
}

// number is the number of a value, 0 for what no rule asks.
func (m *Matcher) number(field int, value string, w *Scratch) uint32 {
	if value == "" || len(m.values[field]) == 0 {
		return 0
	}
	w.text = fold(w.text[:0], value)
	return m.values[field][string(w.text)]
}

// collect looks up every combination of what a transaction has that rules ask.
func (m *Matcher) collect(values [fields]uint32, of shapes, way int, w *Scratch) {
	var has shape
	for i, v := range values {
		if v != 0 {
			has |= 1 << i
		}
	}
	of &= within[has]
	for _, memo := range w.memos {
		for left := m.shapes[memo] & of; left != 0; left &= left - 1 {
			asked := bits.TrailingZeros16(uint16(left))
			k := key{memo: memo}
			for i, v := range values {
				if asked>>i&1 == 1 {
					k.values[i] = v
				}
			}
			if b := m.buckets[k]; b != nil {
				w.found = append(w.found, b[way]...)
			}
		}
	}
}

func (m *Matcher) decision(w *Scratch) Decision {
	if len(w.found) == 0 {
		return Decision{}
	}
	slices.Sort(w.found)
	w.rules = w.rules[:0]
	for _, rank := range w.found {
		w.rules = append(w.rules, &m.rules[rank])
	}
	return Decision{Rule: w.rules[0], Others: w.rules[1:]}
}

// begin makes everything unseen.
func (w *Scratch) begin(patterns int) {
	if len(w.seen) < patterns {
		w.seen, w.now = make([]uint32, patterns), 0
	}
	if w.now++; w.now == 0 { // once in four billion
		clear(w.seen)
		w.now = 1
	}
}
