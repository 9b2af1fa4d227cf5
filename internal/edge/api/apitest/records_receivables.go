package apitest

import (
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
)

// NewCustomer creates a customer with everything that a customer can have.
func (n *Tenant) NewCustomer(t *testing.T, name string) client.Customer {
	t.Helper()
	made, err := n.Client.CreateCustomer(t.Context(), client.CreateCustomer{Name: name, Email: "billing@example.com",
		ExternalReferences: []client.ExternalReference{{Provider: "stripe", ExternalID: client.NewIdempotencyKey()}},
		PayerNames:         []string{name + " Trading"}, Addresses: []string{"0x" + client.NewIdempotencyKey()}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// NewCreditNote issues a credit note of 12.00 with tax, of an open invoice of its own or of none.
func (n *Tenant) NewCreditNote(t *testing.T, ofInvoice bool) client.CreditNote {
	t.Helper()
	c := client.CreateCreditNote{LegalEntityID: n.LegalEntity.ID, CreditNoteDate: "2026-02-15", Memo: "Less"}
	c.Lines = []client.CreateInvoiceLine{{
		Description: "One day less", Product: "Nodes", UnitPrice: "10.00", TaxRate: "20", LedgerAccountID: n.AccountByCode(t, "4010").ID,
		TaxLedgerAccountID: n.AccountByCode(t, "2050").ID}}
	if c.CustomerID = n.NewCustomer(t, "Northwind").ID; ofInvoice {
		c.InvoiceID = n.NewInvoice(t, client.CreateInvoice{Status: "open", CustomerID: c.CustomerID}).ID
	}
	made, err := n.Client.CreateCreditNote(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// NewInvoice creates an invoice, by default a draft of 31 January 2026 of 1200.00 with tax, to a customer of its own.
func (n *Tenant) NewInvoice(t *testing.T, i client.CreateInvoice) client.Invoice {
	t.Helper()
	if i.LegalEntityID == "" {
		i.LegalEntityID = n.LegalEntity.ID
	}
	if i.CustomerID == "" {
		i.CustomerID = n.NewCustomer(t, "Northwind").ID
	}
	if i.InvoiceDate == "" {
		i.InvoiceDate = "2026-01-31"
	}
	if i.Lines == nil {
		i.Lines = []client.CreateInvoiceLine{{Description: "Node operation", Product: "Nodes", Quantity: "10", UnitPrice: "100.00", TaxRate: "20",
			LedgerAccountID: n.AccountByCode(t, "4010").ID, TaxLedgerAccountID: n.AccountByCode(t, "2050").ID}}
	}
	made, err := n.Client.CreateInvoice(t.Context(), i)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// NewDeposit creates a deposit of an amount in USD by a payer on 31 January 2026 at a bank account of its own.
func (n *Tenant) NewDeposit(t *testing.T, payer, amount string) client.Transaction {
	t.Helper()
	return n.newPayment(t, payer, amount, "credit")
}

// NewPaymentOut creates a payment of an amount in USD to somebody on 31 January 2026 from a bank account of its own.
func (n *Tenant) NewPaymentOut(t *testing.T, payee, amount string) client.Transaction {
	t.Helper()
	return n.newPayment(t, payee, amount, "debit")
}

func (n *Tenant) newPayment(t *testing.T, counterparty, amount, direction string) client.Transaction {
	t.Helper()
	made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: n.NewSource(t, client.CreateSource{}).ID,
		ExternalID: client.NewIdempotencyKey(), Bank: &client.TransactionBank{CounterpartyName: &counterparty},
		External: client.CreateTransactionExternal{Timestamp: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), Description: "Payment",
			Direction: direction, Quantity: &amount, Currency: "USD"}})
	if err != nil {
		t.Fatal(err)
	}
	return made.Data[0]
}

// NewCashApplication applies a deposit of 1300.00 to an open invoice of 1200.00, so that 100.00 are unapplied.
func (n *Tenant) NewCashApplication(t *testing.T) client.CashApplication {
	t.Helper()
	i := n.NewInvoice(t, client.CreateInvoice{Status: "open"})
	made, err := n.Client.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: n.NewDeposit(t, "Northwind",
		"1300.00").ID, Allocations: []client.Allocation{{TargetID: i.ID, Amount: "1200.00"}}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
