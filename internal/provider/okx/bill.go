package okx

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// bill is an entry of a ledger. Those of the funding account have no more than the fields before Subtype.
type bill struct {
	ID       string        `json:"billId"`
	Time     string        `json:"ts"`
	Currency string        `json:"ccy"`
	Change   provider.Text `json:"balChg"`
	Type     string        `json:"type"`
	Notes    string        `json:"notes"`
	Client   string        `json:"clientId"`

	Subtype        string        `json:"subType"`
	InstrumentType string        `json:"instType"`
	Instrument     string        `json:"instId"`
	Fee            provider.Text `json:"fee"`
	Size           provider.Text `json:"sz"`
	Profit         provider.Text `json:"pnl"`
	PositionChange provider.Text `json:"posBalChg"`
	Order          string        `json:"ordId"`
	Trade          string        `json:"tradeId"`
	From           string        `json:"from"`
	To             string        `json:"to"`
}

// row is a bill as OKX sent it.
type row struct {
	bill
	at       int64 // in milliseconds, zero if it is not stated
	err      error
	original json.RawMessage
}

var (
	errForm = errors.New("it does not have the form of a bill of OKX")
	errID   = errors.New("it has no id, which is a number")
)

// parse decodes a bill. If it has no id or no time, those of the row are empty.
func parse(original json.RawMessage) row {
	r := row{original: original}
	if json.Unmarshal(original, &r.bill) != nil {
		r.bill, r.err = bill{}, errForm
		return r
	}
	if strings.Trim(r.ID, "0123456789") != "" || r.ID == "" {
		r.ID, r.err = "", errID
		return r
	}
	at, err := strconv.ParseInt(r.Time, 10, 64)
	if err != nil || at <= 0 {
		r.err = fmt.Errorf("its time %q is no number of milliseconds", provider.Clean(r.Time))
		return r
	}
	r.at = at
	return r
}

// symbol returns the symbol of an asset, and an empty one for what is none.
func symbol(text string) string {
	text = strings.ToUpper(strings.TrimSpace(text))
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return text
}

// addTo adds the records of a row to a page.
func (r row) addTo(out *provider.Page, ledger string) {
	records, err := r.records(ledger)
	if err != nil {
		out.Omitted = append(out.Omitted, provider.Omission{ID: r.ID, Reason: err.Error(), Original: r.original})
	}
	for _, one := range records {
		out.Records = append(out.Records, provider.Record{Record: one, Original: r.original})
	}
}

// records returns the records of a row: none if the balance did not change.
func (r row) records(ledger string) ([]intake.Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	out := intake.Record{ExternalID: ledger + ":" + r.ID, Timestamp: time.UnixMilli(r.at).UTC(), Currency: symbol(r.Currency),
		ProviderCategory: ledger + " " + provider.Clean(r.Type), Memo: provider.Clean(r.Notes)}
	change, err := provider.ParseAmount(string(r.Change))
	switch {
	case out.Currency == "":
		return nil, fmt.Errorf("%q is not an asset", provider.Clean(r.Currency))
	case err != nil:
		return nil, fmt.Errorf("the change of the balance %w and is %q", err, provider.Clean(string(r.Change)))
	}
	charged := money.Decimal{}
	if ledger == funding {
		out.Description, out.Type = fundingKind(r.Type, change.Sign())
	} else {
		if r.Subtype != "" {
			out.ProviderCategory += "/" + provider.Clean(r.Subtype)
		}
		charged = r.fee(change)
		out.Description, out.Type, out.Group = r.tradingName(), r.tradingType(change.Sign()), r.group()
	}
	records, _ := intake.Movement(out, change.Add(charged), charged) // the change of the balance is after the fee
	return records, nil
}

// fee returns the fee within the change of a balance, above zero for a cost. It is zero unless the other amounts of the bill confirm that
// the fee was taken from this balance.
func (r row) fee(change money.Decimal) money.Decimal {
	stated, err := provider.ParseAmount(string(r.Fee))
	if err != nil || stated.IsZero() {
		return money.Decimal{}
	}
	gross := change.Sub(stated)
	confirmed := r.Size
	if r.derivative() {
		confirmed = r.Profit
	} else {
		gross = gross.Abs()
	}
	if amount, err := provider.ParseAmount(string(confirmed)); err != nil || !amount.Equal(gross) {
		return money.Decimal{}
	}
	return stated.Neg()
}

// movesMargin reports whether a bill moves money between the account and a position, together with what else it does.
func (r row) movesMargin() bool {
	moved, err := provider.ParseAmount(string(r.PositionChange))
	return err == nil && !moved.IsZero()
}

// derivative reports whether a bill is about a future, of which only profits and fees change a balance.
func (r row) derivative() bool { return r.InstrumentType == "SWAP" || r.InstrumentType == "FUTURES" }

// group returns what joins the legs of a trade.
func (r row) group() string {
	switch {
	case r.Order == "":
		return provider.Clean(r.Trade)
	case r.Trade == "":
		return provider.Clean(r.Order)
	}
	return provider.Clean(r.Order + ":" + r.Trade)
}

// tradingName describes a bill of the trading account.
func (r row) tradingName() string {
	name := tradingNames[r.Type]
	if name == "" {
		name = "Type " + provider.Clean(r.Type)
	}
	if r.Instrument != "" {
		name += " " + provider.Clean(r.Instrument)
	}
	return name
}

// tradingType returns the type of a bill of the trading account.
func (r row) tradingType(sign int) string {
	profit := r.derivative() && !r.movesMargin()
	switch r.Type {
	case "1":
		if r.From != r.To {
			return internal
		}
	case "6", "12": // into and out of positions and trading bots
		return internal
	case "2", "14", "24":
		switch {
		case profit:
			return pnl
		case r.InstrumentType == "SPOT", r.InstrumentType == "MARGIN":
			return swap
		}
	case "3", "5", "9", "34":
		if profit {
			return pnl
		}
	case "27", "28", "30":
		return swap
	case "8", "16", "22":
		return signed(map[string]string{"8": fee, "16": borrow, "22": repayment}[r.Type], sign)
	}
	return ""
}

// signed returns a type if an amount has the sign that the type demands, and otherwise none.
func signed(kind string, sign int) string {
	inflow := kind == deposit || kind == staking || kind == income || kind == borrow || kind == refund
	outflow := kind == withdrawal || kind == fee || kind == repayment
	if inflow && sign < 0 || outflow && sign > 0 {
		return ""
	}
	return kind
}

// fundingKind returns the name and the type of a bill of the funding account.
func fundingKind(code string, sign int) (name, kind string) {
	known, ok := fundingKinds[code]
	if !ok {
		return "Type " + provider.Clean(code), ""
	}
	return known.name, signed(known.record, sign)
}
