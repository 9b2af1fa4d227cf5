package reporting

import (
	"cmp"
	"slices"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Explanation describes what a figure consists of.
type Explanation struct {
	Report         string                         `json:"report" doc:"Report that contains the figure."`
	Column         string                         `json:"column" doc:"Column of the figure."`
	Value          *string                        `json:"value" format:"decimal" doc:"The figure exactly as in the report. Null if the report has none because a price or rate is missing."`
	Unit           string                         `json:"unit" example:"USD" doc:"Unit of the figure: a currency, an asset, or for a price a pair such as USD/ETH."`
	Formula        string                         `json:"formula" example:"opening balance 100.00 + debits 50.00 - credits 20.00 = 130.00" doc:"How the figure is computed, in words."`
	Parts          []ExplanationPart              `json:"parts" doc:"Parts of the figure. Their values add up to it exactly."`
	Lines          []ExplainedLine                `json:"lines" doc:"Journal lines: a page of those that the parts consist of, or the lines of the entry in question."`
	Lots           []ExplainedLot                 `json:"lots" doc:"Lots: a page of those that the parts consist of; or one lot followed by the lots it came from, back to the acquisition."`
	Dispositions   []ExplainedDisposition         `json:"dispositions" doc:"Disposals: a page of those that the parts consist of, or those of the entry in question."`
	HasMore        bool                           `json:"has_more" doc:"Whether the list that the parts name has more pages."`
	NextCursor     *string                        `json:"next_cursor" doc:"Pass this as cursor, with the same parameters, to get the next page of that list. Null on the last page."`
	Price          wire.OrNull[ExplainedPrice]    `json:"price" doc:"Price that was used; null if none."`
	Election       wire.OrNull[ExplainedElection] `json:"election" doc:"Cost basis election by which lots were selected; null if none."`
	Booking        wire.OrNull[ExplainedBooking]  `json:"booking" doc:"How the journal entry follows from its transaction; null if it has none."`
	TransactionIDs []string                       `json:"transaction_ids" doc:"Transactions of the records on this page."`
}

// ExplanationPart is an addend of a figure.
type ExplanationPart struct {
	Label   string  `json:"label" example:"opening balance" doc:"Name of the part."`
	Value   string  `json:"value" format:"decimal" doc:"Signed value of the part."`
	Explain *string `json:"explain" example:"accounting_period_id=ap_1&column=closing_balance&ledger_account_id=lac_1&report=balance-sheet" doc:"Query string for GET /v1/reports/explain that explains this part. It names a figure of the same value, possibly with the opposite sign; if its unit differs, the value was derived from it. Null if there is nothing more to explain."`
	Listed  *string `json:"listed" enum:"lines,lots,dispositions" doc:"List in this response whose amounts, over all pages, add up to the parts that name it; null if none."`
}

// ExplainedLine is a posted journal line.
type ExplainedLine struct {
	ID                        string  `json:"id" doc:"Identifier of the journal line."`
	JournalEntryID            string  `json:"journal_entry_id" doc:"Identifier of the journal entry."`
	SequenceNumber            string  `json:"sequence_number" example:"JE-12" doc:"Sequence number of the journal entry."`
	AccountingDate            string  `json:"accounting_date" format:"date-time" doc:"Accounting date."`
	LedgerAccountID           string  `json:"ledger_account_id" doc:"Ledger account."`
	LegalEntityID             string  `json:"legal_entity_id" doc:"Legal entity."`
	CreditOrDebit             string  `json:"credit_or_debit" enum:"DEBIT,CREDIT" doc:"Debit or credit."`
	Amount                    string  `json:"amount" format:"decimal" doc:"Amount, signed as in the figure. For the lines of one entry, debits are positive."`
	Currency                  string  `json:"currency" doc:"Base currency (ISO 4217)."`
	AssetType                 *string `json:"asset_type" doc:"Asset or foreign currency of the line; null if none."`
	Quantity                  *string `json:"quantity" format:"decimal" doc:"Quantity of the asset or foreign currency; null if none."`
	Memo                      *string `json:"memo" doc:"Memo of the line; null if none."`
	EntryMemo                 *string `json:"entry_memo" doc:"Memo of the journal entry; null if none."`
	OriginatedBy              string  `json:"originated_by" doc:"Origin of the journal entry."`
	TransactionID             *string `json:"transaction_id" doc:"Transaction of the journal entry; null if none."`
	TransactionSequenceNumber *string `json:"transaction_sequence_number" example:"OT-7" doc:"Sequence number of the transaction; null if none."`
}

// ExplainedLot is a lot and its origin.
type ExplainedLot struct {
	ID                string  `json:"id" doc:"Identifier of the lot."`
	Amount            *string `json:"amount" format:"decimal" doc:"Signed amount in the figure. Null if the lot only shows where another one came from."`
	AssetType         string  `json:"asset_type" example:"ETH" doc:"Name of the part."`
	LegalEntityID     string  `json:"legal_entity_id" doc:"Legal entity that owns the lot."`
	SourceID          *string `json:"source_id" doc:"Source that holds the lot; null if none."`
	LedgerAccountID   string  `json:"ledger_account_id" doc:"Ledger account that carries the cost."`
	DateAcquired      string  `json:"date_acquired" format:"date-time" doc:"When the lot was first acquired."`
	Quantity          string  `json:"quantity" format:"decimal" doc:"Original quantity."`
	RemainingQuantity string  `json:"remaining_quantity" format:"decimal" doc:"Remaining quantity, at the time of the figure if it has one."`
	CostBasis         string  `json:"cost_basis" format:"decimal" doc:"Cost basis."`
	RemainingBasis    string  `json:"remaining_basis" format:"decimal" doc:"Cost of the remaining quantity."`
	Currency          string  `json:"currency" doc:"ISO 4217 currency of the amounts."`
	Origin            string  `json:"origin" enum:"manual,transaction,move" doc:"manual: created by hand. transaction: acquired by a transaction. move: split from another lot."`
	ParentAssetID     *string `json:"parent_asset_id" doc:"Lot from which this one was split; null if none."`
	JournalEntryID    *string `json:"journal_entry_id" doc:"Journal entry that created the lot; null if none."`
	TransactionID     *string `json:"transaction_id" doc:"Transaction that acquired the lot; null if it was created by hand."`
	Explain           string  `json:"explain" doc:"Query string for GET /v1/reports/explain that explains the lot."`
}

// ExplainedDisposition is a disposal from a lot.
type ExplainedDisposition struct {
	ID              string  `json:"id" doc:"Identifier of the row."`
	Amount          *string `json:"amount" format:"decimal" doc:"Signed amount in the figure. Null if the row is shown for information only."`
	Kind            string  `json:"kind" enum:"dispose,fee,move,convert,relocate" doc:"dispose and fee realize a gain or loss; move, convert and relocate keep the cost."`
	AssetID         *string `json:"asset_id" doc:"Identifier of the lot; null for a lot deficit."`
	AssetType       string  `json:"asset_type" doc:"Name of the part."`
	JournalEntryID  string  `json:"journal_entry_id" doc:"Journal entry that consumed the lot."`
	TransactionID   *string `json:"transaction_id" doc:"Transaction of the disposal; null if none."`
	TransactionType string  `json:"transaction_type" enum:"{transaction_types}" doc:"Transaction type; null if none."`
	AccountingDate  string  `json:"accounting_date" format:"date-time" doc:"Accounting date."`
	DateDisposed    string  `json:"date_disposed" format:"date-time" doc:"When the quantity left the lot."`
	Quantity        string  `json:"quantity" format:"decimal" doc:"Quantity."`
	Proceeds        string  `json:"proceeds" format:"decimal" doc:"Proceeds."`
	Fee             string  `json:"fee" format:"decimal" doc:"Fee."`
	CostBasis       string  `json:"cost_basis" format:"decimal" doc:"Cost of the quantity disposed of."`
	GainLoss        string  `json:"gain_loss" format:"decimal" doc:"Proceeds less cost."`
	BookGain        string  `json:"book_gain" format:"decimal" doc:"Proceeds less carrying amount, after impairment and revaluation (IAS 38)."`
	TaxGain         string  `json:"tax_gain" format:"decimal" doc:"Proceeds less cost. The same as gain_loss."`
	Currency        string  `json:"currency" doc:"ISO 4217 currency of the amounts."`
	Term            string  `json:"term" doc:"Holding period: short or long. Null if nothing was realized."`
	Method          string  `json:"method" doc:"Cost basis method that selected the lot; null if none."`
	IsCorrection    bool    `json:"is_correction" doc:"Whether this corrects a disposal of a closed period; the amounts are then differences."`
	Explain         *string `json:"explain" doc:"Query string for GET /v1/reports/explain that explains the row; null if nothing was disposed of."`
}

// ExplainedPrice is the price that a figure was computed with.
type ExplainedPrice struct {
	ID             string  `json:"id" doc:"Identifier of the price."`
	AssetType      string  `json:"asset_type" doc:"Identifier of the lot."`
	Currency       string  `json:"currency" doc:"ISO 4217 currency."`
	Price          string  `json:"price" format:"decimal" doc:"Price of one unit."`
	At             string  `json:"at" format:"date-time" doc:"When it was created; null if there is none."`
	Origin         string  `json:"origin" enum:"manual,import,transaction,provider" doc:"Origin of the price."`
	Note           *string `json:"note" doc:"Note on the price; null if none."`
	StoredCurrency *string `json:"stored_currency" doc:"Currency in which the price is stored, if different; null otherwise."`
	StoredPrice    *string `json:"stored_price" format:"decimal" doc:"Price in that currency; null if it is the same."`
	FXRate         *string `json:"fx_rate" format:"decimal" doc:"Exchange rate by which it was translated; null if it was not."`
	FXRateDate     *string `json:"fx_rate_date" doc:"Date of the exchange rate."`
}

// ExplainedElection is a cost basis election.
type ExplainedElection struct {
	CostBasisMethod string  `json:"cost_basis_method" doc:"Cost basis method."`
	CostBasisScope  string  `json:"cost_basis_scope" doc:"Scope of the lot pool: source or legal_entity."`
	From            *string `json:"cost_basis_from" doc:"First day on which the election applies; null for the beginning."`
}

// ExplainedBooking describes how a journal entry follows from its transaction.
type ExplainedBooking struct {
	TransactionID         string          `json:"transaction_id" doc:"Identifier of the transaction."`
	PartnerTransactionID  *string         `json:"partner_transaction_id" doc:"The other transaction of a transfer; null if none."`
	TransactionType       string          `json:"transaction_type" enum:"{transaction_types}" doc:"Transaction type as booked."`
	LedgerAccountID       *string         `json:"ledger_account_id" doc:"Ledger account that was given; null if none."`
	OffsetLedgerAccountID *string         `json:"offset_ledger_account_id" doc:"Ledger account that was given in place of that of the source; null if none."`
	RuleID                *string         `json:"rule_id" doc:"Classification rule that booked it; null if it was booked or corrected by hand."`
	RuleVersion           *string         `json:"rule_version" doc:"Version of the rule; null if none."`
	Legs                  []ExplainedLeg  `json:"legs" doc:"What moved, and its value."`
	Rates                 []ExplainedRate `json:"rates" doc:"Exchange rates used for translation."`
	LotSelections         []ExplainedPick `json:"lot_selections" doc:"Lots that were selected by hand."`
}

// ExplainedLeg is one asset that moved in one direction.
type ExplainedLeg struct {
	Role        string  `json:"role" enum:"out,in,fee" doc:"out: sent. in: received. fee: paid as a fee."`
	AssetType   string  `json:"asset_type" doc:"Symbol of the asset, or ISO 4217 currency."`
	Quantity    string  `json:"quantity" format:"decimal" doc:"Quantity, including the fee."`
	FeeQuantity string  `json:"fee_quantity" format:"decimal" doc:"Quantity of the fee."`
	At          string  `json:"at" format:"date-time" doc:"When it was created; null if there is none."`
	Gross       *string `json:"gross" format:"decimal" doc:"Value before the fee; null if unknown."`
	Fee         *string `json:"fee" format:"decimal" doc:"Value of the fee; null if unknown."`
	Currency    *string `json:"currency" doc:"ISO 4217 currency of the values; null if unknown."`
}

// ExplainedRate is an exchange rate.
type ExplainedRate struct {
	From string `json:"from_currency" doc:"Currency translated from (ISO 4217)."`
	To   string `json:"to_currency" doc:"Currency translated to (ISO 4217)."`
	Rate string `json:"rate" format:"decimal" doc:"Units of to_currency per unit of from_currency."`
}

// ExplainedPick is a lot that was selected by hand.
type ExplainedPick struct {
	AssetID  string `json:"asset_id" doc:"Identifier of the lot."`
	Quantity string `json:"quantity" format:"decimal" doc:"Quantity."`
}

func sortRates(rates []ExplainedRate) {
	slices.SortFunc(rates, func(a, b ExplainedRate) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
}
