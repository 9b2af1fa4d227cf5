package match

import (
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Confidence of the rungs of the ladder, in percent.
const (
	confidenceNamed         = 99
	confidenceCustomerExact = 97
	confidenceAmount        = 90 // of one invoice while the customer is not known
	confidenceBalance       = 95
	confidenceRun           = 90
	confidenceLessFew       = 85
	confidenceTwo           = 85
	confidenceThree         = 80
	confidenceSeveral       = 70
	confidenceNamedPart     = 80 // too little or too much for invoices that the memo names
	confidenceGuess         = 50 // too little for the oldest invoice, or more than the whole balance

	// tolerancePercent is how much of the confidence is lost at the end of the tolerance.
	tolerancePercent = 15
)

// explanation is a possible suggestion: what the deposit may have been meant to pay.
type explanation struct {
	kind       Type
	confidence int64 // of its class, in percent
	of         int64 // the number of solutions of its class, among which the confidence is divided
	invoices   []int32
	part       money.Decimal // of the last invoice that is allocated, if it is not paid in full
	parted     bool
	total      money.Decimal
	delta      money.Decimal
	named      bool // exactly the invoices that the memo names
	reasons    []Reason
}

// exact reports whether the invoices are paid in full and nothing is left.
func (e *explanation) exact() bool { return !e.parted && e.delta.IsZero() }

// add adds an explanation that pays invoices in full, unless a better one pays the same.
func (s *search) add(e explanation) {
	e.total = s.due(e.invoices)
	if e.parted {
		e.total = e.total.Sub(s.invoices[e.invoices[len(e.invoices)-1]].AmountDue).Add(e.part)
	}
	e.delta = s.deposit.Amount.Sub(e.total)
	for _, have := range s.ladder {
		if slices.Equal(have.invoices, e.invoices) && have.parted == e.parted {
			return // Rungs are tried in the order of their confidence.
		}
	}
	s.ladder = append(s.ladder, &e)
}

// matchNamed compares the deposit with the invoices that the memo names.
func (s *search) matchNamed() {
	if len(s.named) == 0 {
		return
	}
	sum := s.due(s.named)
	numbers := s.numbersOf(s.named)
	reason := because(NumbersInMemo, "The memo names %s, on which %s is due.", numbers, s.format(sum))
	if s.isNamedSum() && !s.blocked {
		e := explanation{kind: Exact, confidence: confidenceNamed, of: 1, invoices: s.named, named: true, reasons: []Reason{reason}}
		s.add(e)
	}
	if s.ownerOf(s.named) == "" {
		return
	}
	switch s.deposit.Amount.Cmp(sum) {
	case -1:
		s.addPart(confidenceNamedPart, s.named, reason)
	case 1:
		s.add(explanation{kind: Overpayment, confidence: confidenceNamedPart, of: 1, invoices: s.named, reasons: []Reason{reason,
			because(MoreThanDue, "The deposit exceeds it by %s, which stays unapplied.", s.format(s.deposit.Amount.Sub(sum)))}})
	}
}

// addPart adds an explanation that pays invoices in turn, oldest first, and the last one in part.
func (s *search) addPart(confidence int64, invoices []int32, reason Reason) {
	rest := s.deposit.Amount
	for n, i := range invoices {
		v := &s.invoices[i]
		if v.AmountDue.Cmp(rest) <= 0 {
			if rest = rest.Sub(v.AmountDue); rest.IsZero() {
				return // The first ones are paid in full; another rung finds that.
			}
			continue
		}
		s.add(explanation{kind: Partial, confidence: confidence, of: 1, invoices: invoices[:n+1], part: rest, parted: true,
			reasons: []Reason{reason, because(PartOfInvoice, "The deposit pays %s of %s due on %s.", s.format(rest), s.format(v.AmountDue),
				v.Number)}})
		return
	}
}

// matchAmount looks for invoices with the amount of the deposit while the customer is not known.
func (s *search) matchAmount() {
	s.addAmounts(Exact, confidenceAmount, s.withAmount(), Reason{CustomerUnknown, "It is not known which customer paid."})
}

// withAmount returns the candidates of all customers with the amount of the deposit or, if there are none, those within the
// tolerance, oldest first.
func (s *search) withAmount() []int32 {
	sorted := s.amounts[s.deposit.Currency]
	within := func(low, high money.Decimal) (out []int32) {
		n, _ := slices.BinarySearchFunc(sorted, low, func(i int32, low money.Decimal) int {
			if s.invoices[i].AmountDue.Cmp(low) < 0 {
				return -1
			}
			return 1
		})
		for ; n < len(sorted) && s.invoices[sorted[n]].AmountDue.Cmp(high) <= 0; n++ {
			s.result.Steps++
			if s.eligible[sorted[n]] {
				out = append(out, sorted[n])
			}
		}
		slices.Sort(out)
		return out
	}
	if equal := within(s.deposit.Amount, s.deposit.Amount); len(equal) > 0 || s.policy.Tolerance.Sign() <= 0 {
		return equal
	}
	return within(s.deposit.Amount.Sub(s.policy.Tolerance), s.deposit.Amount.Add(s.policy.Tolerance))
}

// equalOrNear does the same among some candidates.
func (s *search) equalOrNear(candidates []int32) []int32 {
	s.result.Steps += len(candidates)
	var equal, near []int32
	for _, i := range candidates {
		switch delta := s.deposit.Amount.Sub(s.invoices[i].AmountDue); {
		case delta.IsZero():
			equal = append(equal, i)
		case s.near(delta):
			near = append(near, i)
		}
	}
	if len(equal) > 0 {
		return equal
	}
	return near
}

// addAmounts adds an explanation for each of some invoices whose amount due is that of the deposit, or nearly.
func (s *search) addAmounts(kind Type, confidence int64, invoices []int32, why ...Reason) {
	if len(invoices) > s.limits.suggestions {
		// Those with the smallest difference, then the oldest.
		slices.SortStableFunc(invoices, func(a, b int32) int { return s.difference(a).Cmp(s.difference(b)) })
	}
	for _, i := range invoices[:min(len(invoices), s.limits.suggestions)] {
		v := &s.invoices[i]
		reason := because(AmountEqual, "Exactly %s is due on %s.", s.format(v.AmountDue), v.Number)
		if !v.AmountDue.Equal(s.deposit.Amount) {
			reason = because(AmountNear, "%s is due on %s, which differs from the deposit by no more than the tolerance of %s.",
				s.format(v.AmountDue), v.Number, s.format(s.policy.Tolerance))
		}
		s.add(explanation{kind: kind, confidence: confidence, of: int64(len(invoices)), invoices: []int32{i},
			reasons: append([]Reason{reason}, why...)})
	}
}

func (s *search) difference(i int32) money.Decimal {
	return s.invoices[i].AmountDue.Sub(s.deposit.Amount).Abs()
}

// matchCustomer climbs the rungs that need a customer.
func (s *search) matchCustomer() {
	open := s.open(s.derived.CustomerID)
	if len(open) == 0 {
		return
	}
	s.addAmounts(CustomerExact, confidenceCustomerExact, s.equalOrNear(open))
	s.combine(open)
	if s.closedDue {
		return // It is known what the payer meant, and it is none of these.
	}
	oldest := &s.invoices[open[0]]
	if s.deposit.Amount.Cmp(oldest.AmountDue) < 0 {
		s.addPart(confidenceGuess, open[:1], because(OldestInvoices, "%s is the customer's oldest open invoice.", oldest.Number))
	}
	if sum := s.due(open); s.deposit.Amount.Cmp(sum) > 0 && !s.cut {
		s.add(explanation{kind: Overpayment, confidence: confidenceGuess, of: 1, invoices: open, reasons: []Reason{
			because(WholeBalance, "The customer's open invoices add up to %s.", s.format(sum)),
			because(MoreThanDue, "The deposit exceeds it by %s, which stays unapplied.", s.format(s.deposit.Amount.Sub(sum)))}})
	}
}
