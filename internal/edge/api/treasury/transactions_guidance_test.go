package treasury_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func TestATransactionWarnsOfAMissingValueOnlyIfItNeedsOne(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine") // in USD
		exchange := n.NewSource(t, client.CreateSource{SourceType: "exchange"})
		for currency, want := range map[string]string{"USD": "", "EUR": "exchange rate from EUR to USD", "ETH": "price of ETH in USD"} {
			made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: exchange.ID, ExternalID: currency,
				External: client.CreateTransactionExternal{Timestamp: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC), Direction: "credit",
					Currency: currency, Quantity: new("2")}})
			if err != nil {
				t.Fatal(err)
			}
			one, err := n.Client.Transaction(t.Context(), made.Data[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			shown := []client.Transaction{made.Data[0], one}
			for listed, err := range n.Client.Transactions(t.Context(), url.Values{"transaction_ids": {one.ID}}) {
				if err != nil {
					t.Fatal(err)
				}
				shown = append(shown, listed)
			}
			for _, x := range shown {
				if warnings := strings.Join(x.Guidance.Warnings, " "); (warnings == "") != (want == "") || !strings.Contains(warnings, want) {
					t.Errorf("%s warns: %s", currency, warnings)
				}
			}
		}
	})
}
