package reporting_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/app/demo"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
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
			"net burn": {x.NetBurn, "150.00"}, "runway": {x.RunwayMonths, "4.0"},
			"runway with digital assets": {x.RunwayMonthsWithDigitalAssets, "4.0"}, "largest share": {x.LargestShare, "1.0000"}} {
			if c.figure.Value == nil || *c.figure.Value != c.want || c.figure.Reason != nil || c.figure.Formula == nil {
				t.Errorf("%s: %s, want %s", name, apitest.JSON(t, c.figure), c.want)
			}
		}
		if len(x.Cash.Parts) != 1 || len(x.LargestMovements) != 2 || x.LargestMovements[0].LedgerAccountID != bank ||
			x.LargestMovements[0].Amount != "-200.00" || *x.LargestMovements[0].PreviousAmount != "-100.00" {
			t.Errorf("%s", apitest.JSON(t, x))
		}
		wantInsightsExplained(t, l.Client, "months=2&accounting_period_id="+*e.AccountingPeriodID)
		other := s.Found(t, "other")
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/reports/financial-insights?accounting_period_id=" + *e.AccountingPeriodID,
			Key: other.Key}); a.Status != 404 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

// wantInsightsExplained fails unless the query beside each figure of the insights leads to that figure, and the parts of amounts add up. It
// returns the number of queries.
func wantInsightsExplained(t *testing.T, c *client.Client, parameters string) (n int) {
	t.Helper()
	x, err := c.FinancialInsights(t.Context(), query(t, parameters))
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal([]byte(apitest.JSON(t, x)), &document); err != nil {
		t.Fatal(err)
	}
	walkFigures(document, func(figure map[string]any) {
		for explains, value := range map[string]string{"explain": "value", "previous_explain": "previous_amount"} {
			text, there := figure[explains].(string)
			if !there {
				continue
			}
			unit := x.Currency
			if currency, there := figure["currency"].(string); there {
				unit = currency
			}
			if _, movement := figure["amount"]; movement && value == "value" {
				value = "amount"
			}
			n++
			e := explained(t, c, text)
			if e.Value == nil || e.Unit != unit || !less(t, *e.Value, "0").Equal(less(t, figure[value].(string), "0")) {
				t.Errorf("%s of %v is not what its query leads to: %s", value, figure, apitest.JSON(t, e))
			}
			follow(t, c, e)
		}
	})
	wantSum := func(name, value string, parts []client.InsightPart) {
		t.Helper()
		var sum money.Decimal
		for _, p := range parts {
			sum = sum.Add(less(t, p.Contribution, "0"))
		}
		if !sum.Equal(less(t, value, "0")) {
			t.Errorf("the parts of %s %s add up to %s", name, value, sum)
		}
	}
	for name, f := range map[string]client.InsightFigure{"cash": x.Cash, "digital assets": x.DigitalAssets} {
		if f.Value != nil {
			wantSum(name, *f.Value, f.Parts)
		}
	}
	for _, h := range x.Concentration {
		wantSum(h.AssetType, h.Value, h.Parts)
	}
	return n
}

// walkFigures calls do for every object of a document that has a query beside a figure.
func walkFigures(v any, do func(map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			walkFigures(item, do)
		}
	case map[string]any:
		if _, explains := v["explain"]; explains {
			do(v)
		}
		for _, item := range v {
			walkFigures(item, do)
		}
	}
}

func TestEveryFigureOfInsightsOfATranslatedCompanyIsExplainedByTheQueryBesideIt(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l, euro := openSubsidiary(t, s, "2025-10-31 1.07", "2025-11-10 1.11", "2025-11-30 1.13", "2025-12-10 1.17", "2025-12-31 1.19")
		exchange := l.NewSource(t, client.CreateSource{SourceType: "exchange", Name: "Exchange", LegalEntityID: euro.ID})
		for asset, cost := range map[string]string{"ETH": "333.33", "BTC": "777.77"} { // on the account that holds money, too
			l.NewAsset(t, client.CreateAsset{LegalEntityID: euro.ID, SourceID: exchange.ID, AssetType: asset, Quantity: "3", CostBasis: cost,
				DateReceived: "2025-01-01"})
		}
		l.NewSource(t, client.CreateSource{SourceType: "bank", Currency: "USD", LedgerAccountID: l.Accounts["1010"]})
		l.PostTo(t, euro.ID, "2025-11-03", "Dr "+exchange.LedgerAccountID+" 1000.01; Cr 3010 1000.01")
		l.PostTo(t, euro.ID, "2025-11-04", "Dr 6080 33.33; Cr "+exchange.LedgerAccountID+" 33.33")
		l.PostTo(t, euro.ID, "2025-12-05", "Dr 6080 77.77; Cr "+exchange.LedgerAccountID+" 77.77")
		l.PostTo(t, l.LegalEntity.ID, "2025-12-06", "Dr 1010 500; Cr 4010 500")
		for _, parameters := range []string{"presentation_currency=USD", "legal_entity_ids=" + euro.ID,
			"presentation_currency=USD&legal_entity_ids=" + euro.ID} {
			if n := wantInsightsExplained(t, l.Client, parameters+"&accounting_period_id="+l.Period(t, "2025-12").ID); n < 15 {
				t.Errorf("%s: only %d queries were tried", parameters, n)
			}
		}
	})
}

func TestSoakEveryFigureOfInsightsOfTheDemoCompanyIsExplainedByTheQueryBesideIt(t *testing.T) {
	t.Parallel()
	dbtest.EachInSoak(t, func(t *testing.T, config db.Config) {
		config.Clock = clock.NewManual(time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC))
		s := apitest.Start(t, dbtest.Open(t, config), api.Config{})
		f, err := demo.Found(t.Context(), s.App, func(string, ...any) {})
		if err != nil {
			t.Fatal(err)
		}
		if n := wantInsightsExplained(t, client.New(s.URL, f.KeyText.Reveal()), "presentation_currency=USD"); n < 30 {
			t.Errorf("only %d queries were tried", n)
		}
	})
}
