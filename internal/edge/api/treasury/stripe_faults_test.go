package treasury_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/stripe/stripetest"
)

// resync has a connection read again.
func resync(t *testing.T, s *apitest.Service, n *apitest.Tenant, id string) client.Connection {
	t.Helper()
	if _, err := n.Client.SyncConnection(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return sync(t, s, n, id)
}

func TestRecordsThatCannotBeUnderstoodAreLeftOutAndNamed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		customer, line := s.Stripe.Customer("Northwind", nil), []stripetest.Object{s.Stripe.Line("a", 100, nil)}
		s.Stripe.Customer("Strange", stripetest.Object{"id": "cus_" + strings.Repeat("x", 600)})
		good := []stripetest.Object{s.Stripe.Invoice(customer, line, nil)}
		strange := s.Stripe.Invoice(customer, line, stripetest.Object{"status": "postponed"})
		foreign := s.Stripe.Invoice(customer, line, stripetest.Object{"currency": "zzz"})
		good = append(good, s.Stripe.Invoice(customer, line, nil))
		s.Stripe.BalanceTransaction("charge", 100, 0, nil)
		odd := s.Stripe.BalanceTransaction("charge", 100, 0, stripetest.Object{"currency": "zzz"})
		s.Stripe.BalanceTransaction("charge", 100, 0, stripetest.Object{"created": int64(0)})
		s.Stripe.BalanceTransaction("charge", 100, 0, nil)
		c := sync(t, s, n, n.NewConnection(t, client.CreateConnection{}).ID)
		warnings := strings.Join(c.Guidance.Warnings, "\n")
		if c.Status != "active" || len(invoices(t, n)) != len(good) || len(transactions(t, n)) != 2 ||
			!strings.Contains(warnings, ": 5, among") || !strings.Contains(warnings, "invoice "+strange["id"].(string)+" (") ||
			!strings.Contains(warnings, "status must be one of") {
			t.Fatalf("%+v: %d invoices, %v", c, len(invoices(t, n)), transactions(t, n))
		}
		s.Stripe.Change(strange, "invoice.finalized", stripetest.Object{"status": "open"})
		s.Stripe.Change(foreign, "invoice.updated", nil)
		s.Stripe.Touch("events", time.Now().Unix())
		c = resync(t, s, n, c.ID)
		warnings = strings.Join(c.Guidance.Warnings, "\n")
		if len(invoices(t, n)) != len(good)+1 || !strings.Contains(warnings, ": 4, among") ||
			strings.Contains(warnings, strange["id"].(string)) || !strings.Contains(warnings, odd["id"].(string)) {
			t.Errorf("%+v: %d invoices", c, len(invoices(t, n)))
		}
	})
}

func TestInvoicesWithImpossibleDatesOrAmountsAreLeftOut(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		customer, line := s.Stripe.Customer("Northwind", nil), []stripetest.Object{s.Stripe.Line("a", 100, nil)}
		s.Stripe.Invoice(customer, line, nil)
		for _, with := range []stripetest.Object{{"due_date": int64(1_790_000_000_000)}, {"effective_at": int64(1_790_000_000_000)},
			{"effective_at": int64(-1_000_000_000_000_000_000)}} {
			s.Stripe.Invoice(customer, line, with)
		}
		s.Stripe.Invoice(customer, []stripetest.Object{s.Stripe.Line("a", 1<<62, nil)}, nil)
		c := sync(t, s, n, n.NewConnection(t, client.CreateConnection{}).ID)
		if got := len(invoices(t, n)); c.Status != "active" || got != 1 || !strings.Contains(c.Guidance.Warnings[0], ": 4, among") {
			t.Errorf("%d invoices, %q", got, c.Guidance.Warnings)
		}
		apitest.Verify(t, s.App)
	})
}

func TestAStageWhoseCursorWasDeletedAtStripeBeginsAgain(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		customer := s.Stripe.Customer("Northwind", nil)
		byID := map[string]stripetest.Object{}
		for range 150 {
			o := s.Stripe.Invoice(customer, []stripetest.Object{s.Stripe.Line("a", 100, nil)}, stripetest.Object{"status": "draft"})
			byID[o["id"].(string)] = o
		}
		id := n.NewConnection(t, client.CreateConnection{}).ID
		deleted := false
		s.Stripe.Before(func(r *http.Request) {
			if o := byID[r.Form.Get("starting_after")]; o != nil && !deleted {
				deleted = true
				s.Stripe.Delete("invoices", o, "invoice.deleted")
			}
		})
		if c := sync(t, s, n, id); c.Status != "active" || !deleted || len(invoices(t, n)) != 150 {
			t.Errorf("%+v: %d invoices, deleted %v", c, len(invoices(t, n)), deleted)
		}
	})
}

func TestCustomersFollowTheirNamesAtStripeUnlessTheyWereRenamedHere(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx, now := s.Found(t, "acme"), t.Context(), time.Now()
		one, two := s.Stripe.Customer("One", nil), s.Stripe.Customer("Two", nil)
		c := n.NewConnection(t, client.CreateConnection{WebhookSecret: "whsec_1"})
		sync(t, s, n, c.ID)
		names := func() map[string]client.Customer {
			out := map[string]client.Customer{}
			for found, err := range n.Client.Customers(ctx, nil) {
				if err != nil {
					t.Fatal(err)
				}
				out[found.ExternalReferences[0].ExternalID] = found
			}
			return out
		}
		id := func(o stripetest.Object) string { return o["id"].(string) }
		if _, err := n.Client.UpdateCustomer(ctx, names()[id(two)].ID, client.UpdateCustomer{Name: new("Ours")}); err != nil {
			t.Fatal(err)
		}
		s.Stripe.Change(one, "customer.updated", stripetest.Object{"name": "Uno"})
		s.Stripe.Change(one, "customer.updated", stripetest.Object{"name": "Uno\x07\nSA", "email": "uno@example.com"})
		s.Stripe.Change(two, "customer.updated", stripetest.Object{"name": "Due", "email": "due@example.com"})
		s.Stripe.Change(two, "customer.updated", stripetest.Object{"balance": int64(1)})
		s.Stripe.Touch("events", now.Unix())
		resync(t, s, n, c.ID)
		got := names()
		if a, b := got[id(one)], got[id(two)]; a.Name != "Uno SA" || *a.Email != "uno@example.com" || b.Name != "Ours" ||
			*b.Email != "due@example.com" {
			t.Errorf("%+v\n%+v", a, b)
		}
		e := s.Stripe.Change(one, "customer.updated", stripetest.Object{"name": "Ein"})
		if status := deliver(t, s, c.ID, e, "whsec_1", now); status != http.StatusOK {
			t.Error(status)
		}
		sync(t, s, n, c.ID)
		if a := names()[id(one)]; a.Name != "Ein" || len(names()) != 2 {
			t.Errorf("%+v", a)
		}
	})
}

// announce stores events of a customer as if Stripe had sent them.
func announce(t *testing.T, s *apitest.Service, n *apitest.Tenant, connectionID string, count int, customer stripetest.Object) {
	t.Helper()
	err := s.App.DB.Write(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		for i := range count {
			if _, err := tx.Exec(ctx, `INSERT INTO connection_events (organization_id, connection_id, event_id, type, object_type, object_id,
				received_at) VALUES (@org, ?, ?, 'customer.created', 'customer', ?, ?)`, connectionID, fmt.Sprintf("evt_old_%d", i),
				customer["id"], tx.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// unhandled counts the events that wait.
func unhandled(t *testing.T, s *apitest.Service, n *apitest.Tenant) (count int64) {
	t.Helper()
	err := s.App.DB.Read(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
		count, err = db.One[int64](ctx, tx, "event", "SELECT count(*) FROM connection_events WHERE organization_id = @org AND handled_at IS NULL")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

func TestWaitingEventsAreHandledInPartsAndBounded(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, now := s.Found(t, "acme"), time.Now()
		customer := s.Stripe.Customer("Northwind", nil)
		c := n.NewConnection(t, client.CreateConnection{WebhookSecret: "whsec_1"})
		sync(t, s, n, c.ID)
		announce(t, s, n, c.ID, 1000, customer)
		fresh := s.Stripe.Customer("Fresh", stripetest.Object{"created": now.Unix()})
		e := s.Stripe.Change(fresh, "customer.created", nil)
		if status := deliver(t, s, c.ID, e, "whsec_1", now); status != http.StatusOK || unhandled(t, s, n) != 1000 {
			t.Errorf("%d, %d events wait", status, unhandled(t, s, n))
		}
		sync(t, s, n, c.ID)
		customers := 0
		for range n.Client.Customers(t.Context(), nil) {
			customers++
		}
		if customers != 2 || unhandled(t, s, n) != 800 {
			t.Errorf("%d customers, %d events wait", customers, unhandled(t, s, n))
		}
		if err := s.App.Connections.Run(t.Context(), n.Organization.ID, c.ID); err == nil || !strings.Contains(err.Error(), "claimed") {
			t.Errorf("other connections have no turn: %v", err)
		}
		execute(t, s, n, "UPDATE connection_events SET handled_at = ? WHERE organization_id = @org AND event_id < 'evt_old_9'", now)
		time.Sleep(1100 * time.Millisecond)
		sync(t, s, n, c.ID)
		if left := unhandled(t, s, n); left != 0 {
			t.Errorf("%d events wait", left)
		}
	})
}

// slowCommits has every transaction that stores an event commit half a second after its last statement.
const slowCommits = `CREATE FUNCTION wait_a_little() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END $$;
	CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON connection_events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
	EXECUTE FUNCTION wait_a_little()`

func TestAnEventThatIsStoredWhileATaskEndsIsHandled(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, config db.Config) {
		d := dbtest.Open(t, config)
		if d.Engine() == db.Postgres { // SQLite has one writer
			dbtest.ExecUnchecked(t, config, slowCommits)
		}
		s := apitest.Start(t, d, api.Config{})
		n := s.Found(t, "acme")
		c := n.NewConnection(t, client.CreateConnection{WebhookSecret: "whsec_1"})
		event := s.Stripe.Change(s.Stripe.Customer("Northwind", nil), "customer.created", nil)
		delivered := make(chan int, 1)
		s.Stripe.Before(func(r *http.Request) {
			if r.URL.Path == "/v1/balance_transactions" { // the last page
				go func() { delivered <- deliver(t, s, c.ID, event, "whsec_1", time.Now()) }()
				time.Sleep(100 * time.Millisecond) // now it is stored, and not committed
			}
		})
		sync(t, s, n, c.ID)
		if status := <-delivered; status != http.StatusOK {
			t.Fatal(status)
		}
		if unhandled(t, s, n) > 0 { // it came after the last look, so that the task must not be over
			time.Sleep(1100 * time.Millisecond)
			sync(t, s, n, c.ID)
		}
	})
}

func TestEventsOfOthersAreAcceptedFromAnAddressOverItsLimit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := apitest.Start(t, d, api.Config{RateLimit: 10})
		n := s.Found(t, "acme")
		c := n.NewConnection(t, client.CreateConnection{WebhookSecret: "whsec_1"})
		for tries := 0; post(t, s, "con_unknown", []byte("{}"), "t=1,v1=00") != http.StatusTooManyRequests; tries++ {
			if tries > 200 {
				t.Fatal("there is no limit")
			}
		}
		event := s.Stripe.Change(s.Stripe.Customer("Northwind", nil), "customer.updated", nil)
		if status := deliver(t, s, c.ID, event, "whsec_1", time.Now()); status != http.StatusOK || unhandled(t, s, n) != 1 {
			t.Errorf("%d, %d events wait", status, unhandled(t, s, n))
		}
	})
}
