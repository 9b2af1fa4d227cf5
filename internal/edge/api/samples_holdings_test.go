package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	held := func(more string) func(t *testing.T, n *apitest.Tenant) sample {
		return func(t *testing.T, n *apitest.Tenant) sample {
			l := n.OpenLedger(t)
			e := l.PostTo(t, n.LegalEntity.ID, "2026-01-05", "Dr 1010 100.00; Cr 4010 100.00")
			query := "limit=1&asset_types=ETH&legal_entity_ids=" + n.LegalEntity.ID + "&source_ids=" + n.NewSource(t, client.CreateSource{}).ID
			if more == "period" {
				return sample{query: query + "&accounting_period_id=" + *e.AccountingPeriodID}
			}
			return sample{query: query + more}
		}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/reports/closing-positions":        held("period"),
		"GET /v1/reports/treasury-balances":        held("&as_of=2026-01-31"),
		"GET /v1/reports/realized-gains-losses":    held("period"),
		"GET /v1/reports/asset-tax-lots":           held("&as_of=2026-01-31"),
		"GET /v1/reports/schedule-of-dispositions": held("period"),
		"GET /v1/reports/roll-forward":             held("period"),
	})
}
