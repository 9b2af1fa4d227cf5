package posting

import (
	"fmt"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// The number of splits that an entry or a rule may have.
const (
	SplitsMin = 2
	SplitsMax = 100
)

// SplitText is the part of a split as a request states it: an amount, or a percentage. The text of the other one is empty.
type SplitText struct{ Amount, Percent string }

// ValidateShares adds the faults of the shares of splits: how many there are, that each is an amount or each a percentage, and
// what percentages add up to. Field names begin with at. With percentOnly, each must be a percentage.
func ValidateShares(faults *fault.List, at string, shares []SplitText, percentOnly bool) {
	if n := len(shares); n < SplitsMin || n > SplitsMax {
		faults.Addf(at+"splits", "must have %d to %d items", SplitsMin, SplitsMax)
	}
	byPercent, sum, valid := percentOnly || splitByPercent(shares), money.Decimal{}, true
	for i, s := range shares {
		field, text, other := "amount", s.Amount, "percent"
		if byPercent {
			field, text, other = "percent", s.Percent, "amount"
		}
		name := fmt.Sprintf("%ssplits[%d].%s", at, i, field)
		part, err := money.Parse(text)
		switch {
		case !percentOnly && (s.Amount == "") == (s.Percent == ""):
			faults.Addf(name, "is required, or %s, but not both", other)
		case !percentOnly && text == "":
			faults.Addf(name, "is required, as in the others: either all splits are amounts or all are percentages")
		case err != nil:
			faults.Addf(name, "%v", err)
		case part.Sign() <= 0:
			faults.Addf(name, "must be positive")
		default:
			sum = sum.Add(part)
			continue
		}
		valid = false
	}
	if hundred := money.FromInt(100); byPercent && valid && !sum.Equal(hundred) {
		faults.Addf(at+"splits", "add up to %s percent, but must add up to 100", sum)
	}
}

// splitByPercent reports whether the first share that states one of the two is a percentage.
func splitByPercent(shares []SplitText) bool {
	for _, s := range shares {
		if (s.Amount == "") != (s.Percent == "") {
			return s.Percent != ""
		}
	}
	return false
}
