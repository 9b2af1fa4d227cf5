package api_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

// node is one process of the service. After a crash its state is thrown away, and another one takes its place.
type node struct {
	*dbtest.Faults
	world   *world
	index   int
	clock   *nodeClock
	service *apitest.Service
	disk    *dbtest.Disk // nil on PostgreSQL
	faulty  atomic.Bool  // a fault may happen in this round
}

// nodeClock is the clock of a node, which may be wrong.
type nodeClock struct {
	clock.Clock
	skew atomic.Int64
}

// Now returns the time as the node knows it.
func (c *nodeClock) Now() time.Time { return c.Clock.Now().Add(time.Duration(c.skew.Load())) }

// startNode starts a node on a database.
func (w *world) startNode(index int, c db.Config) *node {
	w.Helper()
	n := &node{Faults: dbtest.NewFaults(), world: w, index: index, clock: &nodeClock{Clock: w.now}}
	c.Clock = n.clock
	if w.engine == db.SQLite {
		n.disk = dbtest.NewDisk(w.T, c, n.Faults)
	} else {
		_, c = dbtest.NewProxy(w.T, c, n.Faults)
	}
	d, err := db.Open(c)
	if err == nil {
		err = d.Prepare(context.Background())
	}
	if err != nil {
		w.Fatalf("seed %d, round %d: a node does not start: %v", w.seed, w.round, err)
	}
	log := slog.New(slog.NewTextHandler(&w.recent, &slog.HandlerOptions{Level: slog.LevelError}))
	n.service = apitest.NewService(w.T, d, api.Config{Log: log})
	return n
}

// recentLog keeps the end of a log.
type recentLog struct {
	mu   sync.Mutex
	text []byte
}

// Write adds to the log.
func (l *recentLog) Write(b []byte) (int, error) {
	const textMax = 4000
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b...)
	l.text = l.text[max(0, len(l.text)-textMax):]
	return len(b), nil
}

// tail returns the end of the log.
func (l *recentLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// stop closes the nodes.
func (w *world) stop() {
	for _, n := range w.nodes {
		n.Clear()
		_ = n.service.App.DB.Close()
	}
	if w.engine == db.SQLite {
		_ = os.RemoveAll(w.config.Dir)
	}
}

// pick returns a random node.
func (w *world) pick(r *rand.Rand) *node { return w.nodes[r.IntN(len(w.nodes))] }

// slowest is how long a step takes at most on a slow disk. Pauses take as long, while the clock of the others moves by up to an hour.
const slowest = 20 * time.Millisecond

// skewMax is how far the clock of a node is off at most.
const skewMax = 2 * time.Hour

// faultsOf returns the faults of an engine by name. Each prepares a node.
func faultsOf(engine db.Engine) map[string]func(*node, *rand.Rand) {
	out := map[string]func(*node, *rand.Rand){
		"crash": func(n *node, r *rand.Rand) {
			n.CrashIn(1 + r.IntN(map[db.Engine]int{db.SQLite: 8, db.Postgres: 60}[engine]))
		},
		"slow disk": func(n *node, r *rand.Rand) { n.Slow(time.Duration(r.Int64N(int64(slowest) / 4))) },
		"pause": func(n *node, r *rand.Rand) {
			n.Pause()
			length, jump := time.Duration(r.Int64N(int64(slowest))), time.Duration(r.IntN(3600))*time.Second
			time.AfterFunc(length, func() {
				n.world.now.Advance(jump)
				n.Resume()
			})
		},
		"clock step": func(n *node, r *rand.Rand) {
			n.clock.skew.Store(r.Int64N(2*int64(skewMax)) - int64(skewMax))
		},
	}
	if engine == db.Postgres {
		out["lost commit"] = func(n *node, r *rand.Rand) { n.LoseCommitIn(1 + r.IntN(4)) }
		out["reset"] = func(n *node, r *rand.Rand) { n.ResetIn(1 + r.IntN(40)) }
		return out
	}
	out["full disk"] = func(n *node, _ *rand.Rand) { n.limitPages(1) }
	return out
}

// prepareFaults prepares up to five faults.
func (w *world) prepareFaults(r *rand.Rand) {
	all := faultsOf(w.engine)
	names := []string{"crash", "slow disk", "pause", "clock step", "full disk", "lost commit", "reset", "crash", "lost commit"}
	for range 2 + r.IntN(4) {
		name, n := names[r.IntN(len(names))], w.pick(r)
		if prepare := all[name]; prepare != nil {
			n.faulty.Store(true)
			prepare(n, r)
			if name == "clock step" || name == "full disk" { // the others count themselves when they happen
				w.struck[name]++
			}
		}
	}
}

// recover ends all faults and replaces the nodes that have crashed.
func (w *world) recover(r *rand.Rand) {
	for i, n := range w.nodes {
		if n.Clear() > 0 && !n.Dead() && r.IntN(2) == 0 {
			n.Crash() // at rest
		}
		for name, count := range n.Happened() {
			w.struck[name] += count
		}
		switch {
		case n.Dead() && n.disk != nil:
			c := w.config
			c.Dir = n.disk.Recovered(w.T, r, n.service.App.DB)
			w.config.Dir = c.Dir
			w.nodes[i] = w.startNode(i, c)
		case n.Dead():
			_ = n.service.App.DB.Close()
			w.nodes[i] = w.startNode(i, w.config)
		case n.faulty.Swap(false) && w.engine == db.SQLite:
			n.limitPages(1_000_000_000)
		}
	}
}

// limitPages limits the size of the SQLite file: 1 means that it cannot grow.
func (n *node) limitPages(pages int) {
	err := n.service.App.DB.WriteAcross(context.Background(), "a disk is full", func(ctx context.Context, tx *db.Tx) error {
		_, err := db.All[int64](ctx, tx, fmt.Sprint("PRAGMA max_page_count = ", pages))
		return err
	})
	if err != nil && !n.Dead() && fault.KindOf(err) != fault.Unavailable {
		n.world.Errorf("limit the file: %v", err)
	}
}

// allow fails the test for an error that no fault explains.
func (n *node) allow(what string, err error) {
	if err == nil || n.Dead() || errors.Is(err, task.ErrClaimed) || n.faulty.Load() && fault.KindOf(err) == fault.Unavailable {
		return
	}
	n.world.Errorf("seed %d, round %d: %s: %v", n.world.seed, n.world.round, what, err)
}

// exchange sends a request to a node. The answer is not known if the node has crashed meanwhile, or if it says so.
func (n *node) exchange(req *http.Request) (a apitest.Answer, known bool) {
	if n.Dead() {
		return a, false
	}
	w := &answerWriter{header: http.Header{}}
	n.service.API.ServeHTTP(w, req)
	a = w.answer()
	switch {
	case n.Dead():
		return a, false
	case a.Status == http.StatusServiceUnavailable && n.faulty.Load():
		return a, false
	case a.Status >= http.StatusInternalServerError:
		n.world.Errorf("seed %d, round %d: %s %s is answered %d %s\n%s", n.world.seed, n.world.round, req.Method, req.URL, a.Status, a.Body,
			n.world.recent.tail())
	}
	if err := n.service.Differs(req, a); err != nil {
		n.world.Errorf("seed %d, round %d: the answer to %s %s is not as described: %d %s: %v", n.world.seed, n.world.round, req.Method, req.URL,
			a.Status, a.Body, err)
	}
	return a, true
}

// operation is a request of a user that is sent until its outcome is known. It takes effect once however often it is sent.
type operation struct {
	method, path, body string
	key                string // of the organization
	idempotencyKey     string
	known              func(apitest.Answer) // is called once
}

// request returns the request of an operation.
func (o *operation) request() *http.Request {
	q := &fuzzRequest{method: o.method, path: o.path, key: fuzzKey{text: o.key}}
	if o.body != "" {
		q.text, q.kind = &o.body, "application/json"
	}
	if strings.HasPrefix(o.body, "--") { // the first boundary of a form
		boundary, _, _ := strings.Cut(strings.TrimPrefix(o.body, "--"), "\r\n")
		q.kind = "multipart/form-data; boundary=" + boundary
	}
	if o.idempotencyKey != "" {
		q.header = append(q.header, [2]string{"Idempotency-Key", o.idempotencyKey})
	}
	req, err := q.parse()
	if err != nil {
		panic(err)
	}
	return req
}

// sender sends operations of one user, one after the other.
type sender struct {
	*world
	key     string
	pending *operation
	sent    int
	name    string
}

// do sends an operation to random nodes until it is answered. It gives up after some attempts, and settle continues.
func (s *sender) do(r *rand.Rand, o *operation) {
	s.sent++
	o.key = s.key
	if o.method == http.MethodPost {
		o.idempotencyKey = fmt.Sprint(s.name, " ", s.sent)
	}
	s.pending = o
	s.attempt(r, 2)
}

func (s *sender) attempt(r *rand.Rand, attempts int) {
	for range attempts {
		a, known := s.pick(r).exchange(s.pending.request())
		if known && r.IntN(12) == 0 { // the user does not get the answer
			s.lost("answer")
			known = false
		}
		if known {
			o := s.pending
			s.pending = nil
			o.known(a)
			return
		}
	}
}

func (w *world) lost(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.struck[name]++
}

// settle sends the operation without an answer until there is one.
func (s *sender) settle(r *rand.Rand) {
	if s.pending == nil {
		return
	}
	const attemptsMax = 40
	if s.attempt(r, attemptsMax); s.pending != nil {
		s.Errorf("seed %d, round %d: no answer to %s %s although no fault happens", s.seed, s.round, s.pending.method, s.pending.path)
		s.pending = nil
	}
}

// get reads from a node, or returns false if it does not answer.
func (s *sender) get(r *rand.Rand, path string) ([]byte, bool) {
	o := operation{method: http.MethodGet, path: path, key: s.key}
	a, known := s.pick(r).exchange(o.request())
	return a.Body, known && a.Status == http.StatusOK
}

// mustGet reads from the first node while no fault happens.
func (s *sender) mustGet(path string) []byte {
	s.Helper()
	o := operation{method: http.MethodGet, path: path, key: s.key}
	a, known := s.nodes[0].exchange(o.request())
	if !known || a.Status != http.StatusOK {
		s.Errorf("seed %d, round %d: GET %s is answered %d %s", s.seed, s.round, path, a.Status, a.Body)
	}
	return a.Body
}

// runTasks runs some of the tasks that are not over.
func (w *world) runTasks(r *rand.Rand) {
	for _, one := range w.openTasks() {
		if r.IntN(2) == 0 {
			n := w.pick(r)
			n.allow("a background task", one.run(context.Background(), n.service))
		}
	}
}

// settleTasks runs all tasks to their end. A task is over when nobody can claim it although every lease has expired, also that of a node
// whose clock was ahead.
func (w *world) settleTasks() {
	const attemptsMax = 50
	for _, n := range w.nodes {
		n.clock.skew.Store(0)
	}
	w.now.Advance(2 * skewMax)
	for _, one := range w.openTasks() {
		for attempt := 0; !one.over; attempt++ {
			w.now.Advance(task.Lease + time.Minute)
			err := one.run(context.Background(), w.nodes[0].service)
			one.over = errors.Is(err, task.ErrClaimed)
			w.nodes[0].allow("a background task", err)
			if attempt == attemptsMax {
				w.Errorf("seed %d, round %d: a background task does not end", w.seed, w.round)
				return
			}
		}
	}
}
