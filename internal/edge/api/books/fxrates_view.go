package books

import (
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// FXRate is the exchange rate of a date: one unit of base_currency is worth rate units of quote_currency.
type FXRate struct {
	BaseCurrency  string  `json:"base_currency" doc:"ISO 4217 currency of which the rate gives the price of one unit." example:"EUR"`
	QuoteCurrency string  `json:"quote_currency" doc:"ISO 4217 currency of the price." example:"USD"`
	Date          string  `json:"date" format:"date" doc:"Date of the rate."`
	Rate          string  `json:"rate" format:"decimal" doc:"Units of quote_currency per unit of base_currency." example:"1.0842"`
	Source        *string `json:"source" doc:"Origin of the exchange rate." example:"ECB"`
	CreatedAt     string  `json:"created_at" format:"date-time" doc:"When a rate for the date and pair was first stored."`
	UpdatedAt     *string `json:"updated_at" format:"date-time" doc:"When the rate was last replaced; null if never."`
}

// StoreFXRates holds rates to store, all or none.
type StoreFXRates struct {
	Rates  []StoreFXRate `json:"rates" minItems:"1" maxItems:"1000" doc:"The rates, at most one per date and pair. A rate that is already stored is replaced."`
	DryRun bool          `json:"dry_run,omitempty" doc:"If true, return what would be stored without writing anything. Defaults to false."`
}

// StoreFXRate is a rate to store: one unit of base_currency is worth rate units of quote_currency.
type StoreFXRate struct {
	BaseCurrency  string           `json:"base_currency" minLength:"3" maxLength:"3" doc:"ISO 4217 currency of which the rate gives the price of one unit." example:"EUR"`
	QuoteCurrency string           `json:"quote_currency" minLength:"3" maxLength:"3" doc:"ISO 4217 currency in which the rate is given; different from base_currency." example:"USD"`
	Date          string           `json:"date" format:"date" doc:"Date of the rate."`
	Rate          string           `json:"rate" format:"decimal" doc:"Units of quote_currency per unit of base_currency; more than 0." example:"1.0842"`
	Source        wire.Opt[string] `json:"source,omitempty" maxLength:"200" doc:"Origin of the exchange rate." example:"ECB"`
}

// FXRates holds the stored rates.
type FXRates struct {
	Data []FXRate `json:"data" doc:"The stored rates, in the order of the request."`
}
