package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// FXRate is the rate of a day: one unit of the base currency is Rate units of the quote currency.
type FXRate struct {
	BaseCurrency  string     `json:"base_currency"`
	QuoteCurrency string     `json:"quote_currency"`
	Date          string     `json:"date"`
	Rate          string     `json:"rate"`
	Source        *string    `json:"source"`
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     *time.Time `json:"updated_at"`
}

// StoreFXRate is a rate to store.
type StoreFXRate struct {
	BaseCurrency  string  `json:"base_currency"`
	QuoteCurrency string  `json:"quote_currency"`
	Date          string  `json:"date"`
	Rate          string  `json:"rate"`
	Source        *string `json:"source,omitempty"`
}

// FXRates iterates over the rates, newest day first. The query takes the filters of GET /v1/fx-rates.
func (c *Client) FXRates(ctx context.Context, query url.Values) iter.Seq2[FXRate, error] {
	return each[FXRate](ctx, c, "/v1/fx-rates", query)
}

// StoreFXRates stores up to 1000 rates, all or none. It replaces existing rates of the same day and currency pair.
func (c *Client) StoreFXRates(ctx context.Context, rates []StoreFXRate) ([]FXRate, error) {
	body := map[string][]StoreFXRate{"rates": rates}
	return post[[]FXRate](ctx, c, "/v1/fx-rates", body)
}

// PreviewFXRates returns what StoreFXRates would return, without storing anything.
func (c *Client) PreviewFXRates(ctx context.Context, rates []StoreFXRate) ([]FXRate, error) {
	body := map[string]any{"rates": rates, "dry_run": true}
	return one[[]FXRate](ctx, c, Call{Method: http.MethodPost, Path: "/v1/fx-rates", Body: body})
}
