package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

func typeOf(body []byte) string {
	var envelope struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(body, &envelope)
	return envelope.Type
}

func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("received %v, want %v", got, want)
	}
}

// genuine reports whether a message was signed with a secret.
func genuine(t *testing.T, secret string, m received) bool {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return verifier.VerifyIgnoringTimestamp(m.body, m.header) == nil
}

func TestAnEventArrivesSignedAndIsLogged(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		r.set(func(_ string, rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("X-Reply", "yes")
			fmt.Fprint(rw, strings.Repeat("a", 5000)+"\x00")
		})
		e := w.create(r.URL+"/hook?x=1", false)
		w.happen("one")
		w.deliver(e)
		got := r.take()
		if len(got) != 1 || !genuine(w.T, e.Secret.Reveal(), got[0]) {
			w.Fatalf("%+v", got)
		}
		event := w.events("test.one")[0]
		h := got[0].header
		if h.Get("Webhook-Id") != event.ID || h.Get("Content-Type") != "application/json" || h.Get("User-Agent") != "Bursar-Webhooks/1" ||
			h.Get("Webhook-Timestamp") != fmt.Sprint(w.clock.Now().Unix()) || string(got[0].body) != string(event.Envelope(w.org)) {
			w.Errorf("%v %s", h, got[0].body)
		}
		logged := w.deliveries(e, "")
		if len(logged) != 1 || logged[0].Status != webhook.Succeeded || logged[0].Attempts != 1 || logged[0].EventID != event.ID {
			w.Fatalf("%+v", logged)
		}
		_, attempts, err := w.sender.GetDelivery(w.ctx, logged[0].ID)
		if err != nil || len(attempts) != 1 {
			w.Fatalf("%+v %v", attempts, err)
		}
		a := attempts[0]
		if a.StatusCode != 200 || a.URL != e.URL || !strings.Contains(a.RequestHeaders, "webhook-id: "+event.ID) ||
			!strings.Contains(a.ResponseHeaders, "x-reply: yes") || a.ResponseBody != strings.Repeat("a", 1024) || a.Error != "" {
			w.Errorf("%+v", a)
		}
		w.deliver(e)
		equal(w.T, r.types())
	})
}

func TestWhatFailsIsTriedAgainAfterGrowingPauses(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		r.set(status(503))
		e := w.create(r.URL, false)
		w.happen("one")
		w.deliver(e)
		for n, pause := range []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute} {
			equal(w.T, r.types(), "test.one")
			d := w.deliveries(e, webhook.Retrying)
			if len(d) != 1 || d[0].Attempts != int64(n+1) || d[0].Error != "answered 503" || d[0].StatusCode != 503 {
				w.Fatalf("%+v", d)
			}
			if wait := d[0].NextAt.Sub(w.clock.Now()); wait < pause*8/10 || wait > pause*12/10 {
				w.Errorf("pause %d is %v", n, wait)
			}
			w.deliver(e)
			equal(w.T, r.types())
			w.clock.Advance(pause * 12 / 10)
			w.deliver(e)
		}
		r.set(nil)
		r.types()
		w.clock.Advance(3 * time.Hour)
		w.deliver(e)
		equal(w.T, r.types(), "test.one")
		if d := w.deliveries(e, webhook.Succeeded); len(d) != 1 || d[0].Attempts != 5 || d[0].NextAt != nil || d[0].Error != "" {
			w.Errorf("%+v", d)
		}
	})
}

func TestOneEventThatFailsDoesNotHoldUpOthersUnlessTheOrderIsKept(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		fails := func(typ string, rw http.ResponseWriter, _ *http.Request) {
			if typ == "test.two" {
				rw.WriteHeader(500)
			}
		}
		r.set(fails)
		loose, ordered := w.create(r.URL, false), w.create(r.URL, true)
		w.happen("one", "two", "three", "four")
		w.deliver(loose)
		got := r.types()
		slices.Sort(got)
		equal(w.T, got, "test.four", "test.one", "test.three", "test.two")
		w.deliver(ordered)
		equal(w.T, r.types(), "test.one", "test.two")
		w.happen("five")
		w.deliver(ordered)
		equal(w.T, r.types())
		w.clock.Advance(6 * time.Second)
		w.deliver(ordered)
		equal(w.T, r.types(), "test.two")
		r.set(nil)
		w.clock.Advance(6 * time.Minute)
		w.deliver(ordered)
		equal(w.T, r.types(), "test.two", "test.three", "test.four", "test.five")
	})
}

func TestOnlyEventsOfTheTypesAndOfTheOrganizationArrive(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		all, err := w.sender.Create(w.ctx, webhook.CreateParams{URL: r.URL, Ordered: true})
		if err != nil {
			w.Fatal(err)
		}
		exact, group := w.create(r.URL, true, "test.two", "other.one"), w.create(r.URL, true, "other.*")
		other, otherCtx := w.found("theirs")
		w.happen("one", "two")
		for _, action := range []string{"other.one", "otherwise.one"} {
			if err := change(w.ctx, w.db, w.org, action, nil); err != nil {
				w.Fatal(err)
			}
		}
		if err := change(otherCtx, w.db, other, "test.two", nil); err != nil {
			w.Fatal(err)
		}
		no := errors.New("no")
		if err := change(w.ctx, w.db, w.org, "test.two", no); !errors.Is(err, no) {
			w.Fatal(err)
		}
		w.deliver(all)
		got := r.types()
		equal(w.T, got[len(got)-4:], "test.one", "test.two", "other.one", "otherwise.one")
		w.deliver(exact)
		equal(w.T, r.types(), "test.two", "other.one")
		w.deliver(group)
		equal(w.T, r.types(), "other.one")
		if err := w.sender.Deliver(w.Context(), webhook.Deliver{OrganizationID: other, EndpointID: exact.ID}); err != nil {
			w.Fatal(err)
		}
		if got := r.types(); len(got) != 0 {
			w.Errorf("another organization sent %v", got)
		}
	})
}

func TestWhatIsNotSuccessIsAFailure(t *testing.T) {
	t.Parallel()
	eachWith(t, webhook.Config{AllowPrivate: true, Timeout: 300 * time.Millisecond}, func(w *world) {
		var followed atomic.Int32
		target := receive(w)
		target.set(func(string, http.ResponseWriter, *http.Request) { followed.Add(1) })
		release := make(chan struct{})
		defer close(release)
		for want, answer := range map[string]func(string, http.ResponseWriter, *http.Request){
			"answered 307; redirects are not followed": func(_ string, rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, target.URL, http.StatusTemporaryRedirect)
			},
			"no answer: EOF": func(_ string, rw http.ResponseWriter, _ *http.Request) {
				conn, _, err := rw.(http.Hijacker).Hijack()
				if err == nil {
					conn.Close()
				}
			},
			"no answer within 300ms": func(_ string, _ http.ResponseWriter, r *http.Request) {
				select {
				case <-r.Context().Done():
				case <-release:
				}
			},
			"answered 404": status(404),
		} {
			r := receive(w)
			r.set(answer)
			e := w.create(r.URL, false)
			w.happen("one")
			w.deliver(e)
			if d := w.deliveries(e, ""); len(d) != 1 || d[0].Status != webhook.Retrying || d[0].Error != want {
				w.Errorf("%s: %+v", want, d)
			}
		}
		if followed.Load() != 0 {
			w.Error("a redirect was followed")
		}
		closed := receive(w)
		e := w.create(closed.URL, false)
		closed.Close()
		w.happen("one")
		w.deliver(e)
		if d := w.deliveries(e, ""); len(d) != 1 || !strings.HasPrefix(d[0].Error, "no connection: ") {
			w.Errorf("%+v", d)
		}
	})
}

func TestAnEndpointThatIsGoneIsDisabledAndContinuesWithNewEventsOnceItIsEnabled(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		var told []webhook.Endpoint
		w.sender.Tell = tellTo(&told)
		r := receive(w)
		r.set(status(410))
		e := w.create(r.URL, true)
		w.happen("one", "two")
		w.deliver(e)
		equal(w.T, r.types(), "test.one")
		if got := w.get(e); got.Status != webhook.Disabled || got.StatusReason == "" || len(told) != 1 {
			w.Errorf("%+v, told %v", got, told)
		}
		if events := w.events(webhook.EventDisabled); len(events) != 1 || events[0].ObjectID != e.ID {
			w.Errorf("%+v", events)
		}
		w.happen("three")
		w.deliver(e)
		equal(w.T, r.types())
		r.set(nil)
		w.enable(e)
		w.happen("four")
		w.deliver(e)
		equal(w.T, r.types(), "test.four")
	})
}

func TestADeadEndpointGetsOneProbeAtATimeIsPausedAndContinuesWithoutLoss(t *testing.T) {
	t.Parallel()
	for _, ordered := range []bool{false, true} {
		t.Run(fmt.Sprint("ordered ", ordered), func(t *testing.T) {
			t.Parallel()
			each(t, func(w *world) { testDead(w, ordered) })
		})
	}
}

func testDead(w *world, ordered bool) {
	var told []webhook.Endpoint
	w.sender.Tell = tellTo(&told)
	r := receive(w)
	r.set(status(500))
	e := w.create(r.URL, ordered)
	var want []string
	for n := range 30 {
		w.happen(fmt.Sprint("n", n))
		want = append(want, fmt.Sprint("test.n", n))
	}
	w.deliver(e)
	if n := len(r.types()); n > 14 || ordered && n != 1 {
		w.Errorf("%d requests at first", n)
	}
	requests := 0
	for hour := 0; hour < 80 && w.get(e).Status == webhook.Enabled; hour++ {
		w.clock.Advance(time.Hour)
		w.deliver(e)
		n := len(r.types())
		if requests += n; n > 1 {
			w.Errorf("%d requests in hour %d", n, hour)
		}
	}
	if got := w.get(e); got.Status != webhook.Paused || got.FailingSince == nil || len(told) != 1 || requests > 74 {
		w.Fatalf("%+v after %d requests, told %d", got, requests, len(told))
	}
	if events := w.events(webhook.EventPaused); len(events) != 1 || events[0].ObjectID != e.ID {
		w.Errorf("%+v", events)
	}
	r.set(nil)
	w.deliver(e)
	equal(w.T, r.types())
	w.enable(e)
	w.deliver(e)
	got := r.types()
	if !ordered {
		slices.Sort(got)
		slices.Sort(want)
	}
	equal(w.T, got, want...)
	if w.get(e).FailingSince != nil || len(w.deliveries(e, webhook.Succeeded)) != 30 {
		w.Errorf("%+v", w.get(e))
	}
}

func TestAnEventThatAnEndpointNeverAcceptsIsGivenUpAfterThreeDays(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		r.set(func(typ string, rw http.ResponseWriter, _ *http.Request) {
			if typ == "test.bad" {
				rw.WriteHeader(500)
			}
		})
		e := w.create(r.URL, false)
		w.happen("bad")
		for range 80 {
			w.happen("good")
			w.deliver(e)
			w.clock.Advance(time.Hour)
		}
		if d := w.deliveries(e, webhook.Failed); len(d) != 1 || d[0].EventType != "test.bad" || d[0].Attempts < 7 || d[0].Attempts > 12 {
			w.Errorf("%+v", d)
		}
		if n := len(w.deliveries(e, webhook.Succeeded)); n != 80 || w.get(e).Status != webhook.Enabled {
			w.Errorf("%d good ones, %v", n, w.get(e).Status)
		}
	})
}

func TestAWorkerStoresNothingOnceAnotherOneHasTakenOver(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e := w.create(r.URL, true)
		w.happen("one", "two", "three")
		var first atomic.Bool
		r.set(func(_ string, rw http.ResponseWriter, _ *http.Request) {
			if first.CompareAndSwap(false, true) { // the first worker waits for longer than it may claim the endpoint
				w.clock.Advance(time.Minute)
				w.deliver(e)
				rw.WriteHeader(500)
			}
		})
		w.deliver(e)
		equal(w.T, r.types(), "test.one", "test.one", "test.two", "test.three")
		for _, d := range w.deliveries(e, "") {
			if d.Status != webhook.Succeeded || d.Attempts != 1 {
				w.Errorf("%+v", d)
			}
		}
		w.clock.Advance(time.Minute)
		w.deliver(e)
		equal(w.T, r.types())
	})
}

func TestNoEventIsLeftOutBetweenManyThatAnEndpointDoesNotTake(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e := w.create(r.URL, true)
		var want []string
		err := w.db.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
			want = nil
			for n := range 500 {
				action := fmt.Sprint("other.n", n)
				if (n+10)%100 < 20 { // around where a page of events may end
					action = fmt.Sprint("test.n", n)
					want = append(want, action)
				}
				audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: "test", ResourceID: "x", After: map[string]any{"name": action}})
			}
			return nil
		})
		if err != nil {
			w.Fatal(err)
		}
		w.deliver(e)
		equal(w.T, r.types(), want...)
	})
}
