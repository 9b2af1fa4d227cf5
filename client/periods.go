package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// AccountingPeriod is an accounting period.
type AccountingPeriod struct {
	ID            string              `json:"id"`
	Key           string              `json:"key"`
	StartDateUTC  time.Time           `json:"start_date_utc"`
	EndDateUTC    time.Time           `json:"end_date_utc"`
	Status        string              `json:"status"`
	LegalEntities []PeriodLegalEntity `json:"legal_entities"`
	Guidance      Guidance            `json:"guidance"`
	CreatedAt     time.Time           `json:"created_at"`
}

// PeriodLegalEntity is the state of a period for one legal entity.
type PeriodLegalEntity struct {
	LegalEntityID string     `json:"legal_entity_id"`
	Status        string     `json:"status"`
	ClosedAt      *time.Time `json:"closed_at"`
	ClosedBy      *string    `json:"closed_by"`
}

// ReopenAccountingPeriod is the reason for reopening a period; without a legal entity, for all that the key may see.
type ReopenAccountingPeriod struct {
	Reason        string `json:"reason"`
	LegalEntityID string `json:"legal_entity_id,omitempty"`
}

// PeriodReadiness lists the conditions for closing a period.
type PeriodReadiness struct {
	AccountingPeriodID string           `json:"accounting_period_id"`
	Key                string           `json:"key"`
	Ready              bool             `json:"ready"`
	Checks             []ReadinessCheck `json:"checks"`
}

// ReadinessCheck is one condition.
type ReadinessCheck struct {
	Code          string   `json:"code"`
	Status        string   `json:"status"`
	LegalEntityID *string  `json:"legal_entity_id"`
	Count         int64    `json:"count"`
	Message       string   `json:"message"`
	SampleIDs     []string `json:"sample_ids"`
}

// ClosePackage is what was frozen when a period was closed.
type ClosePackage struct {
	AccountingPeriodID string               `json:"accounting_period_id"`
	Key                string               `json:"key"`
	StartDateUTC       time.Time            `json:"start_date_utc"`
	EndDateUTC         time.Time            `json:"end_date_utc"`
	LegalEntities      []LegalEntityPackage `json:"legal_entities"`
	Anchor             *Anchor              `json:"anchor"`
}

// Anchor is a record of the audit log, to be kept elsewhere and compared later with bursar verify --anchor.
type Anchor struct {
	OrganizationID   string    `json:"organization_id"`
	Organization     string    `json:"organization"`
	SequenceNumber   int64     `json:"sequence_number"`
	Hash             string    `json:"hash"`
	CreatedAt        time.Time `json:"created_at"`
	JournalEntries   int64     `json:"journal_entries"`
	Transactions     int64     `json:"transactions"`
	AccountingPeriod string    `json:"accounting_period"`
}

// LegalEntityPackage is one legal entity's part of it. Closing is nil while the period is open.
type LegalEntityPackage struct {
	LegalEntityID string          `json:"legal_entity_id"`
	Currency      string          `json:"currency"`
	Closing       *PeriodClosing  `json:"closing"`
	Accounts      []FrozenAccount `json:"accounts"`
	History       []PeriodClosing `json:"history"`
}

// PeriodClosing is one close of a period for a legal entity.
type PeriodClosing struct {
	ID             string     `json:"id"`
	ClosedAt       time.Time  `json:"closed_at"`
	ClosedBy       *string    `json:"closed_by"`
	EntryCount     int64      `json:"entry_count"`
	Hash           string     `json:"hash"`
	ReopenedAt     *time.Time `json:"reopened_at"`
	OverrideReason *string    `json:"override_reason"`
	ReopenedBy     *string    `json:"reopened_by"`
	Reason         *string    `json:"reason"`
}

// FrozenAccount is an account in a period that was closed. Balances are debits less credits.
type FrozenAccount struct {
	LedgerAccountID string  `json:"ledger_account_id"`
	Code            *string `json:"code"`
	Name            string  `json:"name"`
	Type            string  `json:"type"`
	OpeningBalance  string  `json:"opening_balance"`
	Debits          string  `json:"debits"`
	Credits         string  `json:"credits"`
	ClosingBalance  string  `json:"closing_balance"`
}

func periodPath(id, rest string) string { return "/v1/accounting-periods/" + url.PathEscape(id) + rest }

// ofEntity restricts a call to a legal entity, unless it is empty.
func ofEntity(legalEntityID string) url.Values {
	if legalEntityID == "" {
		return nil
	}
	return url.Values{"legal_entity_id": {legalEntityID}}
}

// AccountingPeriods iterates over the accounting periods, latest first. The query takes the filters of GET /v1/accounting-periods.
func (c *Client) AccountingPeriods(ctx context.Context, query url.Values) iter.Seq2[AccountingPeriod, error] {
	return each[AccountingPeriod](ctx, c, "/v1/accounting-periods", query)
}

// AccountingPeriod returns a period.
func (c *Client) AccountingPeriod(ctx context.Context, id string) (AccountingPeriod, error) {
	return one[AccountingPeriod](ctx, c, Call{Method: http.MethodGet, Path: periodPath(id, "")})
}

// AccountingPeriodReadiness runs the checks that a close would, for one legal entity or, if it is empty, for all.
func (c *Client) AccountingPeriodReadiness(ctx context.Context, id, legalEntityID string) (PeriodReadiness, error) {
	return one[PeriodReadiness](ctx, c, Call{Method: http.MethodGet, Path: periodPath(id, "/readiness"), Query: ofEntity(legalEntityID)})
}

// CloseAccountingPeriod closes a period for one legal entity or, if it is empty, for all that it is open for.
func (c *Client) CloseAccountingPeriod(ctx context.Context, id, legalEntityID string) (AccountingPeriod, error) {
	return c.closePeriod(ctx, id, legalEntityID, "")
}

// CloseAccountingPeriodDespite closes a period although transactions of it are not posted, for a reason.
func (c *Client) CloseAccountingPeriodDespite(ctx context.Context, id, legalEntityID, reason string) (AccountingPeriod, error) {
	return c.closePeriod(ctx, id, legalEntityID, reason)
}

func (c *Client) closePeriod(ctx context.Context, id, legalEntityID, override string) (AccountingPeriod, error) {
	body := struct {
		LegalEntityID  string `json:"legal_entity_id,omitempty"`
		OverrideReason string `json:"override_reason,omitempty"`
	}{legalEntityID, override}
	return post[AccountingPeriod](ctx, c, periodPath(id, "/close"), body)
}

// ReopenAccountingPeriod reopens a closed period.
func (c *Client) ReopenAccountingPeriod(ctx context.Context, id string, p ReopenAccountingPeriod) (AccountingPeriod, error) {
	return post[AccountingPeriod](ctx, c, periodPath(id, "/reopen"), p)
}

// AccountingPeriodClosePackage returns what was frozen, for one legal entity or, if it is empty, for all.
func (c *Client) AccountingPeriodClosePackage(ctx context.Context, id, legalEntityID string) (ClosePackage, error) {
	return one[ClosePackage](ctx, c, Call{Method: http.MethodGet, Path: periodPath(id, "/close-package"), Query: ofEntity(legalEntityID)})
}
