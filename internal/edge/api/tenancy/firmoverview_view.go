package tenancy

import "github.com/bursarhq/bursar/internal/edge/api/wire"

// FirmOverviewClient is a client with what is to be done for it.
type FirmOverviewClient struct {
	ClientID         string                         `json:"client_id" doc:"Identifier of the client in the firm: fcl_ and 26 characters."`
	OrganizationID   string                         `json:"organization_id" doc:"Organization of the client, for the header X-Organization-Id."`
	Name             string                         `json:"name" doc:"What the firm calls the client."`
	Role             string                         `json:"role" enum:"preparer,reviewer,partner" doc:"Your role for the client."`
	OpenTransactions *int64                         `json:"open_transactions" minimum:"0" doc:"Transactions that are not posted and not spam; null if they have not been counted yet."`
	LastMonth        wire.OrNull[FirmOverviewMonth] `json:"last_month" doc:"The last month that is over; null if none is, or if it has not been checked yet."`
	PendingRequests  *int64                         `json:"pending_requests" minimum:"0" doc:"Requests of the firm that the client has not completed; null if not known."`
	LastActivityAt   string                         `json:"last_activity_at" format:"date-time" doc:"When something was changed last in the books of the client."`
	AsOf             *string                        `json:"as_of" format:"date-time" doc:"Of when open_transactions and last_month are; null if they have not been computed yet."`
	IsCurrent        bool                           `json:"is_current" doc:"Whether open_transactions and last_month include every change. If false, they are computed again soon."`
}

// FirmOverviewMonth is the state of a month that is over.
type FirmOverviewMonth struct {
	AccountingPeriodID    string `json:"accounting_period_id" doc:"Accounting period of the month, in the organization of the client."`
	Period                string `json:"period" example:"2026-01" doc:"Month, YYYY-MM."`
	Readiness             string `json:"readiness" enum:"ready,not_ready,closed" doc:"ready: the month can be closed. not_ready: a readiness check fails. closed: it is closed for every legal entity."`
	FailedChecks          int64  `json:"failed_checks" minimum:"0" doc:"Readiness checks that fail, one for each legal entity."`
	Warnings              int64  `json:"warnings" minimum:"0" doc:"Readiness checks that warn, which does not prevent the close."`
	UnreconciledSources   int64  `json:"unreconciled_sources" minimum:"0" doc:"Sources that stated a balance in the month which the books do not have, or which nobody has reconciled since."`
	SourcesWithoutBalance int64  `json:"sources_without_balance" minimum:"0" doc:"Sources that stated no balance in the month, so that nothing can be compared."`
}
