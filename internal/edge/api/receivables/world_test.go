package receivables_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// ledger is an organization with a customer whose invoices are written in an accountant's notation: "4010 10x100.00 20% 2050" is a line
// of ten units at 100.00 on the account 4010, with a tax of 20 percent on the account 2050; "tax 5.00 2050" is a tax as an amount.
type ledger struct {
	*apitest.Ledger
	customer client.Customer
}

func openLedger(t *testing.T, s *apitest.Service) *ledger {
	t.Helper()
	n := s.Found(t, "mine")
	return &ledger{n.OpenLedger(t), n.NewCustomer(t, "Northwind")}
}

// lines parses lines in the notation.
func (l *ledger) lines(text string) (out []client.CreateInvoiceLine) {
	for part := range strings.SplitSeq(text, ";") {
		f := strings.Fields(part)
		line := client.CreateInvoiceLine{Description: "Line", LedgerAccountID: l.Accounts[f[0]], UnitPrice: f[1]}
		if quantity, price, ok := strings.Cut(f[1], "x"); ok {
			line.Quantity, line.UnitPrice = quantity, price
		}
		if len(f) > 2 {
			line.TaxLedgerAccountID = l.Accounts[f[len(f)-1]]
			if f[2] == "tax" {
				line.TaxAmount = f[3]
			} else {
				line.TaxRate = strings.TrimSuffix(f[2], "%")
			}
		}
		out = append(out, line)
	}
	return out
}

// params describes an invoice of the customer.
func (l *ledger) params(status, date, lines string) client.CreateInvoice {
	return client.CreateInvoice{LegalEntityID: l.LegalEntity.ID, CustomerID: l.customer.ID, Status: status, InvoiceDate: date,
		Lines: l.lines(lines)}
}

// invoice creates an invoice of the customer.
func (l *ledger) invoice(t *testing.T, status, date, lines string) client.Invoice {
	t.Helper()
	return l.NewInvoice(t, l.params(status, date, lines))
}

// written returns an entry in the notation; accounts without a code have their name.
func (l *ledger) written(t *testing.T, entryID *string) string {
	t.Helper()
	if entryID == nil {
		return ""
	}
	var out []string
	for _, line := range l.Find(t, *entryID).Lines {
		a, err := l.Client.LedgerAccount(t.Context(), line.LedgerAccountID)
		if err != nil {
			t.Fatal(err)
		}
		name := a.Name
		if a.Code != nil {
			name = *a.Code
		}
		out = append(out, map[string]string{"DEBIT": "Dr ", "CREDIT": "Cr "}[line.CreditOrDebit]+name+" "+line.Amount)
	}
	return strings.Join(out, "; ")
}

// amounts returns the subtotal, the tax, the total and what is due on an invoice.
func amounts(i client.Invoice) string {
	return strings.Join([]string{i.Subtotal, i.TaxAmount, i.TotalAmount, i.AmountDue}, " ")
}
