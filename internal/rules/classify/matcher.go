package classify

import (
	"math/bits"
	"slices"
)

// The fields that rules compare for equality.
const (
	address = iota
	merchant
	category
	asset
	fields
)

// withAddress is the set of shapes that include the address.
const withAddress shapes = 0xAAAA

// shape is a set of fields, a bit each; shapes is a set of those.
type (
	shape  uint8
	shapes uint16
)

// within maps a set of fields to all of its subsets.
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

// key holds the conditions of a rule except the direction: the numbers of its pattern and values, 0 for conditions it does
// not have.
type key struct {
	memo   uint32
	values [fields]uint32
}

// bucket holds the rules of a key by direction: outflows first, then inflows. A rule for any direction is in both.
type bucket [2][]int32

// Matcher finds the rules that match a transaction. Rules are indexed by all of their conditions, so that every rule found
// under a key matches: the cost per transaction depends on how many patterns its texts contain, not on the number of
// rules. A Matcher is immutable.
type Matcher struct {
	rules   []Rule // by precedence
	memos   *automaton
	values  [fields]map[string]uint32 // values that rules compare each field with, numbered from 1
	shapes  []shapes                  // by pattern, the sets of other fields that rules use with it
	buckets map[key]*bucket
}

// Decision holds the rules that match a transaction.
type Decision struct {
	Rule   *Rule   // the one that decides; nil if none matches
	Others []*Rule // other matches, by precedence; valid until the scratch is used again
}

// Scratch holds the working memory of Match. The zero value is ready to use, with any matcher.
type Scratch struct {
	text  []byte
	seen  []uint32 // by pattern, in which match it was found last
	now   uint32
	memos []uint32
	found []int32
	rules []*Rule
}

// Compile returns a matcher for rules with distinct ids. Their order does not matter.
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

// values returns the values that the rule compares fields with.
func (r *Rule) values() [fields]string {
	return [fields]string{address: r.Address, merchant: r.Merchant, category: r.Category, asset: r.Asset}
}

// Match returns the rules that match a transaction. It is safe for concurrent use if each caller has its own scratch.
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

// number returns the number of a value, 0 if no rule uses it.
func (m *Matcher) number(field int, value string, w *Scratch) uint32 {
	if value == "" || len(m.values[field]) == 0 {
		return 0
	}
	w.text = fold(w.text[:0], value)
	return m.values[field][string(w.text)]
}

// collect looks up every combination of the transaction's values that rules use.
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

// begin marks all patterns as unseen.
func (w *Scratch) begin(patterns int) {
	if len(w.seen) < patterns {
		w.seen, w.now = make([]uint32, patterns), 0
	}
	if w.now++; w.now == 0 { // once in four billion
		clear(w.seen)
		w.now = 1
	}
}
