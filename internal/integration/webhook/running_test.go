package webhook_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

// node runs the relay and the queue on a database.
type node struct {
	relay  *outbox.Relay
	queue  *job.Queue
	sender *webhook.Sender
}

// run starts a node with the clock of the system.
func (w *world) run(t *testing.T, key *seal.Key) {
	t.Helper()
	n, err := startNode(context.Background(), w.db, key, webhook.Config{AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.stop)
}

// startNode starts a node, which runs until it is stopped or the context ends.
func startNode(ctx context.Context, d *db.DB, key *seal.Key, config webhook.Config) (*node, error) {
	log := slog.New(slog.DiscardHandler)
	workers := job.NewWorkers()
	sender := &webhook.Sender{Service: webhook.NewService(d, key, config), Log: log}
	job.Handle(workers, func(context.Context, outbox.Happened) error { return nil })
	job.Handle(workers, sender.Deliver)
	workers.AddQueue(webhook.Queue, webhook.WorkersMax, webhook.PollPause)
	queue, err := job.NewQueue(d, workers, log)
	if err != nil {
		return nil, err
	}
	sender.Jobs = queue
	if err := queue.Start(ctx); err != nil {
		return nil, err
	}
	n := &node{outbox.NewRelay(d, queue, log).WithRoute(webhook.Route), queue, sender}
	return n, n.relay.Start(ctx)
}

func (n *node) stop() {
	n.relay.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = n.queue.Stop(ctx)
}

// eachRunning runs a test on each engine with a node that sends events, and the clock of the system.
func eachRunning(t *testing.T, test func(w *world)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		key := seal.Temporary()
		w := newWorld(t, d, nil, webhook.Config{AllowPrivate: true})
		w.sender.Service = webhook.NewService(d, key, webhook.Config{AllowPrivate: true})
		w.run(t, key)
		test(w)
	})
}

// arrive waits until a receiver has got a number of events, and returns them.
func (w *world) arrive(r *receiver, n int, within time.Duration) []received {
	w.Helper()
	for deadline := time.Now().Add(within); ; {
		r.mu.Lock()
		got := slices.Clone(r.got)
		r.mu.Unlock()
		if len(got) >= n {
			return got
		}
		if time.Now().After(deadline) {
			w.Fatalf("%d of %d events arrived within %v", len(got), n, within)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestEventsArriveWithoutHelpSoonAfterTheirCommit(t *testing.T) {
	t.Parallel()
	eachRunning(t, func(w *world) {
		r, hanging := receive(w), receive(w)
		release := make(chan struct{})
		defer close(release)
		hanging.set(func(_ string, _ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		})
		w.create(r.URL, false)
		w.create(hanging.URL, false)
		var waits []time.Duration
		for n := range 20 {
			began := time.Now()
			w.happen(fmt.Sprint("n", n))
			w.arrive(r, n+1, 10*time.Second)
			waits = append(waits, time.Since(began))
		}
		slices.Sort(waits)
		t.Logf("%s: from the commit to the arrival, median %v, longest %v", w.db.Engine(), waits[len(waits)/2], waits[len(waits)-1])
	})
}

func TestManyEventsOfAnOrderedEndpointArriveOnceAndInOrder(t *testing.T) {
	t.Parallel()
	eachRunning(t, func(w *world) {
		r := receive(w)
		w.create(r.URL, true)
		const writes = 200
		for n := range writes {
			w.happen(fmt.Sprint("n", n))
		}
		w.arrive(r, writes, 30*time.Second)
		time.Sleep(300 * time.Millisecond)
		got := r.types()
		for n, typ := range got {
			if typ != fmt.Sprint("test.n", n) || len(got) != writes {
				w.Fatalf("%d arrived, number %d is %s", len(got), n, typ)
			}
		}
	})
}
