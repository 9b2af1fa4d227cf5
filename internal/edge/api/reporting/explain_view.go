package reporting

import (
	"cmp"
	"slices"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Explanation is what a figure is made up of.
type Explanation struct {
	Report         string                         `json:"report" doc:"The report the figure stands in"`
	Column         string                         `json:"column" doc:"Which figure of its row"`
	Value          *string                        `json:"value" format:"decimal" doc:"The figure, exactly as the report shows it; null where the report has none, because a price or a rate is missing"`
	Unit           string                         `json:"unit" example:"USD" doc:"What the figure is in: a currency or an asset, or, of a price, one per the other: USD/ETH"`
	Formula        string                         `json:"formula" example:"opening balance 100.00 + debits 50.00 - credits 20.00 = 130.00" doc:"How it is made up, in words"`
	Parts          []ExplanationPart              `json:"parts" doc:"What it is made up of: their values add up to the figure exactly"`
	Lines          []ExplainedLine                `json:"lines" doc:"Journal lines: a page of those that parts are made of, or those of the entry it is about"`
	Lots           []ExplainedLot                 `json:"lots" doc:"Lots: a page of those that parts are made of; or a lot, followed by the lots it came from, up to the one that was acquired"`
	Dispositions   []ExplainedDisposition         `json:"dispositions" doc:"What was taken from lots: a page of what parts are made of, or what the entry took"`
	HasMore        bool                           `json:"has_more" doc:"Whether the list that parts name goes on"`
	NextCursor     *string                        `json:"next_cursor" doc:"Send it as cursor, with the same parameters, for what follows in that list; null on its last page"`
	Price          wire.OrNull[ExplainedPrice]    `json:"price" doc:"The price the figure was found with"`
	Election       wire.OrNull[ExplainedElection] `json:"election" doc:"By which cost basis method lots were chosen, and from when it holds"`
	Booking        wire.OrNull[ExplainedBooking]  `json:"booking" doc:"What the journal entry follows from, if it is that of a transaction"`
	TransactionIDs []string                       `json:"transaction_ids" doc:"The transactions behind what is listed on this page"`
}

// ExplanationPart is one of the addends of a figure.
type ExplanationPart struct {
	Label   string  `json:"label" example:"opening balance" doc:"What it is"`
	Value   string  `json:"value" format:"decimal" doc:"How it counts, with its sign"`
	Explain *string `json:"explain" example:"accounting_period_id=ap_1&column=closing_balance&ledger_account_id=lac_1&report=balance-sheet" doc:"The query string of GET /v1/reports/explain that takes this part apart; it names a figure with this value, whose sign may be the other; one in another unit is what the value was found from. Null where there is nothing beyond"`
	Listed  *string `json:"listed" enum:"lines,lots,dispositions" doc:"The list here whose amounts add up to all parts that name it, over all pages; null where none does"`
}

// ExplainedLine is a posted journal line.
type ExplainedLine struct {
	ID                        string  `json:"id" doc:"The line"`
	JournalEntryID            string  `json:"journal_entry_id" doc:"Its entry"`
	SequenceNumber            string  `json:"sequence_number" example:"JE-12" doc:"How people call the entry"`
	AccountingDate            string  `json:"accounting_date" format:"date-time" doc:"When it counts"`
	LedgerAccountID           string  `json:"ledger_account_id" doc:"Its account"`
	LegalEntityID             string  `json:"legal_entity_id" doc:"Whose books it is in"`
	CreditOrDebit             string  `json:"credit_or_debit" enum:"DEBIT,CREDIT" doc:"Its side"`
	Amount                    string  `json:"amount" format:"decimal" doc:"Signed as it counts in the figure; of the lines of one entry, debits are positive"`
	Currency                  string  `json:"currency" doc:"That of the books"`
	AssetType                 *string `json:"asset_type" doc:"The asset or foreign currency it is about"`
	Quantity                  *string `json:"quantity" format:"decimal" doc:"How much of that"`
	Memo                      *string `json:"memo" doc:"What the line says"`
	EntryMemo                 *string `json:"entry_memo" doc:"What its entry says"`
	OriginatedBy              string  `json:"originated_by" doc:"Who or what made the entry"`
	TransactionID             *string `json:"transaction_id" doc:"The transaction of the entry"`
	TransactionSequenceNumber *string `json:"transaction_sequence_number" example:"OT-7" doc:"How people call the transaction"`
}

// ExplainedLot is a lot and where it came from.
type ExplainedLot struct {
	ID                string  `json:"id" doc:"The asset"`
	Amount            *string `json:"amount" format:"decimal" doc:"How it counts in the figure; null where it is only on the way to where something came from"`
	AssetType         string  `json:"asset_type" example:"ETH" doc:"What it is"`
	LegalEntityID     string  `json:"legal_entity_id" doc:"Whose it is"`
	SourceID          *string `json:"source_id" doc:"Where it is held"`
	LedgerAccountID   string  `json:"ledger_account_id" doc:"The account that carries its cost"`
	DateAcquired      string  `json:"date_acquired" format:"date-time" doc:"When it was acquired first"`
	Quantity          string  `json:"quantity" format:"decimal" doc:"How much it was"`
	RemainingQuantity string  `json:"remaining_quantity" format:"decimal" doc:"How much is left, as of the figure where that is of a time"`
	CostBasis         string  `json:"cost_basis" format:"decimal" doc:"What it cost"`
	RemainingBasis    string  `json:"remaining_basis" format:"decimal" doc:"What is left of that"`
	Currency          string  `json:"currency" doc:"That of the amounts"`
	Origin            string  `json:"origin" enum:"manual,transaction,move" doc:"Whether somebody entered it, a transaction brought it, or it is a slice of another lot"`
	ParentAssetID     *string `json:"parent_asset_id" doc:"The lot it is a slice of"`
	JournalEntryID    *string `json:"journal_entry_id" doc:"The entry that made it"`
	TransactionID     *string `json:"transaction_id" doc:"The transaction that brought it"`
	Explain           string  `json:"explain" doc:"The query string that takes the lot apart"`
}

// ExplainedDisposition is what was taken from a lot.
type ExplainedDisposition struct {
	ID              string  `json:"id" doc:"The row"`
	Amount          *string `json:"amount" format:"decimal" doc:"How it counts in the figure; null where it is only shown"`
	Kind            string  `json:"kind" enum:"dispose,fee,move,convert,relocate" doc:"Whether it was disposed of, paid as a fee, or went elsewhere with its cost"`
	AssetID         *string `json:"asset_id" doc:"The lot; null for what was not there"`
	AssetType       string  `json:"asset_type" doc:"What it is"`
	JournalEntryID  string  `json:"journal_entry_id" doc:"The entry that took it"`
	TransactionID   *string `json:"transaction_id" doc:"The transaction behind it"`
	TransactionType string  `json:"transaction_type" doc:"What that was"`
	AccountingDate  string  `json:"accounting_date" format:"date-time" doc:"When it counts"`
	DateDisposed    string  `json:"date_disposed" format:"date-time" doc:"When it left"`
	Quantity        string  `json:"quantity" format:"decimal" doc:"How much"`
	Proceeds        string  `json:"proceeds" format:"decimal" doc:"What it was given for"`
	Fee             string  `json:"fee" format:"decimal" doc:"The fee"`
	CostBasis       string  `json:"cost_basis" format:"decimal" doc:"What it had cost"`
	GainLoss        string  `json:"gain_loss" format:"decimal" doc:"Proceeds less cost"`
	Currency        string  `json:"currency" doc:"That of the amounts"`
	Term            string  `json:"term" doc:"short or long"`
	Method          string  `json:"method" doc:"By which the lot was chosen"`
	IsCorrection    bool    `json:"is_correction" doc:"Whether it says what changed about a disposal whose period was closed: its numbers are differences"`
	Explain         *string `json:"explain" doc:"The query string that takes it apart; null for what only went elsewhere"`
}

// ExplainedPrice is the price a figure was found with.
type ExplainedPrice struct {
	ID             string  `json:"id" doc:"The price"`
	AssetType      string  `json:"asset_type" doc:"The asset"`
	Currency       string  `json:"currency" doc:"The currency"`
	Price          string  `json:"price" format:"decimal" doc:"What one unit was worth"`
	At             string  `json:"at" format:"date-time" doc:"When"`
	Origin         string  `json:"origin" enum:"manual,import,transaction,provider" doc:"Where it comes from"`
	Note           *string `json:"note" doc:"What is noted of it"`
	StoredCurrency *string `json:"stored_currency" doc:"The currency it was stored in, where that is another"`
	StoredPrice    *string `json:"stored_price" format:"decimal" doc:"The price in that"`
	FXRate         *string `json:"fx_rate" format:"decimal" doc:"The rate it was translated by"`
	FXRateDate     *string `json:"fx_rate_date" doc:"The day of the rate"`
}

// ExplainedElection is what a legal entity chose about cost basis.
type ExplainedElection struct {
	CostBasisMethod string  `json:"cost_basis_method" doc:"The method"`
	CostBasisScope  string  `json:"cost_basis_scope" doc:"Among which lots it chooses"`
	From            *string `json:"cost_basis_from" doc:"From when it holds; null for the beginning"`
}

// ExplainedBooking is what a journal entry follows from.
type ExplainedBooking struct {
	TransactionID         string          `json:"transaction_id" doc:"The transaction"`
	PartnerTransactionID  *string         `json:"partner_transaction_id" doc:"The other half of a transfer"`
	TransactionType       string          `json:"transaction_type" doc:"As what it was booked"`
	LedgerAccountID       *string         `json:"ledger_account_id" doc:"The account that was named"`
	OffsetLedgerAccountID *string         `json:"offset_ledger_account_id" doc:"The account that was named in place of the source's"`
	RuleID                *string         `json:"rule_id" doc:"The rule of classification that asked for it; null where somebody did, or corrected it since"`
	RuleVersion           *string         `json:"rule_version" doc:"Which version of the rule that was"`
	Legs                  []ExplainedLeg  `json:"legs" doc:"What moved, and what it was taken to be worth"`
	Rates                 []ExplainedRate `json:"rates" doc:"The rates of exchange it was translated by"`
	LotSelections         []ExplainedPick `json:"lot_selections" doc:"The lots somebody had chosen"`
}

// ExplainedLeg is one asset that moved in one direction.
type ExplainedLeg struct {
	Role        string  `json:"role" enum:"out,in,fee" doc:"Whether it went, came, or paid for the rest"`
	AssetType   string  `json:"asset_type" doc:"What moved"`
	Quantity    string  `json:"quantity" format:"decimal" doc:"How much, the fee included"`
	FeeQuantity string  `json:"fee_quantity" format:"decimal" doc:"How much of that was the fee"`
	At          string  `json:"at" format:"date-time" doc:"When"`
	Gross       *string `json:"gross" format:"decimal" doc:"What it was worth; null where nobody knew"`
	Fee         *string `json:"fee" format:"decimal" doc:"What the fee was worth"`
	Currency    *string `json:"currency" doc:"That of the worth"`
}

// ExplainedRate is a rate of exchange.
type ExplainedRate struct {
	From string `json:"from_currency" doc:"The currency of one unit"`
	To   string `json:"to_currency" doc:"The currency it is told in"`
	Rate string `json:"rate" format:"decimal" doc:"What one unit is"`
}

// ExplainedPick is a lot somebody had chosen.
type ExplainedPick struct {
	AssetID  string `json:"asset_id" doc:"The lot"`
	Quantity string `json:"quantity" format:"decimal" doc:"How much of it"`
}

func sortRates(rates []ExplainedRate) {
	slices.SortFunc(rates, func(a, b ExplainedRate) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
}
