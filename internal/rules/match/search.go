package match

import (
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// search is the match of one deposit.
type search struct {
	*Matcher
	deposit  *Deposit
	policy   Policy
	eligible []bool
	cut      bool  // the pool was cut: a customer may have more invoices
	target   int64 // the deposit, in the units of its currency; tooLarge if no sum of invoices can equal it
	sums     sums

	derived   *Derived
	hints     []hint
	named     []int32 // eligible invoices that the memo names
	unsure    bool    // a named invoice was recognized by a short number only, and nothing but its amount confirms it
	blocked   bool    // the memo names a number that does not exist, so that what it names is not all
	conflict  bool    // pieces of evidence point to different customers
	ladder    []*explanation
	result    Result
	closedDue bool // the deposit looks like the second payment of an invoice that is paid
}

// Match returns suggestions for a deposit. A deposit that is not positive has none.
func (m *Matcher) Match(deposit Deposit, policy Policy) Result {
	if deposit.Amount.Sign() <= 0 {
		return Result{}
	}
	s := &search{Matcher: m, deposit: &deposit, policy: policy, target: unitsOf(deposit.Amount, m.places[deposit.Currency])}
	s.collectPool()
	s.derive()
	s.matchNamed()
	if s.derived != nil {
		s.noteSecondPayment()
		s.matchCustomer()
	} else {
		s.matchAmount()
	}
	s.suggest()
	s.result.Steps += s.sums.steps
	return s.result
}

// collectPool marks the candidates. Of more than the limit, it takes the oldest.
func (s *search) collectPool() {
	s.eligible = make([]bool, len(s.invoices))
	for i := range s.invoices {
		if s.deposit.excludes(&s.invoices[i]) != "" {
			continue
		}
		if s.result.PoolSize == s.limits.pool {
			s.cut, s.result.Truncated = true, true
			break
		}
		s.eligible[i] = true
		s.result.PoolSize++
	}
	s.result.Steps += len(s.invoices)
}

// open returns the candidates of a customer, oldest first.
func (s *search) open(customer string) []int32 {
	all := s.customers[customer]
	s.result.Steps += len(all)
	out := make([]int32, 0, len(all))
	for _, i := range all {
		if s.eligible[i] {
			out = append(out, i)
		}
	}
	return out
}

// derive finds the customer. Invoice numbers in the memo come first, unless they and their amount contradict a payer who is
// known: then a number is more likely to be something else, such as an order.
func (s *search) derive() {
	hints, steps, complete := s.directory.hints(s.deposit)
	s.hints = hints
	s.result.Steps += steps
	s.result.Truncated = s.result.Truncated || !complete
	payer := slices.IndexFunc(hints, hint.single)
	s.readMemo(payer)
	owner := s.ownerOf(s.named)
	switch {
	case owner != "" && (payer < 0 || hints[payer].basis == BySimilarity || hints[payer].customers[0] == owner || s.isNamedSum()):
		s.derived = &Derived{CustomerID: owner, Basis: ByNumber, Reasons: []Reason{because(customerCodePrefix+Code(ByNumber),
			"The memo names %s of the customer.", s.numbersOf(s.named))}}
	case payer >= 0:
		s.derived = &Derived{CustomerID: hints[payer].customers[0], Basis: hints[payer].basis}
	default:
		if len(hints) > 0 {
			s.note(because(PayerAmbiguous, "%d customers have the payer's name or another sign of the payer: it is not known which of them paid.",
				len(hints[0].customers)))
		}
		return
	}
	for _, h := range hints {
		if h.single() && h.customers[0] == s.derived.CustomerID {
			s.derived.Reasons = append(s.derived.Reasons, Reason{customerCodePrefix + Code(h.basis), h.reason})
		}
		s.conflict = s.conflict || h.basis != BySimilarity && !slices.Contains(h.customers, s.derived.CustomerID)
		for _, ids := range h.named {
			s.conflict = s.conflict || !slices.Contains(ids, s.derived.CustomerID)
		}
	}
	for _, i := range s.named {
		s.conflict = s.conflict || s.invoices[i].CustomerID != s.derived.CustomerID
	}
	s.result.Customer = s.derived
}

// ownerOf returns the customer of all of some invoices, or nothing if they have several.
func (s *search) ownerOf(invoices []int32) string {
	owner := ""
	for _, i := range invoices {
		switch c := s.invoices[i].CustomerID; {
		case owner == "":
			owner = c
		case owner != c:
			return ""
		}
	}
	return owner
}

// isNamedSum reports whether the deposit pays the invoices that the memo names, exactly or within the tolerance.
func (s *search) isNamedSum() bool {
	return len(s.named) > 0 && s.near(s.deposit.Amount.Sub(s.due(s.named)))
}

// near reports whether a difference is within the tolerance.
func (s *search) near(delta money.Decimal) bool {
	return delta.Abs().Cmp(s.policy.Tolerance) <= 0 || delta.IsZero()
}

func (s *search) due(invoices []int32) money.Decimal {
	var sum money.Decimal
	for _, i := range invoices {
		sum = sum.Add(s.invoices[i].AmountDue)
	}
	return sum
}

// readMemo finds the invoices that the memo names. payer is the index of the hint that names the customer, or negative.
func (s *search) readMemo(payer int) {
	if len(s.deposit.Memo) > memoMax {
		s.blocked, s.result.Truncated = true, true
	}
	all, steps := s.numbers.mentions(s.deposit.Memo, func(i int32) bool { return s.deposit.sees(&s.invoices[i]) })
	s.result.Steps += steps
	for _, m := range all {
		s.readMention(m, payer)
	}
	slices.Sort(s.named)
	s.named = slices.Compact(s.named)
	if len(s.named) > namesMax {
		s.named, s.blocked, s.result.Truncated = s.named[:namesMax], true, true
	}
}

func (s *search) readMention(m mention, payer int) {
	if len(m.invoices) == 0 {
		amount := s.deposit.Amount
		if m.text == amount.String() || m.text == strings.ReplaceAll(amount.Fixed(s.deposit.Currency), ".", "") {
			return // It is the amount of the deposit, without the point.
		}
		s.blocked = true
		s.note(because(NumberUnknown, "The memo names %s, which looks like an invoice number, but no invoice of the legal entity has it.",
			excerpt(m.text)))
		return
	}
	var candidates, ofPayer []int32
	for _, i := range m.invoices {
		if s.eligible[i] {
			candidates = append(candidates, i)
		}
	}
	if len(candidates) == 0 {
		if !m.weak {
			s.noteClosed(m.invoices[0])
		}
		return
	}
	for _, i := range candidates {
		if payer >= 0 && s.hints[payer].customers[0] == s.invoices[i].CustomerID {
			ofPayer = append(ofPayer, i)
		}
	}
	if len(candidates) > 1 && len(ofPayer) > 0 && len(m.invoices) < sameNumberMax {
		candidates = ofPayer
	}
	if len(candidates) > 1 {
		s.blocked = true
		s.note(because(NumberAmbiguous, "%d open invoices have the number %s, which the memo names.", len(candidates),
			s.invoices[candidates[0]].Number))
		return
	}
	if m.weak && len(ofPayer) == 0 {
		known := payer >= 0 && s.hints[payer].basis != BySimilarity
		if known || !s.invoices[candidates[0]].AmountDue.Equal(s.deposit.Amount) {
			return
		}
		s.unsure = true
	}
	s.named = append(s.named, candidates[0])
}

// note adds a note once.
func (s *search) note(r Reason) {
	if !slices.Contains(s.result.Notes, r) {
		s.result.Notes = append(s.result.Notes, r)
	}
}

func (s *search) noteClosed(i int32) {
	v := &s.invoices[i]
	s.closedDue = s.closedDue || v.Status == Paid
	s.note(because(NumberClosed, "The memo names %s, which this deposit cannot pay. %s", v.Number, s.deposit.Excludes(v).Text))
}

// noteSecondPayment looks for a paid invoice of the customer with the amount of the deposit, if no open one has it.
func (s *search) noteSecondPayment() {
	paid := int32(-1)
	s.result.Steps += len(s.customers[s.derived.CustomerID])
	for _, i := range s.customers[s.derived.CustomerID] {
		v := &s.invoices[i]
		if !s.deposit.sees(v) || v.Currency != s.deposit.Currency {
			continue
		}
		if s.eligible[i] && v.AmountDue.Equal(s.deposit.Amount) {
			return
		}
		if v.Status == Paid && v.Total.Equal(s.deposit.Amount) {
			paid = i
		}
	}
	if paid >= 0 {
		s.closedDue = true
		s.note(because(SecondPayment, "%s is paid and had this amount: the deposit may be a second payment of it.", s.invoices[paid].Number))
	}
}

// numbersOf names invoices in a sentence.
func (s *search) numbersOf(invoices []int32) string {
	names := make([]string, len(invoices))
	for n, i := range invoices {
		names[n] = s.invoices[i].Number
		if names[n] == "" {
			names[n] = s.invoices[i].ID
		}
	}
	return enumerate(names)
}

func (s *search) format(d money.Decimal) string {
	return d.Fixed(s.deposit.Currency) + " " + s.deposit.Currency
}
