// Package book implements double entry as pure functions: it checks that lines balance, translates them into the base
// currency of their legal entity, and adds them up to totals per account and period.
package book

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Side is the side of an account that a line is booked on.
type Side string

// The sides.
const (
	Debit  Side = "DEBIT"
	Credit Side = "CREDIT"
)

// Other returns the opposite side.
func (s Side) Other() Side {
	if s == Debit {
		return Credit
	}
	return Debit
}

// Line holds the fields of a journal line that arithmetic needs. The amount is always positive; the side is its sign.
type Line struct {
	Entity   string
	Account  string
	Side     Side
	Amount   money.Decimal
	Currency string
	Base     money.Decimal // in the entity's base currency; set by Translate
	Tags     []string      // of the line and of its entry, without duplicates
}

// Difference holds the totals of a legal entity and currency whose lines do not balance.
type Difference struct {
	Entity, Currency string
	Debits, Credits  money.Decimal
}

// Amount returns debits less credits.
func (d Difference) Amount() money.Decimal { return d.Debits.Sub(d.Credits) }

// Differences returns the legal entities and currencies whose debits and credits differ, sorted.
func Differences(lines []Line) []Difference {
	var sums []Difference
	for _, l := range lines {
		i := slices.IndexFunc(sums, func(d Difference) bool { return d.Entity == l.Entity && d.Currency == l.Currency })
		if i < 0 {
			i = len(sums)
			sums = append(sums, Difference{Entity: l.Entity, Currency: l.Currency})
		}
		if l.Side == Debit {
			sums[i].Debits = sums[i].Debits.Add(l.Amount)
		} else {
			sums[i].Credits = sums[i].Credits.Add(l.Amount)
		}
	}
	sums = slices.DeleteFunc(sums, func(d Difference) bool { return d.Debits.Equal(d.Credits) })
	slices.SortFunc(sums, func(a, b Difference) int {
		return cmp.Or(strings.Compare(a.Entity, b.Entity), strings.Compare(a.Currency, b.Currency))
	})
	return sums
}

// Translate sets Base, the amount in the entity's base currency, of balanced lines. Both sides of a currency get the same
// rounded total, which is split over their lines, so that lines that balance still balance after translation. Lines in the
// base currency keep their amount.
func Translate(lines []Line, currency func(entity string) string, rate func(from, to string) money.Decimal) {
	type key struct {
		entity, currency string
		side             Side
	}
	foreign := map[key][]int{}
	for i, l := range lines {
		if l.Currency == currency(l.Entity) {
			lines[i].Base = l.Amount
			continue
		}
		k := key{l.Entity, l.Currency, l.Side}
		foreign[k] = append(foreign[k], i)
	}
	for k, indexes := range foreign {
		to := currency(k.entity)
		weights := make([]money.Decimal, len(indexes))
		for n, i := range indexes {
			weights[n] = lines[i].Amount
		}
		places, _ := money.MinorUnits(to)
		total := money.Sum(weights...).Mul(rate(k.currency, to)).Round(places)
		for n, part := range money.Split(total, weights, places) {
			lines[indexes[n]].Base = part
		}
	}
}

// Key identifies a total: of an account of a legal entity in a period, over all lines or, with a tag, over the lines with
// that tag.
type Key struct {
	Tag, Entity, Account, Period string
}

// Total is the sum of lines in the entity's base currency.
type Total struct{ Debits, Credits money.Decimal }

// Totals sums up the lines of many entries.
type Totals map[Key]Total

// Add adds lines. Adding them with opposite sides would cancel the balance but not the movements: use Remove to undo Add.
func (t Totals) Add(period string, lines []Line) { t.addAll(period, lines, false) }

// Remove undoes Add.
func (t Totals) Remove(period string, lines []Line) { t.addAll(period, lines, true) }

func (t Totals) addAll(period string, lines []Line, remove bool) {
	for _, l := range lines {
		amount := l.Base
		if remove {
			amount = amount.Neg()
		}
		t.add(Key{"", l.Entity, l.Account, period}, l.Side, amount)
		for _, tag := range l.Tags {
			t.add(Key{tag, l.Entity, l.Account, period}, l.Side, amount)
		}
	}
}

func (t Totals) add(k Key, side Side, amount money.Decimal) {
	total := t[k]
	if side == Debit {
		total.Debits = total.Debits.Add(amount)
	} else {
		total.Credits = total.Credits.Add(amount)
	}
	t[k] = total
}

// Keys returns the keys of the totals in sorted order. Totals are written in this order to avoid deadlocks between
// writers.
func (t Totals) Keys() []Key {
	keys := make([]Key, 0, len(t))
	for k := range t {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, Key.compare)
	return keys
}

func (k Key) compare(o Key) int {
	return cmp.Or(strings.Compare(k.Tag, o.Tag), strings.Compare(k.Entity, o.Entity), strings.Compare(k.Account, o.Account),
		strings.Compare(k.Period, o.Period))
}

// MustBalance panics if lines do not balance. It is the last assertion before lines are written.
func MustBalance(lines []Line) {
	if len(Differences(lines)) > 0 {
		panic("book: lines that do not balance were about to be written")
	}
	base := map[string]money.Decimal{}
	for _, l := range lines {
		if l.Side == Debit {
			base[l.Entity] = base[l.Entity].Add(l.Base)
		} else {
			base[l.Entity] = base[l.Entity].Sub(l.Base)
		}
	}
	for _, sum := range base {
		if !sum.IsZero() {
			panic("book: lines that do not balance in their entity's currency were about to be written")
		}
	}
}
