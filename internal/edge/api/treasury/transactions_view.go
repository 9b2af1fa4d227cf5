package treasury

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Transaction is what happened on a source: one asset, one direction.
type Transaction struct {
	ID               string                         `json:"id" doc:"txn_ and 26 characters"`
	SequenceNumber   string                         `json:"sequence_number" doc:"OT- and a number; numbers have no gaps"`
	AccountID        *string                        `json:"account_id" doc:"The wallet, exchange account or bank account, or the source where there is none"`
	SourceID         string                         `json:"source_id" doc:"The source"`
	ExternalID       string                         `json:"external_id" doc:"What the source calls it; unique per source"`
	OrganizationID   string                         `json:"organization_id" doc:"The organization"`
	LegalEntityID    string                         `json:"legal_entity_id" doc:"The legal entity of the source"`
	SourceClass      string                         `json:"source_class" enum:"crypto,fiat,exchange,card,other" doc:"What kind of source it came from"`
	Provider         string                         `json:"provider" doc:"Who tells of the source's transactions"`
	Vendor           *string                        `json:"vendor" doc:"Who was paid or who paid, by name"`
	ProviderCategory *string                        `json:"provider_category" doc:"The category as the platform gave it"`
	External         TransactionExternal            `json:"external" doc:"What the source said, which never changes"`
	Crypto           wire.OrNull[TransactionCrypto] `json:"crypto" doc:"What is known of the asset and its place on a chain"`
	Bank             wire.OrNull[TransactionBank]   `json:"bank" doc:"What is known of the bank account"`
	Card             wire.OrNull[TransactionCard]   `json:"card" doc:"What is known of a payment by card"`
	Internal         TransactionInternal            `json:"internal" doc:"What people and rules made of it"`
	TagIDs           []string                       `json:"tag_ids" doc:"Its tags"`
	Suggested        wire.OrNull[Suggestion]        `json:"suggested" doc:"What the last classification run would make of it; null for what is booked and what nothing is known of"`
	Guidance         wire.Guidance                  `json:"guidance" doc:"What may be done to it now"`
	CreatedAt        string                         `json:"created_at" format:"date-time" doc:"When it came in"`
	UpdatedAt        string                         `json:"updated_at" format:"date-time" doc:"When it last changed"`
}

// TransactionExternal is what the source said.
type TransactionExternal struct {
	Timestamp   string                  `json:"timestamp" format:"date-time" doc:"When it happened"`
	Description string                  `json:"description" doc:"The platform's own text"`
	Direction   string                  `json:"direction" enum:"debit,credit" doc:"As a statement has it: credit came in, debit went out"`
	Quantity    *string                 `json:"quantity" format:"decimal" doc:"All that moved, a fee in the same asset included; null where it is not known"`
	Currency    string                  `json:"currency" doc:"An ISO 4217 currency or the symbol of an asset"`
	ValueFiat   wire.OrNull[ValuedFiat] `json:"value_fiat" doc:"What it was worth; null where nobody knows"`
}

// ValuedFiat is a value: gross is net plus fee, to the minor unit.
type ValuedFiat struct {
	Gross    string `json:"gross" format:"decimal" doc:"Of an inflow what the payer gave up, of an outflow all that left"`
	Fee      string `json:"fee" format:"decimal" doc:"What went to whoever carried it out"`
	Net      string `json:"net" format:"decimal" doc:"Of an inflow what landed, of an outflow what the counterparty got"`
	Currency string `json:"currency" doc:"The ISO 4217 currency of the three"`
}

// TransactionCrypto is what is known of an asset that is not fiat money.
type TransactionCrypto struct {
	Chain           *string `json:"chain" doc:"The blockchain network"`
	TransactionHash *string `json:"transaction_hash" doc:"The transaction on the chain"`
	BlockNumber     *int64  `json:"block_number" doc:"The block it is in"`
	FromAddress     *string `json:"from_address" doc:"The sender"`
	ToAddress       *string `json:"to_address" doc:"The recipient"`
	AssetType       *string `json:"asset_type" doc:"The symbol of the asset"`
	ContractAddress *string `json:"contract_address" doc:"The token's contract; null for the coin of the chain"`
	TokenID         *string `json:"token_id" doc:"Which one of an NFT contract"`
	FeeQuantity     *string `json:"fee_quantity" format:"decimal" doc:"The network's or exchange's fee"`
	FeeAssetType    *string `json:"fee_asset_type" doc:"What the fee was paid in"`
}

// TransactionBank is what is known of the bank account and of who is at the other end.
type TransactionBank struct {
	BankName         *string `json:"bank_name" doc:"The bank"`
	AccountLast4     *string `json:"account_last4" doc:"The end of the account's number"`
	CounterpartyName *string `json:"counterparty_name" doc:"Who is at the other end"`
}

// TransactionCard is what is known of a payment by card.
type TransactionCard struct {
	MerchantName     *string `json:"merchant_name" doc:"The merchant"`
	MerchantCategory *string `json:"merchant_category" doc:"The merchant's category"`
	CardholderName   *string `json:"cardholder_name" doc:"Who holds the card"`
	Last4            *string `json:"last4" doc:"The end of the card's number"`
}

// TransactionInternal is what people and rules made of a transaction.
type TransactionInternal struct {
	TransactionType string                   `json:"transaction_type" doc:"What happened economically"`
	Status          string                   `json:"status" enum:"pending,posted,spam" doc:"Posted while its journal entry is"`
	Memo            *string                  `json:"memo" doc:"A note"`
	JournalEntryID  *string                  `json:"journal_entry_id" doc:"The entry that records it"`
	GroupID         *string                  `json:"group_id" doc:"Joins the legs of one transfer, bridge or swap"`
	Spam            wire.OrNull[SpamVerdict] `json:"spam" doc:"What the spam filter made of it; null where it had nothing to say"`
}

// SpamVerdict is what signals add up to.
type SpamVerdict struct {
	Score   int64        `json:"score" minimum:"0" maximum:"100" doc:"From 60 on an arrival is put with the spam"`
	Reasons []SpamReason `json:"reasons" doc:"What the filter saw"`
}

// SpamReason is one signal.
type SpamReason struct {
	Code   string `json:"code" doc:"The signal"`
	Weight int64  `json:"weight" doc:"What it adds to the score; negative ones speak against spam"`
	Text   string `json:"text" doc:"What was seen, in a sentence"`
}

// CreateTransactions are up to 1,000 transactions.
type CreateTransactions struct {
	Transactions []CreateTransaction `json:"transactions" minItems:"1" maxItems:"1000" doc:"The transactions"`
}

// CreateTransaction is a transaction as a source tells it.
type CreateTransaction struct {
	SourceID         string                            `json:"source_id" minLength:"1" maxLength:"64" doc:"The source, or its account"`
	ExternalID       string                            `json:"external_id" minLength:"1" maxLength:"255" doc:"What the source calls it: sent again, it adds nothing" example:"ch_3PqZ"`
	External         CreateTransactionExternal         `json:"external" doc:"What happened"`
	Crypto           wire.Opt[CreateTransactionCrypto] `json:"crypto,omitempty" doc:"What is known of the asset and its place on a chain"`
	Bank             wire.Opt[CreateTransactionBank]   `json:"bank,omitempty" doc:"What is known of the bank account"`
	Card             wire.Opt[CreateTransactionCard]   `json:"card,omitempty" doc:"What is known of a payment by card"`
	ProviderCategory wire.Opt[string]                  `json:"provider_category,omitempty" maxLength:"500" doc:"The category as the platform gives it"`
	Vendor           wire.Opt[string]                  `json:"vendor,omitempty" maxLength:"500" doc:"Who was paid or who paid"`
	Memo             wire.Opt[string]                  `json:"memo,omitempty" maxLength:"2000" doc:"A note"`
	TransactionType  string                            `json:"transaction_type,omitempty" minLength:"1" maxLength:"64" doc:"What happened economically, where the source knows; UNKNOWN otherwise"`
	TagIDs           []string                          `json:"tag_ids,omitempty" maxItems:"100" doc:"Tags"`
}

// CreateTransactionExternal is what happened.
type CreateTransactionExternal struct {
	Timestamp   string                     `json:"timestamp" format:"date-time" doc:"When it happened" example:"2026-01-31T12:00:00Z"`
	Description string                     `json:"description" maxLength:"2000" doc:"The platform's own text"`
	Direction   string                     `json:"direction" enum:"debit,credit" doc:"As a statement has it: credit came in, debit went out"`
	Quantity    wire.Opt[string]           `json:"quantity,omitempty" format:"decimal" doc:"All that moved, a fee in the same asset included"`
	Currency    string                     `json:"currency" minLength:"1" maxLength:"100" doc:"An ISO 4217 currency or the symbol of an asset" example:"USD"`
	ValueFiat   wire.Opt[CreateValuedFiat] `json:"value_fiat,omitempty" doc:"What it was worth; null or absent where nobody knows"`
}

// CreateValuedFiat is a value whose gross must be net plus fee.
type CreateValuedFiat struct {
	Gross    string `json:"gross" format:"decimal" doc:"Net plus fee" example:"1200.00"`
	Fee      string `json:"fee" format:"decimal" doc:"What went to whoever carried it out" example:"25.10"`
	Net      string `json:"net" format:"decimal" doc:"What landed, or what the counterparty got" example:"1174.90"`
	Currency string `json:"currency" minLength:"3" maxLength:"3" doc:"An ISO 4217 currency" example:"USD"`
}

// CreateTransactionCrypto is what is known of an asset that is not fiat money.
type CreateTransactionCrypto struct {
	Chain           wire.Opt[string] `json:"chain,omitempty" maxLength:"100" doc:"The blockchain network"`
	TransactionHash wire.Opt[string] `json:"transaction_hash,omitempty" maxLength:"500" doc:"The transaction on the chain"`
	BlockNumber     wire.Opt[int64]  `json:"block_number,omitempty" minimum:"0" maximum:"9007199254740991" doc:"The block it is in"`
	FromAddress     wire.Opt[string] `json:"from_address,omitempty" maxLength:"500" doc:"The sender"`
	ToAddress       wire.Opt[string] `json:"to_address,omitempty" maxLength:"500" doc:"The recipient"`
	AssetType       wire.Opt[string] `json:"asset_type,omitempty" maxLength:"100" doc:"The symbol of the asset; defaults to external.currency"`
	ContractAddress wire.Opt[string] `json:"contract_address,omitempty" maxLength:"500" doc:"The token's contract"`
	TokenID         wire.Opt[string] `json:"token_id,omitempty" maxLength:"500" doc:"Which one of an NFT contract"`
	FeeQuantity     wire.Opt[string] `json:"fee_quantity,omitempty" format:"decimal" doc:"The network's or exchange's fee"`
	FeeAssetType    wire.Opt[string] `json:"fee_asset_type,omitempty" maxLength:"100" doc:"What the fee was paid in"`
}

// CreateTransactionBank is what is known of the bank account.
type CreateTransactionBank struct {
	BankName         wire.Opt[string] `json:"bank_name,omitempty" maxLength:"500" doc:"The bank"`
	AccountLast4     wire.Opt[string] `json:"account_last4,omitempty" maxLength:"500" doc:"The end of the account's number"`
	CounterpartyName wire.Opt[string] `json:"counterparty_name,omitempty" maxLength:"500" doc:"Who is at the other end"`
}

// CreateTransactionCard is what is known of a payment by card.
type CreateTransactionCard struct {
	MerchantName     wire.Opt[string] `json:"merchant_name,omitempty" maxLength:"500" doc:"The merchant"`
	MerchantCategory wire.Opt[string] `json:"merchant_category,omitempty" maxLength:"500" doc:"The merchant's category"`
	CardholderName   wire.Opt[string] `json:"cardholder_name,omitempty" maxLength:"500" doc:"Who holds the card"`
	Last4            wire.Opt[string] `json:"last4,omitempty" maxLength:"500" doc:"The end of the card's number"`
}

// CreatedTransactions are the transactions sent, in their order.
type CreatedTransactions struct {
	Data       []Transaction `json:"data" doc:"The transactions, in the order they were sent; of a duplicate the one that was there already"`
	Created    int64         `json:"created" doc:"How many are new"`
	Duplicates int64         `json:"duplicates" doc:"How many were there already"`
}

// UpdateTransaction changes what people make of a transaction; what is left out stays as it is.
type UpdateTransaction struct {
	Memo            wire.Opt[string] `json:"memo,omitempty" maxLength:"2000" doc:"A note; null or empty clears it"`
	TransactionType *string          `json:"transaction_type,omitempty" minLength:"1" maxLength:"64" doc:"What happened economically; SPAM puts it with the spam"`
	TagIDs          *[]string        `json:"tag_ids,omitempty" maxItems:"100" doc:"Its tags, all of them"`
	Vendor          wire.Opt[string] `json:"vendor,omitempty" maxLength:"500" doc:"Who was paid or who paid; null or empty clears it"`
	Status          *string          `json:"status,omitempty" enum:"spam,pending" doc:"spam puts it aside, pending takes it back as it was"`
}

// TransformSchema asks for at least one change.
func (UpdateTransaction) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// BulkUpdateTransactions changes many transactions, all or none.
type BulkUpdateTransactions struct {
	TransactionIDs []string           `json:"transaction_ids,omitempty" minItems:"1" maxItems:"1000" doc:"The transactions; or give a filter"`
	Filter         *TransactionFilter `json:"filter,omitempty" doc:"Every transaction it finds, at most 10,000"`
	ExpectedCount  *int64             `json:"expected_count,omitempty" minimum:"0" maximum:"9007199254740991" doc:"How many the filter finds: required with it, and refused when it now finds another number"`
	Changes        UpdateTransaction  `json:"changes" doc:"What to change"`
	DryRun         bool               `json:"dry_run,omitempty" doc:"Answer with what would be changed, and change nothing"`
}

// TransformSchema shows one of the two ways to say which are meant.
func (BulkUpdateTransactions) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"filter": map[string]any{"search": "figma", "status": "pending"}, "expected_count": 12,
		"changes": map[string]any{"transaction_type": "EXPENSE"}}}
	return s
}

// BulkUpdated is what came of it.
type BulkUpdated struct {
	Matched int64 `json:"matched" doc:"How many transactions were meant"`
	Updated int64 `json:"updated" doc:"How many of them changed; the others were so already"`
	DryRun  bool  `json:"dry_run" doc:"Whether nothing was written"`
}

// TransactionFilter narrows what transactions are meant: parameters of a list, or a part of a body.
type TransactionFilter struct {
	SourceClass           string   `query:"source_class" json:"source_class,omitempty" enum:"crypto,fiat,exchange,card,other" maxLength:"16" doc:"Of sources of this class"`
	Status                string   `query:"status" json:"status,omitempty" enum:"pending,posted,spam" maxLength:"16" doc:"Only with this status"`
	HasPostedJournalEntry *bool    `query:"has_posted_journal_entry" json:"has_posted_journal_entry,omitempty" doc:"Only with, or only without, a posted journal entry"`
	IncludeSpam           bool     `query:"include_spam" json:"include_spam,omitempty" doc:"Spam too; use status=spam for nothing else"`
	GrossPriceMin         string   `query:"gross_price_min" json:"gross_price_min,omitempty" minLength:"1" maxLength:"80" pattern:"^[0-9]+(?:\\.[0-9]+)?$" doc:"Worth at least this much before the fee, in whatever currency the value is in" example:"1200.50"`
	GrossPriceMax         string   `query:"gross_price_max" json:"gross_price_max,omitempty" minLength:"1" maxLength:"80" pattern:"^[0-9]+(?:\\.[0-9]+)?$" doc:"Worth at most this much" example:"1200.50"`
	GrossAmountMin        string   `query:"gross_amount_min" json:"gross_amount_min,omitempty" minLength:"1" maxLength:"80" pattern:"^[0-9]+(?:\\.[0-9]+)?$" doc:"At least this quantity of the asset; of fiat money, this amount" example:"1200.50"`
	GrossAmountMax        string   `query:"gross_amount_max" json:"gross_amount_max,omitempty" minLength:"1" maxLength:"80" pattern:"^[0-9]+(?:\\.[0-9]+)?$" doc:"At most this quantity" example:"1200.50"`
	LegalEntityIDs        []string `query:"legal_entity_ids" json:"legal_entity_ids,omitempty" minItems:"1" maxItems:"100" doc:"Of these legal entities; all that the key is for when left out"`
	TransactionIDs        []string `query:"transaction_ids" json:"transaction_ids,omitempty" minItems:"1" maxItems:"1000" doc:"These; cannot be combined with has_posted_journal_entry, status=posted or status=pending"`
	ExcludeTransactionIDs []string `query:"exclude_transaction_ids" json:"exclude_transaction_ids,omitempty" minItems:"1" maxItems:"1000" doc:"Not these"`
	SequenceNumbers       []string `query:"sequence_numbers" json:"sequence_numbers,omitempty" minItems:"1" maxItems:"100" doc:"With these numbers, such as OT-17; cannot be combined with has_posted_journal_entry=false"`
	AccountIDs            []string `query:"account_ids" json:"account_ids,omitempty" minItems:"1" maxItems:"100" doc:"Of these sources, by their ids or those of their accounts"`
	TransactionTypes      []string `query:"transaction_types" json:"transaction_types,omitempty" minItems:"1" maxItems:"100" doc:"Of any of these transaction types"`
	SourceTypes           []string `query:"source_types" json:"source_types,omitempty" minItems:"1" maxItems:"100" doc:"Of sources of any of these types: wallet, exchange, bank, card, other"`
	AssetTypes            []string `query:"asset_types" json:"asset_types,omitempty" minItems:"1" maxItems:"100" doc:"Of any of these assets or currencies"`
	Chains                []string `query:"chains" json:"chains,omitempty" minItems:"1" maxItems:"100" doc:"On any of these chains"`
	Addresses             []string `query:"addresses" json:"addresses,omitempty" minItems:"1" maxItems:"100" doc:"From or to any of these addresses, or of a source with one, in any case"`
	ProviderCategory      []string `query:"provider_category" json:"provider_category,omitempty" minItems:"1" maxItems:"100" doc:"With a category that holds any of these texts, in any case; labels joined by ; in one text must all be in it"`
	Search                string   `query:"search" json:"search,omitempty" minLength:"1" maxLength:"200" doc:"Text in a label or description, in any case"`
	SourceID              string   `query:"source_id" json:"source_id,omitempty" minLength:"1" maxLength:"64" doc:"Of this source, by its id or that of its account"`
	Direction             string   `query:"direction" json:"direction,omitempty" enum:"debit,credit" maxLength:"16" doc:"Only what came in (credit) or went out (debit)"`
	StartDate             string   `query:"start_date" json:"start_date,omitempty" minLength:"1" maxLength:"64" doc:"Happened from here on, inclusive: a time, or a date in UTC"`
	EndDate               string   `query:"end_date" json:"end_date,omitempty" minLength:"1" maxLength:"64" doc:"Happened up to here, inclusive"`
	UpdatedSince          string   `query:"updated_since" json:"updated_since,omitempty" minLength:"1" maxLength:"64" doc:"Changed from here on, inclusive; when syncing, drop what has the same id and updated_at"`
}
