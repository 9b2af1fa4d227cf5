package automation

import (
	"context"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/automation/template"
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
		wire.Viewed(wire.RecordAt("firm_template", "/v1/firm/templates/{template_id}", "firm_template.created", "firm_template.updated",
			"firm_template.deleted"), func(_ context.Context, t template.Template) FirmTemplate { return viewFirmTemplate(t) }),
		wire.RecordAt("memory", "", "memory.updated").OrDeleted(),
	}
}
