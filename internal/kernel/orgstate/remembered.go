package orgstate

import (
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/lru"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	// rememberedMax bounds the number of organizations whose state is remembered.
	rememberedMax = 10_000
	// distrustFor is how long a state is not assumed after an assumption was wrong: another node writes too.
	distrustFor = 250 * time.Millisecond
)

// remembered holds the state that this node has committed last, by organization. It may be out of date: whoever uses it
// must have the database compare it.
type remembered struct {
	mu    sync.Mutex
	byOrg *lru.Cache[string, memory]
}

type memory struct {
	state    State
	known    bool
	distrust time.Time // when a wrong assumption was noticed
}

type rememberedKey struct{}

func rememberedOf(tx *db.Tx) *remembered {
	return tx.DB().Value(rememberedKey{}, func() any {
		return &remembered{byOrg: lru.New[string](rememberedMax, func(memory) int { return 1 }, nil)}
	}).(*remembered)
}

// get returns the state to assume, if there is one.
func (r *remembered) get(tx *db.Tx) (State, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.byOrg.Get(tx.Organization())
	if !ok || !m.known || tx.Now().Sub(m.distrust) < distrustFor {
		return State{}, false
	}
	return m.state, true
}

// put remembers a state that was committed.
func (r *remembered) put(tx *db.Tx, s State) {
	r.change(tx, func(m *memory) {
		if !m.known || s.AuditSequence >= m.state.AuditSequence {
			m.state, m.known = s, true
		}
	})
}

// distrust forgets the state, because it was wrong.
func (r *remembered) distrust(tx *db.Tx) {
	r.change(tx, func(m *memory) { *m = memory{distrust: tx.Now()} })
}

func (r *remembered) change(tx *db.Tx, fn func(*memory)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, _ := r.byOrg.Get(tx.Organization())
	fn(&m)
	r.byOrg.Put(tx.Organization(), m)
}
