package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

const (
	soakEvents      = 2_000 // in a long run
	soakBacklog     = 500
	ordinaryEvents  = 80
	ordinaryBacklog = 30

	soakWriters = 3
	sweepPause  = 50 * time.Millisecond
	stalledFor  = time.Minute
)

// soakConfig has times that are short enough for a test. The first attempt after a failure is at once, which happens without a new job.
var soakConfig = webhook.Config{AllowPrivate: true, Timeout: 100 * time.Millisecond, Lease: 300 * time.Millisecond,
	Pauses:      []time.Duration{0, 10 * time.Millisecond, 30 * time.Millisecond},
	ProbePauses: []time.Duration{0, 10 * time.Millisecond, 30 * time.Millisecond}}

// Nodes are killed, paused and cut off from their database again and again while writers commit changes and roll others back, and while
// about 30 % of what is sent to two endpoints fails. All the same, every event of a change that was committed arrives at both, signed and
// as it is in the feed, at one of them in the order of the feed, and nothing else arrives.
func TestSoakEveryEventArrivesWhateverFails(t *testing.T) {
	t.Parallel()
	seed, events, backlog := dbtest.Seed(t), dbtest.Repeats(ordinaryEvents, soakEvents), ordinaryBacklog
	if dbtest.Soaking() {
		backlog = soakBacklog
	}
	for engine, nodes := range map[db.Engine]int{db.SQLite: 1, db.Postgres: 2} {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel()
			t.Logf("BURSAR_SEED=%d repeats the answers and the faults, but not their exact times", seed)
			s := newStorm(t, engine, seed)
			s.backlog = backlog
			s.run(nodes, events)
		})
	}
}

// storm is a service of some nodes that fail again and again, and the two endpoints that it sends events to.
type storm struct {
	*testing.T
	seed       uint64
	chance     *rand.Rand // decides on faults
	backlog    int        // events that wait before writers do, so that they write for as long as nodes are killed
	key        *seal.Key
	org        string
	ordered    *unreliable
	loose      *unreliable
	redirected *receiver
	struck     map[string]int // faults that happened, by name

	mu     sync.Mutex
	config db.Config // of the database itself
	nodes  []*mortal

	// What writers know of changes, by type of event.
	committed, rolledBack, unknown map[string]bool

	taken int // changes that were committed and whose events the endpoints take
}

// newStorm creates an organization with two endpoints.
func newStorm(t *testing.T, engine db.Engine, seed uint64) *storm {
	t.Helper()
	s := &storm{T: t, seed: seed, chance: random(seed, 0), key: seal.Temporary(), redirected: receive(t),
		struck: map[string]int{}, committed: map[string]bool{}, rolledBack: map[string]bool{}, unknown: map[string]bool{}}
	s.config = map[db.Engine]func(testing.TB) db.Config{db.SQLite: dbtest.SQLite, db.Postgres: dbtest.Postgres}[engine](t)
	d := dbtest.Open(t, s.config)
	w := newWorld(t, d, nil, soakConfig)
	w.sender.Service = webhook.NewService(d, s.key, soakConfig)
	s.org = w.org
	for i, at := range []**unreliable{&s.ordered, &s.loose} {
		*at = receiveUnreliably(t, random(seed, 1+i), s.redirected.URL)
		(*at).know(t, w.create((*at).URL, i == 0))
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

// random returns the random numbers of one part of the test.
func random(seed uint64, part int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(part))) }

// run runs nodes until a number of events has arrived, and checks what has.
func (s *storm) run(nodes, events int) {
	for range nodes {
		s.nodes = append(s.nodes, s.startMortal())
	}
	defer s.stop()
	var writers sync.WaitGroup
	defer writers.Wait()
	done := make(chan struct{})
	defer close(done)
	for i := range soakWriters {
		writers.Go(func() { s.write(i, events, done) })
	}
	began := time.Now()
	s.until("almost all events arrive while nodes fail", func() bool {
		s.strike()
		return min(s.ordered.arrived(), s.loose.arrived()) >= events*95/100
	})
	s.endFaults()
	writers.Wait()
	feed := s.feed()
	s.until("all events arrive", func() bool { return min(s.ordered.arrived(), s.loose.arrived()) >= len(feed) })
	s.until("all results are stored", s.quiet)
	s.Logf("%d events in %v; faults: %v", len(feed), time.Since(began).Round(time.Millisecond), s.struck)
	s.checkWithoutSweeps()
	s.check()
}

// until waits for a condition, and fails the test if nothing has arrived for some time.
func (s *storm) until(what string, holds func() bool) {
	s.Helper()
	last, since := 0, time.Now()
	for !holds() {
		switch n := s.ordered.arrived() + s.loose.arrived(); {
		case n > last:
			last, since = n, time.Now()
		case time.Since(since) > stalledFor:
			s.endFaults()
			s.check()
			s.Fatalf("%s: nothing has arrived for %v; %d arrived in order, %d at the other endpoint", what, stalledFor, s.ordered.arrived(),
				s.loose.arrived())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// takenBySoak reports whether the endpoints take events of a type.
func takenBySoak(eventType string) bool { return outbox.Matches("test.*", eventType) }

// errRollBack is returned by a change that is to be rolled back.
var errRollBack = errors.New("roll this back")

// write makes changes until a number of them was committed by all writers.
func (s *storm) write(writer, events int, done <-chan struct{}) {
	r := random(s.seed, 10+writer)
	for n := 0; s.mayWrite(events, done); n++ {
		name, fail := fmt.Sprintf("test.w%d_%d", writer, n), error(nil)
		switch r.IntN(8) {
		case 0:
			fail = errRollBack
		case 1:
			name = fmt.Sprintf("other.w%d_%d", writer, n) // which no endpoint takes
		}
		m := s.pick(r)
		write := m.db.Write
		if r.IntN(2) == 0 {
			write = m.db.GroupWrite
		}
		err := write(context.Background(), s.org, func(ctx context.Context, tx *db.Tx) error {
			audit.Record(ctx, tx, audit.Change{Action: name, ResourceType: "test", ResourceID: "x", After: map[string]any{"name": name}})
			return fail
		})
		s.mu.Lock()
		switch {
		case fail != nil:
			s.rolledBack[name] = true
		case err != nil || m.Dead(): // A node that has crashed may believe in a commit that is not stored.
			s.unknown[name] = true
		default:
			s.committed[name] = true
			if takenBySoak(name) {
				s.taken++
			}
		}
		s.mu.Unlock()
		if err != nil && fail == nil {
			time.Sleep(10 * time.Millisecond) // until the node is replaced
		} else if r.IntN(10) == 0 {
			s.sendAgain(r, m)
		}
	}
}

// sendAgain has one of the latest events, which may have arrived or not, sent once more. It may fail, as everything does.
func (s *storm) sendAgain(r *rand.Rand, m *mortal) {
	var latest []outbox.Event
	_ = m.db.Read(context.Background(), s.org, func(ctx context.Context, tx *db.Tx) (err error) {
		latest, err = outbox.List(ctx, tx, outbox.Filter{Newest: true}, math.MaxInt64, 20)
		return err
	})
	if len(latest) == 0 {
		return
	}
	ctx := actor.With(context.Background(), actor.Actor{OrganizationID: s.org})
	if _, err := webhook.NewService(m.db, s.key, soakConfig).RedeliverEvent(ctx, latest[r.IntN(len(latest))].ID, ""); err == nil {
		s.mu.Lock()
		s.struck["redelivery"]++
		s.mu.Unlock()
	}
}

// mayWrite waits while many events have not arrived yet, and reports whether more are to be written.
func (s *storm) mayWrite(events int, done <-chan struct{}) bool {
	for {
		s.mu.Lock()
		taken := s.taken
		s.mu.Unlock()
		wait := time.Duration(0)
		if taken >= s.ordered.arrived()+s.backlog {
			wait = 5 * time.Millisecond
		}
		select {
		case <-done:
			return false
		case <-time.After(wait):
		}
		if wait == 0 {
			return taken < events
		}
	}
}

// feed returns the events that the endpoints take.
func (s *storm) feed() (out []outbox.Event) {
	s.Helper()
	s.read(func(ctx context.Context, tx *db.Tx) error {
		out = nil
		for after := int64(0); ; {
			page, err := outbox.List(ctx, tx, outbox.Filter{}, after, 1000)
			for _, e := range page {
				if after = e.Sequence; takenBySoak(e.Type) {
					out = append(out, e)
				}
			}
			if err != nil || len(page) < 1000 {
				return err
			}
		}
	})
	return out
}

// read reads from the first node.
func (s *storm) read(fn db.Func) {
	s.Helper()
	if err := s.nodes[0].db.Read(context.Background(), s.org, fn); err != nil {
		s.Fatal(err)
	}
}

// quiet reports whether no endpoint is claimed or has a delivery that is tried again.
func (s *storm) quiet() bool {
	s.Helper()
	var busy int64
	s.read(func(ctx context.Context, tx *db.Tx) (err error) {
		busy, err = db.One[int64](ctx, tx, "count", `SELECT (SELECT count(*) FROM webhook_cursors WHERE organization_id = @org AND
			(claim IS NOT NULL OR next_at IS NOT NULL)) + (SELECT count(*) FROM webhook_deliveries WHERE organization_id = @org AND
			status = 'retrying')`)
		return err
	})
	return busy == 0
}

// checkWithoutSweeps checks that nothing that happened before keeps new events from being sent at once: the sweeps, which would find them
// later, have ended.
func (s *storm) checkWithoutSweeps() {
	s.Helper()
	for _, m := range s.nodes {
		m.endSweeps()
	}
	s.ordered.recover()
	s.loose.recover()
	for n := range 3 {
		before := s.ordered.arrived()
		name := fmt.Sprint("test.last", n)
		if err := change(context.Background(), s.nodes[n%len(s.nodes)].db, s.org, name, nil); err != nil {
			s.Fatal(err)
		}
		s.mu.Lock()
		s.committed[name] = true
		s.mu.Unlock()
		for limit := time.Now().Add(20 * time.Second); min(s.ordered.arrived(), s.loose.arrived()) == before; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(limit) {
				s.Fatalf("%s does not arrive without a sweep", name)
			}
		}
	}
	s.until("the last results are stored", s.quiet)
}

// check compares what has arrived with the feed, the feed with what the writers know, and the logs with both.
func (s *storm) check() {
	feed := s.feed()
	s.complain("the feed", s.checkFeed(feed))
	s.complain("the ordered endpoint", s.ordered.check(feed, s.org))
	s.complain("the order", s.ordered.checkOrder(feed))
	s.complain("the other endpoint", s.loose.check(feed, s.org))
	s.complain("the log of the ordered endpoint", s.checkLog(s.ordered, len(feed)))
	s.complain("the log of the other endpoint", s.checkLog(s.loose, len(feed)))
	if n := len(s.redirected.take()); n > 0 {
		s.Errorf("redirects were followed %d times", n)
	}
	s.read(func(ctx context.Context, tx *db.Tx) error {
		for _, verify := range []func(context.Context, *db.Tx) ([]string, error){webhook.Verify, outbox.Verify} {
			if found, err := verify(ctx, tx); err != nil || len(found) > 0 {
				s.Errorf("%v %v", found, err)
			}
		}
		return nil
	})
	for name := range faultsOf(s.nodes[0].db.Engine()) {
		if s.struck[name] == 0 && (name == "crash" || dbtest.Soaking()) {
			s.Errorf("no %s happened, so that nothing was tested against it", name)
		}
	}
}

// complain reports the first of the faults that were found.
func (s *storm) complain(where string, faults []string) {
	s.Helper()
	const shown = 5
	for _, f := range faults[:min(shown, len(faults))] {
		s.Errorf("%s: %s", where, f)
	}
	if n := len(faults) - shown; n > 0 {
		s.Errorf("%s: %d more faults", where, n)
	}
}

// checkFeed checks that the feed has an event for each change that was committed, and for no other.
func (s *storm) checkFeed(feed []outbox.Event) (faults []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[string]bool{}
	for _, e := range feed {
		switch {
		case seen[e.Type]:
			faults = append(faults, e.Type+" is there twice")
		case s.rolledBack[e.Type]:
			faults = append(faults, e.Type+" is there, but was rolled back")
		case !s.committed[e.Type] && !s.unknown[e.Type]:
			faults = append(faults, e.Type+" is there, but was never written")
		}
		seen[e.Type] = true
	}
	for name := range s.committed {
		if takenBySoak(name) && !seen[name] {
			faults = append(faults, name+" was committed, but is not there")
		}
	}
	if len(s.rolledBack) == 0 {
		faults = append(faults, "no change was rolled back")
	}
	return faults
}

// checkLog checks that the log of an endpoint has each event once, as delivered, and that the endpoint is well.
func (s *storm) checkLog(u *unreliable, events int) (faults []string) {
	s.Helper()
	service, ctx := s.nodes[0].sender.Service, actor.With(context.Background(), actor.Actor{OrganizationID: s.org})
	e, err := service.Get(ctx, u.endpoint.ID)
	if err != nil || e.Status != webhook.Enabled || e.FailingSince != nil {
		faults = append(faults, fmt.Sprintf("the endpoint is %+v %v", e, err))
	}
	logged, attempts := map[string]bool{}, int64(0)
	for request := (page.Request{Limit: page.LimitMax}); ; {
		found, err := service.ListDeliveries(ctx, u.endpoint.ID, webhook.DeliveryFilter{}, request)
		if err != nil {
			s.Fatal(err)
		}
		for _, d := range found.Items {
			if d.Status != webhook.Succeeded || logged[d.EventID] {
				faults = append(faults, fmt.Sprintf("%s is %s after %d attempts: %s", d.EventType, d.Status, d.Attempts, d.Error))
			}
			logged[d.EventID] = true
			attempts += d.Attempts
		}
		if request.Cursor = found.NextCursor; request.Cursor == "" {
			break
		}
	}
	if len(logged) != events {
		faults = append(faults, fmt.Sprintf("it has %d deliveries of %d events", len(logged), events))
	}
	s.Logf("%d attempts are stored, %s", attempts, u.summary())
	return faults
}
