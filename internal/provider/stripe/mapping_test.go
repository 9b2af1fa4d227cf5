package stripe

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

// decode reads an object in the form in which Stripe sends it.
func decode[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBalanceTransactionsBecomeTransactionsOfTheirTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, category, numbers, want string }{
		{"charge", "charge", `"amount": 120000, "fee": 2510, "net": 117490`, "in 1200 (1200-25.1=1174.9 USD) INVOICE"},
		{"payment", "charge", `"amount": 500, "fee": 0, "net": 500`, "in 5 (5-0=5 USD) INVOICE"},
		{"charge", "charge", `"amount": 30, "fee": 31, "net": -1`, "out 0.01 (0.01-0=0.01 USD) FEE"},
		{"charge", "charge", `"amount": 30, "fee": 30, "net": 0`, "in 0.3 (0.3-0.3=0 USD) INVOICE"},
		{"payout", "payout", `"amount": -50000, "fee": 0, "net": -50000`, "out 500 (500-0=500 USD) INTERNAL TRANSFER"},
		{"payout_failure", "payout_reversal", `"amount": 50000, "fee": 0, "net": 50000`, "in 500 (500-0=500 USD) INTERNAL TRANSFER"},
		{"refund", "refund", `"amount": -12000, "fee": 0, "net": -12000`, "out 120 (120-0=120 USD) REFUND"},
		{"refund", "refund", `"amount": -12000, "fee": -300, "net": -11700`, "out 117 (117-0=117 USD) REFUND"},
		{"adjustment", "dispute", `"amount": -25000, "fee": 1500, "net": -26500`, "out 265 (265-15=250 USD) CHARGEBACK"},
		{"adjustment", "dispute_reversal", `"amount": 25000, "fee": -1500, "net": 26500`, "in 265 (265-0=265 USD) CHARGEBACK"},
		{"adjustment", "other_adjustment", `"amount": -5, "fee": 0, "net": -5, "source": {"id": "dp_1", "object": "dispute"}`,
			"out 0.05 (0.05-0=0.05 USD) CHARGEBACK"},
		{"adjustment", "other_adjustment", `"amount": -5, "fee": 0, "net": -5`, "out 0.05 (0.05-0=0.05 USD) "},
		{"stripe_fee", "fee", `"amount": -250, "fee": 0, "net": -250`, "out 2.5 (2.5-0=2.5 USD) FEE"},
		{"stripe_fee", "fee", `"amount": 250, "fee": 0, "net": 250`, "in 2.5 (2.5-0=2.5 USD) REFUND"},
		{"reserve_transaction", "risk_reserved_funds", `"amount": -50000, "fee": 0, "net": -50000`, "out 500 (500-0=500 USD) RESERVES CHANGE"},
		{"transfer", "transfer", `"amount": -100, "fee": 0, "net": -100`, "out 1 (1-0=1 USD) "},
	} {
		b := decode[api.BalanceTransaction](t, fmt.Sprintf(`{"id": "txn_1", "created": 1760000000, "currency": "usd", "type": %q,
			"reporting_category": %q, %s}`, c.kind, c.category, c.numbers))
		p := transactionOf(b)
		way := map[string]string{"credit": "in", "debit": "out"}[string(p.Direction)]
		got := fmt.Sprintf("%s %s (%s-%s=%s %s) %s", way, p.Quantity, p.Value.Gross, p.Value.Fee, p.Value.Net, p.Value.Currency, p.Type)
		if got != c.want || p.ExternalID != "txn_1" || p.Category != c.kind {
			t.Errorf("%s %s: %s, want %s", c.kind, c.numbers, got, c.want)
		}
	}
	b := decode[api.BalanceTransaction](t, `{"id": "txn_1", "amount": 100, "net": 100, "currency": "jpy", "type": "charge", "created": 1,
		"source": {"id": "ch_1", "object": "charge", "billing_details": {"name": "Northwind\u0000"}}}`)
	if p := transactionOf(b); p.Quantity.String() != "100" || p.Bank == nil || p.Bank.CounterpartyName != "Northwind" {
		t.Errorf("%+v", p)
	}
}

// describe returns a mirrored invoice in one line.
func describe(p invoice.MirrorParams) string {
	parts := []string{fmt.Sprintf("%s %s %s %s due %s", p.Number, p.Status, p.Currency, p.CustomerName, p.AmountDue)}
	for _, l := range p.Lines {
		parts = append(parts, fmt.Sprintf("%sx%s=%s+%s %s", l.Quantity, l.UnitPrice, l.Amount, l.TaxAmount, l.Description))
	}
	return strings.Join(parts, "; ")
}

func TestInvoicesAreMirroredSoThatTheirLinesAddUpToTheirTotals(t *testing.T) {
	t.Parallel()
	head := `"id": "in_1", "created": 1760000000, "customer": "cus_1", "customer_name": "Northwind", "currency": "usd", `
	for _, c := range []struct{ text, want string }{
		{`"number": "A-1", "status": "open", "total": 1000, "amount_due": 1000, "amount_remaining": 400, "lines": {"data": [
			{"amount": 1000, "quantity": 4, "description": "Seats"}]}`, "A-1 open USD Northwind due 4; 4x2.5=10+0 Seats"},
		{`"status": "draft", "total": 1000, "amount_remaining": 1000, "lines": {"data": [{"amount": 1000, "quantity": 3, "description": "a"}]}`,
			"in_1 draft USD Northwind due 10; 1x10=10+0 a"},
		{`"number": "A-2", "status": "paid", "total": 1200, "amount_remaining": 0, "lines": {"data": [{"amount": 1200, "description": "a",
			"discount_amounts": [{"amount": 200}], "taxes": [{"amount": 200, "tax_behavior": "exclusive"}]}]}`,
			"A-2 paid USD Northwind due 0; 1x10=10+2 a"},
		{`"number": "A-3", "status": "open", "total": 1200, "amount_remaining": 1200, "lines": {"data": [{"amount": 1200, "description": "a",
			"taxes": [{"amount": 200, "tax_behavior": "inclusive"}]}]}`, "A-3 open USD Northwind due 12; 1x10=10+2 a"},
		{`"number": "A-4", "status": "open", "total": 1500, "amount_remaining": 1500, "lines": {"data": [{"amount": 1000, "description": "a"}]}`,
			"A-4 open USD Northwind due 15; 1x10=10+0 a; 1x5=5+0 Shipping, credits and rounding"},
		{`"number": "A-5", "status": "open", "total": 1000, "amount_remaining": 1300, "lines": {"data": [{"amount": 1000, "description": "a"}]}`,
			"A-5 open USD Northwind due 13; 1x10=10+0 a; 1x3=3+0 Balance from before"},
		{`"number": "A-6", "status": "void", "total": 1000, "amount_remaining": 1000, "lines": {"data": [{"amount": 1000, "description": "a"}]}`,
			"A-6 void USD Northwind due 0; 1x10=10+0 a"},
		{`"number": "A-7", "status": "uncollectible", "total": 7, "amount_remaining": 7, "currency": "jpy"`,
			"A-7 uncollectible JPY Northwind due 7; 1x7=7+0 Shipping, credits and rounding"},
	} {
		p, ok := mirrorOf(decode[api.Invoice](t, "{"+head+c.text+"}"), "le_1", time.Time{})
		if got := describe(p); !ok || got != c.want {
			t.Errorf("%v %s, want %s", ok, got, c.want)
		}
	}
	if _, ok := mirrorOf(decode[api.Invoice](t, "{"+head+`"status": "paid", "total": -100}`), "le_1", time.Time{}); ok {
		t.Error("an invoice below zero is mirrored")
	}
}
