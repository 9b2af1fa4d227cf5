package client

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Price is what one unit of an asset was worth at an instant.
type Price struct {
	ID        string     `json:"id"`
	AssetType string     `json:"asset_type"`
	Currency  string     `json:"currency"`
	Timestamp time.Time  `json:"timestamp"`
	Price     string     `json:"price"`
	Origin    string     `json:"origin"`
	Note      *string    `json:"note"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at"`
}

// CreatePrice describes a new price. Timestamp is an RFC 3339 time, or a date for the close of that day.
type CreatePrice struct {
	AssetType string  `json:"asset_type"`
	Currency  string  `json:"currency"`
	Timestamp string  `json:"timestamp"`
	Price     string  `json:"price"`
	Note      *string `json:"note,omitempty"`
}

// UpdatePrice describes changes; nil leaves a field as it is.
type UpdatePrice struct {
	Price *string           `json:"price,omitempty"`
	Note  *Nullable[string] `json:"note,omitempty"`
}

// ImportPrices is a CSV file of prices. With Replace, they replace stored prices.
type ImportPrices struct {
	File     io.ReadSeeker
	FileName string
	DryRun   bool
	Replace  bool
}

// PriceImport counts the prices of a file by outcome.
type PriceImport struct {
	DryRun     bool  `json:"dry_run"`
	Created    int64 `json:"created"`
	Duplicates int64 `json:"duplicates"`
	Replaced   int64 `json:"replaced"`
}

// Prices iterates over the prices, latest first. The query takes the filters of GET /v1/prices.
func (c *Client) Prices(ctx context.Context, query url.Values) iter.Seq2[Price, error] {
	return each[Price](ctx, c, "/v1/prices", query)
}

// Price returns a price.
func (c *Client) Price(ctx context.Context, id string) (Price, error) {
	return one[Price](ctx, c, Call{Method: http.MethodGet, Path: "/v1/prices/" + url.PathEscape(id)})
}

// CreatePrice creates a price.
func (c *Client) CreatePrice(ctx context.Context, price CreatePrice) (Price, error) {
	return post[Price](ctx, c, "/v1/prices", price)
}

// CreatePrices creates up to 1000 prices, all or none.
func (c *Client) CreatePrices(ctx context.Context, prices []CreatePrice) ([]Price, error) {
	body := map[string][]CreatePrice{"prices": prices}
	return post[[]Price](ctx, c, "/v1/prices/batch", body)
}

// UpdatePrice changes a price.
func (c *Client) UpdatePrice(ctx context.Context, id string, changes UpdatePrice) (Price, error) {
	return one[Price](ctx, c, Call{Method: http.MethodPatch, Path: "/v1/prices/" + url.PathEscape(id), Body: changes})
}

// DeletePrice deletes a price that nothing refers to.
func (c *Client) DeletePrice(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/prices/" + url.PathEscape(id)}, nil)
}

// ImportPrices imports all prices of a file, or none.
func (c *Client) ImportPrices(ctx context.Context, i ImportPrices) (PriceImport, error) {
	f := &Form{File: i.File, FileName: i.FileName, Fields: url.Values{"dry_run": {strconv.FormatBool(i.DryRun)},
		"replace": {strconv.FormatBool(i.Replace)}}}
	return one[PriceImport](ctx, c, Call{Method: http.MethodPost, Path: "/v1/prices/import", Form: f, IdempotencyKey: NewIdempotencyKey()})
}
