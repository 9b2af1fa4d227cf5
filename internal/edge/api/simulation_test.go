package api_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/idempotency"
)

const (
	simulatedRounds = 40 // of a world, in every run
	soakRounds      = 100
	soakWorlds      = 2  // on each engine
	checkEvery      = 10 // rounds
)

// One seed decides everything that happens in a simulated world: what users send to which node, how the clock moves, and which faults
// happen at which step of which node. The users of a round act at the same time; how their steps interleave is the only thing that is left
// to chance. After each round every user knows the outcome of what it sent, and the model of each user must agree with the service.
func TestSoakNothingIsLostDoubledOrChangedWhateverFails(t *testing.T) {
	t.Parallel()
	seed, worlds, rounds := dbtest.Seed(t), dbtest.Repeats(1, soakWorlds), simulatedRounds
	if dbtest.Soaking() {
		rounds = soakRounds
	}
	if os.Getenv("BURSAR_SEED") != "" {
		worlds = 1
	}
	for engine, nodes := range map[db.Engine]int{db.SQLite: 1, db.Postgres: 3} {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel()
			struck, closings := map[string]int{}, 0
			var virtual time.Duration
			for i := range worlds {
				t.Run(fmt.Sprint("seed ", seed+uint64(i)), func(t *testing.T) {
					w := newWorld(t, engine, nodes, seed+uint64(i))
					w.run(rounds)
					for name, n := range w.struck {
						struck[name] += n
					}
					virtual += w.now.Now().Sub(w.began)
					closings += w.closings()
					t.Logf("%s of virtual time, %d closings, faults: %v", w.now.Now().Sub(w.began).Round(time.Hour), w.closings(), w.struck)
				})
				if t.Failed() {
					return
				}
			}
			t.Logf("%d worlds of %d rounds, %s of virtual time, faults: %v", worlds, rounds, virtual.Round(time.Hour), struck)
			if closings == 0 {
				t.Error("no period was closed, so that nothing shows that closed periods do not change")
			}
			for _, name := range slices.Sorted(maps.Keys(faultsOf(engine))) {
				if struck[name] == 0 {
					t.Errorf("no %s happened, so that nothing was tested against it", name)
				}
			}
		})
	}
}

// world is a service of some nodes, its users, and what time it is.
type world struct {
	*testing.T
	seed   uint64
	engine db.Engine
	config db.Config // of the database itself
	now    *clock.Manual
	began  time.Time
	today  time.Time // when the round began
	round  int
	nodes  []*node
	users  []user
	tasks  []*backgroundTask
	struck map[string]int // faults that happened, by name
	recent recentLog      // the log of the nodes

	mu sync.Mutex
}

// user uses the service. A user runs in one goroutine at a time.
type user interface {
	// act performs some operations, of which the last one may remain without an answer.
	act(r *rand.Rand)
	// settle finds out what became of the operation without an answer; no fault happens meanwhile.
	settle(r *rand.Rand)
	// check compares what the user knows with what the service says.
	check()
}

// seededReader is a source of random bytes that depends on the seed.
type seededReader struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

// Read fills the buffer.
func (s *seededReader) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Read(b)
}

func newSeededReader(seed uint64) io.Reader {
	var key [32]byte
	copy(key[:], fmt.Sprintf("%032d", seed))
	return &seededReader{source: rand.NewChaCha8(key)}
}

// newWorld creates a service with organizations whose books have a model and one that sends requests of every kind.
func newWorld(t *testing.T, engine db.Engine, nodes int, seed uint64) *world {
	t.Helper()
	w := &world{T: t, seed: seed, engine: engine, struck: map[string]int{}, began: time.Now().UTC().Truncate(24 * time.Hour)}
	w.now, w.today = clock.NewManual(w.began), w.began
	w.config = map[db.Engine]func(testing.TB) db.Config{db.SQLite: dbtest.SQLite, db.Postgres: dbtest.Postgres}[engine](t)
	w.config.Random = newSeededReader(seed)
	for i := range nodes {
		w.nodes = append(w.nodes, w.startNode(i, w.config))
	}
	t.Cleanup(w.stop)
	w.users = append(w.users, w.newBookkeepers()...)
	w.users = append(w.users, w.newTreasurer(), w.newClerk(), w.newAnybody(), &operator{w})
	return w
}

// closings returns how many periods were closed.
func (w *world) closings() int { return w.users[0].(*bookkeeper).ledger.closings }

// random returns the random numbers of one part of a round.
func (w *world) random(part int) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, uint64(w.round)<<16|uint64(part)))
}

// run runs rounds: the clock moves, faults are prepared, all users act at the same time, the nodes recover, and the users find out
// what became of their last operations.
func (w *world) run(rounds int) {
	w.Helper()
	for w.round = 1; w.round <= rounds && !w.Failed(); w.round++ {
		r := w.random(0)
		w.advance(r)
		w.prepareFaults(r)
		w.together(user.act)
		w.recover(r)
		w.together(user.settle)
		if w.round%checkEvery == 0 || w.round == rounds {
			w.settleTasks()
			for _, c := range w.users {
				c.check()
			}
		}
	}
	if !w.Failed() {
		apitest.Verify(w.T, w.nodes[0].service.App)
	}
	if w.Failed() {
		w.Errorf("replay with BURSAR_SEED=%d; it failed in round %d", w.seed, w.round-1)
	}
}

// together runs a method of all users at the same time.
func (w *world) together(do func(user, *rand.Rand)) {
	var wg sync.WaitGroup
	for i, c := range w.users {
		wg.Go(func() { do(c, w.random(i+1)) })
	}
	done := time.AfterFunc(2*hangAfter, func() {
		panic(fmt.Sprintf("BURSAR_SEED=%d: the users of round %d do not come to an end", w.seed, w.round))
	})
	wg.Wait()
	done.Stop()
}

// advance moves the clock by minutes or hours, sometimes by days.
func (w *world) advance(r *rand.Rand) {
	by := time.Duration(r.IntN(3*60)) * time.Minute
	if r.IntN(15) == 0 {
		by += time.Duration(r.IntN(6*24)) * time.Hour
	}
	w.now.Advance(by)
	w.today = w.now.Now()
}

// operator runs the work that the service does by itself from time to time.
type operator struct{ *world }

func (o *operator) act(r *rand.Rand) {
	o.runTasks(r)
	n := o.pick(r)
	ctx := context.Background()
	var err error
	switch r.IntN(4) {
	case 0:
		err = idempotency.DeleteExpired(ctx, n.service.App.DB)
	case 1:
		err = period.CreateNextMonths(ctx, n.service.App.DB)
	case 2:
		err = n.service.App.Transfers.MatchNew(ctx)
	case 3:
		err = n.service.App.Imports.DeleteLeftovers(ctx)
	}
	n.allow("background work", err)
}

func (o *operator) settle(*rand.Rand) {}

func (o *operator) check() {}

// backgroundTask is an import or a classification run that a user has asked for.
type backgroundTask struct {
	run  func(context.Context, *apitest.Service) error
	over bool
}

// addTask leaves a task to the operator.
func (w *world) addTask(run func(context.Context, *apitest.Service) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks = append(w.tasks, &backgroundTask{run: run})
}

// openTasks returns the tasks that are not known to be over.
func (w *world) openTasks() (out []*backgroundTask) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, task := range w.tasks {
		if !task.over {
			out = append(out, task)
		}
	}
	return out
}
