package treasury_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/stripe/stripetest"
)

// invoices returns the invoices of an organization by their ids at Stripe.
func invoices(t *testing.T, n *apitest.Tenant) map[string]client.Invoice {
	t.Helper()
	out := map[string]client.Invoice{}
	for i, err := range n.Client.Invoices(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if i.ExternalID == nil || out[*i.ExternalID].ID != "" {
			t.Errorf("%+v is there twice, or not of Stripe", i)
			continue
		}
		out[*i.ExternalID] = i
	}
	return out
}

// transactions returns the transactions of an organization, described by external id.
func transactions(t *testing.T, n *apitest.Tenant) map[string]string {
	t.Helper()
	out := map[string]string{}
	for x, err := range n.Client.Transactions(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		out[x.ExternalID] = fmt.Sprintf("%s %s %s", x.External.Direction, *x.External.Quantity, x.Internal.TransactionType)
	}
	return out
}

// fill adds some records of each kind to Stripe. There are several pages of invoices and of balance transactions.
func fill(s *apitest.Service) (customer stripetest.Object, all []stripetest.Object) {
	customer = s.Stripe.Customer("Northwind", nil)
	for range 210 {
		all = append(all, s.Stripe.Invoice(customer, []stripetest.Object{s.Stripe.Line("Seats", 1000, nil)}, nil))
		s.Stripe.BalanceTransaction("charge", 1000, 59, nil)
	}
	return customer, all
}

func TestASynchronizationReadsEverythingOnceAndThenWhatHasChanged(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		customer, all := fill(s)
		var lines []stripetest.Object
		for range 250 {
			lines = append(lines, s.Stripe.Line("Hours", 100, nil))
		}
		long := s.Stripe.Invoice(customer, lines, stripetest.Object{"currency": "jpy"})
		s.Stripe.Customer("Without invoices", nil)
		c := sync(t, s, n, n.NewConnection(t, client.CreateConnection{}).ID)
		got := invoices(t, n)
		if c.Status != "active" || len(got) != 211 || len(transactions(t, n)) != 210 {
			t.Fatalf("%+v: %d invoices, %d transactions", c, len(got), len(transactions(t, n)))
		}
		if i := got[long["id"].(string)]; i.TotalAmount != "25000" || len(i.Lines) != 250 || i.Currency != "JPY" {
			t.Errorf("%+v", i)
		}
		customers := 0
		for range n.Client.Customers(t.Context(), nil) {
			customers++
		}
		if customers != 2 {
			t.Errorf("%d customers", customers)
		}
		before := n.AuditCount(t)
		again := func() client.Connection {
			t.Helper()
			if _, err := n.Client.SyncConnection(t.Context(), c.ID); err != nil {
				t.Fatal(err)
			}
			return sync(t, s, n, c.ID)
		}
		if c = again(); c.Status != "active" || n.AuditCount(t) != before+2 {
			t.Errorf("%+v: %d changes, want a request and the end of a run", c, n.AuditCount(t)-before)
		}
		now := time.Now().Unix()
		s.Stripe.Change(all[3], "invoice.paid", stripetest.Object{"status": "paid", "amount_remaining": int64(0)})
		s.Stripe.Change(all[4], "invoice.updated", stripetest.Object{"amount_remaining": int64(250)})
		s.Stripe.Touch("events", now)
		fresh := s.Stripe.Invoice(customer, []stripetest.Object{s.Stripe.Line("More", 5, nil)}, stripetest.Object{"created": now})
		s.Stripe.BalanceTransaction("payout", -5000, 0, stripetest.Object{"created": now})
		requests := len(s.Stripe.Requests("/v1/"))
		again()
		got = invoices(t, n)
		if a, b, f := got[all[3]["id"].(string)], got[all[4]["id"].(string)], got[fresh["id"].(string)]; a.Status != "paid" ||
			b.AmountDue != "2.50" || f.TotalAmount != "0.05" || len(transactions(t, n)) != 211 {
			t.Errorf("%+v\n%+v\n%+v", a, b, f)
		}
		if sent := len(s.Stripe.Requests("/v1/")) - requests; sent > 8 {
			t.Errorf("%d requests for three changes", sent)
		}
	})
}

func TestASynchronizationThatIsInterruptedContinuesWithoutGapOrDuplicate(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		fill(s)
		id := n.NewConnection(t, client.CreateConnection{}).ID
		start := len(s.Stripe.Requests("/v1/"))
		for runs := 1; ; runs++ {
			ctx, cancel := context.WithCancel(t.Context())
			served := 0
			s.Stripe.Before(func(*http.Request) {
				if served++; served == 2 {
					cancel() // each run gets one answer
				}
			})
			err := s.App.Connections.Run(ctx, n.Organization.ID, id)
			cancel()
			if err == nil {
				if sent := len(s.Stripe.Requests("/v1/")) - start; runs < 5 || sent > 2*runs {
					t.Errorf("%d runs, %d requests", runs, sent)
				}
				break
			}
			if runs > 30 {
				t.Fatal(err)
			}
		}
		s.Stripe.Before(nil)
		if c, err := n.Client.Connection(t.Context(), id); err != nil || c.Status != "active" || len(invoices(t, n)) != 210 ||
			len(transactions(t, n)) != 210 {
			t.Errorf("%+v %v: %d invoices, %d transactions", c, err, len(invoices(t, n)), len(transactions(t, n)))
		}
	})
}

func TestAFailureOfStripeIsTriedAgainOrShown(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		s.Stripe.Invoice(s.Stripe.Customer("Northwind", nil), []stripetest.Object{s.Stripe.Line("a", 100, nil)}, nil)
		c := n.NewConnection(t, client.CreateConnection{APIKey: "sk_1"})
		start := time.Now()
		s.Stripe.Fail(stripetest.Failure{Path: "/v1/customers", Status: http.StatusTooManyRequests, RetryAfter: "2", Times: 1})
		s.Stripe.Fail(stripetest.Failure{Path: "/v1/invoices", Status: http.StatusConflict, Times: 1})
		if c = sync(t, s, n, c.ID); c.Status != "active" || len(invoices(t, n)) != 1 || time.Since(start) < 2*time.Second {
			t.Errorf("%+v after %s", c, time.Since(start))
		}
		request := func() {
			t.Helper()
			if _, err := n.Client.SyncConnection(ctx, c.ID); err != nil {
				t.Error(err)
			}
		}
		request()
		s.Stripe.Fail(stripetest.Failure{Path: "/v1/customers", Status: http.StatusTooManyRequests, RetryAfter: "3600", Times: 1})
		if c = sync(t, s, n, c.ID); c.Status != "syncing" {
			t.Errorf("%+v", c)
		}
		if err := s.App.Connections.Run(ctx, n.Organization.ID, c.ID); err == nil || !strings.Contains(err.Error(), "claimed") {
			t.Errorf("it does not wait as long as Stripe asks for: %v", err)
		}
		request()
		s.Stripe.Refuse("sk_1", http.StatusForbidden)
		if c = sync(t, s, n, c.ID); c.Status != "error" || c.ErrorMessage == nil || strings.Contains(*c.ErrorMessage, "sk_1") {
			t.Errorf("%+v", c)
		}
		request()
		s.Stripe.Refuse("sk_1", http.StatusUnauthorized)
		if c = sync(t, s, n, c.ID); c.Status != "needs_reauthorization" || len(c.Guidance.Warnings) == 0 {
			t.Errorf("%+v", c)
		}
		_, err := n.Client.SyncConnection(ctx, c.ID)
		apitest.WantConflict(t, err, "api_key")
		if _, err := n.Client.UpdateConnection(ctx, c.ID, client.UpdateConnection{APIKey: new("sk_1.new")}); err != nil {
			t.Error(err)
		}
		if c = sync(t, s, n, c.ID); c.Status != "active" || c.ErrorMessage != nil {
			t.Errorf("%+v", c)
		}
	})
}

// deliver sends a webhook.
func deliver(t *testing.T, s *apitest.Service, id string, event stripetest.Object, secret string, at time.Time) int {
	t.Helper()
	body, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	return post(t, s, id, body, stripetest.Sign(body, secret, at))
}

func post(t *testing.T, s *apitest.Service, id string, body []byte, signature string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/webhooks/stripe/"+id, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Stripe-Signature", signature)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

func TestAWebhookRefreshesWhatItNamesFromStripe(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, now := s.Found(t, "acme"), time.Now()
		i := s.Stripe.Invoice(s.Stripe.Customer("Northwind", nil), []stripetest.Object{s.Stripe.Line("a", 1000, nil)}, nil)
		c := n.NewConnection(t, client.CreateConnection{WebhookSecret: "whsec_1"})
		sync(t, s, n, c.ID)
		older := s.Stripe.Change(i, "invoice.updated", stripetest.Object{"amount_remaining": int64(400)})
		newer := s.Stripe.Change(i, "invoice.paid", stripetest.Object{"status": "paid", "amount_remaining": int64(0)})
		s.Stripe.BalanceTransaction("charge", 1000, 59, stripetest.Object{"created": now.Unix()})
		charge := s.Stripe.Change(stripetest.Object{"id": "ch_1", "object": "charge"}, "charge.succeeded", nil)
		for _, e := range []stripetest.Object{newer, charge, older, newer} { // out of order, and one twice
			if status := deliver(t, s, c.ID, e, "whsec_1", now); status != http.StatusOK {
				t.Errorf("%v: %d", e, status)
			}
		}
		fetched := len(s.Stripe.Requests("/v1/invoices/"))
		sync(t, s, n, c.ID)
		if got := invoices(t, n)[i["id"].(string)]; got.Status != "paid" || len(transactions(t, n)) != 1 {
			t.Errorf("%+v, %v", got, transactions(t, n))
		}
		if more := len(s.Stripe.Requests("/v1/invoices/")) - fetched; more != 1 {
			t.Errorf("the invoice was read %d times", more)
		}
		if status := deliver(t, s, c.ID, newer, "whsec_1", now); status != http.StatusOK {
			t.Errorf("%d for an event that was handled", status)
		}
		if err := s.App.Connections.Run(t.Context(), n.Organization.ID, c.ID); err == nil {
			t.Error("an event was handled twice")
		}
		unrelated := stripetest.Object{"id": "evt_x", "object": "event", "type": "product.created",
			"data": stripetest.Object{"object": stripetest.Object{"id": "prod_1", "object": "product"}}}
		if status := deliver(t, s, c.ID, unrelated, "whsec_1", now); status != http.StatusOK {
			t.Errorf("%d for an event that concerns nothing", status)
		}
	})
}

func TestTheMirrorFollowsWhatStripeStatesAboutAnInvoice(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		customer, line := s.Stripe.Customer("Northwind", nil), []stripetest.Object{s.Stripe.Line("a", 1000, nil)}
		paid := s.Stripe.Invoice(customer, line, stripetest.Object{"status": "paid", "amount_remaining": int64(0)})
		draft := s.Stripe.Invoice(customer, line, stripetest.Object{"status": "draft"})
		open := s.Stripe.Invoice(customer, line, stripetest.Object{"status": "open", "amount_remaining": int64(1000)})
		c := n.NewConnection(t, client.CreateConnection{WebhookSecret: "whsec_1"})
		sync(t, s, n, c.ID)
		reopened := s.Stripe.Change(paid, "invoice.updated", stripetest.Object{"status": "open", "amount_remaining": int64(1000)})
		s.Stripe.BalanceTransaction("adjustment", -1000, 1500, stripetest.Object{"created": time.Now().Unix(), "reporting_category": "dispute"})
		dispute := s.Stripe.Change(stripetest.Object{"id": "du_1", "object": "dispute"}, "charge.dispute.created", nil)
		for _, e := range []stripetest.Object{reopened, s.Stripe.Delete("invoices", draft, "invoice.deleted"),
			s.Stripe.Delete("invoices", open, "invoice.deleted"), dispute} {
			if status := deliver(t, s, c.ID, e, "whsec_1", time.Now()); status != http.StatusOK {
				t.Errorf("%d", status)
			}
		}
		sync(t, s, n, c.ID)
		got := invoices(t, n)
		if a, b := got[paid["id"].(string)], got[draft["id"].(string)]; a.Status != "open" || a.AmountDue != "10.00" || b.Status != "void" {
			t.Errorf("%+v\n%+v", a, b)
		}
		if o := got[open["id"].(string)]; o.Status != "open" || o.AmountDue != "10.00" { // it belongs to another account, or the key was changed
			t.Errorf("an open invoice that the key does not find: %+v", o)
		}
		for _, text := range transactions(t, n) {
			if text != "debit 25.00 CHARGEBACK" {
				t.Errorf("%s", text)
			}
		}
	})
}

func TestAConnectionWhoseKeyForSecretsIsAnotherOneIsAnErrorUntilItsCredentialsAreSentAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		first, second := apitest.Start(t, d, api.Config{}), apitest.StartWithKey(t, d, api.Config{}, seal.Temporary())
		n := first.Found(t, "acme")
		c := n.NewConnection(t, client.CreateConnection{APIKey: "sk_1", WebhookSecret: "whsec_1"})
		there := n.At(second)
		if c = sync(t, second, there, c.ID); c.Status != "error" || c.ErrorMessage == nil || !strings.Contains(*c.ErrorMessage, "same key") {
			t.Fatalf("%+v", c)
		}
		_, err := there.Client.UpdateConnection(t.Context(), c.ID, client.UpdateConnection{APIKey: new("sk_1")})
		apitest.WantConflict(t, err, "send all of them")
		if _, err = there.Client.UpdateConnection(t.Context(), c.ID, client.UpdateConnection{APIKey: new("sk_1"),
			WebhookSecret: client.Null[string]()}); err != nil {
			t.Fatal(err)
		}
		if c = sync(t, second, there, c.ID); c.Status != "active" || c.TakesWebhooks {
			t.Errorf("%+v", c)
		}
	})
}

func TestAWebhookThatIsNotSignedByStripeIsRefused(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, now := s.Found(t, "acme"), time.Now()
		c := n.NewConnection(t, client.CreateConnection{WebhookSecret: "whsec_1"})
		none := n.NewConnection(t, client.CreateConnection{})
		event := s.Stripe.Change(s.Stripe.Customer("Northwind", nil), "customer.updated", nil)
		body, _ := json.Marshal(event)
		for name, status := range map[string]int{
			"another secret":       deliver(t, s, c.ID, event, "whsec_2", now),
			"no secret":            deliver(t, s, none.ID, event, "", now),
			"unknown connection":   deliver(t, s, "con_unknown", event, "whsec_1", now),
			"unknown, no secret":   deliver(t, s, "con_unknown", event, "", now),
			"too old":              deliver(t, s, c.ID, event, "whsec_1", now.Add(-301*time.Second)),
			"no signature":         post(t, s, c.ID, body, ""),
			"garbled signature":    post(t, s, c.ID, body, "t=x,v1=y"),
			"not an event":         deliver(t, s, c.ID, stripetest.Object{"a": 1}, "whsec_1", now),
			"signed, another body": post(t, s, c.ID, append(body, ' '), stripetest.Sign(body, "whsec_1", now)),
		} {
			if status != http.StatusBadRequest {
				t.Errorf("%s: %d", name, status)
			}
		}
		if status := post(t, s, c.ID, make([]byte, 2<<20), "t=1,v1=00"); status != http.StatusRequestEntityTooLarge {
			t.Errorf("%d for a large body", status)
		}
		two := stripetest.Sign(body, "whsec_old", now) + "," + strings.Split(stripetest.Sign(body, "whsec_1", now), ",")[1]
		if status := post(t, s, c.ID, body, two); status != http.StatusOK {
			t.Errorf("%d for two signatures, of which one matches", status)
		}
		if _, err := n.Client.Disconnect(t.Context(), c.ID); err != nil {
			t.Fatal(err)
		}
		if status := deliver(t, s, c.ID, event, "whsec_1", now); status != http.StatusBadRequest {
			t.Errorf("%d for a disconnected connection", status)
		}
	})
}

func TestEventsThatAreNotAcceptedAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := apitest.Start(t, d, api.Config{RateLimit: 1})
		for n := 0; ; n++ {
			if status := post(t, s, "con_unknown", []byte("{}"), "t=1,v1=00"); status == http.StatusTooManyRequests {
				break
			}
			if n > 20 {
				t.Fatal("there is no limit")
			}
		}
	})
}
