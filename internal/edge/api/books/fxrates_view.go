package books

import (
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// FXRate is the rate of a day: one unit of base_currency is rate units of quote_currency.
type FXRate struct {
	BaseCurrency  string  `json:"base_currency" doc:"The ISO 4217 currency of which one unit is meant" example:"EUR"`
	QuoteCurrency string  `json:"quote_currency" doc:"The ISO 4217 currency it is expressed in" example:"USD"`
	Date          string  `json:"date" format:"date" doc:"The day"`
	Rate          string  `json:"rate" format:"decimal" doc:"How many units of quote_currency are 1 unit of base_currency" example:"1.0842"`
	Source        *string `json:"source" doc:"Who says so" example:"ECB"`
	CreatedAt     string  `json:"created_at" format:"date-time" doc:"When a rate of that day and pair was first stored"`
	UpdatedAt     *string `json:"updated_at" format:"date-time" doc:"When it was last replaced"`
}

// StoreFXRates are rates to keep, all of them or none.
type StoreFXRates struct {
	Rates []StoreFXRate `json:"rates" minItems:"1" maxItems:"1000" doc:"The rates, no two of the same day and pair; one that is there already is replaced"`
}

// StoreFXRate is one rate to keep: 1 unit of base_currency = rate units of quote_currency.
type StoreFXRate struct {
	BaseCurrency  string           `json:"base_currency" minLength:"3" maxLength:"3" doc:"The ISO 4217 currency of which one unit is meant" example:"EUR"`
	QuoteCurrency string           `json:"quote_currency" minLength:"3" maxLength:"3" doc:"The ISO 4217 currency it is expressed in, another one" example:"USD"`
	Date          string           `json:"date" format:"date" doc:"The day"`
	Rate          string           `json:"rate" format:"decimal" doc:"How many units of quote_currency are 1 unit of base_currency; more than 0" example:"1.0842"`
	Source        wire.Opt[string] `json:"source,omitempty" maxLength:"200" doc:"Who says so" example:"ECB"`
}

// FXRates are rates that were stored.
type FXRates struct {
	Data []FXRate `json:"data" doc:"The rates as they are kept, in the order they were sent"`
}
