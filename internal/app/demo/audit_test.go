package demo_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// logs collects the audit logs of the demo company on each engine, as texts without ids.
type logs struct {
	mu  sync.Mutex
	all [][]string
}

// add adds the audit log of a company, newest first.
func (l *logs) add(t *testing.T, w *world) {
	t.Helper()
	records := everything(t, func(p page.Request) (page.Page[audit.LogRecord], error) {
		return audit.NewService(w.app.DB).List(w.ctx, audit.Filter{}, p)
	})
	texts := make([]string, len(records))
	for i, r := range records {
		texts[i] = r.Action
		var facts map[string]any
		if json.Unmarshal([]byte(r.After), &facts) != nil {
			continue
		}
		for _, name := range []string{"name", "path", "key", "asset_type", "external_id", "sequence_number", "timestamp", "accounting_date",
			"memo"} {
			if fact, there := facts[name]; there {
				texts[i] += fmt.Sprintf(" %s %v", name, fact)
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, texts)
}

// compare fails unless every engine has the same records in the same order.
func (l *logs) compare(t *testing.T) {
	t.Helper()
	for _, other := range l.all[min(1, len(l.all)):] {
		if len(other) != len(l.all[0]) || len(other) < 1000 {
			t.Errorf("one engine has %d audit records and another %d", len(l.all[0]), len(other))
			return
		}
		for i := range other {
			if other[i] != l.all[0][i] {
				t.Errorf("the audit record %d from the end is %q on one engine and %q on another", i, l.all[0][i], other[i])
				return
			}
		}
	}
}
