package webhook_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// mortal is a node that can be killed. What it has in memory is lost then, and another one takes its place.
type mortal struct {
	*dbtest.Faults
	*node
	db     *db.DB
	disk   *dbtest.Disk // nil on PostgreSQL
	cancel context.CancelFunc

	sweeps    sync.WaitGroup
	endSweeps func()
}

// startMortal starts a node as the program does, except that it sweeps more often.
func (s *storm) startMortal() *mortal {
	s.Helper()
	m, c := &mortal{Faults: dbtest.NewFaults()}, s.config
	if c.URL == "" {
		m.disk = dbtest.NewDisk(s.T, c, m.Faults)
	} else {
		_, c = dbtest.NewProxy(s.T, c, m.Faults)
	}
	var err error
	if m.db, err = db.Open(c); err == nil {
		err = m.db.Prepare(context.Background())
	}
	if err != nil {
		s.Fatalf("a node does not start: %v", err)
	}
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(context.Background())
	if m.node, err = startNode(ctx, m.db, s.key, soakConfig); err != nil {
		s.Fatalf("a node does not start: %v", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	m.endSweeps = func() {
		cancel()
		m.sweeps.Wait()
	}
	m.sweeps.Go(func() {
		for ctx.Err() == nil {
			_ = m.sender.Sweep(ctx) // It fails because of faults.
			time.Sleep(sweepPause)
		}
	})
	return m
}

// pick returns a random node.
func (s *storm) pick(r *rand.Rand) *mortal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodes[r.IntN(len(s.nodes))]
}

// faultsOf returns the faults of an engine by name. Each prepares a node, and returns for how long the fault may happen.
func faultsOf(engine db.Engine) map[string]func(*mortal, *rand.Rand) time.Duration {
	out := map[string]func(*mortal, *rand.Rand) time.Duration{
		"crash": func(m *mortal, r *rand.Rand) time.Duration {
			m.CrashIn(1 + r.IntN(map[db.Engine]int{db.SQLite: 20, db.Postgres: 200}[engine]))
			return time.Second
		},
		"slow disk": func(m *mortal, r *rand.Rand) time.Duration {
			m.Slow(time.Duration(r.IntN(5)) * time.Millisecond)
			return 200 * time.Millisecond
		},
		"pause": func(m *mortal, r *rand.Rand) time.Duration { // also for longer than it may claim endpoints
			m.Pause()
			return time.Duration(r.Int64N(2 * int64(soakConfig.Lease)))
		},
	}
	if engine == db.Postgres {
		out["lost commit"] = func(m *mortal, r *rand.Rand) time.Duration {
			m.LoseCommitIn(1 + r.IntN(10))
			return 200 * time.Millisecond
		}
		out["reset"] = func(m *mortal, r *rand.Rand) time.Duration {
			m.ResetIn(1 + r.IntN(100))
			return 200 * time.Millisecond
		}
	}
	return out
}

// strike leaves the nodes alone for a while, has one or several of them fail, mostly by a crash, and replaces those that have crashed.
func (s *storm) strike() {
	s.Helper()
	r := s.chance
	time.Sleep(time.Duration(50+r.IntN(300)) * time.Millisecond)
	all, names := faultsOf(s.nodes[0].db.Engine()), []string{"crash", "crash", "crash", "slow disk", "pause", "lost commit", "reset"}
	until := time.Now()
	for i, m := range s.nodes {
		prepare := all[names[r.IntN(len(names))]]
		if prepare == nil || i > 0 && r.IntN(2) == 0 {
			continue
		}
		if end := time.Now().Add(prepare(m, r)); end.After(until) {
			until = end
		}
	}
	for time.Now().Before(until) && !s.nodes[0].Dead() {
		time.Sleep(5 * time.Millisecond)
	}
	s.endFaults()
}

// endFaults ends all faults and replaces the nodes that have crashed.
func (s *storm) endFaults() {
	s.Helper()
	for i, m := range s.nodes {
		m.Clear()
		s.mu.Lock() // writers count redeliveries meanwhile
		for name, n := range m.Happened() {
			s.struck[name] += n
		}
		s.mu.Unlock()
		if m.Dead() {
			s.replace(i, m)
		}
	}
}

// replace starts a node on what a crashed one has left.
func (s *storm) replace(i int, m *mortal) {
	s.Helper()
	m.kill()
	if m.disk != nil {
		dir := m.disk.Recovered(s.T, s.chance, m.db)
		s.mu.Lock()
		s.config.Dir = dir
		s.mu.Unlock()
	}
	_ = m.db.Close()
	next := s.startMortal()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[i] = next
}

// kill ends what a node does without waiting for results, which cannot be stored any more.
func (m *mortal) kill() {
	m.cancel()
	m.endSweeps()
	m.relay.Stop()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = m.queue.Stop(ctx)
	}()
}

// stop stops the nodes.
func (s *storm) stop() {
	for _, m := range s.nodes {
		m.Clear()
		m.cancel()
		m.endSweeps()
		m.node.stop()
		_ = m.db.Close()
	}
}
