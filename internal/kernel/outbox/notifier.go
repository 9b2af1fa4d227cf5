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
