package match

import (
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
)

// CertainMin is the confidence from which a suggestion may be certain.
var CertainMin = money.MustParse("0.95")

// confidencePlaces is the number of digits after the point of a confidence.
const confidencePlaces = 4

// suggest turns the best explanations into suggestions.
func (s *search) suggest() {
	confidence := make(map[*explanation]money.Decimal, len(s.ladder))
	for _, e := range s.ladder {
		confidence[e] = s.confidenceOf(e)
	}
	slices.SortStableFunc(s.ladder, func(a, b *explanation) int {
		if c := confidence[b].Cmp(confidence[a]); c != 0 {
			return c
		}
		if c := a.delta.Abs().Cmp(b.delta.Abs()); c != 0 {
			return c // Of equal confidence, what explains all of the deposit comes first.
		}
		if len(a.invoices) != len(b.invoices) {
			return len(a.invoices) - len(b.invoices)
		}
		return slices.Compare(a.invoices, b.invoices)
	})
	for _, e := range s.ladder[:min(len(s.ladder), s.limits.suggestions)] {
		c := confidence[e]
		s.result.Suggestions = append(s.result.Suggestions, Suggestion{Type: e.kind, Confidence: c, Total: e.total, Delta: e.delta,
			Allocations: s.allocate(e), Reasons: s.reasonsFor(e), Doubts: s.doubts(e, c)})
	}
}

// confidenceOf divides the confidence of a class among its solutions, and lowers it by a difference within the tolerance.
func (s *search) confidenceOf(e *explanation) money.Decimal {
	dividend, divisor := money.FromInt(e.confidence), money.FromInt(100).Mul(money.FromInt(e.of))
	if (e.kind == Exact || e.kind == CustomerExact) && !e.delta.IsZero() {
		whole := money.FromInt(100).Mul(s.policy.Tolerance)
		dividend = dividend.Mul(whole.Sub(money.FromInt(tolerancePercent).Mul(e.delta.Abs())))
		divisor = divisor.Mul(whole)
	}
	return dividend.Quo(divisor, confidencePlaces)
}

func (s *search) allocate(e *explanation) []Allocation {
	all := make([]Allocation, len(e.invoices))
	for n, i := range e.invoices {
		v := &s.invoices[i]
		all[n] = Allocation{v.ID, v.Number, v.CustomerID, v.AmountDue}
	}
	if e.parted {
		all[len(all)-1].Amount = e.part
	}
	return all
}

func (s *search) reasonsFor(e *explanation) []Reason {
	reasons := slices.Clone(e.reasons)
	if e.of > 1 {
		reasons = append(reasons, because(OneOfSeveral, "It is one of %d explanations of this kind.", e.of))
	}
	if s.deposit.Fee.Sign() > 0 {
		reasons = append(reasons, because(FeeIncluded, "The deposit includes the fee of %s that was withheld.", s.format(s.deposit.Fee)))
	}
	if s.derived != nil && s.ownerOf(e.invoices) == s.derived.CustomerID {
		reasons = append(reasons, s.derived.Reasons...)
	}
	return reasons
}

// doubts returns every reason not to apply an explanation without a person. None means that it is certain:
//
//   - its confidence is at least CertainMin, and nothing is left over or missing;
//   - nothing else explains the deposit exactly, unless the memo names these invoices;
//   - no search that could have found another explanation was cut short;
//   - who paid is known by more than a similar or longer name, which may be that of a sister company, or earlier deposits, which
//     an agent may have made, and no evidence points to somebody else;
//   - the memo names no invoice that is not among those paid, and no number that does not exist or cannot be paid.
func (s *search) doubts(e *explanation, confidence money.Decimal) (all []Reason) {
	doubt := func(is bool, code Code, format string, args ...any) {
		if is {
			all = append(all, because(code, format, args...))
		}
	}
	doubt(confidence.Cmp(CertainMin) < 0, LowConfidence, "The confidence is %s, less than %s.", confidence, CertainMin)
	doubt(!e.delta.IsZero(), HasDifference, "The deposit and the invoices differ by %s.", s.format(e.delta.Abs()))
	doubt(s.cut || s.result.Truncated && !e.named, SearchIncomplete, "Not all invoices could be compared.")
	doubt(!e.named && (e.of > 1 || s.rivals(e)), NotUnique, "Other invoices explain the deposit exactly too.")
	doubt(s.conflict, EvidenceConflicts, "The payer, the text and the invoice numbers of the deposit point to different customers.")
	doubt(s.ownerOf(e.invoices) == "", SeveralCustomers, "The invoices belong to several customers.")
	doubt(s.unsure, NumberUnconfirmed, "The invoice number in the memo is short, and nothing but the amount confirms it.")
	doubt(slices.ContainsFunc(s.named, func(i int32) bool { return !contains(e.invoices, i) }), NumberLeftOut,
		"The memo names invoices that this leaves out.")
	if s.derived != nil && !e.named {
		doubt(s.derived.Basis == BySimilarity || s.derived.Basis == ByText, NameDiffers, "The payer's name is not exactly that of the customer.")
		doubt(s.derived.Basis == ByHistory, PayerLearned, "The payer is known only from earlier deposits, and may pay for several customers. If "+
			"it pays for this one only, add its name or address to the customer.")
	}
	return append(all, s.result.Notes...)
}

// rivals reports whether another explanation pays the deposit exactly.
func (s *search) rivals(e *explanation) bool {
	return slices.ContainsFunc(s.ladder, func(other *explanation) bool { return other != e && other.exact() })
}

// contains reports whether a sorted list has an invoice.
func contains(sorted []int32, i int32) bool {
	_, ok := slices.BinarySearch(sorted, i)
	return ok
}
