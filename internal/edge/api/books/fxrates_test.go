package books_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// shown writes rates in that notation, and whether they replaced others.
func shown(rates []client.FXRate) []string {
	out := []string{}
	for _, r := range rates {
		line := fmt.Sprint(r.BaseCurrency, " ", r.QuoteCurrency, " ", r.Date, " ", r.Rate)
		if r.Source != nil {
			line += " " + *r.Source
		}
		if r.UpdatedAt != nil {
			line += " again"
		}
		out = append(out, line)
	}
	return out
}

func listed(t *testing.T, n *apitest.Tenant, query string) []string {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	var out []client.FXRate
	for r, err := range n.Client.FXRates(t.Context(), values) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return shown(out)
}

func TestRatesAreStoredReplacedAndListedTheNewestDayFirst(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		store := func(lines ...string) []string {
			t.Helper()
			made, err := n.Client.StoreFXRates(t.Context(), apitest.Rates(lines...))
			if err != nil {
				t.Fatal(err)
			}
			return shown(made)
		}
		first := []string{"EUR USD 2026-01-30 1.08 ECB", "EUR USD 2026-01-31 1.1", "CHF USD 2026-01-31 1.123456789012345678901234567890"}
		if got := store(first...); !slices.Equal(got, []string{first[0], first[1], "CHF USD 2026-01-31 1.12345678901234567890123456789"}) {
			t.Errorf("%q", got)
		}
		before := n.AuditCount(t)
		if got := store("EUR USD 2026-01-31 1.10", "EUR USD 2026-01-30 1.09 ECB", "USD EUR 2026-01-30 0.92"); !slices.Equal(got, []string{
			"EUR USD 2026-01-31 1.1", "EUR USD 2026-01-30 1.09 ECB again", "USD EUR 2026-01-30 0.92"}) {
			t.Errorf("%q", got)
		}
		if got := n.AuditCount(t) - before; got != 2 {
			t.Errorf("%d changes, want one for each pair", got)
		}
		before = n.AuditCount(t)
		if store("EUR USD 2026-01-30 1.090 ECB"); n.AuditCount(t) != before {
			t.Error("what changes nothing was recorded")
		}
		if got := store("EUR USD 2026-01-30 1.09"); !slices.Equal(got, []string{"EUR USD 2026-01-30 1.09 again"}) {
			t.Errorf("another source: %q", got)
		}
		all := []string{"CHF USD 2026-01-31 1.12345678901234567890123456789", "EUR USD 2026-01-31 1.1", "EUR USD 2026-01-30 1.09 again",
			"USD EUR 2026-01-30 0.92"}
		for query, want := range map[string][]string{
			"":                   all,
			"limit=1":            all,
			"limit=3":            all,
			"base_currency=EUR":  {all[1], all[2]},
			"quote_currency=EUR": {all[3]},
			"base_currency=EUR&quote_currency=USD&limit=1":                {all[1], all[2]},
			"start_date=2026-01-31":                                       {all[0], all[1]},
			"end_date=2026-01-30":                                         {all[2], all[3]},
			"start_date=2026-01-30&end_date=2026-01-30&base_currency=USD": {all[3]},
			"start_date=2026-02-01":                                       {},
		} {
			if got := listed(t, n, query); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		for query, field := range map[string]string{"base_currency=BTC": "base_currency", "quote_currency=usd": "quote_currency"} {
			if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/fx-rates?" + query, Key: n.Key}); a.Status != 400 || !a.Blames(t, field) {
				t.Errorf("%s: %d %s", query, a.Status, a.Body)
			}
		}
	})
}

func TestAReplacedRateIsInTheAuditLogWithWhatItWas(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		var last []client.FXRate
		for _, line := range []string{"EUR USD 2026-01-30 1.08 ECB", "EUR USD 2026-01-30 1.09 Fed"} {
			time.Sleep(2 * time.Millisecond) // so that the second has a later timestamp
			var err error
			if last, err = n.Client.StoreFXRates(t.Context(), apitest.Rates(line)); err != nil {
				t.Fatal(err)
			}
		}
		for kept, err := range n.Client.FXRates(t.Context(), nil) {
			if err != nil || apitest.JSON(t, kept) != apitest.JSON(t, last[0]) || !kept.CreatedAt.Before(*kept.UpdatedAt) {
				t.Errorf("kept %s, answered %s, %v", apitest.JSON(t, kept), apitest.JSON(t, last), err)
			}
		}
		var got []client.AuditEntry
		for e, err := range n.Client.AuditLog(t.Context(), url.Values{"resource_id": {"EUR/USD"}}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e)
		}
		if len(got) != 2 || got[0].Action != "fx_rate.stored" || string(got[1].Before) != "null" ||
			string(got[0].Before) != `{"base_currency":"EUR","quote_currency":"USD","rates":[{"date":"2026-01-30","rate":"1.08","source":"ECB"}]}` ||
			string(got[0].After) != `{"base_currency":"EUR","quote_currency":"USD","rates":[{"date":"2026-01-30","rate":"1.09","source":"Fed"}]}` {
			t.Errorf("%s", apitest.JSON(t, got))
		}
	})
}

func TestRatesAreStoredAllOrNoneAndEveryFaultIsNamed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		good := "EUR USD 2026-01-31 1.1"
		for _, c := range []struct {
			lines []string
			blame string
		}{
			{[]string{good, "EUR EUR 2026-01-31 1"}, "rates[1].quote_currency"},
			{[]string{good, "EUR BTC 2026-01-31 1", "eur USD 2026-01-31 1"}, "rates[1].quote_currency rates[2].base_currency"},
			{[]string{good, "EUR USD 2026-01-30 0", "EUR USD 2026-01-29 -1"}, "rates[1].rate rates[2].rate"},
			{[]string{good, "EUR CHF 2026-01-31 1", "EUR USD 2026-01-31 1.2"}, "rates[2].date"},
			{[]string{good, "EUR USD 2026-02-29 1"}, "rates[1].date"},
			{[]string{good, "EUR USD 2026-01-30 1e3", "EUR USD 2026-1-29 x"}, "rates[1].rate rates[2].date rates[2].rate"},
			{[]string{good, "EUR USD 2026-01-30 1 " + strings.Repeat("é", 201)}, "rates[1].source"},
		} {
			before := n.AuditCount(t)
			body, err := json.Marshal(map[string]any{"rates": apitest.Rates(c.lines...)})
			if err != nil {
				t.Fatal(err)
			}
			a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/fx-rates", Key: n.Key, Body: string(body)})
			fields := strings.Fields(c.blame)
			for _, field := range fields {
				if a.Status != 400 || !a.Blames(t, field) || len(a.Error(t).Fields) != len(fields) {
					t.Errorf("%q: %d %s, want %s", c.lines, a.Status, a.Body, c.blame)
				}
			}
			if n.AuditCount(t) != before || len(listed(t, n, "")) != 0 {
				t.Errorf("%q: something was stored", c.lines)
			}
		}
	})
}

func TestAThousandRatesAreStoredAtOnceAndNotOneMore(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		many := make([]client.StoreFXRate, 1001)
		for i := range many {
			many[i] = client.StoreFXRate{BaseCurrency: []string{"EUR", "CHF"}[i%2], QuoteCurrency: "USD",
				Date: fmt.Sprintf("20%02d-%02d-%02d", i/2/336, i/2/28%12+1, i/2%28+1), Rate: fmt.Sprint(i + 1)}
		}
		if _, err := n.Client.StoreFXRates(t.Context(), many); err == nil || !strings.Contains(err.Error(), "rates") {
			t.Errorf("%v", err)
		}
		before := n.AuditCount(t)
		stored, err := n.Client.StoreFXRates(t.Context(), many[:1000])
		if err != nil || len(stored) != 1000 || stored[999].Rate != "1000" || stored[0].Rate != "1" {
			t.Fatalf("%d %v", len(stored), err)
		}
		if got := n.AuditCount(t) - before; got != 2 {
			t.Errorf("%d changes, want one for each pair", got)
		}
		if got := listed(t, n, "limit=100"); len(got) != 1000 {
			t.Errorf("%d listed", len(got))
		}
	})
}
