package treasury

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// AssetReconciliation compares the books of a source with what it stated about an asset.
type AssetReconciliation struct {
	AssetType         string                    `json:"asset_type" doc:"Asset or ISO 4217 currency." example:"ETH"`
	Status            string                    `json:"status" enum:"reconciled,difference,unknown" doc:"reconciled: the books have what was observed, to the minor unit of money. difference: they do not. unknown: they cannot be compared; reason says why."`
	ComparedAt        string                    `json:"compared_at" format:"date-time" doc:"The instant of all figures: the time of the observed balance, or, if there is none, the requested instant."`
	Book              *string                   `json:"book_quantity" format:"decimal" doc:"Quantity in the books: what posted entries up to compared_at added less what they took away. Null if other sources share the ledger account of money." example:"2.5"`
	Transactions      *string                   `json:"transactions_quantity" format:"decimal" doc:"What the transactions of the source up to compared_at add up to, booked or not, without spam. Opening balances and journal entries by hand are not in it. Null if the quantity of one of them is unknown." example:"2.5"`
	Unbooked          string                    `json:"unbooked_quantity" format:"decimal" doc:"The part of it that is not booked." example:"0"`
	UnbookedCount     int64                     `json:"unbooked_count" minimum:"0" doc:"Number of transactions up to compared_at that are not booked."`
	Observed          *string                   `json:"observed_quantity" format:"decimal" doc:"What the source held according to itself: the latest observed balance up to the requested instant. Null if none is known, which is not zero." example:"2.75"`
	ObservedAt        *string                   `json:"observed_at" format:"date-time" doc:"Time of the observed balance; null if none is known."`
	ObservedFrom      *string                   `json:"observed_from" enum:"import,connection,entered,other" doc:"Who stated the observed balance: an imported file, a connection, or somebody who entered it; other, if an earlier version did not keep it. Null if none is known."`
	ImportID          *string                   `json:"import_id" doc:"Import of the file that stated it; null if none did."`
	ConnectionID      *string                   `json:"connection_id" doc:"Connection that read it; null if none did."`
	Difference        *string                   `json:"difference" format:"decimal" doc:"book_quantity less observed_quantity; null if one of them is." example:"-0.25"`
	Reason            *string                   `json:"reason" doc:"Why the status is unknown, and what to do; null if it is known."`
	Candidates        []ReconciliationCandidate `json:"candidates" doc:"What may explain the difference, at most 20. Those that explain all of it come first."`
	CandidatesLimited bool                      `json:"candidates_limited" doc:"Whether there were more transactions than were looked at: the 1,000 nearest to where the difference appeared, and the latest 5,000 for what rounding explains."`
}

// ReconciliationCandidate is something that may explain a difference.
type ReconciliationCandidate struct {
	Kind           string   `json:"kind" enum:"unbooked,rounding,duplicate,wrong_fee,wrong_sign,missing_transaction" doc:"What may be wrong. unbooked: transactions are not booked. rounding: amounts of transactions are finer than the minor unit of money that entries have. duplicate: one is there twice. wrong_fee: a fee is missing, counted twice or too high. wrong_sign: one has the wrong direction. missing_transaction: one is not there."`
	Explains       string   `json:"explains" format:"decimal" doc:"The part of the difference that goes away when this is put right." example:"-0.25"`
	TransactionIDs []string `json:"transaction_ids" doc:"The transactions it is about; the latest first, at most 1,000. Empty for one that is missing."`
	After          *string  `json:"after" format:"date-time" doc:"The difference appeared after this observed balance; null if it was there before the first one, or if this is about what is not booked."`
	Until          *string  `json:"until" format:"date-time" doc:"The difference had appeared by this observed balance; null if this is about what is not booked."`
	Message        string   `json:"message" doc:"What it is and what to do, in words."`
}

// ObservedBalance is what a source held at a time, according to itself.
type ObservedBalance struct {
	AssetType    string  `json:"asset_type" doc:"Asset or ISO 4217 currency." example:"ETH"`
	Quantity     string  `json:"quantity" format:"decimal" doc:"What the source held." example:"2.75"`
	ObservedAt   string  `json:"observed_at" format:"date-time" doc:"When it held that."`
	From         string  `json:"observed_from" enum:"import,connection,entered,other" doc:"Who stated it: an imported file, a connection, or somebody who entered it; other, if an earlier version did not keep it."`
	ImportID     *string `json:"import_id" doc:"Import of the file that stated it; null if none did."`
	ConnectionID *string `json:"connection_id" doc:"Connection that read it; null if none did."`
	EnteredBy    *string `json:"entered_by" doc:"User who entered it, or the API key if it belongs to no user; null if nobody did."`
	Memo         *string `json:"memo" doc:"Memo of who entered it; null if none."`
}

// EnterObservedBalance is what a source held at a time, as somebody read it.
type EnterObservedBalance struct {
	AssetType  string  `json:"asset_type" minLength:"1" maxLength:"100" doc:"Asset or ISO 4217 currency that the source can hold." example:"USD"`
	Quantity   string  `json:"quantity" format:"decimal" doc:"What the source held; negative if it was overdrawn." example:"10450.25"`
	ObservedAt string  `json:"observed_at" minLength:"1" maxLength:"40" doc:"When it held that: an RFC 3339 instant, or a date, which means the end of that day in the time zone of the organization. Not in the future." example:"2025-09-30"`
	Memo       *string `json:"memo,omitempty" maxLength:"500" doc:"Where it was read." example:"Statement of September"`
}

// TransformSchema adds an example.
func (EnterObservedBalance) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"asset_type": "USD", "quantity": "10450.25", "observed_at": "2025-09-30",
		"memo": "Statement of September"}}
	return s
}

// Reconciliation says that somebody has compared the books of a source with what was observed.
type Reconciliation struct {
	ID           string            `json:"id" doc:"Identifier: rec_ and 26 characters."`
	SourceID     string            `json:"source_id" doc:"Source that was reconciled."`
	At           string            `json:"at" format:"date-time" doc:"Instant up to which it was reconciled."`
	Note         *string           `json:"note" doc:"Why differences were accepted, or another note; null if none."`
	ReconciledBy *string           `json:"reconciled_by" doc:"User who reconciled it, or the API key if it belongs to no user."`
	CreatedAt    string            `json:"created_at" format:"date-time" doc:"When the record was created."`
	Changed      bool              `json:"changed" doc:"Whether any figure up to that instant has changed since."`
	Assets       []ReconciledAsset `json:"assets" doc:"The figures of each asset, as they were and as they are now."`
	Guidance     wire.Guidance     `json:"guidance" doc:"Actions that the record permits now: delete, if it is the latest of the source."`
}

// ReconciledAsset is the figures of an asset in a reconciliation.
type ReconciledAsset struct {
	AssetType         string  `json:"asset_type" doc:"Asset or ISO 4217 currency." example:"ETH"`
	ComparedAt        string  `json:"compared_at" format:"date-time" doc:"The instant of all figures."`
	Book              *string `json:"book_quantity" format:"decimal" doc:"Quantity in the books then, as it was when the source was reconciled; null if unknown."`
	Transactions      *string `json:"transactions_quantity" format:"decimal" doc:"What its transactions added up to when it was reconciled; null if unknown."`
	Observed          *string `json:"observed_quantity" format:"decimal" doc:"What was observed; null if nothing was."`
	Difference        *string `json:"difference" format:"decimal" doc:"book_quantity less observed_quantity; null if one of them is."`
	Changed           bool    `json:"changed" doc:"Whether the books or the transactions up to then have changed since."`
	CurrentBook       *string `json:"current_book_quantity" format:"decimal" doc:"Quantity in the books at compared_at, as they are now; null if unknown."`
	CurrentDifference *string `json:"current_difference" format:"decimal" doc:"current_book_quantity less observed_quantity; null if one of them is."`
}

// CreateReconciliation marks a source as reconciled.
type CreateReconciliation struct {
	At               string  `json:"at" minLength:"1" maxLength:"40" doc:"Up to when: an RFC 3339 instant, or a date, which means the end of that day in the time zone of the organization. Later than that of the latest reconciliation of the source, and not in the future." example:"2025-09-30"`
	Note             *string `json:"note,omitempty" maxLength:"2000" doc:"Note. Required with accept_difference, to say why."`
	AcceptDifference bool    `json:"accept_difference,omitempty" doc:"Accept that the books differ from what was observed, or that it is not known whether they do. Otherwise the request fails then."`
}

// TransformSchema adds an example.
func (CreateReconciliation) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"at": "2025-09-30", "note": "Compared with the statement of September"}}
	return s
}
