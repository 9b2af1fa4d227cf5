package tenancy

import (
	"context"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/automation/firmjob"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
)

func (h handlers) firmJobs() []wire.Route {
	const one = "/v1/firm/jobs/{firm_job_id}"
	return wire.Tag{Name: "Firm jobs", Description: "One task for many clients of an accounting firm, with a result for each."}.Routes(
		wire.Get("/v1/firm/jobs", h.listFirmJobs, "List jobs, newest first").WholeOrganization().MembersOnly(),
		wire.Prepared(wire.Post("/v1/firm/jobs", h.createFirmJob, "Start a job for many clients").
			Describe("Checks whether a month can be closed, classifies transactions or computes the totals of a report, for each client in the "+
				"background, one after the other. A job can do for a client what the person who has started it may do there when its turn comes; "+
				"if that is nothing, the client is skipped. A dry run of a classification says what would be done for each client. A firm can have 20 "+
				"jobs that are not over: then the answer is 429. Jobs are kept for 400 days after their end.").
			WholeOrganization().MembersOnly().Privileged().Creates().LargeWrite(), h.prepareFirmJob).ReadsAcross(),
		wire.Get(one, h.getFirmJob, "Get the progress of a job").WholeOrganization().MembersOnly(),
		wire.Get(one+"/results", h.listFirmJobResults, "List the results of a job by client").
			Describe("Results of clients for which you have no role, or that have ended the access, are left out.").
			WholeOrganization().MembersOnly(),
		wire.Post(one+"/cancel", h.cancelFirmJob, "Cancel a job").
			Describe("What the job is doing for a client is finished. The results that there are stay.").
			WholeOrganization().MembersOnly().Privileged(),
	)
}

// createsFirmJob holds the request for a job and, once its clients are found, the prepared job.
type createsFirmJob struct {
	Body CreateFirmJob

	prepared firmjob.Prepared
}

// prepareFirmJob finds the clients of a job, which are other organizations, before the database transaction that creates it.
func (h handlers) prepareFirmJob(ctx context.Context, in *createsFirmJob) (err error) {
	b := in.Body
	in.prepared, err = h.app.FirmJobs.Prepare(ctx, firmjob.CreateParams{Kind: firmjob.Kind(b.Kind), ClientIDs: b.ClientIDs,
		Expected: b.ExpectedCount, Params: firmjob.Params{Period: b.Period, Action: b.Action, Start: b.StartDate, End: b.EndDate, Dry: b.DryRun,
			Report: b.Report, Currency: b.PresentationCurrency}})
	return err
}

func (h handlers) createFirmJob(ctx context.Context, in *createsFirmJob) (wire.Data[FirmJob], error) {
	j, err := h.app.FirmJobs.Create(ctx, in.prepared)
	return wire.DataOf(viewFirmJob(j)), err
}

func (h handlers) listFirmJobs(ctx context.Context, in *struct {
	wire.Paging
	Kind   string `query:"kind" enum:"readiness,classification,report" doc:"Return only jobs of this kind."`
	Status string `query:"status" enum:"pending,running,completed,failed,cancelled" doc:"Return only records with this status."`
}) (wire.List[FirmJob], error) {
	found, err := h.app.FirmJobs.List(ctx, firmjob.Filter{Kind: firmjob.Kind(in.Kind), Status: firmjob.Status(in.Status)}, in.Request())
	return wire.ListOf(found, viewFirmJob), err
}

// firmJobPath is the parameter of operations on one job.
type firmJobPath struct {
	ID string `path:"firm_job_id" minLength:"1" maxLength:"64" doc:"Identifier of the job."`
}

func (h handlers) getFirmJob(ctx context.Context, in *struct{ firmJobPath }) (wire.Data[FirmJob], error) {
	j, err := h.app.FirmJobs.Get(ctx, in.ID)
	return wire.DataOf(viewFirmJob(j)), err
}

func (h handlers) cancelFirmJob(ctx context.Context, in *struct{ firmJobPath }) (wire.Data[FirmJob], error) {
	j, err := h.app.FirmJobs.Cancel(ctx, in.ID)
	return wire.DataOf(viewFirmJob(j)), err
}

func (h handlers) listFirmJobResults(ctx context.Context, in *struct {
	firmJobPath
	wire.Paging
	Status   string `query:"status" enum:"pending,completed,failed,skipped,cancelled" doc:"Return only results with this status."`
	ClientID string `query:"client_id" minLength:"1" maxLength:"64" doc:"Return only the result of this client."`
}) (wire.List[FirmJobResult], error) {
	f := firmjob.ResultFilter{JobID: in.ID, Outcome: firmjob.Outcome(in.Status), ClientID: in.ClientID}
	found, err := h.app.FirmJobs.Results(ctx, f, in.Request())
	return wire.ListOf(found, viewFirmJobResult), err
}

func viewFirmJob(j firmjob.Job) FirmJob {
	return FirmJob{
		ID:     j.ID,
		Kind:   string(j.Kind),
		DryRun: j.Params.Dry,
		Parameters: FirmJobParameters{Period: db.OrNull(j.Params.Period), Action: db.OrNull(j.Params.Action),
			StartDate: db.OrNull(j.Params.Start), EndDate: db.OrNull(j.Params.End), Report: db.OrNull(j.Params.Report),
			PresentationCurrency: db.OrNull(j.Params.Currency)},
		ScheduledFor: db.OrNull(j.Scheduled),
		Status:       string(j.Status),
		Total:        j.Total,
		Counts: FirmJobCounts{Completed: j.Counts[firmjob.ResultCompleted], Failed: j.Counts[firmjob.ResultFailed],
			Skipped: j.Counts[firmjob.ResultSkipped]},
		Error:      db.OrNull(j.Error),
		CreatedBy:  db.OrNull(j.UserID),
		CreatedAt:  wire.Timestamp(j.CreatedAt),
		StartedAt:  wire.TimestampOrNull(j.StartedAt),
		FinishedAt: wire.TimestampOrNull(j.FinishedAt),
	}
}

func viewFirmJobResult(r firmjob.Result) FirmJobResult {
	out := FirmJobResult{ClientID: r.ClientID, OrganizationID: r.OrganizationID, Name: r.Name, Status: string(r.Outcome),
		Error: db.OrNull(r.Error), FinishedAt: wire.TimestampOrNull(r.FinishedAt)}
	if r.Found == nil {
		return out
	}
	if f := r.Found.Readiness; f != nil {
		out.Readiness.Value = &FirmJobReadiness{AccountingPeriodID: f.PeriodID, Period: f.Period, Status: f.Status, MoreChecks: f.More,
			Checks: make([]FirmJobCheck, len(f.Checks))}
		for i, c := range f.Checks {
			out.Readiness.Value.Checks[i] = FirmJobCheck{Code: c.Code, Status: c.Status, LegalEntityID: db.OrNull(c.LegalEntityID), Count: c.Count,
				Message: c.Message}
		}
	}
	if f := r.Found.Classification; f != nil {
		count := func(o batchrun.Outcome) int64 { return f.Counts[string(o)] }
		out.ClassificationRun.Value = &FirmJobClassification{ID: f.RunID, Counts: FirmJobClassified{
			Classified: count(classification.Classified), Drafted: count(classification.Drafted), Posted: count(classification.Posted),
			Refused: count(classification.Refused), Suggested: count(classification.Suggested), Unmatched: count(classification.Unmatched),
			Skipped: count(classification.Skipped)}}
	}
	if f := r.Found.Report; f != nil {
		out.Report.Value = &FirmJobReport{Report: f.Report, AccountingPeriodID: f.PeriodID, Period: f.Period, Currency: f.Currency,
			Totals: make([]FirmJobTotal, len(f.Totals))}
		for i, t := range f.Totals {
			out.Report.Value.Totals[i] = FirmJobTotal{t.Name, t.Amount}
		}
	}
	return out
}
