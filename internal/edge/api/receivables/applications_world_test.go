package receivables_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
)

// deposit creates a deposit at the bank account of the ledger, in the notation "2026-02-10 Northwind 100.00 EUR: INV-1": the date, who
// paid, how much, the currency if it is not USD, and the memo. An amount "100.00-3.00" includes a fee of 3.00.
func (l *ledger) deposit(t *testing.T, text string) client.Transaction {
	t.Helper()
	return l.payment(t, "credit", text)
}

// payOut creates a payment out of the bank account of the ledger, in the same notation.
func (l *ledger) payOut(t *testing.T, text string) client.Transaction {
	t.Helper()
	return l.payment(t, "debit", text)
}

func (l *ledger) payment(t *testing.T, direction, text string) client.Transaction {
	t.Helper()
	text, memo, _ := strings.Cut(text, ": ")
	f := strings.Fields(text)
	currency := "USD"
	if last := f[len(f)-1]; len(last) == 3 && strings.ToUpper(last) == last && last > "A" {
		currency, f = last, f[:len(f)-1]
	}
	at, err := time.Parse(time.DateOnly, f[0])
	if err != nil {
		t.Fatal(err)
	}
	amount, fee, withheld := strings.Cut(f[len(f)-1], "-")
	external := client.CreateTransactionExternal{Timestamp: at.Add(12 * time.Hour), Description: memo, Direction: direction,
		Currency: currency, Quantity: &amount}
	if withheld {
		external.ValueFiat = &client.ValuedFiat{Gross: amount, Fee: fee, Net: less(amount, fee), Currency: currency}
	}
	made, err := l.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: l.bank(t, currency), External: external,
		ExternalID: client.NewIdempotencyKey(), Bank: &client.TransactionBank{CounterpartyName: new(strings.Join(f[1:len(f)-1], " "))}})
	if err != nil {
		t.Fatal(err)
	}
	return made.Data[0]
}

// less returns a difference.
func less(a, b string) string { return money.MustParse(a).Sub(money.MustParse(b)).Fixed("USD") }

// bank returns the bank account in a currency, and creates it if there is none.
func (l *ledger) bank(t *testing.T, currency string) string {
	t.Helper()
	for s, err := range l.Client.Sources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Name == "Bank "+currency {
			return s.ID
		}
	}
	return l.NewSource(t, client.CreateSource{Name: "Bank " + currency, Currency: currency}).ID
}

// allocate returns allocations of amounts to invoices in turn.
func allocate(invoices []client.Invoice, amounts ...string) (out []client.Allocation) {
	for n, amount := range amounts {
		out = append(out, client.Allocation{TargetType: "invoice", TargetID: invoices[n].ID, Amount: amount})
	}
	return out
}

// apply applies a deposit to invoices.
func (l *ledger) apply(t *testing.T, deposit client.Transaction, invoices []client.Invoice, amounts ...string) client.CashApplication {
	t.Helper()
	made, err := l.Client.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: deposit.ID,
		Allocations: allocate(invoices, amounts...)})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// state returns the status of an invoice and what is due on it.
func (l *ledger) state(t *testing.T, i client.Invoice) string {
	t.Helper()
	now, err := l.Client.Invoice(t.Context(), i.ID)
	if err != nil {
		t.Fatal(err)
	}
	return now.Status + " " + now.AmountDue
}

// sums returns the status of an application and its amounts: paid, applied, written off, unapplied, available.
func sums(a client.CashApplication) string {
	return strings.Join([]string{a.Status, a.TotalAmount, a.AppliedAmount, a.WrittenOffAmount, a.UnappliedAmount, a.AvailableAmount}, " ")
}
