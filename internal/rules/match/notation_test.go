package match_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// company is customers, invoices and a history in the notation of these tests.
type company struct {
	customers []match.Customer
	history   []match.Earlier
	invoices  []match.Invoice
	policy    match.Policy
}

func date(text string) time.Time {
	t, err := time.Parse(time.DateOnly, "2026-"+text)
	if err != nil {
		panic(err)
	}
	return t
}

// read adds the lines of a text:
//
//	customer acme Acme GmbH | Acme Payments | 0xA1 | pay@acme.com | cus_1
//	invoice INV-1 acme 1000.00 due 01-31 status=paid currency=EUR entity=de issued=01-01 total=1000.00 reserved id=x
//	earlier 3 -1 acme WISE PAYMENTS
//	tolerance 5.00
func (c *company) read(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		switch f[0] {
		case "customer":
			c.readCustomer(f[1], strings.Join(f[2:], " "))
		case "invoice":
			c.readInvoice(f[1:])
		case "earlier":
			h := match.Earlier{CustomerID: f[3], PayerName: strings.Join(f[4:], " ")}
			if strings.HasPrefix(h.PayerName, "0x") {
				h.PayerName, h.PayerAddress = "", h.PayerName
			}
			if _, err := fmt.Sscan(f[1]+" "+strings.TrimPrefix(f[2], "-"), &h.Confirmed, &h.Voided); err != nil {
				panic(err)
			}
			c.history = append(c.history, h)
		case "tolerance":
			c.policy.Tolerance = money.MustParse(f[1])
		default:
			panic("what is " + line)
		}
	}
}

func (c *company) readCustomer(id, rest string) {
	all := strings.Split(rest, " | ")
	customer := match.Customer{ID: id, Name: all[0]}
	for _, other := range all[1:] {
		switch {
		case strings.HasPrefix(other, "0x"):
			customer.Addresses = append(customer.Addresses, other)
		case strings.HasPrefix(other, "cus_"):
			customer.ProcessorIDs = append(customer.ProcessorIDs, other)
		case strings.Contains(other, "@"):
			customer.Emails = append(customer.Emails, other)
		default:
			customer.Aliases = append(customer.Aliases, other)
		}
	}
	c.customers = append(c.customers, customer)
}

func (c *company) readInvoice(f []string) {
	v := match.Invoice{ID: "inv_" + f[0], Number: f[0], CustomerID: f[1], AmountDue: money.MustParse(f[2]), Currency: "USD",
		Status: match.Open, DueDate: date(f[4])}
	v.Total, v.IssueDate = v.AmountDue, v.DueDate.AddDate(0, 0, -30)
	for _, option := range f[5:] {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "status":
			if v.Status = match.Status(value); v.Status == match.Paid {
				v.AmountDue = money.Decimal{}
			}
		case "issued":
			v.IssueDate = date(value)
		case "total":
			v.Total = money.MustParse(value)
		case "reserved":
			v.Reserved = true
		default:
			*map[string]*string{"currency": &v.Currency, "entity": &v.LegalEntityID, "id": &v.ID}[key] = value
		}
	}
	c.invoices = append(c.invoices, v)
}

// deposit reads "1000.00 Acme GmbH / memo"; a payer that begins with 0x or cus_ is an address or a processor's customer.
func deposit(text string) match.Deposit {
	payer, memo, _ := strings.Cut(text, "/")
	amount, payer, _ := strings.Cut(payer, " ")
	d := match.Deposit{Amount: money.MustParse(amount), Currency: "USD", Date: date("03-01"), LegalEntityID: "us",
		PayerName: strings.TrimSpace(payer), Memo: strings.TrimSpace(memo)}
	switch {
	case strings.HasPrefix(d.PayerName, "0x"):
		d.PayerName, d.PayerAddress = "", d.PayerName
	case strings.HasPrefix(d.PayerName, "cus_"):
		d.PayerName, d.ProcessorCustomerID = "", d.PayerName
	}
	return d
}

// show writes a suggestion as "customer_exact 0.97 INV-1:1000.00 delta -5.00 certain".
func show(s match.Suggestion) string {
	var out []string
	for _, a := range s.Allocations {
		out = append(out, a.InvoiceNumber+":"+a.Amount.Fixed("USD"))
	}
	text := fmt.Sprintf("%s %s %s", s.Type, s.Confidence, strings.Join(out, "+"))
	if !s.Delta.IsZero() {
		text += " delta " + s.Delta.Fixed("USD")
	}
	if s.Certain() {
		text += " certain"
	}
	return text
}

func showAll(r match.Result) string {
	var out []string
	for _, s := range r.Suggestions {
		out = append(out, show(s))
	}
	return strings.Join(out, "; ")
}

// row is a test in the notation: what the books hold, a deposit, and the suggestions.
type row struct{ name, books, deposit, want string }

func checkRows(t *testing.T, common string, rows []row) {
	t.Helper()
	for _, r := range rows {
		var c company
		c.read(common)
		c.read(r.books)
		got := match.New(c.customers, c.history, c.invoices).Match(deposit(r.deposit), c.policy)
		if showAll(got) != r.want {
			t.Errorf("%s:\n got %s\nwant %s\nnotes %v", r.name, strings.ReplaceAll(showAll(got), "; ", "\n     "),
				strings.ReplaceAll(r.want, "; ", "\n     "), got.Notes)
		}
		for _, s := range got.Suggestions {
			if len(s.Reasons) == 0 || s.Reasons[0].Text == "" {
				t.Errorf("%s: %s has no reasons", r.name, show(s))
			}
		}
	}
}
