package treasury

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Source is a wallet, exchange account, bank account, card or other account.
type Source struct {
	ID              string        `json:"id" doc:"Identifier: src_ and 26 characters."`
	AccountID       *string       `json:"account_id" doc:"Identifier of the wallet (wal_), exchange account (exs_) or bank account (pla_). Accepted wherever a source identifier is. Null if none."`
	Type            string        `json:"source_type" enum:"wallet,exchange,bank,card,other" doc:"Account type."`
	Name            string        `json:"name" maxLength:"200" doc:"Sequence number for people." example:"Treasury"`
	LegalEntityID   string        `json:"legal_entity_id" doc:"Legal entity that owns the source."`
	LedgerAccountID string        `json:"ledger_account_id" doc:"Ledger account of the source."`
	Chain           *string       `json:"chain" doc:"Blockchain of a wallet, in lower case; null for other sources." example:"ethereum"`
	Address         *string       `json:"address" doc:"Address of a wallet, as given. Compared case-insensitively. Null for other sources."`
	Currency        *string       `json:"currency" doc:"Currency of the source; ISO 4217 for banks and cards. Null if none." example:"USD"`
	Provider        string        `json:"provider" doc:"Where transactions come from: file, a blockchain, an exchange or an aggregator." example:"file"`
	Manual          bool          `json:"is_manual" doc:"Whether the source was created by hand rather than by a connection."`
	Guidance        wire.Guidance `json:"guidance" doc:"Actions that the source permits now: edit, delete."`
	CreatedAt       string        `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt       *string       `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// SourceBalance is how much of an asset or a currency a source holds.
type SourceBalance struct {
	AssetType       string  `json:"asset_type" doc:"Asset or ISO 4217 currency." example:"ETH"`
	Chain           *string `json:"chain" doc:"Blockchain of the asset; null if none." example:"ethereum"`
	TokenID         *string `json:"token_id" doc:"Number of a unique token; null for other assets."`
	LedgerAccountID string  `json:"ledger_account_id" doc:"Ledger account that the balance is on."`
	Book            string  `json:"book" format:"decimal" doc:"Quantity in the books: what posted entries added less what they consumed." example:"2.5"`
	Observed        *string `json:"observed" format:"decimal" doc:"Quantity that the source itself states: the newest balance in the files that were imported into it. Null if no file states one, if the asset has several rows, or if other sources share the ledger account of money."`
	ObservedAt      *string `json:"observed_at" format:"date-time" doc:"Time of the transaction after which observed was stated; null if observed is."`
	BookAtObserved  *string `json:"book_at_observed" format:"decimal" doc:"Quantity in the books at observed_at; null if observed is."`
	Difference      *string `json:"difference" format:"decimal" doc:"book_at_observed less observed; null if observed is. A difference is not booked yet, or missing in the files."`
}

// CreateSource describes a new source.
type CreateSource struct {
	Type            string           `json:"source_type" enum:"wallet,exchange,bank,card,other" doc:"Type of source. Cannot change."`
	Name            string           `json:"name" minLength:"1" maxLength:"200" doc:"Name. Leading and trailing spaces are removed." example:"Treasury"`
	LegalEntityID   string           `json:"legal_entity_id" minLength:"1" maxLength:"64" doc:"Legal entity that owns the source."`
	LedgerAccountID string           `json:"ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"Postable ledger account of type Asset or Liability. If omitted, an account with the name of the source is created (a liability for a card, otherwise an asset), next to that of the latest source of the type or in the default group of the chart."`
	Chain           wire.Opt[string] `json:"chain,omitempty" minLength:"1" maxLength:"64" doc:"Blockchain. Required for a wallet, not allowed for other sources. Stored in lower case." example:"ethereum"`
	Address         wire.Opt[string] `json:"address,omitempty" minLength:"1" maxLength:"200" doc:"Address of a wallet; unique per blockchain, case-insensitive."`
	Currency        wire.Opt[string] `json:"currency,omitempty" minLength:"1" maxLength:"64" doc:"Currency of the source. For banks and cards an ISO 4217 currency; defaults to the base currency of the legal entity." example:"USD"`
	Provider        string           `json:"provider,omitempty" minLength:"1" maxLength:"64" doc:"Where transactions come from. Defaults to the blockchain for a wallet, otherwise to file."`
}

// TransformSchema adds an example.
func (CreateSource) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"source_type": "wallet", "name": "Treasury", "legal_entity_id": wire.ExampleID("le"),
		"chain": "ethereum", "address": "0x00000000219ab540356cBB839Cbe05303d7705Fa"}}
	return s
}

// UpdateSource changes a source.
type UpdateSource struct {
	Name            *string          `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"Name. Leading and trailing spaces are removed." example:"Treasury"`
	LegalEntityID   *string          `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"Legal entity that owns the source. Cannot change once there are transactions or assets."`
	LedgerAccountID *string          `json:"ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"Postable ledger account of type Asset or Liability. Posted lines stay on the previous account."`
	Chain           wire.Opt[string] `json:"chain,omitempty" minLength:"1" maxLength:"64" doc:"Blockchain of a wallet. Cannot change once there are transactions." example:"ethereum"`
	Address         wire.Opt[string] `json:"address,omitempty" minLength:"1" maxLength:"200" doc:"Address of a wallet. Cannot change once there are transactions. Null removes it."`
	Currency        wire.Opt[string] `json:"currency,omitempty" minLength:"1" maxLength:"64" doc:"Currency of the source. Cannot change once there are transactions. Null removes it; for a bank or card it becomes the base currency of the legal entity." example:"USD"`
}

// TransformSchema requires at least one property.
func (UpdateSource) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}
