package ramp

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// ledger is a list of what moved on the card account.
type ledger struct {
	name, path string
	sorted     bool // it can be asked for in the order of time
	parse      func(json.RawMessage) (row, error)
}

var (
	transactions = ledger{name: "transactions", path: "/transactions", sorted: true, parse: parseTransaction}
	transfers    = ledger{name: "transfers", path: "/transfers", parse: parseTransfer}
	cashbacks    = ledger{name: "cashbacks", path: "/cashbacks", parse: parseCashback}

	ledgers = []ledger{transactions, transfers, cashbacks}
)

// row is what is in a ledger.
type row struct {
	id      string
	made    time.Time // by which rows are asked for
	open    bool      // it may be settled later
	ended   bool      // it moves no money, even if it has been settled before
	records []intake.Record
}

// Why a row is left out.
var (
	errForm     = errors.New("it is not in the form of Ramp's list")
	errID       = errors.New("it has no id")
	errTime     = errors.New("it has no time")
	errState    = errors.New("it does not say whether it is settled")
	errAmount   = errors.New("it does not state its amount")
	errDigits   = errors.New("its amount has more digits than its currency")
	errCurrency = errors.New("the smallest unit of its currency is not known")
)

// idOf returns the id of a row that is left out, for people.
func idOf(original json.RawMessage) string {
	var named struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(original, &named) != nil {
		return ""
	}
	return named.ID
}

// layouts are how Ramp writes times. Without a zone, they are in UTC.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateOnly}

// instant returns a time, and the zero time for what is none.
func instant(text string) time.Time {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// transaction is a transaction of a card.
type transaction struct {
	ID         string   `json:"id"`
	State      string   `json:"state"`
	Made       string   `json:"user_transaction_time"`
	Settled    string   `json:"settlement_date"`
	Amount     *decimal `json:"amount"` // in units of the currency; above zero for a purchase
	Currency   string   `json:"currency_code"`
	Merchant   string   `json:"merchant_name"`
	Descriptor string   `json:"merchant_descriptor"`
	Code       string   `json:"merchant_category_code"`
	Category   string   `json:"sk_category_name"`
	Memo       string   `json:"memo"`
	Holder     *struct {
		First string `json:"first_name"`
		Last  string `json:"last_name"`
	} `json:"card_holder"`
}

func parseTransaction(original json.RawMessage) (row, error) {
	var t transaction
	if json.Unmarshal(original, &t) != nil {
		return row{id: idOf(original)}, errForm
	}
	out := row{id: t.ID, made: instant(t.Made)}
	switch {
	case t.ID == "":
		return out, errID
	case out.made.IsZero():
		return out, errTime
	case t.State == "":
		return out, errState
	case t.State != "CLEARED":
		out.open = strings.HasPrefix(t.State, "PENDING") || t.State == "COMPLETION"
		return out, nil
	case t.Amount == nil:
		return out, errAmount
	}
	code := strings.ToUpper(t.Currency)
	places, known := money.MinorUnits(code)
	if !known {
		return out, errCurrency
	}
	if _, after, _ := strings.Cut(t.Amount.String(), "."); len(after) > int(places) {
		return out, errDigits
	}
	at := instant(t.Settled)
	if at.IsZero() {
		at = out.made
	}
	merchant := provider.Clean(cmp.Or(t.Merchant, t.Descriptor))
	r := intake.Record{ExternalID: t.ID, Timestamp: at, Currency: code, Vendor: merchant, Memo: provider.Clean(t.Memo),
		Description:      provider.Clean(cmp.Or(t.Descriptor, t.Merchant)),
		ProviderCategory: provider.Clean(cmp.Or(t.Category, "card transaction")),
		Card:             &intake.Card{MerchantName: merchant, MerchantCategory: provider.Clean(t.Code)}}
	if t.Holder != nil {
		r.Card.CardholderName = provider.Clean(t.Holder.First + " " + t.Holder.Last)
	}
	out.records, _ = intake.Movement(r, t.Amount.Neg(), money.Decimal{})
	return out, nil
}

// credit is a transfer or cashback. Above zero, it reduces what is owed.
type credit struct {
	ID     string `json:"id"`
	Made   string `json:"created_at"`
	Status string `json:"status"` // of a transfer
	Amount *struct {
		Amount   json.Number `json:"amount"` // in the smallest unit of the currency
		Currency string      `json:"currency_code"`
	} `json:"amount"`
}

// units are the smallest units of currencies, by their digits after the point.
var units = []money.Decimal{money.FromInt(1), money.MustParse("0.1"), money.MustParse("0.01"), money.MustParse("0.001"),
	money.MustParse("0.0001")}

// parseCredit reads a transfer or cashback, with its amount as it is stated.
func parseCredit(original json.RawMessage) (c credit, out row, err error) {
	if json.Unmarshal(original, &c) != nil {
		return c, row{id: idOf(original)}, errForm
	}
	out = row{id: c.ID, made: instant(c.Made)}
	switch {
	case c.ID == "":
		err = errID
	case out.made.IsZero():
		err = errTime
	}
	return c, out, err
}

// settle adds the record of a transfer or cashback that is settled.
func (c credit) settle(out row, r intake.Record) (row, error) {
	if c.Amount == nil || strings.Contains(c.Amount.Amount.String(), ".") {
		return out, errAmount
	}
	amount, err := money.Parse(c.Amount.Amount.String())
	if err != nil {
		return out, errAmount
	}
	r.Currency = strings.ToUpper(c.Amount.Currency)
	places, known := money.MinorUnits(r.Currency)
	if !known || int(places) >= len(units) {
		return out, errCurrency
	}
	r.ExternalID, r.Timestamp, r.Card = c.ID, out.made, &intake.Card{}
	out.records, _ = intake.Movement(r, amount.Mul(units[places]), money.Decimal{})
	return out, nil
}

// ended are the statuses of transfers that will not move money any more.
var ended = map[string]bool{"CANCELED": true, "ERROR": true, "NOT_ENOUGH_FUNDS": true, "REJECTED_BY_ODFI": true, "RETURNED_BY_RDFI": true,
	"UNNECESSARY": true}

func parseTransfer(original json.RawMessage) (row, error) {
	c, out, err := parseCredit(original)
	switch {
	case err != nil:
		return out, err
	case c.Status == "":
		return out, errState
	case c.Status != "COMPLETED" && c.Status != "ACH_CONFIRMED":
		out.open, out.ended = !ended[c.Status], ended[c.Status]
		return out, nil
	}
	return c.settle(out, intake.Record{Description: "Payment of the card account", ProviderCategory: "transfer", Type: "INTERNAL TRANSFER"})
}

func parseCashback(original json.RawMessage) (row, error) {
	c, out, err := parseCredit(original)
	if err != nil {
		return out, err
	}
	return c.settle(out, intake.Record{Description: "Cashback", ProviderCategory: "cashback"})
}
