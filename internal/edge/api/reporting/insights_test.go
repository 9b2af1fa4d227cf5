package reporting_test

import (
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func TestInsightsShowTheirFiguresAndTheQueriesThatExplainThem(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		l := n.OpenLedger(t)
		bank := l.Accounts["1010"]
		n.NewSource(t, client.CreateSource{SourceType: "bank", Currency: "USD", LedgerAccountID: bank})
		l.Post(t, "2025-11-03", "Dr 1010 900; Cr 3010 900")
		l.Post(t, "2025-12-04", "Dr 6080 100; Cr 1010 100")
		e := l.Post(t, "2026-01-05", "Dr 6080 200; Cr 1010 200")
		x, err := l.Client.FinancialInsights(t.Context(), query(t, "months=2&accounting_period_id="+*e.AccountingPeriodID))
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			figure client.InsightFigure
			want   string
		}{"cash": {x.Cash, "600.00"}, "digital assets": {x.DigitalAssets, "0.00"}, "gross burn": {x.GrossBurn, "150.00"},
			"net burn": {x.NetBurn, "150.00"}, "runway": {x.RunwayMonths, "4"}, "runway with digital assets": {x.RunwayMonthsWithDigitalAssets, "4"},
			"largest share": {x.LargestShare, "1"}} {
			if c.figure.Value == nil || *c.figure.Value != c.want || c.figure.Reason != nil || c.figure.Formula == nil {
				t.Errorf("%s: %s, want %s", name, apitest.JSON(t, c.figure), c.want)
			}
			for _, p := range c.figure.Parts {
				follow(t, l.Client, explained(t, l.Client, p.Explain))
			}
		}
		if len(x.Cash.Parts) != 1 || len(x.LargestMovements) != 2 || x.LargestMovements[0].LedgerAccountID != bank ||
			x.LargestMovements[0].Amount != "-200.00" || *x.LargestMovements[0].PreviousAmount != "-100.00" {
			t.Errorf("%s", apitest.JSON(t, x))
		}
		other := s.Found(t, "other")
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/reports/financial-insights?accounting_period_id=" + *e.AccountingPeriodID,
			Key: other.Key}); a.Status != 404 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}
