package treasury

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Transaction is something that happened at a source: one asset, one direction.
type Transaction struct {
	ID               string                         `json:"id" doc:"Identifier: txn_ and 26 characters."`
	SequenceNumber   string                         `json:"sequence_number" doc:"Sequence number: OT- and a number, without gaps."`
	AccountID        *string                        `json:"account_id" doc:"Wallet, exchange account or bank account of the source, or the source itself if it has none."`
	SourceID         string                         `json:"source_id" doc:"Identifier of the source."`
	ExternalID       string                         `json:"external_id" doc:"Identifier of the transaction at the source; unique per source."`
	OrganizationID   string                         `json:"organization_id" doc:"Identifier of the organization."`
	LegalEntityID    string                         `json:"legal_entity_id" doc:"Legal entity that owns the source."`
	SourceClass      string                         `json:"source_class" enum:"crypto,fiat,exchange,card,other" doc:"Class of the source."`
	Provider         string                         `json:"provider" doc:"Provider of the source."`
	Vendor           *string                        `json:"vendor" doc:"Name of the counterparty; null if unknown."`
	ProviderCategory *string                        `json:"provider_category" doc:"Category given by the provider; null if none."`
	External         TransactionExternal            `json:"external" doc:"What the source reported. Never changes."`
	Crypto           wire.OrNull[TransactionCrypto] `json:"crypto" doc:"Details of a blockchain or exchange transaction; null if none."`
	Bank             wire.OrNull[TransactionBank]   `json:"bank" doc:"Details of a bank transaction; null if none."`
	Card             wire.OrNull[TransactionCard]   `json:"card" doc:"Details of a card payment; null if none."`
	Internal         TransactionInternal            `json:"internal" doc:"What people and rules added."`
	TagIDs           []string                       `json:"tag_ids" doc:"Tags; replaces the whole list."`
	Suggested        wire.OrNull[Suggestion]        `json:"suggested" doc:"Suggestion of the latest classification run. Null if the transaction is booked or there is no suggestion."`
	Guidance         wire.Guidance                  `json:"guidance" doc:"Actions that the record permits now."`
	Raw              any                            `json:"raw,omitempty" doc:"With include=raw, what the provider has sent about the transaction; null if it did not come from a connection."`
	CreatedAt        string                         `json:"created_at" format:"date-time" doc:"When the transaction was received."`
	UpdatedAt        string                         `json:"updated_at" format:"date-time" doc:"When the record was last updated."`
}

// TransactionExternal is what the source reported.
type TransactionExternal struct {
	Timestamp   string                  `json:"timestamp" format:"date-time" doc:"When the change was made."`
	Description string                  `json:"description" doc:"Description given by the provider."`
	Direction   string                  `json:"direction" enum:"debit,credit" doc:"As on a statement: credit for inflows, debit for outflows."`
	Quantity    *string                 `json:"quantity" format:"decimal" doc:"Quantity moved, including a fee in the same asset: an inflow adds the quantity less crypto.fee_quantity to what the source holds, and an outflow takes all of it. Null if unknown."`
	Currency    string                  `json:"currency" doc:"ISO 4217 currency or symbol of the asset."`
	ValueFiat   wire.OrNull[ValuedFiat] `json:"value_fiat" doc:"Value in fiat currency; null if unknown."`
}

// ValuedFiat is a value in fiat currency. Gross is net plus fee.
type ValuedFiat struct {
	Gross    string `json:"gross" format:"decimal" doc:"Inflow: what the payer paid. Outflow: everything that left."`
	Fee      string `json:"fee" format:"decimal" doc:"Fee."`
	Net      string `json:"net" format:"decimal" doc:"Inflow: what was received. Outflow: what the counterparty received."`
	Currency string `json:"currency" doc:"ISO 4217 currency of the three amounts."`
}

// TransactionCrypto holds the details of a transaction of a digital asset.
type TransactionCrypto struct {
	Chain           *string `json:"chain" doc:"Blockchain; null if not applicable."`
	TransactionHash *string `json:"transaction_hash" doc:"Transaction hash; null if none."`
	BlockNumber     *int64  `json:"block_number" doc:"Block number; null if none."`
	FromAddress     *string `json:"from_address" doc:"Address of the sender; null if unknown."`
	ToAddress       *string `json:"to_address" doc:"Address of the recipient; null if unknown."`
	AssetType       *string `json:"asset_type" doc:"Symbol of the asset; null if unknown."`
	ContractAddress *string `json:"contract_address" doc:"Contract of the token; null for the native coin of the blockchain."`
	TokenID         *string `json:"token_id" doc:"Token identifier within an NFT contract; null for fungible assets."`
	FeeQuantity     *string `json:"fee_quantity" format:"decimal" doc:"Fee that the source paid to the network or exchange, in fee_asset_type; null if none. A fee known by its value only takes nothing from the quantity."`
	FeeAssetType    *string `json:"fee_asset_type" doc:"Asset in which the fee was paid; null if none."`
}

// TransactionBank holds the details of a bank transaction.
type TransactionBank struct {
	BankName         *string `json:"bank_name" doc:"Name of the bank; null if unknown."`
	AccountLast4     *string `json:"account_last4" doc:"Last four digits of the account number; null if unknown."`
	CounterpartyName *string `json:"counterparty_name" doc:"Name of the counterparty; null if unknown."`
}

// TransactionCard holds the details of a card payment.
type TransactionCard struct {
	MerchantName     *string `json:"merchant_name" doc:"Name of the merchant; null if unknown."`
	MerchantCategory *string `json:"merchant_category" doc:"Category of the merchant; null if unknown."`
	CardholderName   *string `json:"cardholder_name" doc:"Name of the cardholder; null if unknown."`
	Last4            *string `json:"last4" doc:"Last four digits of the card number; null if unknown."`
}

// TransactionInternal is what people and rules added to a transaction.
type TransactionInternal struct {
	TransactionType string                   `json:"transaction_type" enum:"{transaction_types}" doc:"Transaction type: what happened economically."`
	Status          string                   `json:"status" enum:"pending,posted,spam" doc:"posted while the journal entry of the transaction is posted."`
	Memo            *string                  `json:"memo" doc:"Memo; null if none."`
	JournalEntryID  *string                  `json:"journal_entry_id" doc:"Journal entry that records the transaction; null if none."`
	GroupID         *string                  `json:"group_id" doc:"Group of transactions that are one transfer, bridge or swap; null if none."`
	Spam            wire.OrNull[SpamVerdict] `json:"spam" doc:"Verdict of the spam filter; null if it has none."`
}

// SpamVerdict is the verdict of the spam filter.
type SpamVerdict struct {
	Score   int64        `json:"score" minimum:"0" maximum:"100" doc:"Spam score. A transaction with 60 or more is spam."`
	Reasons []SpamReason `json:"reasons" doc:"Reasons for the score."`
}

// SpamReason is a signal of the spam filter.
type SpamReason struct {
	Code   string `json:"code" doc:"Code of the signal."`
	Weight int64  `json:"weight" doc:"Weight of the signal. Negative values speak against spam."`
	Text   string `json:"text" doc:"What was found, in a sentence."`
}

// CreateTransactions holds up to 1,000 transactions.
type CreateTransactions struct {
	Transactions []CreateTransaction `json:"transactions" minItems:"1" maxItems:"1000" doc:"The transactions."`
	DryRun       bool                `json:"dry_run,omitempty" doc:"If true, return what would be created without writing anything: identifiers and sequence numbers in the answer are not reserved. Defaults to false."`
}

// CreateTransaction is a transaction as reported by a source.
type CreateTransaction struct {
	SourceID         string                            `json:"source_id" minLength:"1" maxLength:"64" doc:"Identifier of the source or of its account."`
	ExternalID       string                            `json:"external_id" minLength:"1" maxLength:"255" doc:"Identifier of the transaction at the source. If the source already has it, the transaction is not added again." example:"ch_3PqZ"`
	External         CreateTransactionExternal         `json:"external" doc:"What happened."`
	Crypto           wire.Opt[CreateTransactionCrypto] `json:"crypto,omitempty" doc:"Details of a blockchain or exchange transaction; null if none."`
	Bank             wire.Opt[CreateTransactionBank]   `json:"bank,omitempty" doc:"Details of a bank transaction; null if none."`
	Card             wire.Opt[CreateTransactionCard]   `json:"card,omitempty" doc:"Details of a card payment; null if none."`
	ProviderCategory wire.Opt[string]                  `json:"provider_category,omitempty" maxLength:"500" doc:"Category given by the provider; null if none."`
	Vendor           wire.Opt[string]                  `json:"vendor,omitempty" maxLength:"500" doc:"Counterparty; null if unknown."`
	Memo             wire.Opt[string]                  `json:"memo,omitempty" maxLength:"2000" doc:"Memo; null if none."`
	TransactionType  string                            `json:"transaction_type,omitempty" enum:"{transaction_types}" doc:"Transaction type, if the source knows it. Defaults to UNKNOWN."`
	TagIDs           []string                          `json:"tag_ids,omitempty" maxItems:"100" doc:"Tags."`
}

// CreateTransactionExternal is what the source reported.
type CreateTransactionExternal struct {
	Timestamp   string                     `json:"timestamp" format:"date-time" doc:"When the change was made." example:"2026-01-31T12:00:00Z"`
	Description string                     `json:"description" maxLength:"2000" doc:"Description given by the provider."`
	Direction   string                     `json:"direction" enum:"debit,credit" doc:"As on a statement: credit for inflows, debit for outflows."`
	Quantity    wire.Opt[string]           `json:"quantity,omitempty" format:"decimal" doc:"Quantity moved, including a fee in the same asset."`
	Currency    string                     `json:"currency" minLength:"1" maxLength:"100" doc:"ISO 4217 currency or symbol of the asset." example:"USD"`
	ValueFiat   wire.Opt[CreateValuedFiat] `json:"value_fiat,omitempty" doc:"Value in fiat currency. Omit or null if unknown."`
}

// CreateValuedFiat is a value in fiat currency. Gross must be net plus fee.
type CreateValuedFiat struct {
	Gross    string `json:"gross" format:"decimal" doc:"Net plus fee." example:"1200.00"`
	Fee      string `json:"fee" format:"decimal" doc:"Fee." example:"25.10"`
	Net      string `json:"net" format:"decimal" doc:"What was received, or what the counterparty received." example:"1174.90"`
	Currency string `json:"currency" minLength:"3" maxLength:"3" doc:"ISO 4217 currency." example:"USD"`
}

// CreateTransactionCrypto holds the details of a transaction of a digital asset.
type CreateTransactionCrypto struct {
	Chain           wire.Opt[string] `json:"chain,omitempty" maxLength:"100" doc:"Blockchain; null if not applicable."`
	TransactionHash wire.Opt[string] `json:"transaction_hash,omitempty" maxLength:"500" doc:"Transaction hash; null if none."`
	BlockNumber     wire.Opt[int64]  `json:"block_number,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Block number; null if none."`
	FromAddress     wire.Opt[string] `json:"from_address,omitempty" maxLength:"500" doc:"Address of the sender; null if unknown."`
	ToAddress       wire.Opt[string] `json:"to_address,omitempty" maxLength:"500" doc:"Address of the recipient; null if unknown."`
	AssetType       wire.Opt[string] `json:"asset_type,omitempty" maxLength:"100" doc:"Symbol of the asset. Defaults to external.currency."`
	ContractAddress wire.Opt[string] `json:"contract_address,omitempty" maxLength:"500" doc:"Contract of the token. Omit or null for the native coin of the blockchain."`
	TokenID         wire.Opt[string] `json:"token_id,omitempty" maxLength:"500" doc:"Token identifier within an NFT contract; null for fungible assets."`
	FeeQuantity     wire.Opt[string] `json:"fee_quantity,omitempty" format:"decimal" doc:"Fee that the source paid to the network or exchange, in fee_asset_type; null if none. A fee known by its value only takes nothing from the quantity."`
	FeeAssetType    wire.Opt[string] `json:"fee_asset_type,omitempty" maxLength:"100" doc:"Asset in which the fee was paid; null if none."`
}

// CreateTransactionBank holds the details of a bank transaction.
type CreateTransactionBank struct {
	BankName         wire.Opt[string] `json:"bank_name,omitempty" maxLength:"500" doc:"Name of the bank; null if unknown."`
	AccountLast4     wire.Opt[string] `json:"account_last4,omitempty" maxLength:"500" doc:"Last four digits of the account number; null if unknown."`
	CounterpartyName wire.Opt[string] `json:"counterparty_name,omitempty" maxLength:"500" doc:"Name of the counterparty; null if unknown."`
}

// CreateTransactionCard holds the details of a card payment.
type CreateTransactionCard struct {
	MerchantName     wire.Opt[string] `json:"merchant_name,omitempty" maxLength:"500" doc:"Name of the merchant; null if unknown."`
	MerchantCategory wire.Opt[string] `json:"merchant_category,omitempty" maxLength:"500" doc:"Category of the merchant; null if unknown."`
	CardholderName   wire.Opt[string] `json:"cardholder_name,omitempty" maxLength:"500" doc:"Name of the cardholder; null if unknown."`
	Last4            wire.Opt[string] `json:"last4,omitempty" maxLength:"500" doc:"Last four digits of the card number; null if unknown."`
}

// CreatedTransactions holds the transactions in the order of the request.
type CreatedTransactions struct {
	Data       []Transaction `json:"data" doc:"The transactions, in the order of the request. For a duplicate, the one that exists."`
	Created    int64         `json:"created" doc:"Number of new transactions."`
	Duplicates int64         `json:"duplicates" doc:"Number of transactions that existed already."`
}

// UpdateTransaction changes what people added to a transaction. Omitted properties stay as they are.
type UpdateTransaction struct {
	Memo            wire.Opt[string] `json:"memo,omitempty" maxLength:"2000" doc:"Memo; null or an empty string removes it."`
	TransactionType *string          `json:"transaction_type,omitempty" enum:"{transaction_types}" doc:"Transaction type. SPAM marks the transaction as spam."`
	TagIDs          *[]string        `json:"tag_ids,omitempty" maxItems:"100" doc:"Tags; replaces the whole list."`
	Vendor          wire.Opt[string] `json:"vendor,omitempty" maxLength:"500" doc:"Name of the counterparty; null or an empty string removes it."`
	Status          *string          `json:"status,omitempty" enum:"spam,pending" doc:"spam marks the transaction as spam; pending restores it."`
}

// TransformSchema requires at least one property.
func (UpdateTransaction) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// BulkUpdateTransactions changes many transactions, all or none.
type BulkUpdateTransactions struct {
	TransactionIDs []string           `json:"transaction_ids,omitempty" minItems:"1" maxItems:"1000" doc:"Identifiers of the transactions. Give either this or filter."`
	Filter         *TransactionFilter `json:"filter,omitempty" doc:"Filter for the transactions; at most 10,000 may match."`
	ExpectedCount  *int64             `json:"expected_count,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Number of transactions that match the filter. Required with filter; if the number differs, the request is rejected."`
	Changes        UpdateTransaction  `json:"changes" doc:"What to change."`
	DryRun         bool               `json:"dry_run,omitempty" doc:"If true, return what would change without writing anything. Defaults to false."`
}

// TransformSchema adds an example of one of the two ways to select transactions.
func (BulkUpdateTransactions) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"filter": map[string]any{"search": "figma", "status": "pending"}, "expected_count": 12,
		"changes": map[string]any{"transaction_type": "EXPENSE"}}}
	return s
}

// BulkUpdated is the result of a bulk update.
type BulkUpdated struct {
	Matched int64 `json:"matched" doc:"Number of transactions selected."`
	Updated int64 `json:"updated" doc:"Number of transactions changed. The others had these values already."`
	DryRun  bool  `json:"dry_run" doc:"Whether this was a dry run, in which nothing was written."`
}

// TransactionFilter selects transactions, as parameters of a list or as part of a body.
type TransactionFilter struct {
	SourceClass           string   `query:"source_class" json:"source_class,omitempty" enum:"crypto,fiat,exchange,card,other" doc:"Return only transactions of sources of this class."`
	Status                string   `query:"status" json:"status,omitempty" enum:"pending,posted,spam" doc:"Return only transactions with this status."`
	HasPostedJournalEntry *bool    `query:"has_posted_journal_entry" json:"has_posted_journal_entry,omitempty" doc:"true: only transactions with a posted journal entry. false: only those without."`
	IncludeSpam           bool     `query:"include_spam" json:"include_spam,omitempty" doc:"If true, include spam. Use status=spam for spam only. Defaults to false."`
	GrossPriceMin         string   `query:"gross_price_min" json:"gross_price_min,omitempty" minLength:"1" maxLength:"80" pattern:"^[0-9]+(?:\\.[0-9]+)?$" patternDescription:"a decimal number without a sign, such as 1200.50" doc:"Minimum value before the fee, in the currency of the value." example:"1200.50"`
	GrossPriceMax         string   `query:"gross_price_max" json:"gross_price_max,omitempty" minLength:"1" maxLength:"80" pattern:"^[0-9]+(?:\\.[0-9]+)?$" patternDescription:"a decimal number without a sign, such as 1200.50" doc:"Maximum value before the fee, in the currency of the value." example:"1200.50"`
	GrossAmountMin        string   `query:"gross_amount_min" json:"gross_amount_min,omitempty" minLength:"1" maxLength:"80" pattern:"^[0-9]+(?:\\.[0-9]+)?$" patternDescription:"a decimal number without a sign, such as 1200.50" doc:"Minimum quantity of the asset or, for fiat currency, minimum amount." example:"1200.50"`
	GrossAmountMax        string   `query:"gross_amount_max" json:"gross_amount_max,omitempty" minLength:"1" maxLength:"80" pattern:"^[0-9]+(?:\\.[0-9]+)?$" patternDescription:"a decimal number without a sign, such as 1200.50" doc:"Maximum quantity of the asset or, for fiat currency, maximum amount." example:"1200.50"`
	LegalEntityIDs        []string `query:"legal_entity_ids" json:"legal_entity_ids,omitempty" minItems:"1" maxItems:"100" doc:"Return only transactions of these legal entities. Defaults to all that the API key has access to."`
	TransactionIDs        []string `query:"transaction_ids" json:"transaction_ids,omitempty" minItems:"1" maxItems:"1000" doc:"Return only these transactions. Cannot be combined with has_posted_journal_entry, status=posted or status=pending."`
	ExcludeTransactionIDs []string `query:"exclude_transaction_ids" json:"exclude_transaction_ids,omitempty" minItems:"1" maxItems:"1000" doc:"Exclude these transactions."`
	SequenceNumbers       []string `query:"sequence_numbers" json:"sequence_numbers,omitempty" minItems:"1" maxItems:"100" pattern:"^OT-\\d+$" patternDescription:"a number such as OT-17" doc:"Return only transactions with these sequence numbers, such as OT-17. Cannot be combined with has_posted_journal_entry=false."`
	AccountIDs            []string `query:"account_ids" json:"account_ids,omitempty" minItems:"1" maxItems:"100" doc:"Return only transactions of these sources, by their identifiers or those of their accounts. With addresses, a transaction matches if it belongs to one of them or touches one of the addresses."`
	TransactionTypes      []string `query:"transaction_types" json:"transaction_types,omitempty" enum:"{transaction_types}" minItems:"1" maxItems:"100" doc:"Return only transactions of these types."`
	SourceTypes           []string `query:"source_types" json:"source_types,omitempty" minItems:"1" maxItems:"100" doc:"Return only transactions of sources of these types: wallet, exchange, bank, card, other."`
	AssetTypes            []string `query:"asset_types" json:"asset_types,omitempty" minItems:"1" maxItems:"100" doc:"Return only transactions of these assets or currencies."`
	Chains                []string `query:"chains" json:"chains,omitempty" minItems:"1" maxItems:"100" doc:"Return only transactions on these blockchains."`
	Addresses             []string `query:"addresses" json:"addresses,omitempty" minItems:"1" maxItems:"100" doc:"Return only transactions from or to these addresses, or of a source with one of them; case-insensitive. With account_ids, transactions of those accounts are returned too."`
	ProviderCategory      []string `query:"provider_category" json:"provider_category,omitempty" minItems:"1" maxItems:"100" doc:"Return only transactions whose category contains one of these texts; case-insensitive. Parts joined by ; must all occur."`
	Search                string   `query:"search" json:"search,omitempty" minLength:"1" maxLength:"200" doc:"Return only transactions with this text in a label or description; case-insensitive."`
	SourceID              string   `query:"source_id" json:"source_id,omitempty" minLength:"1" maxLength:"64" doc:"Return only transactions of this source, by its identifier or that of its account."`
	Direction             string   `query:"direction" json:"direction,omitempty" enum:"debit,credit" doc:"Return only inflows (credit) or outflows (debit)."`
	StartDate             string   `query:"start_date" json:"start_date,omitempty" minLength:"1" maxLength:"64" doc:"Return only transactions at or after this time: an RFC 3339 time, or a date in UTC."`
	EndDate               string   `query:"end_date" json:"end_date,omitempty" minLength:"1" maxLength:"64" doc:"Return only transactions at or before this time: an RFC 3339 time, or a date in UTC."`
	UpdatedSince          string   `query:"updated_since" json:"updated_since,omitempty" minLength:"1" maxLength:"64" doc:"Return only transactions changed at or after this time. When syncing, ignore records with an id and updated_at that you already have."`
}
