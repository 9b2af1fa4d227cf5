package books

import (
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// AccountingPeriod is a month of the books. It is open or closed for each legal entity separately.
type AccountingPeriod struct {
	ID            string              `json:"id" doc:"Identifier: ap_ and 26 characters."`
	Key           string              `json:"key" doc:"Month, such as 2026-01."`
	StartDateUTC  string              `json:"start_date_utc" format:"date-time" doc:"First instant of the month in the organization's time zone."`
	EndDateUTC    string              `json:"end_date_utc" format:"date-time" doc:"First instant after the month."`
	Status        string              `json:"status" enum:"open,partly_closed,closed" doc:"Status for the legal entities shown. partly_closed: closed for some of them."`
	LegalEntities []PeriodLegalEntity `json:"legal_entities" doc:"Status for each legal entity that the API key has access to."`
	Guidance      wire.Guidance       `json:"guidance" doc:"Actions that the order of periods and the date permit now. The readiness checks tell whether the books permit them."`
	CreatedAt     string              `json:"created_at" format:"date-time" doc:"When the record was created."`
}

// PeriodLegalEntity is the status of an accounting period for one legal entity.
type PeriodLegalEntity struct {
	LegalEntityID string  `json:"legal_entity_id" doc:"Identifier of the legal entity."`
	Status        string  `json:"status" enum:"open,closed" doc:"Whether entries can be posted in the period. Entries dated in a closed period are posted in the first open period after it."`
	ClosedAt      *string `json:"closed_at" format:"date-time" doc:"When it was closed. Null if it is open, or was created after a later period had been closed."`
	ClosedBy      *string `json:"closed_by" doc:"User who closed it; null if none."`
}

// CloseAccountingPeriod describes a close.
type CloseAccountingPeriod struct {
	LegalEntityID  *string `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"Legal entity to close the period for. Defaults to all that the API key has access to and for which it is open."`
	OverrideReason *string `json:"override_reason,omitempty" minLength:"1" maxLength:"500" doc:"Reason for closing although transactions are not posted. With a reason, unposted_transactions is a warning. Stored with the close."`
}

// ReopenAccountingPeriod describes why and for whom a period is reopened.
type ReopenAccountingPeriod struct {
	Reason        string  `json:"reason" minLength:"1" maxLength:"500" doc:"Reason; stored with the close that is undone."`
	LegalEntityID *string `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"Legal entity to reopen the period for. Defaults to all that the API key has access to and for which it is closed."`
}

// PeriodReadiness holds the readiness checks of an accounting period.
type PeriodReadiness struct {
	AccountingPeriodID string           `json:"accounting_period_id" doc:"Identifier of the accounting period."`
	Key                string           `json:"key" doc:"Month, such as 2026-01."`
	Ready              bool             `json:"ready" doc:"Whether no check fails, so that the period can be closed now."`
	Checks             []ReadinessCheck `json:"checks" doc:"All checks, including passed ones, for each legal entity for which the period is open."`
}

// ReadinessCheck is the result of one readiness check.
type ReadinessCheck struct {
	Code          string   `json:"code" doc:"Check: period_not_over, previous_period_open, drafts, suspense_balance, clearing_balance, lots_in_transit, unbalanced_period, balances_differ, unbalanced_entries, unposted_transactions, lot_deficit, basis_pending, missing_price, lots_differ, units_differ, revaluation, source_balances, pending_cash_applications, unapplied_cash, gl_sync or already_closed."`
	Status        string   `json:"status" enum:"pass,warn,fail" doc:"Result. A failed check prevents the close."`
	LegalEntityID *string  `json:"legal_entity_id" doc:"Legal entity; null if the check concerns the period itself."`
	Count         int64    `json:"count" minimum:"0" doc:"Number of records found."`
	Message       string   `json:"message" doc:"Explanation for people."`
	SampleIDs     []string `json:"sample_ids" doc:"Up to five of the records found: journal entries, ledger accounts, accounting periods, transactions, cash applications or lots."`
}

// ClosePackage holds the balances that were frozen when a period was closed.
type ClosePackage struct {
	AccountingPeriodID string               `json:"accounting_period_id" doc:"Identifier of the accounting period."`
	Key                string               `json:"key" doc:"Month, such as 2026-01."`
	StartDateUTC       string               `json:"start_date_utc" format:"date-time" doc:"First instant of the month in the organization's time zone."`
	EndDateUTC         string               `json:"end_date_utc" format:"date-time" doc:"First instant after the month."`
	LegalEntities      []LegalEntityPackage `json:"legal_entities" doc:"Close packages of the legal entities."`
	Anchor             wire.OrNull[Anchor]  `json:"anchor" doc:"Record of the last close in the audit log. Keep it elsewhere, and compare it later with bursar verify --anchor. Null if the period was not closed, or for a key that is limited to some legal entities."`
}

// Anchor is a record of the audit log by which a log that was cut short or rewritten is recognized.
type Anchor struct {
	OrganizationID   string `json:"organization_id" doc:"Identifier of the organization."`
	Organization     string `json:"organization" doc:"Name of the organization."`
	SequenceNumber   int64  `json:"sequence_number" doc:"Sequence number of the audit record."`
	Hash             string `json:"hash" doc:"SHA-256 (hexadecimal) of the audit record and the previous hash."`
	CreatedAt        string `json:"created_at" format:"date-time" doc:"When the record was written."`
	JournalEntries   int64  `json:"journal_entries" minimum:"0" doc:"Number of journal entries that had been created, deleted ones included."`
	Transactions     int64  `json:"transactions" minimum:"0" doc:"Number of transactions that had been created, deleted ones included."`
	AccountingPeriod string `json:"accounting_period" doc:"Month that was closed, such as 2026-01."`
}

// LegalEntityPackage is the part of one legal entity.
type LegalEntityPackage struct {
	LegalEntityID string                     `json:"legal_entity_id" doc:"Identifier of the legal entity."`
	Currency      string                     `json:"currency" doc:"Base currency (ISO 4217) of the legal entity, in which amounts are given."`
	Closing       wire.OrNull[PeriodClosing] `json:"closing" doc:"The close in effect; null while the period is open."`
	Accounts      []FrozenAccount            `json:"accounts" doc:"Balance of each account at the close. Accounts without balance or movement are omitted."`
	History       []PeriodClosing            `json:"history" doc:"Earlier closes that were reopened, earliest first."`
}

// PeriodClosing is a close of a period for one legal entity.
type PeriodClosing struct {
	ID             string  `json:"id" doc:"Identifier: apc_ and 26 characters."`
	ClosedAt       string  `json:"closed_at" format:"date-time" doc:"When the period was closed."`
	ClosedBy       *string `json:"closed_by" doc:"User who closed it; null if none."`
	EntryCount     int64   `json:"entry_count" minimum:"0" doc:"Number of posted entries of the legal entity in the period."`
	Hash           string  `json:"hash" doc:"SHA-256 (hexadecimal) of these entries and their lines by sequence number. Changes if any of them changes."`
	ReopenedAt     *string `json:"reopened_at" format:"date-time" doc:"When the period was reopened; null if it was not."`
	ReopenedBy     *string `json:"reopened_by" doc:"User who reopened the period; null if none."`
	Reason         *string `json:"reason" doc:"Reason for reopening; null if it was not reopened."`
	OverrideReason *string `json:"override_reason" doc:"Reason for closing despite a check that may be overridden; null if none."`
}

// FrozenAccount is the balance of a ledger account at a close.
type FrozenAccount struct {
	LedgerAccountID string  `json:"ledger_account_id" doc:"Identifier of the ledger account."`
	Code            *string `json:"code" doc:"Current code of the account; null if none."`
	Name            string  `json:"name" doc:"Current name of the account."`
	Type            string  `json:"type" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"Account type."`
	OpeningBalance  string  `json:"opening_balance" format:"decimal" doc:"Debits less credits of all earlier periods."`
	Debits          string  `json:"debits" format:"decimal" doc:"Debits of the period."`
	Credits         string  `json:"credits" format:"decimal" doc:"Credits of the period."`
	ClosingBalance  string  `json:"closing_balance" format:"decimal" doc:"Opening balance plus debits less credits."`
}
