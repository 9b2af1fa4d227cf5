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

// SplitText is the part of a split as a request states it: an amount, a percentage, or a quantity of what moved. The texts of the others
// are empty.
type SplitText struct{ Amount, Percent, Quantity string }

// stated returns the names of the fields that are not empty.
func (s SplitText) stated() (out []string) {
	for _, field := range []string{"amount", "percent", "quantity"} {
		if s.text(field) != "" {
			out = append(out, field)
		}
	}
	return out
}

// text returns the text of a field.
func (s SplitText) text(field string) string {
	return map[string]string{"amount": s.Amount, "percent": s.Percent, "quantity": s.Quantity}[field]
}

// ValidateShares adds the faults of the shares of splits: how many there are, that all are amounts, percentages or quantities, and
// what percentages add up to. Field names begin with at. With percentOnly, each must be a percentage.
func ValidateShares(faults *fault.List, at string, shares []SplitText, percentOnly bool) {
	if n := len(shares); n < SplitsMin || n > SplitsMax {
		faults.Addf(at+"splits", "must have %d to %d items", SplitsMin, SplitsMax)
	}
	field, sum, valid := fieldOfShares(shares), money.Decimal{}, true
	if percentOnly {
		field = "percent"
	}
	for i, s := range shares {
		name := fmt.Sprintf("%ssplits[%d].%s", at, i, field)
		part, err := money.Parse(s.text(field))
		switch {
		case !percentOnly && len(s.stated()) != 1:
			other := map[string]string{"amount": "percent", "percent": "amount", "quantity": "amount"}[field]
			faults.Addf(name, "is required, or %s, but not both; a split has one of amount, percent and quantity", other)
		case !percentOnly && s.text(field) == "":
			faults.Addf(name, "is required, as in the others: either all splits are amounts or all are percentages, or all are quantities")
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
	if hundred := money.FromInt(100); field == "percent" && valid && !sum.Equal(hundred) {
		faults.Addf(at+"splits", "add up to %s percent, but must add up to 100", sum)
	}
}

// fieldOfShares returns the field of the first share that states one only, which the others must state too.
func fieldOfShares(shares []SplitText) string {
	for _, s := range shares {
		if stated := s.stated(); len(stated) == 1 {
			return stated[0]
		}
	}
	return "amount"
}
