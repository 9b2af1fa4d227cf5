package match

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Matcher matches deposits to invoices. It may be used for many deposits, also concurrently as long as nobody calls Reserve.
type Matcher struct {
	directory *directory
	numbers   *numberIndex
	invoices  []Invoice // oldest first; elsewhere an invoice is its index, so that a smaller one is older
	units     []int64   // amounts due in the smallest unit of their currency, or tooLarge
	byID      map[string]int32
	customers map[string][]int32 // invoices by customer
	amounts   map[string][]int32 // invoices by currency, sorted by amount due
	places    map[string]int32   // digits after the point of the amounts of a currency
	limits    limits
}

// New returns a matcher for some customers, their invoices and what was learned from earlier deposits.
func New(customers []Customer, history []Earlier, invoices []Invoice) *Matcher {
	return (&Matcher{directory: newDirectory(customers, history)}).With(invoices)
}

// With returns a matcher for the same customers with other invoices.
func (m *Matcher) With(invoices []Invoice) *Matcher {
	m = &Matcher{directory: m.directory, byID: make(map[string]int32, len(invoices)),
		customers: map[string][]int32{}, amounts: map[string][]int32{}, places: map[string]int32{}, limits: standard}
	m.invoices = slices.Clone(invoices)
	for i := range m.invoices {
		if v := &m.invoices[i]; v.DueDate.IsZero() {
			v.DueDate = v.IssueDate
		}
	}
	slices.SortFunc(m.invoices, compareAge)
	m.invoices = slices.DeleteFunc(m.invoices, func(v Invoice) bool {
		_, twice := m.byID[v.ID]
		m.byID[v.ID] = 0
		return twice // It would be paid twice.
	})
	for i := range m.invoices {
		v, at := &m.invoices[i], int32(i)
		m.byID[v.ID] = at
		m.customers[v.CustomerID] = append(m.customers[v.CustomerID], at)
		m.amounts[v.Currency] = append(m.amounts[v.Currency], at)
		m.places[v.Currency] = max(m.places[v.Currency], placesOf(v.AmountDue))
	}
	m.units = make([]int64, len(m.invoices))
	for i := range m.invoices {
		m.units[i] = unitsOf(m.invoices[i].AmountDue, m.places[m.invoices[i].Currency])
	}
	for _, of := range m.amounts {
		slices.SortFunc(of, func(a, b int32) int {
			if m.units[a] != tooLarge && m.units[b] != tooLarge { // the usual case, without arithmetic on decimals
				return cmp.Or(cmp.Compare(m.units[a], m.units[b]), cmp.Compare(a, b))
			}
			return cmp.Or(m.invoices[a].AmountDue.Cmp(m.invoices[b].AmountDue), cmp.Compare(a, b))
		})
	}
	m.numbers = newNumberIndex(m.invoices)
	return m
}

// WithHistory returns a matcher for the same customers and invoices that has learned from other earlier deposits.
func (m *Matcher) WithHistory(history []Earlier) *Matcher {
	out, learned := *m, *m.directory
	learned.learnAll(history)
	out.directory = &learned
	return &out
}

// Reserve excludes an invoice from further matches, because a deposit was applied to it.
func (m *Matcher) Reserve(invoiceID string) {
	if i, ok := m.byID[invoiceID]; ok {
		m.invoices[i].Reserved = true
	}
}

// compareAge orders the oldest first: by due date, then by issue date.
func compareAge(a, b Invoice) int {
	return cmp.Or(a.DueDate.Compare(b.DueDate), a.IssueDate.Compare(b.IssueDate),
		cmp.Compare(len(a.Number), len(b.Number)), strings.Compare(a.Number, b.Number),
		strings.Compare(a.ID, b.ID))
}

// Ineligible returns why an invoice cannot be paid by any deposit now. The code is empty if it can.
func (v *Invoice) Ineligible() Reason {
	switch v.ineligible() {
	case NotOpen:
		return because(NotOpen, "The invoice is not open; its status is %s.", v.Status)
	case NothingDue:
		return because(NothingDue, "Nothing is due on the invoice.")
	case IsReserved:
		return because(IsReserved, "Another cash application uses the invoice.")
	}
	return Reason{}
}

func (v *Invoice) ineligible() Code {
	switch {
	case v.Status != Open:
		return NotOpen
	case v.AmountDue.Sign() <= 0:
		return NothingDue
	case v.Reserved:
		return IsReserved
	}
	return ""
}

// Excludes returns why a deposit cannot pay an invoice. The code is empty if it can.
func (d *Deposit) Excludes(v *Invoice) Reason {
	switch d.excludes(v) {
	case OtherCurrency:
		return because(OtherCurrency, "The invoice is in %s, the deposit in %s.", v.Currency, d.Currency)
	case OtherEntity:
		return because(OtherEntity, "The invoice belongs to another legal entity than the deposit.")
	case IssuedLater:
		return because(IssuedLater, "The invoice is dated %s, more than %d days after the deposit.", v.IssueDate.UTC().Format(time.DateOnly),
			latestIssue)
	}
	return v.Ineligible()
}

func (d *Deposit) excludes(v *Invoice) Code {
	switch {
	case v.Currency != d.Currency:
		return OtherCurrency
	case !d.sees(v):
		return OtherEntity
	case day(v.IssueDate) > day(d.Date)+latestIssue:
		return IssuedLater
	}
	return v.ineligible()
}

// sees reports whether an invoice belongs to the legal entity of the deposit or to none in particular. Nothing about other
// invoices may show in a result.
func (d *Deposit) sees(v *Invoice) bool {
	return v.LegalEntityID == "" || v.LegalEntityID == d.LegalEntityID
}

// day is the number of a day in UTC.
func day(t time.Time) int64 {
	const seconds = 24 * 60 * 60
	s := t.Unix()
	if s < 0 {
		s -= seconds - 1
	}
	return s / seconds
}

// tooLarge marks an amount that does not fit into units.
const tooLarge = math.MaxInt64

// unitMax is the largest amount in units, so that the products and sums of a few still fit.
const unitMax = math.MaxInt64 / (2 * combinedMax)

// placesOf returns the digits after the point that an amount needs.
func placesOf(d money.Decimal) int32 {
	var buf [96]byte
	text := d.AppendFixed(buf[:0], 0)
	for i, c := range text {
		if c == '.' {
			return int32(len(text) - i - 1)
		}
	}
	return 0
}

// unitsOf returns a positive amount in units of a number of digits after the point, or tooLarge if that is not possible.
func unitsOf(d money.Decimal, places int32) int64 {
	var buf [96]byte
	units, after, pointed := int64(0), int32(0), false
	for _, c := range d.AppendFixed(buf[:0], places) {
		if c == '.' {
			pointed = true
			continue
		}
		if c < '0' || c > '9' || units > unitMax/10 {
			return tooLarge
		}
		if units = units*10 + int64(c-'0'); pointed {
			after++
		}
	}
	if units > unitMax || after > places {
		return tooLarge
	}
	return units
}
