package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	credited := func(t *testing.T, n *apitest.Tenant) client.CreditNote {
		return n.NewCreditNote(t, n.NewInvoice(t, client.CreateInvoice{Status: "open"}).ID)
	}
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"credit_note_id": credited(t, n).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/credit-notes": func(t *testing.T, n *apitest.Tenant) sample {
			c := credited(t, n)
			return sample{query: "limit=1&status=issued&invoice_id=" + *c.InvoiceID + "&customer_id=" + c.CustomerID + "&legal_entity_ids=" +
				n.LegalEntity.ID}
		},
		"POST /v1/credit-notes": func(t *testing.T, n *apitest.Tenant) sample {
			body := func(number, tax, amount string, more map[string]any) map[string]any {
				b := map[string]any{"credit_note_number": number, "credit_note_date": "2026-02-15", "memo": "Less", "total_amount": "12.00",
					"lines": []any{map[string]any{"description": "One day less", "product": "Nodes", "quantity": "1", "unit_price": "10.00", tax: amount,
						"ledger_account_id": n.AccountByCode(t, "4010").ID, "tax_ledger_account_id": n.AccountByCode(t, "2050").ID}}}
				maps.Copy(b, more)
				return b
			}
			number := client.NewIdempotencyKey()
			return sample{body: body(number, "tax_rate", "20", map[string]any{
				"invoice_id": n.NewInvoice(t, client.CreateInvoice{Status: "open"}).ID}),
				another: map[string]any{"memo": "another", "credit_note_number": number + "a"},
				also: []sample{{body: body(number+"b", "tax_amount", "2.00", map[string]any{"legal_entity_id": n.LegalEntity.ID, "currency": "USD",
					"customer_id": n.NewCustomer(t, "Northwind").ID})}}}
		},
		"GET /v1/credit-notes/{credit_note_id}": one,
		"POST /v1/credit-notes/{credit_note_id}/void": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.body, s.another = map[string]any{"reason": "Wrong invoice"}, map[string]any{"reason": "another"}
			return s
		},
	})
}
