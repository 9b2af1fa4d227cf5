package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	report := func(more string) func(t *testing.T, n *apitest.Tenant) sample {
		return func(t *testing.T, n *apitest.Tenant) sample {
			l := n.OpenLedger(t)
			tag, err := n.Client.CreateTag(t.Context(), client.CreateTag{Name: client.NewIdempotencyKey(), Kind: "custom"})
			if err != nil {
				t.Fatal(err)
			}
			e := l.PostTo(t, n.LegalEntity.ID, "2026-01-05", "Dr 1010 100.00 "+tag.ID+"; Cr 4010 100.00 "+tag.ID)
			query := "legal_entity_ids=" + e.LegalEntityID + "&accounting_period_id=" + *e.AccountingPeriodID + "&accounting_period_ids=" +
				*e.AccountingPeriodID + "&tag_id=" + tag.ID
			if more == "ledger" {
				return sample{query: query + "&limit=1&ledger_account_ids=" + l.Accounts["1010"]}
			}
			return sample{query: query + more}
		}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/reports/balance-sheet":    report("&omit_zero_accounts=false&presentation_currency=USD"),
		"GET /v1/reports/trial-balance":    report("&shape=compact"),
		"GET /v1/reports/income-statement": report("&shape=faithful"),
		"GET /v1/reports/general-ledger":   report("ledger"),
		"GET /v1/reports/receivables-ageing": func(t *testing.T, n *apitest.Tenant) sample {
			i := n.NewInvoice(t, client.CreateInvoice{Status: "open"})
			return sample{query: "as_of=2026-03-31&bucket_days=30&bucket_days=45&age_by=invoice_date&currency=USD&customer_id=" + i.CustomerID +
				"&legal_entity_ids=" + n.LegalEntity.ID,
				also: []sample{{query: "as_of=2026-01-15"}}} // what was booked since is undone
		},
		"GET /v1/reports/unapplied-cash": func(t *testing.T, n *apitest.Tenant) sample {
			i, err := n.Client.Invoice(t.Context(), n.NewCashApplication(t).Allocations[0].TargetID)
			if err != nil {
				t.Fatal(err)
			}
			return sample{query: "as_of=2026-12-31&currency=USD&customer_id=" + i.CustomerID + "&legal_entity_ids=" + n.LegalEntity.ID,
				also: []sample{{query: "as_of=2026-01-15"}}} // what was booked since is undone
		},
		"GET /v1/reports/financial-insights": func(t *testing.T, n *apitest.Tenant) sample {
			e := n.OpenLedger(t).PostTo(t, n.LegalEntity.ID, "2026-01-05", "Dr 1010 100.00; Cr 4010 100.00")
			return sample{query: "months=2&presentation_currency=USD&legal_entity_ids=" + n.LegalEntity.ID + "&accounting_period_id=" +
				*e.AccountingPeriodID}
		},
	})
}
