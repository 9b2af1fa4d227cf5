package webhook_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

func TestEventsAreSentOnceMoreOnRequest(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e, silent := w.create(r.URL, true), w.create(r.URL, true, "other.one")
		for n := range 120 {
			w.happen(fmt.Sprint("n", n))
			w.clock.Advance(time.Minute)
		}
		w.deliver(e)
		sent := r.types()
		if len(sent) != 120 {
			w.Fatalf("%d events arrived", len(sent))
		}
		events := w.events()
		events = slices.DeleteFunc(events, func(e outbox.Event) bool { return !slices.Contains(sent, e.Type) })
		found, err := w.sender.RedeliverEvent(w.ctx, events[7].ID, "")
		if err != nil || len(found) != 1 || found[0].ID != e.ID {
			w.Fatalf("%+v %v", found, err)
		}
		w.deliver(e)
		w.deliver(silent)
		equal(w.T, r.types(), "test.n7")
		if _, err = w.sender.RedeliverEvent(w.ctx, events[8].ID, silent.ID); err != nil {
			w.Fatal(err)
		}
		w.deliver(silent)
		equal(w.T, r.types(), "test.n8")

		for name, c := range map[string]struct {
			r    webhook.Range
			want []string
		}{
			"after, through": {webhook.Range{After: events[9].ID, Through: events[12].ID}, sent[10:13]},
			"after":          {webhook.Range{After: events[50].ID}, sent[51:]},
			"since":          {webhook.Range{Since: &events[100].CreatedAt}, sent[100:]},
			"since, until":   {webhook.Range{Since: new(events[3].CreatedAt.Add(time.Second)), Until: &events[60].CreatedAt}, sent[4:61]},
			"since ever":     {webhook.Range{Since: new(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))}, sent},
			"none":           {webhook.Range{Since: new(w.clock.Now().Add(time.Hour))}, nil},
		} {
			if _, err := w.sender.Redeliver(w.ctx, e.ID, c.r); err != nil {
				w.Fatalf("%s: %v", name, err)
			}
			w.deliver(e)
			equal(w.T, r.types(), c.want...)
		}
		if d := w.deliveries(e, webhook.Retrying); len(d) != 0 {
			w.Errorf("%+v", d)
		}
		for _, bad := range []webhook.Range{{}, {After: events[0].ID, Since: &events[0].CreatedAt}, {After: "evt_unknown"}} {
			if _, err := w.sender.Redeliver(w.ctx, e.ID, bad); !fault.Refused(err) {
				w.Errorf("%+v: %v", bad, err)
			}
		}
	})
}

func TestNothingOfARangeIsLostIfSomeOfItFails(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e := w.create(r.URL, false)
		w.happen("one", "two", "three")
		w.deliver(e)
		r.types()
		r.set(func(typ string, rw http.ResponseWriter, _ *http.Request) {
			if typ != "test.one" {
				rw.WriteHeader(500)
			}
		})
		if _, err := w.sender.Redeliver(w.ctx, e.ID, webhook.Range{Since: new(w.clock.Now().Add(-time.Hour))}); err != nil {
			w.Fatal(err)
		}
		w.deliver(e)
		r.types()
		r.set(nil)
		w.clock.Advance(10 * time.Second)
		w.deliver(e)
		got := r.types()
		slices.Sort(got)
		equal(w.T, got, "test.three", "test.two")
		if d := w.deliveries(e, ""); len(d) != 3 || d[0].Attempts+d[1].Attempts+d[2].Attempts != 8 {
			w.Errorf("%+v", d)
		}
	})
}

func TestASecretIsReplacedWithoutAGap(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e := w.create(r.URL, true)
		first := e.Secret.Reveal()
		next, err := w.sender.RotateSecret(w.ctx, e.ID, 2*time.Hour, "")
		if err != nil || next.Secret.Reveal() == first || next.PreviousSecretExpiresAt == nil {
			w.Fatalf("%+v %v", next, err)
		}
		second := next.Secret.Reveal()
		w.happen("one")
		w.deliver(e)
		w.clock.Advance(2 * time.Hour)
		w.happen("two")
		w.deliver(e)
		got := r.take()
		for i, want := range []bool{true, false} {
			if genuine(w.T, first, got[i]) != want || !genuine(w.T, second, got[i]) {
				w.Errorf("message %d: %v", i, got[i].header)
			}
		}
		last, err := w.sender.RotateSecret(w.ctx, e.ID, 0, "")
		if err != nil || last.PreviousSecretExpiresAt != nil {
			w.Fatalf("%+v %v", last, err)
		}
		w.happen("three")
		w.deliver(e)
		if m := r.take()[0]; genuine(w.T, second, m) || !genuine(w.T, last.Secret.Reveal(), m) {
			w.Errorf("%v", m.header)
		}
		if a, err := w.sender.Test(w.ctx, e.ID, func(webhook.Endpoint) []byte { return []byte(`{"x":1}`) }); err != nil || !a.Succeeded() {
			w.Errorf("%+v %v", a, err)
		}
		if m := r.take(); len(m) != 1 || m[0].typ != webhook.EventTest || !genuine(w.T, last.Secret.Reveal(), m[0]) {
			w.Errorf("%+v", m)
		}
	})
}

func TestAnotherWorkerContinuesWhereOneDied(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e := w.create(r.URL, true)
		w.happen("one", "two")
		ctx, die := context.WithCancel(w.Context())
		r.set(func(typ string, _ http.ResponseWriter, request *http.Request) {
			if typ == "test.two" {
				die()
				<-request.Context().Done()
			}
		})
		// It stops in the middle of a batch: what was answered is stored, and the rest is not blamed on the endpoint.
		if err := w.sender.Deliver(ctx, webhook.Deliver{OrganizationID: w.org, EndpointID: e.ID}); err != nil {
			w.Fatal(err)
		}
		r.set(nil)
		if d := w.deliveries(e, ""); len(d) != 1 || d[0].Status != webhook.Succeeded {
			w.Fatalf("%+v", d)
		}
		r.types()

		claim(w, e, w.clock.Now().Add(time.Minute)) // a worker that dies without a word
		w.deliver(e)
		equal(w.T, r.types())
		if n := w.sweep(); n != 0 {
			w.Errorf("%d jobs while a worker may be alive", n)
		}
		w.clock.Advance(2 * time.Minute)
		if n := w.sweep(); n != 1 {
			w.Errorf("%d jobs after its time was over", n)
		}
		w.deliver(e)
		equal(w.T, r.types(), "test.two")
		if n := w.sweep(); n != 0 {
			w.Errorf("%d jobs although nothing is to be done", n)
		}
	})
}

// claim marks an endpoint as claimed by a worker until a time.
func claim(w *world, e webhook.WithSecret, until time.Time) {
	w.Helper()
	err := w.db.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE webhook_cursors SET claim = 'dead', claimed_until = ? WHERE organization_id = @org AND "+
			"webhook_endpoint_id = ?", until, e.ID)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
}

// sweep runs the sweep and returns how many jobs it has queued.
func (w *world) sweep() int64 {
	w.Helper()
	before := w.count("SELECT count(*) FROM river_job")
	if err := w.sender.Sweep(w.Context()); err != nil {
		w.Fatal(err)
	}
	return w.count("SELECT count(*) FROM river_job") - before
}

func (w *world) count(query string) (n int64) {
	w.Helper()
	err := w.db.ReadAcross(w.Context(), "a test", func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.One[int64](ctx, tx, "count", query)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return n
}

func TestOldLogsAndThoseOfDeletedEndpointsAreDeleted(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		kept, deleted := w.create(r.URL, false), w.create(r.URL, false)
		w.happen("one")
		w.deliver(kept)
		w.deliver(deleted)
		w.clock.Advance(20 * 24 * time.Hour)
		w.happen("two")
		w.deliver(kept)
		logged := w.deliveries(deleted, "")
		if err := w.sender.Delete(w.ctx, deleted.ID, ""); err != nil {
			w.Fatal(err)
		}
		if _, _, err := w.sender.GetDelivery(w.ctx, logged[0].ID); fault.KindOf(err) != fault.NotFound {
			w.Errorf("a delivery to a deleted endpoint: %v", err)
		}
		w.deliver(deleted)
		if err := w.sender.Cleanup(w.Context()); err != nil {
			w.Fatal(err)
		}
		if d, n := w.deliveries(kept, ""), w.count("SELECT count(*) FROM webhook_deliveries"); len(d) != 2 || n != 2 {
			w.Errorf("%d deliveries, %+v", n, d)
		}
		w.clock.Advance(11 * 24 * time.Hour)
		if err := w.sender.Cleanup(w.Context()); err != nil {
			w.Fatal(err)
		}
		if d := w.deliveries(kept, ""); len(d) != 1 || d[0].EventType != "test.two" {
			w.Errorf("%+v", d)
		}
		for _, table := range []string{"webhook_deliveries", "webhook_attempts", "webhook_cursors"} {
			if n := w.count("SELECT count(*) FROM " + table); n != 1 {
				w.Errorf("%d rows in %s", n, table)
			}
		}
	})
}

func TestTheLogOfAnOldEventThatIsSentOnceMoreIsKept(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e := w.create(r.URL, false)
		w.happen("one")
		w.deliver(e)
		w.clock.Advance(40 * 24 * time.Hour)
		w.redeliver(e, w.events("test.one")[0])
		w.deliver(e)
		if err := w.sender.Cleanup(w.Context()); err != nil {
			w.Fatal(err)
		}
		if d := w.deliveries(e, webhook.Succeeded); len(d) != 1 || d[0].Attempts != 2 {
			w.Errorf("%+v", d)
		}
	})
}

func TestARangeHasOnlyTheEventsThatAreKept(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e := w.create(r.URL, false)
		w.happen("one", "two", "three")
		w.deliver(e)
		w.clock.Advance(60 * 24 * time.Hour)
		w.happen("four", "five")
		w.deliver(e)
		w.clock.Advance(40 * 24 * time.Hour)
		if _, err := outbox.NewRelay(w.db, w.sender.Jobs, slog.New(slog.DiscardHandler)).Step(w.Context()); err != nil {
			w.Fatal(err)
		}
		if err := outbox.DeleteExpired(w.Context(), w.db); err != nil {
			w.Fatal(err)
		}
		n, err := w.sender.Redeliver(w.ctx, e.ID, webhook.Range{Since: new(w.clock.Now().Add(-200 * 24 * time.Hour))})
		if err != nil || n != 2 {
			w.Errorf("%d events, want those that are kept: %v", n, err)
		}
		// A beginning after the end is a mistake.
		_, err = w.sender.Redeliver(w.ctx, e.ID, webhook.Range{Since: new(w.clock.Now()), Until: new(w.clock.Now().Add(-time.Hour))})
		if fault.KindOf(err) != fault.Invalid {
			w.Errorf("%v", err)
		}
		events := w.events("test.four", "test.five")
		_, err = w.sender.Redeliver(w.ctx, e.ID, webhook.Range{After: events[1].ID, Through: events[0].ID})
		if fault.KindOf(err) != fault.Invalid {
			w.Errorf("%v", err)
		}
	})
}
