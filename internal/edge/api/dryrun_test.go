package api_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

func TestADryRunOfNewTransactionsAnswersAsTheRealThingAndWritesNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		known := n.NewTransaction(t)
		wanted := client.CreateTransaction{SourceID: known.SourceID, ExternalID: "new", External: client.CreateTransactionExternal{
			Timestamp: time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC), Description: "Rent", Direction: "debit", Currency: "USD",
			Quantity: new("900.00"),
		}}
		again := wanted
		again.ExternalID = known.ExternalID
		before := n.AuditCount(t)
		for range 2 { // the first leaves no trace that the second would find
			got, err := n.Client.PreviewTransactions(t.Context(), wanted, again)
			if err != nil {
				t.Fatal(err)
			}
			if got.Created != 1 || got.Duplicates != 1 || got.Data[0].ExternalID != "new" || got.Data[1].ID != known.ID {
				t.Errorf("%s", apitest.JSON(t, got))
			}
			if _, err := n.Client.Transaction(t.Context(), got.Data[0].ID); err == nil {
				t.Error("the transaction exists")
			}
		}
		if after := n.AuditCount(t); after != before {
			t.Errorf("%d records in the audit log", after-before)
		}
		wanted.External.Quantity = new("-1")
		wanted.SourceID = apitest.UnknownID(known.SourceID)
		_, err := n.Client.PreviewTransactions(t.Context(), wanted)
		apitest.WantError(t, "faults", err, 400, []string{"transactions[0].external.quantity", "transactions[0].source_id"}, "not found")
	})
}

func TestADryRunOfExchangeRatesAnswersAsTheRealThingAndWritesNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		rate := func(value string) []client.StoreFXRate {
			return []client.StoreFXRate{{BaseCurrency: "EUR", QuoteCurrency: "USD", Date: "2026-01-31", Rate: value}}
		}
		if _, err := n.Client.StoreFXRates(t.Context(), rate("1.08")); err != nil {
			t.Fatal(err)
		}
		before := n.AuditCount(t)
		got, err := n.Client.PreviewFXRates(t.Context(), rate("1.09"))
		if err != nil || got[0].Rate != "1.09" || got[0].UpdatedAt == nil {
			t.Errorf("%s %v", apitest.JSON(t, got), err)
		}
		for stored, err := range n.Client.FXRates(t.Context(), nil) {
			if err != nil || stored.Rate != "1.08" {
				t.Errorf("%s is stored: %v", stored.Rate, err)
			}
		}
		if after := n.AuditCount(t); after != before {
			t.Errorf("%d records in the audit log", after-before)
		}
	})
}

func TestADryRunUnderAnIdempotencyKeyIsAnsweredAgainFromTheKey(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		send := func(body string) apitest.Answer {
			return s.Send(t, apitest.Request{Method: "POST", Path: "/v1/fx-rates", Key: n.Key, Body: body,
				Header: http.Header{"Idempotency-Key": {"once"}}})
		}
		const dry = `{"rates":[{"base_currency":"EUR","quote_currency":"USD","date":"2026-01-31","rate":"1.08"}],"dry_run":true}`
		first, second := send(dry), send(dry)
		if first.Status >= 300 || first.Header.Get("Idempotency-Replayed") != "" || second.Header.Get("Idempotency-Replayed") != "true" ||
			string(first.Body) != string(second.Body) {
			t.Errorf("%d %s, then %d %s", first.Status, first.Body, second.Status, second.Body)
		}
		const other = `{"rates":[{"base_currency":"EUR","quote_currency":"USD","date":"2026-01-31","rate":"1.08"}]}`
		if a := send(other); a.Status != 409 {
			t.Errorf("another request under the key: %d %s", a.Status, a.Body)
		}
	})
}

func TestSoakEveryDryRunUnderAnIdempotencyKeyIsAnsweredAgainFromTheKey(t *testing.T) {
	var tested atomic.Int64
	t.Cleanup(func() {
		if tested.Load() == 0 {
			t.Error("no route has dry runs, so nothing was tested")
		}
	})
	eachRouteOnce(t, func(t *testing.T, s *apitest.Service, r wire.Route) {
		if schema := bodySchema(s, r); !r.Idempotent || schema == nil || schema.Properties["dry_run"] == nil {
			return
		}
		n := s.Found(t, "mine")
		_, own := request(t, r, n)
		for _, form := range append([]sample{own}, own.also...) {
			if _, has := form.at([]any{"dry_run"}); !has && len(own.also) > 0 {
				continue // not every form of the request has it
			}
			if form.path == nil {
				form.path = own.path
			}
			tested.Add(1)
			req, before := form.with([]any{"dry_run"}, true).request(r, n.Key), n.AuditCount(t)
			req.Header = http.Header{"Idempotency-Key": {client.NewIdempotencyKey()}}
			first, second := s.Send(t, req), s.Send(t, req)
			if first.Status >= 300 || first.Header.Get("Idempotency-Replayed") != "" {
				t.Fatalf("%d %s", first.Status, first.Body)
			}
			if second.Header.Get("Idempotency-Replayed") != "true" || second.Status != first.Status || string(first.Body) != string(second.Body) {
				t.Errorf("%d %s, then %d %s", first.Status, first.Body, second.Status, second.Body)
			}
			// A run is a record of its own, also one that only shows what it would do.
			if after := n.AuditCount(t); after != before && !strings.HasSuffix(r.Path, "-runs") {
				t.Errorf("%d changes were made", after-before)
			}
		}
	})
}
