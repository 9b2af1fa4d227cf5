package bitstamp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// kind is a type of transactions.
type kind struct {
	name string // as the documentation calls it
	tag  string // one of intake.Types if it is certain
}

// kinds are the types that Bitstamp documents, by their numbers.
var kinds = map[string]kind{
	"0": {"deposit", "DEPOSIT"}, "1": {"withdrawal", "WITHDRAWAL"}, "2": {"market trade", "SWAP"},
	"14": {"sub account transfer", "INTERNAL TRANSFER"}, "25": {"credited with staked assets", ""}, "26": {"sent assets to staking", ""},
	"27": {"staking reward", "STAKING_REWARD"}, "32": {"referral reward", "INCOME"}, "33": {"settlement transfer", ""},
	"35": {"inter account transfer", ""}, "58": {"derivatives periodic settlement", ""}, "59": {"insurance fund claim", ""},
	"60": {"insurance fund premium", ""}, "61": {"collateral liquidation", ""},
}

// trade is the number of market trades.
const trade = "2"

// about are the fields of a transaction that are no amounts and no rates. The others are amounts, named by a currency such as usd, and
// rates, named by two, such as btc_usd.
var about = map[string]bool{"datetime": true, "fee": true, "id": true, "order_id": true, "type": true, "self_trade": true,
	"self_trade_order_id": true}

// transaction is a transaction of an account.
type transaction struct {
	id     int64
	at     time.Time
	number string // of its type
	order  string // empty if there is none
	fee    money.Decimal
	fields map[string]json.RawMessage
}

var (
	errForm    = errors.New("it is not a transaction")
	errID      = errors.New("it has no id")
	errTime    = errors.New("it has no time")
	errFee     = errors.New("its fee is not an amount")
	errFeeIn   = errors.New("it does not say in which currency its fee is")
	errAmount  = errors.New("it has no amount")
	errTrading = errors.New("it does not say how much of both currencies was traded")
)

// layout is how Bitstamp writes times, with or without a fraction of the second.
const layout = "2006-01-02 15:04:05"

// parse reads what all transactions have.
func parse(original json.RawMessage) (transaction, error) {
	t := transaction{}
	if json.Unmarshal(original, &t.fields) != nil || t.fields == nil {
		return t, errForm
	}
	id, err := strconv.ParseInt(t.text("id"), 10, 64)
	if err != nil || id <= 0 {
		return t, errID
	}
	t.id = id
	if t.at, err = time.Parse(layout, t.text("datetime")); err != nil {
		return t, errTime
	}
	t.number, t.order = t.text("type"), t.text("order_id")
	if t.fee, err = provider.ParseAmount(t.text("fee")); err != nil {
		return t, errFee
	}
	return t, nil
}

// name returns the id of a transaction, and an empty text if it has none.
func (t transaction) name() string {
	if t.id == 0 {
		return ""
	}
	return strconv.FormatInt(t.id, 10)
}

// text returns a field that is a text or a number, and an empty text for others.
func (t transaction) text(field string) string {
	var out provider.Text
	if json.Unmarshal(t.fields[field], &out) != nil {
		return ""
	}
	return string(out)
}

// amount returns a field that is an amount.
func (t transaction) amount(field string) (money.Decimal, bool) {
	amount, err := provider.ParseAmount(t.text(field))
	return amount, err == nil
}

// amounts returns the amounts by currency, without those that are zero. Bitstamp documents that these are numbers, and others texts. What
// else is a number is an amount only if it cannot be something else, such as an id, which should be known before it is booked.
func (t transaction) amounts() (map[string]money.Decimal, error) {
	out := map[string]money.Decimal{}
	read := false
	for field, value := range t.fields {
		if about[field] || !isSymbol(field) {
			continue
		}
		amount, ok := t.amount(field)
		read = read || ok
		switch {
		case !ok || amount.IsZero():
		case value[0] != '"' && !t.isAmount(field):
			return nil, fmt.Errorf("it has an unknown field called %q", field)
		default:
			out[field] = amount
		}
	}
	if !read {
		return nil, errAmount
	}
	return out, nil
}

// coins are the assets of which a number is an amount. Others are known by the rate that a trade states.
var coins = map[string]bool{"aave": true, "ada": true, "algo": true, "avax": true, "bch": true, "btc": true, "dai": true, "doge": true,
	"dot": true, "eth": true, "eth2": true, "eth2r": true, "eurc": true, "grt": true, "link": true, "ltc": true, "matic": true, "mkr": true,
	"pyusd": true, "rlusd": true, "shib": true, "sol": true, "sui": true, "uni": true, "usdc": true, "usdt": true, "xlm": true, "xrp": true}

// isAmount reports whether a number is an amount, although amounts are usually texts: its field is called by a coin or by money of a
// country, or the transaction states a rate of its currency. A fraction alone says nothing: a price has one, too.
func (t transaction) isAmount(field string) bool {
	base, quote := t.pair()
	return field == base || field == quote || coins[field] || money.IsFiat(strings.ToUpper(field))
}

// symbolMax is how long the symbol of a currency can be.
const symbolMax = 20

// isSymbol reports whether a field can be called by a currency.
func isSymbol(field string) bool {
	return field != "" && len(field) <= symbolMax && strings.IndexFunc(field, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) < 0
}

// pair returns the currencies that were traded, which the field with the rate is called by.
func (t transaction) pair() (base, quote string) {
	for _, field := range slices.Sorted(maps.Keys(t.fields)) {
		rate, ok := t.amount(field)
		base, quote, both := strings.Cut(field, "_")
		if _, has := t.fields[base]; !about[field] && both && ok && !rate.IsZero() && has {
			if _, has := t.fields[quote]; has {
				return base, quote
			}
		}
	}
	return "", ""
}

// records returns the records of a transaction: one for each currency. The fee comes on top of the amount, in the second currency of a
// pair.
func (t transaction) records(original json.RawMessage) ([]provider.Record, error) {
	amounts, err := t.amounts()
	if err != nil {
		return nil, err
	}
	currencies := slices.Sorted(maps.Keys(amounts))
	charged := ""
	if base, quote := t.pair(); t.number == trade && base != "" {
		_, sold := t.amount(base)
		if _, bought := t.amount(quote); !sold || !bought {
			return nil, errTrading
		}
		if charged = quote; !t.fee.IsZero() && !slices.Contains(currencies, quote) {
			currencies = append(currencies, quote) // so little was traded that only the fee is left
		}
	} else if len(currencies) == 1 {
		charged = currencies[0]
	}
	if charged == "" && !t.fee.IsZero() {
		return nil, errFeeIn
	}
	var out []provider.Record
	for _, currency := range currencies {
		fee := money.Decimal{}
		if currency == charged {
			fee = t.fee
		}
		legs, _ := intake.Movement(t.record(currency, amounts[currency], len(currencies) > 1), amounts[currency], fee)
		for _, leg := range legs {
			out = append(out, provider.Record{Record: leg, Original: original})
		}
	}
	return out, nil
}

// record returns what a record says besides the quantity.
func (t transaction) record(currency string, amount money.Decimal, several bool) intake.Record {
	k, known := kinds[t.number]
	if !known {
		k.name = "type " + provider.Clean(t.number)
	}
	r := intake.Record{ExternalID: t.name(), Timestamp: t.at, Currency: strings.ToUpper(currency), Type: k.tag, Description: k.name,
		ProviderCategory: k.name}
	if k.tag == "DEPOSIT" && amount.Sign() < 0 || k.tag == "WITHDRAWAL" && amount.Sign() > 0 {
		r.Type = "" // it was returned
	}
	if several {
		r.Group, r.ExternalID = r.ExternalID, r.ExternalID+":"+r.Currency
	}
	if t.order != "" && t.order != "0" {
		r.Memo = "order " + provider.Clean(t.order)
	}
	return r
}
