package treasury

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Source is where transactions come from.
type Source struct {
	ID              string        `json:"id" doc:"src_ and 26 characters"`
	AccountID       *string       `json:"account_id" doc:"What it stands for: a wallet (wal_), an exchange account (exs_) or a bank account (pla_); every place that takes the id of a source takes this one too"`
	Type            string        `json:"source_type" enum:"wallet,exchange,bank,card,other" doc:"What kind of account it is"`
	Name            string        `json:"name" maxLength:"200" doc:"How people call it" example:"Treasury"`
	LegalEntityID   string        `json:"legal_entity_id" doc:"The legal entity it belongs to"`
	LedgerAccountID string        `json:"ledger_account_id" doc:"The ledger account that holds what is on it"`
	Chain           *string       `json:"chain" doc:"The chain of a wallet, in lower case" example:"ethereum"`
	Address         *string       `json:"address" doc:"The address of a wallet, as it was given; compared without regard to case"`
	Currency        *string       `json:"currency" doc:"The currency it is kept in: an ISO 4217 currency for banks and cards" example:"USD"`
	Provider        string        `json:"provider" doc:"Who tells its transactions: file, a chain, an exchange, an aggregator" example:"file"`
	Manual          bool          `json:"is_manual" doc:"Whether somebody made it, and not a connection"`
	Guidance        wire.Guidance `json:"guidance" doc:"What may be done to it now: edit, delete"`
	CreatedAt       string        `json:"created_at" format:"date-time" doc:"When it was made"`
	UpdatedAt       *string       `json:"updated_at" format:"date-time" doc:"When it was last changed"`
}

// CreateSource describes a new source.
type CreateSource struct {
	Type            string           `json:"source_type" enum:"wallet,exchange,bank,card,other" doc:"What kind of account it is; it cannot change"`
	Name            string           `json:"name" minLength:"1" maxLength:"200" doc:"How people call it; spaces around it are dropped" example:"Treasury"`
	LegalEntityID   string           `json:"legal_entity_id" minLength:"1" maxLength:"64" doc:"The legal entity it belongs to"`
	LedgerAccountID string           `json:"ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"A postable ledger account of type Asset or Liability. Without it one is made that is called as the source is: an asset, for a card a liability, beside the account of the last source of this type, or else in the group a new chart has for it"`
	Chain           wire.Opt[string] `json:"chain,omitempty" minLength:"1" maxLength:"64" doc:"The chain, which a wallet needs and nothing else has; kept in lower case" example:"ethereum"`
	Address         wire.Opt[string] `json:"address,omitempty" minLength:"1" maxLength:"200" doc:"The address of a wallet; no two sources have the same one on a chain, in capitals or not"`
	Currency        wire.Opt[string] `json:"currency,omitempty" minLength:"1" maxLength:"64" doc:"The currency it is kept in. For banks and cards an ISO 4217 currency, the legal entity's base currency unless it says so" example:"USD"`
	Provider        string           `json:"provider,omitempty" minLength:"1" maxLength:"64" doc:"Who tells its transactions; the chain for a wallet, file for the others unless it says so"`
}

// TransformSchema shows one as it may be sent.
func (CreateSource) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"source_type": "wallet", "name": "Treasury", "legal_entity_id": wire.ExampleID("le"),
		"chain": "ethereum", "address": "0x00000000219ab540356cBB839Cbe05303d7705Fa"}}
	return s
}

// UpdateSource are the changes asked for.
type UpdateSource struct {
	Name            *string          `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"How people call it; spaces around it are dropped" example:"Treasury"`
	LegalEntityID   *string          `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"The legal entity it belongs to; it cannot change once there are transactions"`
	LedgerAccountID *string          `json:"ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"A postable ledger account of type Asset or Liability; what is posted stays where it is"`
	Chain           wire.Opt[string] `json:"chain,omitempty" minLength:"1" maxLength:"64" doc:"The chain of a wallet; it cannot change once there are transactions" example:"ethereum"`
	Address         wire.Opt[string] `json:"address,omitempty" minLength:"1" maxLength:"200" doc:"The address of a wallet; it cannot change once there are transactions; null clears it"`
	Currency        wire.Opt[string] `json:"currency,omitempty" minLength:"1" maxLength:"64" doc:"The currency it is kept in; it cannot change once there are transactions; null clears it, or makes it the legal entity's for a bank or a card" example:"USD"`
}

// TransformSchema asks for at least one change.
func (UpdateSource) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}
