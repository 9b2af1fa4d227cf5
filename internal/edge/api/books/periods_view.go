package books

import (
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// AccountingPeriod is a month of the books. It is open or closed for each legal entity by itself.
type AccountingPeriod struct {
	ID            string              `json:"id" doc:"ap_ and 26 characters"`
	Key           string              `json:"key" doc:"The month, such as 2026-01"`
	StartDateUTC  string              `json:"start_date_utc" format:"date-time" doc:"Its first instant in the organization's time zone"`
	EndDateUTC    string              `json:"end_date_utc" format:"date-time" doc:"The first instant after it"`
	Status        string              `json:"status" enum:"open,partly_closed,closed" doc:"How it stands over the legal entities shown: partly_closed when it is closed for some of them"`
	LegalEntities []PeriodLegalEntity `json:"legal_entities" doc:"How it stands for each legal entity the key is for"`
	Guidance      wire.Guidance       `json:"guidance" doc:"What may be done to it now, as far as order and time go; readiness says whether the books allow it"`
	CreatedAt     string              `json:"created_at" format:"date-time" doc:"When its row was made"`
}

// PeriodLegalEntity is how a period stands for one legal entity.
type PeriodLegalEntity struct {
	LegalEntityID string  `json:"legal_entity_id" doc:"The legal entity"`
	Status        string  `json:"status" enum:"open,closed" doc:"Whether it takes postings: what is dated in a closed period is posted in the first open one after it"`
	ClosedAt      *string `json:"closed_at" format:"date-time" doc:"When it was closed; null also where a later period was closed before this one came to be"`
	ClosedBy      *string `json:"closed_by" doc:"The user who closed it"`
}

// CloseAccountingPeriod says for whom a period is closed.
type CloseAccountingPeriod struct {
	LegalEntityID  *string `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"Close it for this legal entity; omit for all that the key is for and it is open for"`
	OverrideReason *string `json:"override_reason,omitempty" minLength:"1" maxLength:"500" doc:"Why to close it although transactions of it are not posted: with a reason unposted_transactions warns instead of failing. It is kept with the close"`
}

// ReopenAccountingPeriod says why a period is reopened, and for whom.
type ReopenAccountingPeriod struct {
	Reason        string  `json:"reason" minLength:"1" maxLength:"500" doc:"Why; it is kept with the close that is undone"`
	LegalEntityID *string `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"Reopen it for this legal entity; omit for all that the key is for and it is closed for"`
}

// PeriodReadiness is what stands between a period and its close.
type PeriodReadiness struct {
	AccountingPeriodID string           `json:"accounting_period_id" doc:"The period"`
	Key                string           `json:"key" doc:"The month, such as 2026-01"`
	Ready              bool             `json:"ready" doc:"Whether nothing fails, so that it can be closed now"`
	Checks             []ReadinessCheck `json:"checks" doc:"Every check, those that pass too, for each legal entity it is open for"`
}

// ReadinessCheck is one check.
type ReadinessCheck struct {
	Code          string   `json:"code" doc:"period_not_over, previous_period_open, drafts, suspense_balance, clearing_balance, lots_in_transit, unbalanced_period, balances_differ, unbalanced_entries, unposted_transactions, lot_deficit, basis_pending, missing_price, lots_differ, revaluation, already_closed"`
	Status        string   `json:"status" enum:"pass,warn,fail" doc:"What fails prevents the close"`
	LegalEntityID *string  `json:"legal_entity_id" doc:"The legal entity it is about; null when it is about the period itself"`
	Count         int64    `json:"count" minimum:"0" doc:"How many things were found"`
	Message       string   `json:"message" doc:"A sentence for people"`
	SampleIDs     []string `json:"sample_ids" doc:"Up to five of the things found: journal entries, ledger accounts, accounting periods, transactions or assets"`
}

// ClosePackage is what was frozen when a period was closed.
type ClosePackage struct {
	AccountingPeriodID string               `json:"accounting_period_id" doc:"The period"`
	Key                string               `json:"key" doc:"The month, such as 2026-01"`
	StartDateUTC       string               `json:"start_date_utc" format:"date-time" doc:"Its first instant in the organization's time zone"`
	EndDateUTC         string               `json:"end_date_utc" format:"date-time" doc:"The first instant after it"`
	LegalEntities      []LegalEntityPackage `json:"legal_entities" doc:"Each legal entity's part"`
}

// LegalEntityPackage is one legal entity's part of it.
type LegalEntityPackage struct {
	LegalEntityID string                     `json:"legal_entity_id" doc:"The legal entity"`
	Currency      string                     `json:"currency" doc:"The currency of its books, in which the amounts are"`
	Closing       wire.OrNull[PeriodClosing] `json:"closing" doc:"The close that stands; null while the period is open"`
	Accounts      []FrozenAccount            `json:"accounts" doc:"What stood on each account when it was closed; accounts that nothing stood on are left out"`
	History       []PeriodClosing            `json:"history" doc:"Earlier closes that were reopened, the first one first"`
}

// PeriodClosing is one close of a period for a legal entity.
type PeriodClosing struct {
	ID             string  `json:"id" doc:"apc_ and 26 characters"`
	ClosedAt       string  `json:"closed_at" format:"date-time" doc:"When it was closed"`
	ClosedBy       *string `json:"closed_by" doc:"The user who closed it"`
	EntryCount     int64   `json:"entry_count" minimum:"0" doc:"How many posted entries the legal entity had in it"`
	Hash           string  `json:"hash" doc:"SHA-256, in hex, over those entries and their lines in the order of their numbers: it changes if any of them does"`
	ReopenedAt     *string `json:"reopened_at" format:"date-time" doc:"When it was reopened"`
	ReopenedBy     *string `json:"reopened_by" doc:"The user who reopened it"`
	Reason         *string `json:"reason" doc:"Why it was reopened"`
	OverrideReason *string `json:"override_reason" doc:"Why it was closed although something stood in the way that may be overridden"`
}

// FrozenAccount is an account in a period that was closed.
type FrozenAccount struct {
	LedgerAccountID string  `json:"ledger_account_id" doc:"The account"`
	Code            *string `json:"code" doc:"Its code now"`
	Name            string  `json:"name" doc:"Its name now"`
	Type            string  `json:"type" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"Its type"`
	OpeningBalance  string  `json:"opening_balance" format:"decimal" doc:"Debits less credits of all earlier periods"`
	Debits          string  `json:"debits" format:"decimal" doc:"What was debited in the period"`
	Credits         string  `json:"credits" format:"decimal" doc:"What was credited in the period"`
	ClosingBalance  string  `json:"closing_balance" format:"decimal" doc:"The opening balance with debits added and credits taken off"`
}
