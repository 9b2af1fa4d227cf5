package automation

import (
	"context"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Records says what events contain of the resources of the group.
func Records() []wire.Record {
	return []wire.Record{
		wire.RecordAt("classification run", "/v1/classification-runs/{classification_run_id}", classification.EventCreated,
			classification.EventResumed, "classification_run.suggested", "classification_run.completed", "classification_run.failed",
			"classification_run.cancelled"),
		wire.Viewed(wire.RecordAt("rule", "", "rule.updated").OrDeleted(),
			func(_ context.Context, r memory.Rule) MemoryRule { return viewMemoryRule(r) }),
		wire.RecordAt("memory", "", "memory.updated").OrDeleted(),
	}
}
