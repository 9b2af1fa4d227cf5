package run_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/receivables/run"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func TestTheAuditLogStatesEveryChangeOfARun(t *testing.T) {
	each(t, func(w *world) {
		w.bill("INV-1 Northwind 100.00")
		w.pay("Northwind 100.00 INV-1")
		r, err := w.Create(w.Ctx, run.CreateParams{Filter: &transaction.Filter{}})
		w.Must(err)
		_, err = w.Cancel(w.Ctx, r.ID)
		w.Must(err)
		_, err = w.Resume(w.Ctx, r.ID)
		w.Must(err)
		w.finish(r.ID)
		states := func(counts, status string) string {
			return `{"counts":{` + counts + `},"dry_run":false,"error":null,"filter":{"direction":"credit"},"id":"` + r.ID +
				`","min_confidence":"0.95","reason":null,"status":"` + status + `","total":1,"undoes_run_id":null}`
		}
		w.says("the audit log", w.Recorded(r.ID),
			"cash_application_run.created of a cash_application_run: "+states("", "pending"),
			"cash_application_run.cancelled of a cash_application_run: "+states("", "cancelled"),
			"cash_application_run.resumed of a cash_application_run: "+states("", "pending"),
			"cash_application_run.completed of a cash_application_run: "+states(`"applied":1`, "completed"))
	})
}
