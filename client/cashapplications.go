package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
)

// CashApplication is a deposit that was applied to invoices.
type CashApplication struct {
	ID                   string       `json:"id"`
	OrganizationID       string       `json:"organization_id"`
	LegalEntityID        string       `json:"legal_entity_id"`
	DepositTransactionID string       `json:"deposit_transaction_id"`
	SourceApplicationID  *string      `json:"source_application_id"`
	Status               string       `json:"status"`
	StripeStatus         string       `json:"stripe_status"`
	MatchType            string       `json:"match_type"`
	Currency             string       `json:"currency"`
	TotalAmount          string       `json:"total_amount"`
	AppliedAmount        string       `json:"applied_amount"`
	WrittenOffAmount     string       `json:"written_off_amount"`
	UnappliedAmount      string       `json:"unapplied_amount"`
	AvailableAmount      string       `json:"available_amount"`
	ReturnedAmount       string       `json:"returned_amount"`
	DepositMemo          *string      `json:"deposit_memo"`
	TxnDate              *string      `json:"txn_date"`
	Allocations          []Allocation `json:"allocations"`
	Memo                 *string      `json:"memo"`
	AppliedBy            *string      `json:"applied_by"`
	JournalEntryID       *string      `json:"journal_entry_id"`
	StripeMarkedPaidAt   *string      `json:"stripe_marked_paid_at"`
	ConfirmedBy          *string      `json:"confirmed_by"`
	ConfirmedAt          *string      `json:"confirmed_at"`
	ReviewReason         *string      `json:"review_reason"`
	VoidReason           *string      `json:"void_reason"`
	ErrorMessage         *string      `json:"error_message"`
	ETag                 string       `json:"etag"`
	Guidance             Guidance     `json:"guidance"`
	CreatedAt            string       `json:"created_at"`
	UpdatedAt            *string      `json:"updated_at"`
}

// Allocation is the part of a cash application that pays an invoice. The number and the customer are ignored in requests.
type Allocation struct {
	TargetType    string `json:"target_type,omitempty"`
	TargetID      string `json:"target_id"`
	InvoiceNumber string `json:"invoice_number,omitempty"`
	Amount        string `json:"amount"`
	CustomerName  string `json:"customer_name,omitempty"`
}

// CreateCashApplication describes a cash application.
type CreateCashApplication struct {
	DepositTransactionID string       `json:"deposit_transaction_id"`
	Allocations          []Allocation `json:"allocations"`
	Memo                 string       `json:"memo,omitempty"`
	DryRun               bool         `json:"dry_run,omitempty"`
}

// VoidCashApplication says why a cash application is voided.
type VoidCashApplication struct {
	Reason string `json:"reason,omitempty"`
}

// ReturnCashApplication describes a payment that went back to the customer.
type ReturnCashApplication struct {
	TransactionID string       `json:"transaction_id"`
	ReturnType    string       `json:"return_type,omitempty"`
	Allocations   []Allocation `json:"allocations"`
	Memo          string       `json:"memo,omitempty"`
	DryRun        bool         `json:"dry_run,omitempty"`
}

// PreviewCashApplication names the deposit to preview.
type PreviewCashApplication struct {
	DepositTransactionID string `json:"deposit_transaction_id"`
}

// CashApplicationPreview is what a deposit may pay.
type CashApplicationPreview struct {
	Deposit           PreviewedDeposit  `json:"deposit"`
	DerivedCustomer   *DerivedCustomer  `json:"derived_customer"`
	Suggestions       []MatchSuggestion `json:"suggestions"`
	Notes             []MatchReason     `json:"notes"`
	CandidatePoolSize int64             `json:"candidate_pool_size"`
	Truncated         bool              `json:"truncated"`
}

// PreviewedDeposit is the deposit of a preview.
type PreviewedDeposit struct {
	ID       string  `json:"id"`
	Amount   string  `json:"amount"`
	Currency string  `json:"currency"`
	Memo     *string `json:"memo"`
	TxnDate  string  `json:"txn_date"`
}

// DerivedCustomer is the customer that a deposit comes from.
type DerivedCustomer struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	Basis   string        `json:"basis"`
	Reasons []MatchReason `json:"reasons"`
}

// MatchSuggestion is a way to apply a deposit.
type MatchSuggestion struct {
	MatchType   string        `json:"match_type"`
	Confidence  float64       `json:"confidence"`
	TotalAmount string        `json:"total_amount"`
	Delta       string        `json:"delta"`
	Certain     bool          `json:"certain"`
	Reasons     []MatchReason `json:"reasons"`
	Doubts      []MatchReason `json:"doubts"`
	Allocations []Allocation  `json:"allocations"`
}

// MatchReason is a reason for or against a suggestion.
type MatchReason struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Settings are what the organization has set.
type Settings struct {
	WriteOffLimit string `json:"write_off_limit"`
}

// UpdateSettings describes changes to the settings.
type UpdateSettings struct {
	WriteOffLimit *string `json:"write_off_limit,omitempty"`
}

const cashApplications = "/v1/cash-applications"

// CashApplications iterates over the cash applications, the latest first. The query takes the filters of GET /v1/cash-applications.
func (c *Client) CashApplications(ctx context.Context, query url.Values) iter.Seq2[CashApplication, error] {
	return each[CashApplication](ctx, c, cashApplications, query)
}

// CashApplication returns a cash application.
func (c *Client) CashApplication(ctx context.Context, id string) (CashApplication, error) {
	return one[CashApplication](ctx, c, Call{Method: http.MethodGet, Path: cashApplications + "/" + url.PathEscape(id)})
}

// PreviewCashApplication returns what a deposit may pay, and writes nothing.
func (c *Client) PreviewCashApplication(ctx context.Context, p PreviewCashApplication) (CashApplicationPreview, error) {
	return one[CashApplicationPreview](ctx, c, Call{Method: http.MethodPost, Path: cashApplications + "/preview", Body: p})
}

// CreateCashApplication applies a deposit to invoices.
func (c *Client) CreateCashApplication(ctx context.Context, a CreateCashApplication) (CashApplication, error) {
	if a.Allocations == nil {
		a.Allocations = []Allocation{}
	}
	return post[CashApplication](ctx, c, cashApplications, a)
}

// ConfirmCashApplication confirms a cash application; with IfMatch, only if it has not changed since.
func (c *Client) ConfirmCashApplication(ctx context.Context, id string) (CashApplication, error) {
	return post[CashApplication](ctx, c, cashApplications+"/"+url.PathEscape(id)+"/confirm", nil)
}

// VoidCashApplication undoes a cash application; with IfMatch, only if it has not changed since.
func (c *Client) VoidCashApplication(ctx context.Context, id string, why VoidCashApplication) (CashApplication, error) {
	return post[CashApplication](ctx, c, cashApplications+"/"+url.PathEscape(id)+"/void", why)
}

// ReturnCashApplication books a refund or a chargeback of what a cash application applied; with IfMatch, only if that has not changed.
func (c *Client) ReturnCashApplication(ctx context.Context, id string, r ReturnCashApplication) (CashApplication, error) {
	if r.Allocations == nil {
		r.Allocations = []Allocation{}
	}
	return post[CashApplication](ctx, c, cashApplications+"/"+url.PathEscape(id)+"/return", r)
}

// Settings returns the settings.
func (c *Client) Settings(ctx context.Context) (Settings, error) {
	return one[Settings](ctx, c, Call{Method: http.MethodGet, Path: "/v1/settings"})
}

// UpdateSettings changes the settings.
func (c *Client) UpdateSettings(ctx context.Context, u UpdateSettings) (Settings, error) {
	return one[Settings](ctx, c, Call{Method: http.MethodPatch, Path: "/v1/settings", Body: u})
}
