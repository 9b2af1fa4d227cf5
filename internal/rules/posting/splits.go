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

// Share is the part of a split as a request states it: an amount, or a percentage. The text of the other one is empty.
type Share struct{ Amount, Percent string }

// ValidateShares adds the faults of the shares of splits: how many there are, that each is an amount or each a percentage, and
// what percentages add up to. Field names begin with at. The splits of a rule can only be percentages.
func ValidateShares(faults *fault.List, at string, shares []Share, rule bool) {
	if n := len(shares); n < SplitsMin || n > SplitsMax {
		faults.Addf(at+"splits", "must have %d to %d items", SplitsMin, SplitsMax)
	}
	byPercent, sum, valid := rule || splitByPercent(shares), money.Decimal{}, true
	for i, s := range shares {
		field, text, other := "amount", s.Amount, "percent"
		if byPercent {
			field, text, other = "percent", s.Percent, "amount"
		}
		name := fmt.Sprintf("%ssplits[%d].%s", at, i, field)
		part, err := money.Parse(text)
		switch {
		case !rule && (s.Amount == "") == (s.Percent == ""):
			faults.Addf(name, "is required, or %s, but not both", other)
		case !rule && text == "":
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
func splitByPercent(shares []Share) bool {
	for _, s := range shares {
		if (s.Amount == "") != (s.Percent == "") {
			return s.Percent != ""
		}
	}
	return false
}
