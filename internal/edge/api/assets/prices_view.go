package assets

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Price is what one unit of an asset was worth at an instant.
type Price struct {
	ID        string  `json:"id" doc:"pri_ and 26 characters"`
	AssetType string  `json:"asset_type" maxLength:"100" doc:"The symbol of the asset, as transactions have it" example:"BTC"`
	Currency  string  `json:"currency" doc:"The ISO 4217 currency it is expressed in" example:"USD"`
	Timestamp string  `json:"timestamp" format:"date-time" doc:"The instant it is of. There is one price for an asset, a currency and an instant"`
	Price     string  `json:"price" format:"decimal" doc:"How many units of the currency 1 unit of the asset was worth" example:"64250.12"`
	Origin    string  `json:"origin" enum:"manual,import,transaction,provider" doc:"Where it comes from: somebody entered it, it was in a file, somebody paid it, or an outside system says so"`
	Note      *string `json:"note" doc:"Whatever else is to be known of it, such as who quoted it" example:"Kraken, last trade of the day"`
	CreatedAt string  `json:"created_at" format:"date-time" doc:"When it was stored"`
	UpdatedAt *string `json:"updated_at" format:"date-time" doc:"When it was last changed"`
}

// CreatePrice describes a new price.
type CreatePrice struct {
	AssetType string           `json:"asset_type" minLength:"1" maxLength:"100" doc:"The symbol of the asset, as transactions have it, capitals included" example:"BTC"`
	Currency  string           `json:"currency" minLength:"3" maxLength:"3" doc:"The ISO 4217 currency it is expressed in" example:"USD"`
	Timestamp string           `json:"timestamp" minLength:"1" maxLength:"40" doc:"The instant it is of: an RFC 3339 time, or a date for the price at the close of that day, which is its last millisecond in the organization's time zone" example:"2026-01-31"`
	Price     string           `json:"price" format:"decimal" doc:"How many units of the currency 1 unit of the asset was worth; more than 0" example:"64250.12"`
	Note      wire.Opt[string] `json:"note,omitempty" maxLength:"500" doc:"Whatever else is to be known of it, such as who quoted it" example:"Kraken, last trade of the day"`
}

// CreatePrices makes many prices at once, all or none.
type CreatePrices struct {
	Prices []CreatePrice `json:"prices" minItems:"1" maxItems:"1000" doc:"The prices, each as in the single form, no two of the same asset, currency and instant"`
	DryRun bool          `json:"dry_run,omitempty" doc:"Answer with what would be made, and make nothing"`
}

// Prices are the prices that were made.
type Prices struct {
	Data []Price `json:"data" doc:"The prices, in the order they were sent"`
}

// UpdatePrice are the changes asked for. What a price is of does not change: delete it and make another.
type UpdatePrice struct {
	Price *string          `json:"price,omitempty" format:"decimal" doc:"How many units of the currency 1 unit of the asset was worth; more than 0" example:"64250.12"`
	Note  wire.Opt[string] `json:"note,omitempty" maxLength:"500" doc:"Whatever else is to be known of it; null for nothing" example:"Kraken, last trade of the day"`
}

// TransformSchema asks for at least one change.
func (UpdatePrice) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// ImportPrices is a form with a file of prices.
type ImportPrices struct {
	File    *wire.File `json:"file" doc:"CSV of up to 25,000 prices and 8 MiB. Its first line names the columns, in any order: asset_type, currency, timestamp or date (an RFC 3339 time, or a date for the close of that day in the organization's time zone), price, and note if there is one" example:"prices.csv"`
	DryRun  bool       `json:"dry_run,omitempty" doc:"Answer with what would come in, and write nothing"`
	Replace bool       `json:"replace,omitempty" doc:"Whether a price that is there already takes the value of the file; otherwise another value is a fault"`
}

// PriceImport says what became of the prices of a file.
type PriceImport struct {
	DryRun     bool  `json:"dry_run" doc:"Whether nothing was written"`
	Created    int64 `json:"created" minimum:"0" doc:"Prices that are new"`
	Duplicates int64 `json:"duplicates" minimum:"0" doc:"Prices that were there already as the file has them, or stand in it twice"`
	Replaced   int64 `json:"replaced" minimum:"0" doc:"Prices that were there with another value, where replace is true"`
}
