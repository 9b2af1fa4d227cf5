package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// FirmOverviewClient is a client of an accounting firm with what is to be done for it.
type FirmOverviewClient struct {
	ClientID         string             `json:"client_id"`
	OrganizationID   string             `json:"organization_id"`
	Name             string             `json:"name"`
	Role             string             `json:"role"`
	OpenTransactions *int64             `json:"open_transactions"` // nil if not counted yet
	LastMonth        *FirmOverviewMonth `json:"last_month"`
	PendingRequests  *int64             `json:"pending_requests"`
	LastActivityAt   time.Time          `json:"last_activity_at"`
	AsOf             *time.Time         `json:"as_of"`
	IsCurrent        bool               `json:"is_current"`
}

// FirmOverviewMonth is the state of a month that is over.
type FirmOverviewMonth struct {
	AccountingPeriodID    string `json:"accounting_period_id"`
	Period                string `json:"period"`
	Readiness             string `json:"readiness"`
	FailedChecks          int64  `json:"failed_checks"`
	Warnings              int64  `json:"warnings"`
	UnreconciledSources   int64  `json:"unreconciled_sources"`
	SourcesWithoutBalance int64  `json:"sources_without_balance"`
}

// FirmJob is one task for many clients.
type FirmJob struct {
	ID           string            `json:"id"`
	Kind         string            `json:"kind"`
	DryRun       bool              `json:"dry_run"`
	Parameters   FirmJobParameters `json:"parameters"`
	ScheduledFor *string           `json:"scheduled_for"`
	Status       string            `json:"status"`
	Total        int64             `json:"total"`
	Counts       FirmJobCounts     `json:"counts"`
	Error        *string           `json:"error"`
	CreatedBy    *string           `json:"created_by"`
	CreatedAt    time.Time         `json:"created_at"`
	StartedAt    *time.Time        `json:"started_at"`
	FinishedAt   *time.Time        `json:"finished_at"`
}

// FirmJobParameters are the parameters of a job.
type FirmJobParameters struct {
	Period               *string `json:"period"`
	Action               *string `json:"action"`
	StartDate            *string `json:"start_date"`
	EndDate              *string `json:"end_date"`
	Report               *string `json:"report"`
	PresentationCurrency *string `json:"presentation_currency"`
}

// FirmJobCounts counts the results of a job.
type FirmJobCounts struct {
	Completed int64 `json:"completed"`
	Failed    int64 `json:"failed"`
	Skipped   int64 `json:"skipped"`
}

// CreateFirmJob describes a job: which parameters it takes depends on its kind.
type CreateFirmJob struct {
	Kind                 string   `json:"kind"`
	ClientIDs            []string `json:"client_ids,omitempty"`
	ExpectedCount        *int64   `json:"expected_count,omitempty"` // of clients; another number is a conflict
	Period               string   `json:"period,omitempty"`
	Action               string   `json:"action,omitempty"`
	StartDate            string   `json:"start_date,omitempty"`
	EndDate              string   `json:"end_date,omitempty"`
	DryRun               bool     `json:"dry_run,omitempty"`
	Report               string   `json:"report,omitempty"`
	PresentationCurrency string   `json:"presentation_currency,omitempty"`
}

// FirmJobResult is what came of a job for one client.
type FirmJobResult struct {
	ClientID          string                 `json:"client_id"`
	OrganizationID    string                 `json:"organization_id"`
	Name              string                 `json:"name"`
	Status            string                 `json:"status"`
	Readiness         *FirmJobReadiness      `json:"readiness"`
	ClassificationRun *FirmJobClassification `json:"classification_run"`
	Report            *FirmJobReport         `json:"report"`
	Error             *string                `json:"error"`
	FinishedAt        *time.Time             `json:"finished_at"`
}

// FirmJobReadiness is the result of a readiness check.
type FirmJobReadiness struct {
	AccountingPeriodID string         `json:"accounting_period_id"`
	Period             string         `json:"period"`
	Status             string         `json:"status"`
	Checks             []FirmJobCheck `json:"checks"`
	MoreChecks         int64          `json:"more_checks"`
}

// FirmJobCheck is a readiness check that fails or warns.
type FirmJobCheck struct {
	Code          string  `json:"code"`
	Status        string  `json:"status"`
	LegalEntityID *string `json:"legal_entity_id"`
	Count         int64   `json:"count"`
	Message       string  `json:"message"`
}

// FirmJobClassification is what a classification came to.
type FirmJobClassification struct {
	ID     string           `json:"id"`
	Counts map[string]int64 `json:"counts"`
}

// FirmJobReport holds the totals of a report.
type FirmJobReport struct {
	Report             string         `json:"report"`
	AccountingPeriodID string         `json:"accounting_period_id"`
	Period             string         `json:"period"`
	Currency           string         `json:"currency"`
	Totals             []FirmJobTotal `json:"totals"`
}

// FirmJobTotal is one total of a report.
type FirmJobTotal struct {
	Name   string `json:"name"`
	Amount string `json:"amount"`
}

const firmJobs = "/v1/firm/jobs"

// FirmOverview iterates over the clients that the user of the key works for.
func (c *Client) FirmOverview(ctx context.Context, query url.Values) iter.Seq2[FirmOverviewClient, error] {
	return each[FirmOverviewClient](ctx, c, "/v1/firm/overview", query)
}

// CreateFirmJob starts a job, which works in the background.
func (c *Client) CreateFirmJob(ctx context.Context, j CreateFirmJob) (FirmJob, error) {
	return post[FirmJob](ctx, c, firmJobs, j)
}

// FirmJobs iterates over the jobs, newest first. The query takes the filters of GET /v1/firm/jobs.
func (c *Client) FirmJobs(ctx context.Context, query url.Values) iter.Seq2[FirmJob, error] {
	return each[FirmJob](ctx, c, firmJobs, query)
}

// FirmJob returns a job with its progress.
func (c *Client) FirmJob(ctx context.Context, id string) (FirmJob, error) {
	return one[FirmJob](ctx, c, Call{Method: http.MethodGet, Path: firmJobs + "/" + url.PathEscape(id)})
}

// FirmJobResults iterates over the results of a job, by client.
func (c *Client) FirmJobResults(ctx context.Context, id string, query url.Values) iter.Seq2[FirmJobResult, error] {
	return each[FirmJobResult](ctx, c, firmJobs+"/"+url.PathEscape(id)+"/results", query)
}

// CancelFirmJob cancels a job. The results that there are stay.
func (c *Client) CancelFirmJob(ctx context.Context, id string) (FirmJob, error) {
	return post[FirmJob](ctx, c, firmJobs+"/"+url.PathEscape(id)+"/cancel", nil)
}
