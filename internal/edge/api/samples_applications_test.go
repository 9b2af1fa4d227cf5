package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"application_id": n.NewCashApplication(t).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/cash-applications": func(t *testing.T, n *apitest.Tenant) sample {
			a := n.NewCashApplication(t)
			i, err := n.Client.Invoice(t.Context(), a.Allocations[0].TargetID)
			if err != nil {
				t.Fatal(err)
			}
			return sample{query: "limit=1&status=applied,confirmed&has_available=true&deposit_transaction_id=" + a.DepositTransactionID +
				"&invoice_id=" + i.ID + "&customer_id=" + i.CustomerID + "&legal_entity_ids=" + n.LegalEntity.ID}
		},
		"POST /v1/cash-applications": func(t *testing.T, n *apitest.Tenant) sample {
			i := n.NewInvoice(t, client.CreateInvoice{Status: "open"})
			return sample{body: map[string]any{"deposit_transaction_id": n.NewDeposit(t, "Northwind", "10.00").ID, "memo": "Paid",
				"allocations": []any{map[string]any{"target_type": "invoice", "target_id": i.ID, "amount": "10.00",
					"invoice_number": i.InvoiceNumber, "customer_name": i.CustomerName}}, "dry_run": false},
				another: map[string]any{"memo": "another"}}
		},
		"GET /v1/cash-applications/{application_id}":          one,
		"POST /v1/cash-applications/{application_id}/confirm": one,
		"POST /v1/cash-applications/{application_id}/void": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.body, s.another = map[string]any{"reason": "Wrong invoice"}, map[string]any{"reason": "another"}
			return s
		},
		"POST /v1/cash-applications/{application_id}/return": func(t *testing.T, n *apitest.Tenant) sample {
			a := n.NewCashApplication(t)
			return sample{path: map[string]string{"application_id": a.ID}, body: map[string]any{
				"transaction_id": n.NewPaymentOut(t, "Northwind", "4.00").ID, "return_type": "chargeback", "memo": "Disputed",
				"allocations": []any{map[string]any{"target_type": "invoice", "target_id": a.Allocations[0].TargetID, "amount": "4.00",
					"invoice_number": a.Allocations[0].InvoiceNumber, "customer_name": a.Allocations[0].CustomerName}}, "dry_run": false},
				another: map[string]any{"memo": "another"}}
		},
		"POST /v1/cash-applications/preview": func(t *testing.T, n *apitest.Tenant) sample {
			n.NewInvoice(t, client.CreateInvoice{Status: "open"})
			return sample{body: map[string]any{"deposit_transaction_id": n.NewDeposit(t, "Northwind", "1200.00").ID}}
		},
		"GET /v1/settings": func(*testing.T, *apitest.Tenant) sample { return sample{} },
		"PATCH /v1/settings": func(*testing.T, *apitest.Tenant) sample {
			return sample{body: map[string]any{"write_off_limit": "2.50"}, another: map[string]any{"write_off_limit": "3.50"}}
		},
	})
}
