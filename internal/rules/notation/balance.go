package notation

import (
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// sums are totals by currency, in order of first appearance. Entries have few currencies, so a slice is fast enough.
type sums []sum

type sum struct {
	currency string
	total    money.Decimal
}

func (s *sums) add(amount money.Decimal, currency string) error {
	for i := range *s {
		if (*s)[i].currency == currency {
			(*s)[i].total = (*s)[i].total.Add(amount)
			return nil
		}
	}
	if len(*s) == currenciesMax {
		return fault.Malformedf("the entry has more than %d currencies; split it", currenciesMax)
	}
	*s = append(*s, sum{currency, amount})
	return nil
}

// nonZero returns the totals that are not zero.
func (s sums) nonZero() sums {
	var open sums
	for _, each := range s {
		if !each.total.IsZero() {
			open = append(open, each)
		}
	}
	return open
}

// String formats the totals for an error.
func (s sums) String() string {
	parts := make([]string, len(s))
	for i, each := range s {
		parts[i] = each.total.Fixed(each.currency) + " " + each.currency
	}
	return strings.Join(parts, ", ")
}

// validateBalance rejects an entry that does not balance to the last digit.
func validateBalance(e *Entry) error {
	var s sums
	for i := range e.Postings {
		if err := s.add(e.Postings[i].weight()); err != nil {
			return err
		}
	}
	if open := s.nonZero(); open != nil {
		return fault.Conflictf("%s does not balance: debits less credits are %s; finish it, or leave it out of this export",
			entryName(e), open)
	}
	return nil
}

// leg is a posting as written in a file, before missing amounts are computed.
type leg struct {
	Posting
	elided     bool // The amount was left out.
	unit       bool // The base amount was computed from a unit price.
	zero       bool // Moves nothing, and is dropped.
	places     int  // Decimal places of the amount, as written.
	costFree   bool // The cost is a zero without a currency, which is to be inferred.
	costPlaces int  // Decimal places of a total cost.
}

// balance completes the postings of an entry and returns them balanced. It follows the rules of hledger and beancount:
// one amount may be missing; an amount in one currency against an amount in another is a conversion; and if a unit
// price yields a total that is off by less than half of the last digit written, that total is adjusted.
func balance(legs []leg) ([]Posting, error) {
	if err := inferFreeCost(legs); err != nil {
		return nil, err
	}
	elided := -1
	for i := range legs {
		if legs[i].elided && elided >= 0 {
			return nil, fault.Malformedf("two amounts are missing and at most one can be computed; write the other, " +
				"with at least two spaces between account and amount")
		}
		if legs[i].elided {
			elided = i
		}
	}
	open, err := imbalance(legs)
	if err != nil {
		return nil, err
	}
	if elided >= 0 {
		return fillElided(legs, elided, open)
	}
	if open = adjustRounding(legs, open); open != nil {
		inferConversion(legs, open)
		if open, err = imbalance(legs); err != nil {
			return nil, err
		}
		if open != nil {
			return nil, fault.Malformedf("the entry does not balance: debits less credits are %s; correct an amount", open)
		}
	}
	return nonZeroPostings(legs), nil
}

// imbalance returns the nonzero totals of the stated amounts.
func imbalance(legs []leg) (sums, error) {
	var s sums
	for i := range legs {
		if legs[i].elided || legs[i].zero {
			continue
		}
		if err := s.add(legs[i].weight()); err != nil {
			return nil, err
		}
	}
	return s.nonZero(), nil
}

// nonZeroPostings returns the postings that move something.
func nonZeroPostings(legs []leg) []Posting {
	postings := make([]Posting, 0, len(legs))
	for i := range legs {
		if !legs[i].zero {
			postings = append(postings, legs[i].Posting)
		}
	}
	return postings
}

// fillElided computes the missing amount: one posting for each currency that does not balance, none if all do.
func fillElided(legs []leg, elided int, open sums) ([]Posting, error) {
	var postings []Posting
	for i := range legs {
		if i != elided {
			if !legs[i].zero {
				postings = append(postings, legs[i].Posting)
			}
			continue
		}
		for n, each := range open {
			p := legs[i].Posting
			p.Debit = each.total.Sign() < 0
			p.Amount, p.Currency = each.total.Abs(), each.currency
			if err := validateDigits(p.Amount); err != nil {
				return nil, err
			}
			if n > 0 {
				p.Memo = ""
			}
			postings = append(postings, p)
		}
	}
	return postings, nil
}

// adjustRounding adds a rounding difference to the largest amount computed from a unit price, and returns the totals
// that still do not balance.
func adjustRounding(legs []leg, open sums) sums {
	var rest sums
	for _, each := range open {
		largest, places, written := -1, 0, false
		for i := range legs {
			_, currency := legs[i].weight()
			switch {
			case legs[i].zero || currency != each.currency:
			case legs[i].unit:
				if largest < 0 || legs[i].Base.Cmp(*legs[largest].Base) > 0 {
					largest = i
				}
			default:
				written = true
				places = max(places, legs[i].precision())
			}
		}
		if !written {
			minor, _ := money.MinorUnits(each.currency)
			places = int(minor)
		}
		if largest < 0 || !each.total.Round(int32(places)).IsZero() {
			rest = append(rest, each)
			continue
		}
		p := &legs[largest].Posting
		change := each.total
		if p.Debit {
			change = change.Neg()
		}
		base := p.Base.Add(change)
		if base.Sign() < 0 {
			rest = append(rest, each)
			continue
		}
		p.Base = &base
	}
	return rest
}

func (l *leg) precision() int {
	if l.Base != nil {
		return l.costPlaces
	}
	return l.places
}

// inferConversion treats an amount in one currency against an amount in another, neither with a cost, as an exchange:
// the cost of the currency that appears first is the total of the other.
func inferConversion(legs []leg, open sums) {
	if len(open) != 2 || open[0].total.Sign() == open[1].total.Sign() {
		return
	}
	first, second := open[0].currency, open[1].currency
	var places int
	largest := -1
	for i := range legs {
		_, currency := legs[i].weight()
		switch {
		case legs[i].zero:
		case legs[i].Base != nil && (currency == first || currency == second):
			return // Some costs are stated, so none is to be inferred.
		case currency == first && (largest < 0 || legs[i].Amount.Cmp(legs[largest].Amount) > 0):
			largest = i
		case currency == second:
			places = max(places, legs[i].places)
		}
	}
	total, received := open[1].total.Abs(), open[0].total.Abs()
	if minor, ok := money.MinorUnits(second); ok {
		places = max(places, int(minor))
	}
	given := open[1].total
	for i := range legs {
		if legs[i].zero || i == largest || legs[i].Currency != first {
			continue
		}
		base := legs[i].Amount.Mul(total).Quo(received, int32(places))
		legs[i].Base, legs[i].BaseCurrency = &base, second
		weight, _ := legs[i].weight()
		given = given.Add(weight)
	}
	base := given.Neg()
	if !legs[largest].Debit {
		base = given
	}
	if base.Sign() >= 0 {
		legs[largest].Base, legs[largest].BaseCurrency = &base, second
	}
}

// inferFreeCost assigns the only other currency of the entry to a zero cost without a currency, because hledger prints
// a cost of zero that way.
func inferFreeCost(legs []leg) error {
	var s sums
	free := false
	for i := range legs {
		free = free || legs[i].costFree
		if legs[i].elided || legs[i].zero || legs[i].costFree {
			continue
		}
		if err := s.add(legs[i].weight()); err != nil {
			return err
		}
	}
	for i := range legs {
		if !free || !legs[i].costFree || legs[i].zero {
			continue
		}
		var others []string
		for _, each := range s {
			if each.currency != legs[i].Currency {
				others = append(others, each.currency)
			}
		}
		if len(others) != 1 {
			return fault.Malformedf("the cost of %s %s is zero without a currency; write one, such as @@ 0 USD",
				legs[i].Amount, legs[i].Currency)
		}
		legs[i].BaseCurrency = others[0]
	}
	return nil
}
