package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"credit_note_id": n.NewCreditNote(t, true).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/credit-notes": func(t *testing.T, n *apitest.Tenant) sample {
			c := n.NewCreditNote(t, true)
			return sample{query: "limit=1&status=issued&invoice_id=" + *c.InvoiceID + "&customer_id=" + c.CustomerID + "&legal_entity_ids=" +
				n.LegalEntity.ID}
		},
		"POST /v1/credit-notes": func(t *testing.T, n *apitest.Tenant) sample {
			i := n.NewInvoice(t, client.CreateInvoice{Status: "open"})
			body := func(number, tax, amount string) map[string]any {
				return map[string]any{"legal_entity_id": n.LegalEntity.ID, "customer_id": i.CustomerID, "invoice_id": i.ID, "currency": "USD",
					"credit_note_number": number, "credit_note_date": "2026-02-15", "memo": "Less", "total_amount": "12.00",
					"lines": []any{map[string]any{"description": "One day less", "product": "Nodes", "quantity": "1", "unit_price": "10.00", tax: amount,
						"ledger_account_id": n.AccountByCode(t, "4010").ID, "tax_ledger_account_id": n.AccountByCode(t, "2050").ID}}}
			}
			number := client.NewIdempotencyKey()
			return sample{body: body(number, "tax_rate", "20"), another: map[string]any{"memo": "another", "credit_note_number": number + "a"},
				also: []sample{{body: body(number+"b", "tax_amount", "2.00")}}}
		},
		"GET /v1/credit-notes/{credit_note_id}": one,
		"POST /v1/credit-notes/{credit_note_id}/void": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.body, s.another = map[string]any{"reason": "Wrong invoice"}, map[string]any{"reason": "another"}
			return s
		},
	})
}
