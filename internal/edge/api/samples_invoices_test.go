package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	on := func(status string) func(t *testing.T, n *apitest.Tenant) sample {
		return func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: map[string]string{"invoice_id": n.NewInvoice(t, client.CreateInvoice{Status: status}).ID}}
		}
	}
	line := func(t *testing.T, n *apitest.Tenant) map[string]any {
		return map[string]any{"description": "Node operation", "product": "Nodes", "quantity": "2", "unit_price": "10.00", "tax_rate": "20",
			"ledger_account_id": n.AccountByCode(t, "4010").ID, "tax_ledger_account_id": n.AccountByCode(t, "2050").ID}
	}
	withAmount := func(t *testing.T, n *apitest.Tenant) map[string]any {
		l := line(t, n)
		delete(l, "tax_rate")
		l["tax_amount"] = "4.00"
		return l
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/invoices": func(t *testing.T, n *apitest.Tenant) sample {
			i := n.NewInvoice(t, client.CreateInvoice{})
			return sample{query: "limit=1&status=draft,open&currency=USD&invoice_number=" + i.InvoiceNumber + "&invoice_date_from=2026-01-01&" +
				"invoice_date_to=2026-12-31&due_date_to=2026-12-31&customer_id=" + i.CustomerID + "&legal_entity_ids=" + n.LegalEntity.ID}
		},
		"POST /v1/invoices": func(t *testing.T, n *apitest.Tenant) sample {
			body := func(number string, more map[string]any) map[string]any {
				b := map[string]any{"legal_entity_id": n.LegalEntity.ID, "customer_id": n.NewCustomer(t, "Northwind").ID, "status": "open",
					"invoice_number": number, "currency": "USD", "invoice_date": "2026-01-31", "memo": "Thank you", "total_amount": "24.00"}
				maps.Copy(b, more)
				return b
			}
			number := client.NewIdempotencyKey()
			return sample{body: body(number, map[string]any{"lines": []any{line(t, n)}, "due_date": "2026-03-01"}),
				another: map[string]any{"memo": "another", "invoice_number": number + "a"},
				also: []sample{{body: body(number+"b", map[string]any{"lines": []any{withAmount(t, n)}, "payment_terms_days": 14,
					"status": "draft"})}}}
		},
		"GET /v1/invoices/{invoice_id}": on("draft"),
		"PATCH /v1/invoices/{invoice_id}": func(t *testing.T, n *apitest.Tenant) sample {
			s := on("draft")(t, n)
			s.body = map[string]any{"customer_id": n.NewCustomer(t, "Southwind").ID, "invoice_number": client.NewIdempotencyKey(), "currency": "USD",
				"invoice_date": "2026-02-01", "due_date": "2026-03-03", "memo": "Changed", "total_amount": "24.00", "lines": []any{line(t, n)}}
			s.also = []sample{{path: s.path, body: map[string]any{"lines": []any{withAmount(t, n)}}}}
			return s
		},
		"DELETE /v1/invoices/{invoice_id}":    on("draft"),
		"POST /v1/invoices/{invoice_id}/open": on("draft"),
		"POST /v1/invoices/{invoice_id}/void": func(t *testing.T, n *apitest.Tenant) sample {
			s := on("open")(t, n)
			s.body, s.another = map[string]any{"reason": "Wrong address"}, map[string]any{"reason": "another"}
			return s
		},
		"POST /v1/invoices/{invoice_id}/mark-uncollectible": func(t *testing.T, n *apitest.Tenant) sample {
			s := on("open")(t, n)
			s.body = map[string]any{"ledger_account_id": n.NewExpenseAccount(t, "Losses").ID, "accounting_date": "2026-02-28"}
			s.another = map[string]any{"accounting_date": "2026-03-31"}
			return s
		},
		"POST /v1/invoices/{invoice_id}/reopen": func(t *testing.T, n *apitest.Tenant) sample {
			s := on("open")(t, n)
			if _, err := n.Client.MarkInvoiceUncollectible(t.Context(), s.path["invoice_id"], client.MarkInvoiceUncollectible{}); err != nil {
				t.Fatal(err)
			}
			return s
		},
		"POST /v1/invoices/import": func(t *testing.T, n *apitest.Tenant) sample {
			l := n.OpenLedger(t)
			file := "Number,Customer Name,Invoice Date,Amount\n" + client.NewIdempotencyKey()[:20] + "," +
				n.NewCustomer(t, "Northwind").Name + ",2026-03-01,10.00\n"
			return sample{body: map[string]any{"file": file, "legal_entity_id": n.LegalEntity.ID, "ledger_account_id": l.Accounts["4010"],
				"tax_ledger_account_id": l.Accounts["2050"], "status": "open", "customers": "existing", "dry_run": false,
				"mapping": map[string]any{"columns": map[string]any{"invoice_number": "Number", "customer_name": "Customer Name",
					"invoice_date": "Invoice Date", "amount": "Amount"}, "date_layouts": []string{"YYYY-MM-DD"}}},
				another: map[string]any{"status": "draft"}}
		},
		"GET /v1/cash-applications/invoices": func(t *testing.T, n *apitest.Tenant) sample {
			i := n.NewInvoice(t, client.CreateInvoice{Status: "open"})
			return sample{query: "limit=1&customer_name=north&status=open,paid&amount=1200.00&amount_tolerance=0.50&invoice_date_from=2026-01-01&" +
				"invoice_date_to=2026-12-31&customer_id=" + i.CustomerID}
		},
	})
}
