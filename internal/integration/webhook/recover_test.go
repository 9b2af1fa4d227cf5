package webhook_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/integration/webhook"
)

// fail has deliveries to a receiver fail so often that it is only probed, and then lets it recover. Two more events happen meanwhile.
func (w *world) fail(r *receiver, e webhook.WithSecret) {
	w.Helper()
	r.set(status(500))
	for n := range 6 {
		w.happen(fmt.Sprint("failed", n))
	}
	w.deliver(e)
	w.happen("waits", "too")
	w.deliver(e)
	r.take()
	r.set(nil)
	w.deliver(e)
	equal(w.T, r.types())
}

// An endpoint that has recovered need not wait for the next probe.
func TestWhatWaitsIsSentAtOnceAfterATestARedeliveryANewAddressOrEnable(t *testing.T) {
	t.Parallel()
	// A redelivery does not change when other events that have failed are tried again, unless they block it.
	some := map[string]int{"redelivery of one that has failed": 3, "redelivery of one that was not sent yet": 2}
	for name, act := range map[string]func(w *world, e webhook.WithSecret, address string) error{
		"test": func(w *world, e webhook.WithSecret, _ string) error {
			_, err := w.sender.Test(w.ctx, e.ID, func(webhook.Endpoint) []byte { return []byte("{}") })
			return err
		},
		"enable": func(w *world, e webhook.WithSecret, _ string) error {
			_, err := w.sender.Enable(w.ctx, e.ID, "")
			return err
		},
		"address": func(w *world, e webhook.WithSecret, address string) error {
			_, err := w.sender.Update(w.ctx, e.ID, webhook.UpdateParams{URL: new(address + "/new")}, "")
			return err
		},
		"redelivery of one that has failed": func(w *world, e webhook.WithSecret, _ string) error {
			_, err := w.sender.RedeliverEvent(w.ctx, w.events("test.failed0")[0].ID, e.ID)
			return err
		},
		"redelivery of one that was not sent yet": func(w *world, e webhook.WithSecret, _ string) error {
			_, err := w.sender.RedeliverEvent(w.ctx, w.events("test.too")[0].ID, e.ID)
			return err
		},
	} {
		for _, ordered := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", ordered ", ordered), func(t *testing.T) {
				t.Parallel()
				long := []time.Duration{time.Hour}
				eachWith(t, webhook.Config{AllowPrivate: true, Pauses: long, ProbePauses: long}, func(w *world) {
					r := receive(w)
					e := w.create(r.URL, ordered)
					w.fail(r, e)
					before := len(w.events(webhook.Events...))
					if err := act(w, e, r.URL); err != nil {
						w.Fatal(err)
					}
					if len(w.events(webhook.Events...)) == before { // the relay queues a job for endpoints of which there is an event
						w.Error("nobody would know that there is something to send")
					}
					w.deliver(e)
					want := 8
					if !ordered {
						want = cmp.Or(some[name], want)
					}
					if n := len(w.deliveries(e, webhook.Succeeded)); n != want || w.get(e).FailingSince != nil {
						w.Errorf("%d of %d events have arrived: %v", n, want, r.types())
					}
				})
			})
		}
	}
}

func TestAnEventThatIsNewAndRedeliveredIsSentOnce(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e := w.create(r.URL, false)
		w.happen("one", "two")
		if _, err := w.sender.RedeliverEvent(w.ctx, w.events("test.two")[0].ID, ""); err != nil {
			w.Fatal(err)
		}
		w.deliver(e)
		if got := r.types(); len(got) != 2 || len(w.deliveries(e, webhook.Succeeded)) != 2 {
			w.Errorf("%v", got)
		}
		// One of a type that it takes only since it was redelivered is a delivery and part of the feed.
		later := w.create(r.URL, false, "test.two")
		w.happen("one", "two")
		w.redeliver(later, w.events("test.one")[1])
		if _, err := w.sender.Update(w.ctx, later.ID, webhook.UpdateParams{Types: &[]string{"test.*"}}, ""); err != nil {
			w.Fatal(err)
		}
		w.deliver(later)
		equal(w.T, slices.Sorted(slices.Values(r.types())), "test.one", "test.two")
		if n := len(w.deliveries(later, webhook.Succeeded)); n != 2 {
			w.Errorf("%d deliveries", n)
		}
	})
}

func TestASuccessOfAnOrderedEndpointEndsTheWaitForTheEventThatBlocksIt(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e := w.create(r.URL, true)
		w.happen("old")
		w.deliver(e)
		r.set(status(500))
		w.happen("one", "two")
		w.deliver(e)
		r.take()
		r.set(nil)
		w.redeliver(e, w.events("test.old")[0])
		w.deliver(e)
		equal(w.T, r.types(), "test.old", "test.one", "test.two")
	})
}

func TestDisablingGivesUpWhatWasNotAccepted(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		r.set(status(500))
		e := w.create(r.URL, false)
		w.happen("one")
		w.deliver(e)
		w.disable(e)
		w.givenUp(e)
	})
}

// givenUp fails the test unless the only delivery was given up because the endpoint was disabled.
func (w *world) givenUp(e webhook.WithSecret) {
	w.Helper()
	d := w.deliveries(e, "")
	if len(d) != 1 || d[0].Status != webhook.Failed || d[0].Error != "the endpoint was disabled" || d[0].NextAt != nil {
		w.Errorf("%+v", d)
	}
}

func TestWhatIsUnderWayWhenAnEndpointIsDisabledIsGivenUp(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e := w.create(r.URL, false)
		r.set(func(_ string, rw http.ResponseWriter, _ *http.Request) {
			w.disable(e)
			rw.WriteHeader(500)
		})
		w.happen("one")
		w.deliver(e)
		w.givenUp(e)
	})
}

func TestAnEndpointThatIsDisabledAndEnabledDuringARequestDoesNotGoBack(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e := w.create(r.URL, true)
		r.set(func(string, http.ResponseWriter, *http.Request) {
			r.set(nil)
			w.disable(e)
			w.enable(e)
		})
		for n := range 60 {
			w.happen(fmt.Sprint("skipped", n))
		}
		w.deliver(e)
		r.take()
		w.happen("new")
		w.deliver(e)
		if got := r.types(); got[len(got)-1] != "test.new" || len(got) > 1 {
			w.Errorf("%d events, the first is %s", len(got), got[0])
		}
	})
}

func TestAnEndpointCanAskToBeLeftAloneForAWhile(t *testing.T) {
	t.Parallel()
	for header, wait := range map[string]time.Duration{"90": 90 * time.Second, "Sun, 01 Mar 2026 12:02:00 GMT": 2 * time.Minute,
		"86400": time.Hour, "-1": 5 * time.Second, "soon": 5 * time.Second, "99999999999999999999": 5 * time.Second} {
		t.Run(header, func(t *testing.T) {
			t.Parallel()
			each(t, func(w *world) {
				r := receive(w)
				r.set(func(_ string, rw http.ResponseWriter, _ *http.Request) {
					rw.Header().Set("Retry-After", header)
					rw.WriteHeader(http.StatusTooManyRequests)
				})
				e := w.create(r.URL, false)
				w.happen("one")
				w.deliver(e)
				r.take()
				r.set(nil)
				w.happen("two")
				if wait > 5*time.Second {
					w.clock.Advance(wait - time.Second)
					w.deliver(e)
					equal(w.T, r.types())
				}
				w.clock.Advance(7 * time.Second)
				w.deliver(e)
				equal(w.T, slices.Sorted(slices.Values(r.types())), "test.one", "test.two")
			})
		})
	}
}

func TestASecretThatCannotBeDecryptedIsReplacedByOneRotation(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e := w.create(r.URL, false)
		w.sender.Service = webhook.NewService(w.db, seal.Temporary(), webhook.Config{AllowPrivate: true})
		w.happen("one")
		w.clock.Advance(80 * time.Hour)
		w.deliver(e)
		if got := w.get(e); got.FailingSince != nil || len(r.types())+len(w.deliveries(e, "")) > 0 {
			w.Errorf("the endpoint is to blame: %+v", got)
		}
		if _, err := w.sender.Test(w.ctx, e.ID, nil); fault.KindOf(err) != fault.Unavailable {
			w.Errorf("%v", err)
		}
		if _, err := w.sender.RotateSecret(w.ctx, e.ID, time.Hour, ""); err != nil {
			w.Fatal(err)
		}
		w.deliver(e)
		equal(w.T, r.types(), "test.one")
	})
}

func TestASecretIsNotReplacedAgainWhileTheFormerOneIsValidUnlessBothAre(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		e := w.create(receive(w).URL, false)
		if _, err := w.sender.RotateSecret(w.ctx, e.ID, time.Hour, ""); err != nil {
			w.Fatal(err)
		}
		if _, err := w.sender.RotateSecret(w.ctx, e.ID, time.Hour, ""); fault.KindOf(err) != fault.Conflict ||
			!strings.Contains(err.Error(), "overlap_hours 0") {
			w.Errorf("%v", err)
		}
		w.clock.Advance(time.Hour)
		for _, overlap := range []time.Duration{time.Hour, 0} {
			if _, err := w.sender.RotateSecret(w.ctx, e.ID, overlap, ""); err != nil {
				w.Errorf("%v: %v", overlap, err)
			}
		}
	})
}

func TestAnAnswerThatSwitchesProtocolsIsAFailure(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		r.set(func(_ string, rw http.ResponseWriter, _ *http.Request) {
			conn, _, err := rw.(http.Hijacker).Hijack()
			if err == nil {
				w.Cleanup(func() { _ = conn.Close() })
				_, _ = conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"))
			}
		})
		e := w.create(r.URL, false)
		w.happen("one")
		w.deliver(e)
		if d := w.deliveries(e, ""); len(d) != 1 || d[0].Status != webhook.Retrying || !strings.HasPrefix(d[0].Error, "answered 101") {
			w.Errorf("%+v", d)
		}
	})
}

func TestRequestsToEndpointsAreCountedByResult(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		r := receive(w)
		e := w.create(r.URL, false)
		w.happen("one")
		w.deliver(e)
		r.set(status(500))
		w.happen("two")
		w.deliver(e)
		counted := make(chan prometheus.Metric, 10)
		w.sender.Metrics().Collect(counted)
		if len(counted) != 2 {
			w.Errorf("%d results are counted, want succeeded and failed", len(counted))
		}
	})
}
