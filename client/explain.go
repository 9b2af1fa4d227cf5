package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Explanation lists the parts of a figure of a report. Amounts are decimal strings.
type Explanation struct {
	Report         string                 `json:"report"`
	Column         string                 `json:"column"`
	Value          *string                `json:"value"`
	Unit           string                 `json:"unit"`
	Formula        string                 `json:"formula"`
	Parts          []ExplanationPart      `json:"parts"`
	Lines          []ExplainedLine        `json:"lines"`
	Lots           []ExplainedLot         `json:"lots"`
	Dispositions   []ExplainedDisposition `json:"dispositions"`
	HasMore        bool                   `json:"has_more"`
	NextCursor     *string                `json:"next_cursor"`
	Price          *ExplainedPrice        `json:"price"`
	Election       *ExplainedElection     `json:"election"`
	Booking        *ExplainedBooking      `json:"booking"`
	TransactionIDs []string               `json:"transaction_ids"`
}

// ExplanationPart is one of the parts that add up to a figure. Explain is the query that explains the part, if there is one.
type ExplanationPart struct {
	Label   string  `json:"label"`
	Value   string  `json:"value"`
	Explain *string `json:"explain"`
	Listed  *string `json:"listed"`
}

// ExplainedLine is a posted journal line.
type ExplainedLine struct {
	ID                        string    `json:"id"`
	JournalEntryID            string    `json:"journal_entry_id"`
	SequenceNumber            string    `json:"sequence_number"`
	AccountingDate            time.Time `json:"accounting_date"`
	LedgerAccountID           string    `json:"ledger_account_id"`
	LegalEntityID             string    `json:"legal_entity_id"`
	CreditOrDebit             string    `json:"credit_or_debit"`
	Amount                    string    `json:"amount"`
	Currency                  string    `json:"currency"`
	AssetType                 *string   `json:"asset_type"`
	Quantity                  *string   `json:"quantity"`
	Memo                      *string   `json:"memo"`
	EntryMemo                 *string   `json:"entry_memo"`
	OriginatedBy              string    `json:"originated_by"`
	TransactionID             *string   `json:"transaction_id"`
	TransactionSequenceNumber *string   `json:"transaction_sequence_number"`
}

// ExplainedLot is a lot and its origin.
type ExplainedLot struct {
	ID                string    `json:"id"`
	Amount            *string   `json:"amount"`
	AssetType         string    `json:"asset_type"`
	LegalEntityID     string    `json:"legal_entity_id"`
	SourceID          *string   `json:"source_id"`
	LedgerAccountID   string    `json:"ledger_account_id"`
	DateAcquired      time.Time `json:"date_acquired"`
	Quantity          string    `json:"quantity"`
	RemainingQuantity string    `json:"remaining_quantity"`
	CostBasis         string    `json:"cost_basis"`
	RemainingBasis    string    `json:"remaining_basis"`
	Currency          string    `json:"currency"`
	Origin            string    `json:"origin"`
	ParentAssetID     *string   `json:"parent_asset_id"`
	JournalEntryID    *string   `json:"journal_entry_id"`
	TransactionID     *string   `json:"transaction_id"`
	Explain           string    `json:"explain"`
}

// ExplainedDisposition is what was consumed of a lot.
type ExplainedDisposition struct {
	ID              string    `json:"id"`
	Amount          *string   `json:"amount"`
	Kind            string    `json:"kind"`
	AssetID         *string   `json:"asset_id"`
	AssetType       string    `json:"asset_type"`
	JournalEntryID  string    `json:"journal_entry_id"`
	TransactionID   *string   `json:"transaction_id"`
	TransactionType string    `json:"transaction_type"`
	AccountingDate  time.Time `json:"accounting_date"`
	DateDisposed    time.Time `json:"date_disposed"`
	Quantity        string    `json:"quantity"`
	Proceeds        string    `json:"proceeds"`
	Fee             string    `json:"fee"`
	CostBasis       string    `json:"cost_basis"`
	GainLoss        string    `json:"gain_loss"`
	BookGain        string    `json:"book_gain"`
	TaxGain         string    `json:"tax_gain"`
	Currency        string    `json:"currency"`
	Term            string    `json:"term"`
	Method          string    `json:"method"`
	IsCorrection    bool      `json:"is_correction"`
	Explain         *string   `json:"explain"`
}

// ExplainedPrice is the price that a figure was computed with.
type ExplainedPrice struct {
	ID             string    `json:"id"`
	AssetType      string    `json:"asset_type"`
	Currency       string    `json:"currency"`
	Price          string    `json:"price"`
	At             time.Time `json:"at"`
	Origin         string    `json:"origin"`
	Note           *string   `json:"note"`
	StoredCurrency *string   `json:"stored_currency"`
	StoredPrice    *string   `json:"stored_price"`
	FXRate         *string   `json:"fx_rate"`
	FXRateDate     *string   `json:"fx_rate_date"`
}

// ExplainedElection is the cost basis method and scope that a legal entity elected.
type ExplainedElection struct {
	CostBasisMethod string  `json:"cost_basis_method"`
	CostBasisScope  string  `json:"cost_basis_scope"`
	From            *string `json:"cost_basis_from"`
}

// ExplainedBooking is what a journal entry was created from.
type ExplainedBooking struct {
	TransactionID         string          `json:"transaction_id"`
	PartnerTransactionID  *string         `json:"partner_transaction_id"`
	TransactionType       string          `json:"transaction_type"`
	LedgerAccountID       *string         `json:"ledger_account_id"`
	OffsetLedgerAccountID *string         `json:"offset_ledger_account_id"`
	RuleID                *string         `json:"rule_id"`
	RuleVersion           *string         `json:"rule_version"`
	Legs                  []ExplainedLeg  `json:"legs"`
	Rates                 []ExplainedRate `json:"rates"`
	LotSelections         []ExplainedPick `json:"lot_selections"`
}

// ExplainedLeg is one asset that moved in one direction.
type ExplainedLeg struct {
	Role        string    `json:"role"`
	AssetType   string    `json:"asset_type"`
	Quantity    string    `json:"quantity"`
	FeeQuantity string    `json:"fee_quantity"`
	At          time.Time `json:"at"`
	Gross       *string   `json:"gross"`
	Fee         *string   `json:"fee"`
	Currency    *string   `json:"currency"`
}

// ExplainedRate is an FX rate.
type ExplainedRate struct {
	FromCurrency string `json:"from_currency"`
	ToCurrency   string `json:"to_currency"`
	Rate         string `json:"rate"`
}

// ExplainedPick is a lot that was selected.
type ExplainedPick struct {
	AssetID  string `json:"asset_id"`
	Quantity string `json:"quantity"`
}

// Explain explains a figure of a report. The query takes the parameters of GET /v1/reports/explain; that of a part
// is its Explain, parsed.
func (c *Client) Explain(ctx context.Context, query url.Values) (Explanation, error) {
	return one[Explanation](ctx, c, Call{Method: http.MethodGet, Path: "/v1/reports/explain", Query: query})
}
