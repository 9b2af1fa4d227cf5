package treasury

// LinkTransactions names two transactions to link.
type LinkTransactions struct {
	TransactionIDs []string `json:"transaction_ids" minItems:"2" maxItems:"2" doc:"The outgoing and the incoming transaction, in any order."`
	Kind           *string  `json:"kind,omitempty" enum:"internal,intercompany,bridge,swap" doc:"Kind of link. Defaults to what follows from sources, assets and blockchains."`
	DryRun         bool     `json:"dry_run,omitempty" doc:"If true, only validate and return what would be linked. Defaults to false."`
}

// TransactionGroup is a pair of linked transactions.
type TransactionGroup struct {
	GroupID   *string          `json:"group_id" doc:"Identifier: grp_ and 26 characters. Null for a dry run."`
	Kind      string           `json:"kind" enum:"internal,intercompany,bridge,swap" doc:"Kind of link."`
	MatchedBy string           `json:"matched_by" enum:"hash,group,addresses,amount,manual" doc:"Evidence for the link."`
	Shortfall *string          `json:"shortfall" format:"decimal" doc:"Quantity that was sent but not received; null for a swap."`
	Legs      []TransactionLeg `json:"legs" doc:"The outgoing transaction, then the incoming one."`
}

// TransactionLeg is one transaction of a pair.
type TransactionLeg struct {
	TransactionID   string `json:"transaction_id" doc:"Identifier of the transaction."`
	SequenceNumber  string `json:"sequence_number" doc:"Sequence number." example:"OT-12"`
	Side            string `json:"side" enum:"out,in" doc:"Direction of the transaction."`
	TransactionType string `json:"transaction_type" enum:"{transaction_types}" doc:"Current transaction type."`
}

// UnlinkTransactions names the transactions to unlink.
type UnlinkTransactions struct {
	TransactionIDs []string `json:"transaction_ids" minItems:"1" maxItems:"100" doc:"Linked transactions. The other transaction of each link is unlinked too."`
}

// UnlinkedTransactions holds the unlinked transactions.
type UnlinkedTransactions struct {
	Legs []TransactionLeg `json:"legs" doc:"All unlinked transactions, with the transaction types they had before the link."`
}

// MatchTransactions is the range of dates to match.
type MatchTransactions struct {
	StartDate     string `json:"start_date" format:"date" maxLength:"10" doc:"First date, in UTC."`
	EndDate       string `json:"end_date" format:"date" maxLength:"10" doc:"Last date, in UTC; at most 365 days after the first."`
	ExpectedCount *int64 `json:"expected_count,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Expected number of pairs, as a dry run returned it in linked. If another number would be linked, the request is rejected."`
	DryRun        bool   `json:"dry_run,omitempty" doc:"If true, return what would be linked without writing anything. Defaults to false."`
}

// MatchedTransactions is the result of matching.
type MatchedTransactions struct {
	Linked    int64         `json:"linked" doc:"Number of pairs linked."`
	Ambiguous int64         `json:"ambiguous" doc:"Number of transactions with several possible matches. GET /v1/transactions/ambiguous lists them."`
	Pairs     []MatchedPair `json:"pairs" doc:"First 100 pairs."`
}

// MatchedPair is a pair of matching transactions.
type MatchedPair struct {
	OutTransactionID string  `json:"out_transaction_id" doc:"The outgoing transaction."`
	InTransactionID  string  `json:"in_transaction_id" doc:"The incoming transaction."`
	Kind             string  `json:"kind" enum:"internal,intercompany,bridge,swap" doc:"Kind of link."`
	MatchedBy        string  `json:"matched_by" enum:"hash,group,addresses,amount" doc:"Evidence for the link."`
	Shortfall        *string `json:"shortfall" format:"decimal" doc:"Quantity that was sent but not received; null for a swap."`
}

// AmbiguousTransaction is a transaction with several possible matches.
type AmbiguousTransaction struct {
	TransactionID  string   `json:"transaction_id" doc:"Identifier of the transaction."`
	SequenceNumber string   `json:"sequence_number" doc:"Sequence number." example:"OT-12"`
	Candidates     []string `json:"candidates" doc:"Possible matches. If there are very many, only some of them."`
	Why            string   `json:"why" doc:"Why it was not linked."`
	FoundAt        string   `json:"found_at" format:"date-time" doc:"When it was found."`
}
