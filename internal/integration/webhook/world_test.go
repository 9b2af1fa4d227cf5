package webhook_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// world is an organization with webhooks, and a clock that stands still.
type world struct {
	*testing.T
	db     *db.DB
	clock  *clock.Manual
	sender *webhook.Sender
	org    string
	ctx    context.Context
}

// each runs a test on each engine.
func each(t *testing.T, test func(w *world)) { eachWith(t, webhook.Config{AllowPrivate: true}, test) }

func eachWith(t *testing.T, config webhook.Config, test func(w *world)) {
	t.Helper()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		at := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		c.Clock = at
		test(newWorld(t, dbtest.Open(t, c), at, config))
	})
}

func newWorld(t *testing.T, d *db.DB, at *clock.Manual, config webhook.Config) *world {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	workers := job.NewWorkers()
	job.Handle(workers, func(context.Context, webhook.Deliver) error { return nil })
	job.Handle(workers, func(context.Context, outbox.Happened) error { return nil })
	workers.AddQueue(webhook.Queue, webhook.WorkersMax, webhook.PollPause)
	queue, err := job.NewQueue(d, workers, log)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, db: d, clock: at,
		sender: &webhook.Sender{Service: webhook.NewService(d, seal.Temporary(), config), Jobs: queue, Log: log}}
	w.org, w.ctx = w.found("mine")
	return w
}

// found creates an organization.
func (w *world) found(name string) (string, context.Context) {
	w.Helper()
	f, err := organization.NewService(w.db).Create(w.Context(), organization.CreateParams{Name: name, Email: name + "@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		w.Fatal(err)
	}
	return f.Organization.ID, actor.With(w.Context(), actor.Actor{OrganizationID: f.Organization.ID})
}

// create creates an endpoint for test.* events, unless types are given.
func (w *world) create(url string, ordered bool, types ...string) webhook.WithSecret {
	w.Helper()
	if types == nil {
		types = []string{"test.*"}
	}
	e, err := w.sender.Create(w.ctx, webhook.CreateParams{URL: url, Types: types, Ordered: ordered})
	if err != nil {
		w.Fatal(err)
	}
	return e
}

// happen commits events, each in a transaction of its own.
func (w *world) happen(names ...string) {
	w.Helper()
	for _, name := range names {
		if err := change(w.ctx, w.db, w.org, "test."+name, nil); err != nil {
			w.Fatal(err)
		}
	}
}

// change records a change. Its transaction is rolled back if fail is not nil.
func change(ctx context.Context, d *db.DB, organizationID, action string, fail error) error {
	return d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: "test", ResourceID: "x", After: map[string]any{"name": action}})
		return fail
	})
}

// deliver sends what is due to an endpoint.
func (w *world) deliver(e webhook.WithSecret) {
	w.Helper()
	if err := w.sender.Deliver(w.Context(), webhook.Deliver{OrganizationID: w.org, EndpointID: e.ID}); err != nil {
		w.Fatal(err)
	}
}

// redeliver has an event sent to an endpoint once more.
func (w *world) redeliver(e webhook.WithSecret, event outbox.Event) {
	w.Helper()
	if _, err := w.sender.RedeliverEvent(w.ctx, event.ID, e.ID); err != nil {
		w.Error(err)
	}
}

// disable disables an endpoint.
func (w *world) disable(e webhook.WithSecret) {
	w.Helper()
	if _, err := w.sender.Disable(w.ctx, e.ID, ""); err != nil {
		w.Error(err)
	}
}

// enable enables an endpoint.
func (w *world) enable(e webhook.WithSecret) {
	w.Helper()
	if _, err := w.sender.Enable(w.ctx, e.ID, ""); err != nil {
		w.Error(err)
	}
}

// get reads an endpoint.
func (w *world) get(e webhook.WithSecret) webhook.Endpoint {
	w.Helper()
	found, err := w.sender.Get(w.ctx, e.ID)
	if err != nil {
		w.Fatal(err)
	}
	return found
}

// deliveries reads the deliveries to an endpoint, the oldest first.
func (w *world) deliveries(e webhook.WithSecret, status webhook.DeliveryStatus) []webhook.Delivery {
	w.Helper()
	found, err := w.sender.ListDeliveries(w.ctx, e.ID, webhook.DeliveryFilter{Status: status}, page.Request{Limit: page.LimitMax})
	if err != nil {
		w.Fatal(err)
	}
	slices.Reverse(found.Items)
	return found.Items
}

// events reads the events of a type in the feed.
func (w *world) events(types ...string) (out []outbox.Event) {
	w.Helper()
	err := w.db.Read(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = outbox.List(ctx, tx, outbox.Filter{Types: types}, 0, 1000)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// received is a request that a receiver got.
type received struct {
	header http.Header
	body   []byte
	typ    string
}

// receiver is an HTTP server that notes what it receives.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []received
	answer func(typ string, w http.ResponseWriter, r *http.Request)
}

// receive starts a receiver that accepts everything until it is told otherwise.
func receive(t testing.TB) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	typ := typeOf(body)
	r.mu.Lock()
	r.got = append(r.got, received{request.Header, body, typ})
	answer := r.answer
	r.mu.Unlock()
	if answer != nil {
		answer(typ, w, request)
	}
}

// set changes the answer to later requests.
func (r *receiver) set(answer func(typ string, w http.ResponseWriter, r *http.Request)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// status answers with a status.
func status(code int) func(string, http.ResponseWriter, *http.Request) {
	return func(_ string, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// take returns what was received since the last call.
func (r *receiver) take() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

// types returns the types of events that were received since the last call, in the order of their arrival.
func (r *receiver) types() (out []string) {
	for _, one := range r.take() {
		out = append(out, one.typ)
	}
	return out
}
