package holdings_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/tenancy/companytest"
)

// Prices that are changed or stored after the close do not change what a closed month shows; after it is reopened, they do.
func TestAClosedMonthKeepsItsPrices(t *testing.T) {
	t.Parallel()
	companytest.Each(t, func(c *companytest.Company) {
		prices, periods := price.NewService(c.DB), period.NewService(c.DB).WithTransit(holdings.InTransit).WithPrices(holdings.KeepPrices)
		closing := func() string {
			p := holdings.ClosingParams{PeriodID: c.Period("2025-10").ID}
			rows, err := holdings.NewService(c.DB).ClosingPositions(c.Ctx, p, page.Request{Limit: 10})
			c.Must(err)
			var out []string
			for _, r := range rows.Items {
				text := r.AssetType + " " + or(r.Worth.Value) + " " + or(r.Unrealized)
				if p := r.Worth.Price; p != nil && p.Translated != nil {
					text += fmt.Sprintf(" from %s %s at %s", p.Translated.Stored, p.Translated.Currency, p.Translated.Rate)
				}
				out = append(out, text)
			}
			return strings.Join(out, ", ")
		}
		rolled := func(month string) string {
			p := holdings.RollForwardParams{Span: holdings.Span{PeriodID: c.Period(month).ID}}
			rows, err := holdings.NewService(c.DB).RollForward(c.Ctx, p, page.Request{Limit: 10})
			c.Must(err)
			for _, r := range rows.Items {
				if r.AssetType == "ETH" {
					return or(r.Opening.Value) + " to " + or(r.Closing.Value)
				}
			}
			return ""
		}
		for _, asset := range []string{"ETH", "BTC", "UNI"} {
			c.Transact("2025-10-10 A in 2 " + asset + " = 200.00 : SWAP against Bank")
		}
		c.Transact("2025-11-10 A in 1 ETH = 100.00 : SWAP against Bank")
		eth, err := prices.Create(c.Ctx, price.Params{AssetType: "ETH", Currency: "USD", Timestamp: "2025-10-31T12:00:00Z", Price: "80"})
		c.Must(err)
		_, err = prices.Create(c.Ctx, price.Params{AssetType: "BTC", Currency: "EUR", Timestamp: "2025-10-31T12:00:00Z", Price: "90"})
		c.Must(err)
		rate := func(value string) {
			_, err := fx.NewService(c.DB).Store(c.Ctx, []fx.StoreParams{{Base: "EUR", Quote: "USD", Date: "2025-10-31", Rate: value,
				Source: "test"}})
			c.Must(err)
		}
		rate("1.1")
		want := "BTC 198 -2 from 90 EUR at 1.1, ETH 160 -40, UNI ? ?"
		if got := closing(); got != want {
			c.Errorf("before the close: %s, want %s", got, want)
		}
		_, err = periods.Close(c.Ctx, c.Period("2025-10").ID, "")
		c.Must(err)
		_, err = prices.Update(c.Ctx, eth.ID, price.UpdateParams{Price: new("10")})
		c.Must(err)
		rate("1.5")
		for _, asset := range []string{"ETH", "BTC", "UNI"} {
			c.AddPrice(asset, "2025-10-31", "7")
		}
		if got := closing(); got != want {
			c.Errorf("closed: %s, want %s", got, want)
		}
		if got := rolled("2025-10") + ", " + rolled("2025-11"); got != "0 to 160, 160 to ?" {
			c.Errorf("rolled forward from %s", got)
		}
		err = prices.Delete(c.Ctx, eth.ID)
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "price of a closed period") {
			c.Errorf("the price of a closed month is deleted: %v", err)
		}
		_, err = periods.Reopen(c.Ctx, c.Period("2025-10").ID, period.ReopenParams{Reason: "wrong prices"})
		c.Must(err)
		if got, want := closing(), "BTC 14 -186, ETH 14 -186, UNI 14 -186"; got != want {
			c.Errorf("reopened: %s, want %s", got, want)
		}
	})
}
