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

func TestAWarningOfAMissingValueEndsWhenTheRateOrThePriceIsStored(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine") // in USD
		exchange := n.NewSource(t, client.CreateSource{SourceType: "exchange"})
		at := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
		var ids []string
		for _, currency := range []string{"EUR", "ETH"} {
			made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: exchange.ID, ExternalID: currency,
				External: client.CreateTransactionExternal{Timestamp: at, Direction: "credit", Currency: currency, Quantity: new("2")}})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, made.Data[0].ID)
		}
		warnings := func() (all string) {
			for _, id := range ids {
				x, err := n.Client.Transaction(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				all += strings.Join(x.Guidance.Warnings, " ")
			}
			return all
		}
		store := func(date string) {
			if _, err := n.Client.StoreFXRates(t.Context(), []client.StoreFXRate{{BaseCurrency: "EUR", QuoteCurrency: "USD", Date: date,
				Rate: "1.1"}}); err != nil {
				t.Fatal(err)
			}
		}
		store("2026-01-14") // booking takes the rate of the day itself
		if got := warnings(); !strings.Contains(got, "EUR to USD") || !strings.Contains(got, "price of ETH") {
			t.Errorf("before: %s", got)
		}
		store("2026-01-15")
		if got := warnings(); strings.Contains(got, "EUR to USD") || !strings.Contains(got, "price of ETH") {
			t.Errorf("with the rate: %s", got)
		}
		if _, err := n.Client.CreatePrice(t.Context(), client.CreatePrice{AssetType: "ETH", Currency: "USD",
			Timestamp: "2026-01-15T09:00:00Z", Price: "3000"}); err != nil {
			t.Fatal(err)
		}
		if got := warnings(); got != "" {
			t.Errorf("with the price: %s", got)
		}
	})
}

func TestATransactionWithoutAQuantityIsBookedIfItsValueTellsItAndElseSaysWhatToDo(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine") // in USD
		exchange, sales := n.NewSource(t, client.CreateSource{SourceType: "exchange"}), n.AccountByCode(t, "4010").ID
		in := func(currency string) *client.ValuedFiat {
			return &client.ValuedFiat{Gross: "10.00", Fee: "0.00", Net: "10.00", Currency: currency}
		}
		if _, err := n.Client.StoreFXRates(t.Context(), []client.StoreFXRate{
			{BaseCurrency: "EUR", QuoteCurrency: "USD", Date: "2026-01-15", Rate: "1.1"}}); err != nil {
			t.Fatal(err)
		}
		for name, x := range map[string]struct {
			currency string
			value    *client.ValuedFiat
			known    bool
		}{
			"dollars that are worth dollars": {"USD", in("USD"), true},
			"euros that are worth euros":     {"EUR", in("EUR"), true},
			"dollars that are worth euros":   {"USD", in("EUR"), false},
			"euros that are worth dollars":   {"EUR", in("USD"), false},
			"dollars without a value":        {"USD", nil, false},
			"euros without a value":          {"EUR", nil, false},
			"an asset with a value":          {"ETH", in("USD"), false},
			"an asset without a value":       {"ETH", nil, false},
		} {
			made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: exchange.ID, ExternalID: name,
				External: client.CreateTransactionExternal{Timestamp: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC), Direction: "credit",
					Currency: x.currency, ValueFiat: x.value}})
			if err != nil {
				t.Fatal(err)
			}
			warnings := strings.Join(made.Data[0].Guidance.Warnings, " ")
			const next = "mark it as spam, and add it again with another external_id and with external.quantity"
			if strings.Contains(warnings, next) == x.known || len(made.Data[0].Guidance.Warnings) > 1 {
				t.Errorf("%s warns: %s", name, warnings)
			}
			a := n.PostJSON(t, "/v1/journal-entries", map[string]any{"transaction_id": made.Data[0].ID, "transaction_type": "INCOME",
				"ledger_account_id": sales, "auto_post": true}, nil)
			switch {
			case x.known && a.Status != 201:
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			case !x.known && (a.Status != 409 || !strings.Contains(a.Error(t).Message, next) || !a.Blames(t, "quantity")):
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
		}
	})
}

func TestATransactionWithADraftOffersOnlyWhatSucceeds(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		x := n.NewTransaction(t)
		if got := strings.Join(x.Guidance.AllowedActions, " "); got != "update mark_spam link" {
			t.Errorf("before: %s", got)
		}
		var made struct{ Data client.JournalEntry }
		n.PostJSON(t, "/v1/journal-entries", map[string]any{"transaction_id": x.ID, "transaction_type": "INCOME",
			"ledger_account_id": n.AccountByCode(t, "4010").ID}, &made)
		x, err := n.Client.Transaction(t.Context(), x.ID)
		if err != nil || strings.Join(x.Guidance.AllowedActions, " ") != "update" ||
			!strings.Contains(strings.Join(x.Guidance.Warnings, " "), "draft entry "+made.Data.ID+": delete that first") {
			t.Errorf("with a draft: %+v %v", x.Guidance, err)
		}
		if _, err := n.Client.UpdateTransaction(t.Context(), x.ID, client.UpdateTransaction{Memo: new("Rent")}); err != nil {
			t.Errorf("what it offers: %v", err)
		}
		_, err = n.Client.UpdateTransaction(t.Context(), x.ID, client.UpdateTransaction{Status: new("spam")})
		apitest.WantConflict(t, err, "delete that first")
	})
}
