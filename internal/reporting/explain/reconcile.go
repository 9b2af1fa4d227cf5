package explain

import (
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// unexplained is the label of an amount that the stored data does not account for. It only appears when rows are missing
// or damaged, which bursar verify detects.
const unexplained = "unexplained difference"

// reconcile ensures that the parts add up to the figure and, where a list is complete on this page, that the list adds
// up to its parts. Any difference becomes a part of its own.
func (x *Explanation) reconcile(complete bool) {
	if x.Value == nil {
		return
	}
	if complete {
		x.reconcileList(Dispositions, func(Part) money.Decimal { return x.sumUses() })
		both := x.parts(Lines) > 1 // debits and credits are separate parts of one list
		x.reconcileList(Lines, func(p Part) money.Decimal { return x.sumLines(both, p.debits) })
		x.noteMissingLots()
	}
	x.addRemainder(unexplained)
}

// parts counts the parts that refer to a list.
func (x *Explanation) parts(list List) (n int) {
	for _, p := range x.Parts {
		if p.Listed == list {
			n++
		}
	}
	return n
}

// reconcileList sets each part that refers to a list to the sum of its items. The difference becomes a part right after
// it.
func (x *Explanation) reconcileList(list List, sum func(Part) money.Decimal) {
	var out []Part
	for _, p := range x.Parts {
		if p.Listed != list {
			out = append(out, p)
			continue
		}
		listed := sum(p)
		missing := p.Value.Sub(listed)
		p.Value = listed
		if out = append(out, p); !missing.IsZero() {
			out = append(out, Part{Label: fmt.Sprintf("%s to the %s that are stored", unexplained, list), Value: missing})
		}
	}
	x.Parts = out
}

// sumLines adds up the listed lines, or only those of one side.
func (x *Explanation) sumLines(oneSide, debits bool) (total money.Decimal) {
	for _, l := range x.Lines {
		if !oneSide || l.Debit == debits {
			total = total.Add(l.Amount)
		}
	}
	return total
}

func (x *Explanation) sumUses() (total money.Decimal) {
	for _, u := range x.Uses {
		if u.Amount != nil {
			total = total.Add(*u.Amount)
		}
	}
	return total
}

// noteMissingLots says in the formula if the lots held do not add up to the figure. That need not be damage: an entry that
// was reversed at a later date has no lots any more, but counts until that date, and a source of a legal entity that pools its lots
// may have consumed those of another one.
func (x *Explanation) noteMissingLots() {
	if !x.lotsHeld {
		return
	}
	var total money.Decimal
	averaged := int64(0)
	for _, l := range x.Lots {
		if l.Amount != nil {
			total = total.Add(*l.Amount)
		}
		if l.averaged {
			averaged++
		}
	}
	// Under a weighted average each lot shows its share of the pool, rounded to the minor unit: the shares may miss the
	// figure by half a unit each. The basis of other lots is exact.
	rounding := money.Decimal{}
	if places, fiat := money.MinorUnits(x.Unit); fiat {
		half := money.MustParse("0." + strings.Repeat("0", int(places)) + "5")
		rounding = money.FromInt(averaged).Mul(half)
	}
	if total.Sub(*x.Value).Abs().Cmp(rounding) > 0 {
		x.note = fmt.Sprintf("; because an entry was reversed later, lots are pooled by legal entity, or rows are missing (see bursar verify), "+
			"the lots stored now add up to %s", x.Text(total))
	}
}
