package reporting_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// trader books the transactions of an exchange account.
type trader struct {
	t      *testing.T
	n      *apitest.Tenant
	source client.Source
	equity string
	count  int
}

// trade parses the notation "2025-01-10 credit 2 ETH 3000 DEPOSIT" and books it.
func (x *trader) trade(notation string) {
	x.t.Helper()
	f := strings.Fields(notation)
	at, err := time.Parse(time.DateOnly, f[0])
	if err != nil {
		x.t.Fatal(err)
	}
	x.count++
	made, err := x.n.Client.CreateTransactions(x.t.Context(), client.CreateTransaction{
		SourceID: x.source.ID, ExternalID: fmt.Sprint("trade-", x.count), External: client.CreateTransactionExternal{
			Timestamp: at, Description: "trade", Direction: f[1], Quantity: &f[2], Currency: f[3], ValueFiat: &client.ValuedFiat{Gross: f[4],
				Fee: "0.00", Net: f[4], Currency: "USD"},
		},
	})
	if err != nil {
		x.t.Fatal(err)
	}
	body := map[string]any{"transaction_id": made.Data[0].ID, "transaction_type": f[5], "ledger_account_id": x.equity, "auto_post": true}
	if err := x.n.Client.Do(x.t.Context(), client.Call{Method: http.MethodPost, Path: "/v1/journal-entries", Body: body,
		IdempotencyKey: client.NewIdempotencyKey()}, nil); err != nil {
		x.t.Fatal(notation, err)
	}
}

func openTrader(t *testing.T, n *apitest.Tenant) *trader {
	t.Helper()
	return &trader{t: t, n: n, source: n.NewSource(t, client.CreateSource{SourceType: "exchange", Name: "Kraken"}),
		equity: n.AccountByCode(t, "3010").ID}
}

// walked formats the rows of a report.
func walked[T any](t *testing.T, report func(context.Context, url.Values) iter.Seq2[T, error], query string, show func(T) string) []string {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for row, err := range report(t.Context(), values) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, show(row))
	}
	return out
}

func orQuestion(text *string) string {
	if text == nil {
		return "?"
	}
	return *text
}

func TestReportsOnHoldingsFollowFromWhatWasBooked(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		x := openTrader(t, n)
		for _, notation := range []string{
			"2025-01-10 credit 2 ETH 3000.00 DEPOSIT", "2025-06-01 credit 3 ETH 6000.00 DEPOSIT", "2025-09-15 debit 2.5 ETH 6000.00 EXPENSE",
			"2025-03-01 credit 1 ETH 1000.00 DEPOSIT",
		} {
			x.trade(notation)
		}
		for _, day := range []string{"2025-08-31", "2025-09-30"} {
			if _, err := n.Client.CreatePrice(t.Context(), client.CreatePrice{AssetType: "ETH", Currency: "USD", Timestamp: day,
				Price: "2450"}); err != nil {
				t.Fatal(err)
			}
		}
		same := func(what string, got []string, want ...string) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		september := ""
		for p, err := range n.Client.AccountingPeriods(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if p.Key == "2025-09" {
				september = p.ID
			}
		}
		lot := func(l client.AssetTaxLot) string {
			return fmt.Sprint(l.DateAcquired.Format(time.DateOnly), " ", l.RemainingQuantity, " of ", l.Quantity, " at ", l.UnitCost,
				" cost ", l.RemainingBasis, " worth ", orQuestion(l.MarketValue), " ", l.Term)
		}
		same("lots before", walked(t, n.Client.AssetTaxLots, "limit=1&as_of=2025-08-31", lot),
			"2025-01-10 2 of 2 at 1500 cost 3000.00 worth 4900.00 short", "2025-03-01 1 of 1 at 1000 cost 1000.00 worth 2450.00 short",
			"2025-06-01 3 of 3 at 2000 cost 6000.00 worth 7350.00 short")
		same("lots after", walked(t, n.Client.AssetTaxLots, "as_of=2025-09-30", lot),
			"2025-03-01 0.5 of 1 at 1000 cost 500.00 worth 1225.00 short", "2025-06-01 3 of 3 at 2000 cost 6000.00 worth 7350.00 short")
		same("dispositions", walked(t, n.Client.ScheduleOfDispositions, "limit=1&accounting_period_id="+september,
			func(d client.DispositionRow) string {
				return fmt.Sprint(d.Description, " for ", d.Proceeds, " cost ", d.CostBasis, " gain ", d.GainLoss, " ", d.Term, " ", d.DaysHeld,
					" ", d.TransactionType, " ", d.IsCorrection)
			}), "2 ETH for 4800.00 cost 3000.00 gain 1800.00 short 248 EXPENSE false",
			"0.5 ETH for 1200.00 cost 500.00 gain 700.00 short 198 EXPENSE false")
		same("gains", walked(t, n.Client.RealizedGainsLosses, "", func(g client.RealizedGains) string {
			return fmt.Sprint(g.Period, " ", g.AssetType, " ", g.Units, " for ", g.Proceeds, " cost ", g.CostBasis, " gain ", g.RealizedGain,
				" loss ", g.RealizedLoss, " net ", g.Net, " ", g.ShortTerm, " ", g.LongTerm)
		}), "2025-09 ETH 2.5 for 6000.00 cost 3500.00 gain 2500.00 loss 0.00 net 2500.00 2500.00 0.00")
		same("closing", walked(t, n.Client.ClosingPositions, "accounting_period_id="+september, func(c client.ClosingPosition) string {
			return fmt.Sprint(*c.SourceID == x.source.ID, " ", c.AssetType, " ", c.Quantity, " cost ", c.CostBasis, " at ",
				orQuestion(c.Price), " is ", orQuestion(c.FairValue), " adjusted ", c.Adjustment, " carried ", c.CarryingAmount, " gain ",
				orQuestion(c.UnrealizedGainLoss), " in ", c.Lots)
		}), "true ETH 3.5 cost 6500.00 at 2450 is 8575.00 adjusted 0.00 carried 6500.00 gain 2075.00 in 2")
		same("treasury", walked(t, n.Client.TreasuryBalances, "as_of=2025-09-14", func(b client.TreasuryBalance) string {
			return fmt.Sprint(orQuestion(b.SourceName), " ", orQuestion(b.SourceClass), " ", b.AssetType, " ", b.BookQuantity, " worth ",
				orQuestion(b.Value), " ", b.Currency)
		}), "Kraken exchange ETH 6 worth ? USD")
		same("roll-forward", walked(t, n.Client.RollForward, "accounting_period_id="+september, func(r client.RollForwardRow) string {
			return fmt.Sprint(r.AssetType, " ", orQuestion(r.OpeningFairValue), " + ", r.Additions, " + ", r.Transfers, " - ",
				r.Dispositions, " + ", orQuestion(r.Gains), " - ", orQuestion(r.Losses), " = ", orQuestion(r.ClosingFairValue), " ", r.Units)
		}), "ETH 14700.00 + 0.00 + 0.00 - 6000.00 + 0.00 - 125.00 = 8575.00 3.5")
		var page struct {
			MissingPrices []client.MissingPrice `json:"missing_prices"`
		}
		if err := n.Client.Do(t.Context(), client.Call{Method: http.MethodGet, Path: "/v1/reports/asset-tax-lots"}, &page); err != nil ||
			len(page.MissingPrices) != 1 || page.MissingPrices[0].AssetType != "ETH" {
			t.Errorf("%+v, %v", page, err)
		}
	})
}
