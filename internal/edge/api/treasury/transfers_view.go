package treasury

// LinkTransactions says which two transactions are one event.
type LinkTransactions struct {
	TransactionIDs []string `json:"transaction_ids" minItems:"2" maxItems:"2" doc:"The one that left and the one that arrived, in any order"`
	Kind           *string  `json:"kind,omitempty" enum:"internal,intercompany,bridge,swap" doc:"What they are together; left out, it follows from their sources, assets and chains"`
	DryRun         bool     `json:"dry_run,omitempty" doc:"Check only, and answer what would be"`
}

// TransactionGroup is two transactions that are one event.
type TransactionGroup struct {
	GroupID   *string          `json:"group_id" doc:"grp_ and 26 characters; null in a dry run"`
	Kind      string           `json:"kind" enum:"internal,intercompany,bridge,swap" doc:"What they are together"`
	MatchedBy string           `json:"matched_by" enum:"hash,group,addresses,amount,manual" doc:"What shows that they belong together"`
	Shortfall *string          `json:"shortfall" format:"decimal" doc:"What left and did not arrive, in the asset; null for a swap"`
	Legs      []TransactionLeg `json:"legs" doc:"The one that left, then the one that arrived"`
}

// TransactionLeg is one side of an event.
type TransactionLeg struct {
	TransactionID   string `json:"transaction_id" doc:"The transaction"`
	SequenceNumber  string `json:"sequence_number" doc:"Its number" example:"OT-12"`
	Side            string `json:"side" enum:"out,in" doc:"Which way it went"`
	TransactionType string `json:"transaction_type" doc:"What it is called now"`
}

// UnlinkTransactions says whose groups to undo.
type UnlinkTransactions struct {
	TransactionIDs []string `json:"transaction_ids" minItems:"1" maxItems:"100" doc:"Transactions that are linked; the other side of each is unlinked with it"`
}

// UnlinkedTransactions are those that were linked.
type UnlinkedTransactions struct {
	Legs []TransactionLeg `json:"legs" doc:"All that were linked, with the type that each had before"`
}

// MatchTransactions says which days to match.
type MatchTransactions struct {
	StartDate string `json:"start_date" format:"date" maxLength:"10" doc:"The first day, in UTC"`
	EndDate   string `json:"end_date" format:"date" maxLength:"10" doc:"The last day, in UTC, at most 366 days on"`
	DryRun    bool   `json:"dry_run,omitempty" doc:"Change nothing, and answer what would be"`
}

// MatchedTransactions is what came of matching.
type MatchedTransactions struct {
	Linked    int64         `json:"linked" doc:"How many pairs were linked"`
	Ambiguous int64         `json:"ambiguous" doc:"How many transactions have a partner that cannot be told; they are in GET /v1/transactions/ambiguous"`
	Pairs     []MatchedPair `json:"pairs" doc:"The first 100 of the pairs"`
}

// MatchedPair is two transactions that belong together.
type MatchedPair struct {
	OutTransactionID string  `json:"out_transaction_id" doc:"The one that left"`
	InTransactionID  string  `json:"in_transaction_id" doc:"The one that arrived"`
	Kind             string  `json:"kind" enum:"internal,intercompany,bridge,swap" doc:"What they are together"`
	MatchedBy        string  `json:"matched_by" enum:"hash,group,addresses,amount" doc:"What shows that they belong together"`
	Shortfall        *string `json:"shortfall" format:"decimal" doc:"What left and did not arrive, in the asset; null for a swap"`
}

// AmbiguousTransaction is one whose partner a person must choose.
type AmbiguousTransaction struct {
	TransactionID  string   `json:"transaction_id" doc:"The transaction"`
	SequenceNumber string   `json:"sequence_number" doc:"Its number" example:"OT-12"`
	Candidates     []string `json:"candidates" doc:"Transactions that fit it; of very many only some"`
	Why            string   `json:"why" doc:"Why it was not linked"`
	FoundAt        string   `json:"found_at" format:"date-time" doc:"When it was found"`
}
