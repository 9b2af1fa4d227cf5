package classification_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func TestTheAuditLogStatesEveryChangeOfARun(t *testing.T) {
	each(t, func(w *world) {
		w.rule("x", "memo=x to=Rent")
		w.addTransactions("Bank 2025-11-03 -10 USD text=x")
		r, err := w.Create(w.Ctx, classification.CreateParams{Filter: &transaction.Filter{}, Action: classification.Suggest})
		w.Must(err)
		_, err = w.Cancel(w.Ctx, r.ID)
		w.Must(err)
		_, err = w.Resume(w.Ctx, r.ID)
		w.Must(err)
		_, err = w.Service.Run(w.T.Context(), w.OrganizationID, r.ID, nil)
		w.Must(err)
		states := func(counts, status string) string {
			return `{"action":"suggest","counts":{` + counts + `},"dry_run":false,"error":null,"filter":{},"id":"` + r.ID +
				`","rules_revision":1,"status":"` + status + `","total":1}`
		}
		w.says("the audit log", w.Recorded(r.ID),
			"classification_run.created of a classification run: "+states("", "pending"),
			"classification_run.cancelled of a classification run: "+states("", "cancelled"),
			"classification_run.resumed of a classification run: "+states("", "pending"),
			`classification_run.suggested of a classification run: {"transactions":1}`,
			"classification_run.completed of a classification run: "+states(`"classified":1`, "completed"))
	})
}
