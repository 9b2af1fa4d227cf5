package outbox

import (
	"maps"
	"slices"
	"sync"

	"github.com/bursarhq/bursar/internal/db"
)

// notifier tells the relay of this process which organizations have events that were committed here, so that it need not
// wait until it looks for the events of all nodes. There is one for each database handle.
type notifier struct {
	pending chan struct{} // receives a value after notify

	mu            sync.Mutex
	organizations map[string]bool
	watchers      map[string]map[chan struct{}]bool // by organization
}

type notifierKey struct{}

func notifierOf(d *db.DB) *notifier {
	return d.Value(notifierKey{}, func() any { return &notifier{pending: make(chan struct{}, 1)} }).(*notifier)
}

// notify is called when events of an organization were committed.
func (n *notifier) notify(organizationID string) {
	n.mu.Lock()
	if n.organizations == nil {
		n.organizations = map[string]bool{}
	}
	n.organizations[organizationID] = true
	for w := range n.watchers[organizationID] {
		select {
		case w <- struct{}{}:
		default: // it has a notification already
		}
	}
	n.mu.Unlock()
	select {
	case n.pending <- struct{}{}:
	default: // a notification is pending already
	}
}

// take returns the organizations that were passed to notify since the last call.
func (n *notifier) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	ids := slices.Sorted(maps.Keys(n.organizations))
	n.organizations = nil
	return ids
}

// Watch returns a channel that receives a value after this process has committed events of an organization, and a function that ends that.
// Events that other processes commit are not announced.
func Watch(d *db.DB, organizationID string) (committed <-chan struct{}, stop func()) {
	n, w := notifierOf(d), make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.watchers == nil {
		n.watchers = map[string]map[chan struct{}]bool{}
	}
	if n.watchers[organizationID] == nil {
		n.watchers[organizationID] = map[chan struct{}]bool{}
	}
	n.watchers[organizationID][w] = true
	return w, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if delete(n.watchers[organizationID], w); len(n.watchers[organizationID]) == 0 {
			delete(n.watchers, organizationID)
		}
	}
}
