package assets

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Price is the price of one unit of an asset at a time.
type Price struct {
	ID        string  `json:"id" doc:"Identifier: pri_ and 26 characters."`
	AssetType string  `json:"asset_type" maxLength:"100" doc:"Symbol of the asset, as in transactions." example:"BTC"`
	Currency  string  `json:"currency" doc:"ISO 4217 currency of the price." example:"USD"`
	Timestamp string  `json:"timestamp" format:"date-time" doc:"Time of the price. There is one price per asset, currency and time."`
	Price     string  `json:"price" format:"decimal" doc:"Price of 1 unit of the asset in the currency." example:"64250.12"`
	Origin    string  `json:"origin" enum:"manual,import,transaction,provider" doc:"manual: entered by hand. import: from a file. transaction: paid in a transaction. provider: from an external system."`
	Note      *string `json:"note" doc:"Free text, such as who quoted the price; null if none." example:"Kraken, last trade of the day"`
	CreatedAt string  `json:"created_at" format:"date-time" doc:"When it was stored."`
	UpdatedAt *string `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// CreatePrice describes a new price.
type CreatePrice struct {
	AssetType string           `json:"asset_type" minLength:"1" maxLength:"100" doc:"Symbol of the asset exactly as in transactions; case-sensitive." example:"BTC"`
	Currency  string           `json:"currency" minLength:"3" maxLength:"3" doc:"ISO 4217 currency of the price." example:"USD"`
	Timestamp string           `json:"timestamp" minLength:"1" maxLength:"40" doc:"Time of the price: an RFC 3339 time, or a date, which means the last millisecond of that day in the organization's time zone." example:"2026-01-31"`
	Price     string           `json:"price" format:"decimal" doc:"Price of 1 unit of the asset in the currency; more than 0." example:"64250.12"`
	Note      wire.Opt[string] `json:"note,omitempty" maxLength:"500" doc:"Free text, such as who quoted the price; null if none." example:"Kraken, last trade of the day"`
}

// CreatePrices creates many prices, all or none.
type CreatePrices struct {
	Prices []CreatePrice `json:"prices" minItems:"1" maxItems:"1000" doc:"The prices. No two may have the same asset, currency and time."`
	DryRun bool          `json:"dry_run,omitempty" doc:"If true, return what would be created without writing anything. Defaults to false."`
}

// Prices holds the created prices.
type Prices struct {
	Data []Price `json:"data" doc:"The prices, in the order of the request."`
}

// UpdatePrice changes a price. Asset, currency and time cannot change: delete the price and create another.
type UpdatePrice struct {
	Price *string          `json:"price,omitempty" format:"decimal" doc:"Price of 1 unit of the asset in the currency; more than 0." example:"64250.12"`
	Note  wire.Opt[string] `json:"note,omitempty" maxLength:"500" doc:"Free text; null removes it." example:"Kraken, last trade of the day"`
}

// TransformSchema requires at least one property.
func (UpdatePrice) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// ImportPrices is a form with a file of prices.
type ImportPrices struct {
	File    *wire.File `json:"file" doc:"CSV file of up to 25,000 prices and 8 MiB. The first line names the columns in any order: asset_type, currency, timestamp or date (an RFC 3339 time, or a date for the close of that day in the organization's time zone), price, and optionally note." example:"prices.csv"`
	DryRun  bool       `json:"dry_run,omitempty" doc:"If true, return what would be imported without writing anything. Defaults to false."`
	Replace bool       `json:"replace,omitempty" doc:"If true, replace a stored price with that of the file. If false, a different price is an error. Defaults to false."`
}

// PriceImport is the result of an import of prices.
type PriceImport struct {
	DryRun     bool  `json:"dry_run" doc:"Whether this was a dry run, in which nothing was written."`
	Created    int64 `json:"created" minimum:"0" doc:"Number of new prices."`
	Duplicates int64 `json:"duplicates" minimum:"0" doc:"Number of prices that were stored already with the same value, or occur twice in the file."`
	Replaced   int64 `json:"replaced" minimum:"0" doc:"Number of prices whose stored value was replaced."`
}
