package intake

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/money"
)

// symbolMax bounds the symbol of an asset, in bytes. Tokens may be called anything.
const symbolMax = 64

// notFiat keeps a token that calls itself USD from passing for the currency: it goes by its contract.
func notFiat(symbol, contract string) string {
	if symbol == "" || isFiat(symbol) {
		return strings.ToLower(strings.TrimSpace(contract))
	}
	return symbol
}

// cleanCurrency makes the code or symbol of a currency as records have it; empty where it cannot be one.
func cleanCurrency(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > symbolMax || strings.IndexFunc(s, func(r rune) bool { return unicode.IsControl(r) }) >= 0 {
		return ""
	}
	return strings.ToUpper(s)
}

// lastFour gives the last four letters or digits of an account number, over spaces between digits.
func lastFour(s string) string {
	var last [4]byte
	n := len(last)
	for i := len(s) - 1; i >= 0 && n > 0; i-- {
		switch c := s[i]; {
		case isAlphanumeric(c):
			n--
			last[n] = c
		case n < len(last) && !(c == ' ' && i > 0 && isDigit(s[i-1])):
			return string(last[n:])
		}
	}
	return string(last[n:])
}

func isAlphanumeric(c byte) bool {
	return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// signs are what stands beside amounts of a currency instead of its code.
var signs = map[string]string{
	"€": "EUR", "£": "GBP", "¥": "JPY CNY", "₹": "INR", "₿": "BTC", "Ξ": "ETH", "₺": "TRY", "₽": "RUB", "₩": "KRW", "₪": "ILS",
	"฿": "THB", "₫": "VND", "₱": "PHP", "₦": "NGN", "₴": "UAH", "R$": "BRL", "US$": "USD", "C$": "CAD", "CA$": "CAD",
	"A$": "AUD", "AU$": "AUD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD", "SG$": "SGD", "MX$": "MXN", "ZŁ": "PLN", "KČ": "CZK",
	"FT": "HUF", "KR": "SEK NOK DKK ISK", "LEI": "RON", "FR": "CHF", "SFR": "CHF", "RS": "INR PKR", "ЛВ": "BGN",
}

// fits tells whether what stands beside a number may mean the currency. A dollar sign may be of many.
func fits(code, currency string) bool {
	if code == "" || code == currency || code == "$" {
		return true
	}
	if known, ok := signs[code]; ok {
		return strings.Contains(known, currency) && currency != ""
	}
	return false
}

// triple is what a row says of a value; what it does not say is nil.
type triple struct{ gross, fee, net *money.Decimal }

// value makes a Value of a triple, whose parts are without sign but for a fee that came back. slack is how many minor
// units the three may differ by where a platform rounds each by itself.
func (t triple) value(currency string, slack int64) (*Value, error) {
	switch {
	case t.gross == nil && t.net == nil:
		return nil, nil
	case t.gross == nil:
		gross := t.net.Add(deref(t.fee))
		t.gross = &gross
	case t.net == nil:
		net := t.gross.Sub(deref(t.fee))
		t.net = &net
	case t.fee == nil:
	default:
		if err := t.agree(currency, slack); err != nil {
			return nil, err
		}
		if t.gross.Cmp(*t.net) < 0 { // By less than a unit: there was no fee.
			t.net = t.gross
		}
	}
	v := &Value{Gross: *t.gross, Net: *t.net, Currency: currency}
	v.Fee = v.Gross.Sub(v.Net)
	if v.Fee.Sign() < 0 || v.Net.Sign() < 0 {
		return nil, fmt.Errorf("the value of %s before and %s after the fee would make the fee %s", v.Gross, v.Net, v.Fee)
	}
	return v, nil
}

func deref(d *money.Decimal) money.Decimal {
	if d == nil {
		return money.Decimal{}
	}
	return *d
}

// agree checks that the three parts add up to the minor unit. Gross and net are what moved, so a remainder below the
// unit goes to the fee.
func (t triple) agree(currency string, slack int64) error {
	places, _ := money.MinorUnits(currency)
	off := t.gross.Sub(*t.net).Sub(*t.fee).Abs()
	unit := money.FromInt(1)
	for range places {
		unit = unit.Mul(money.MustParse("0.1"))
	}
	if off.IsZero() || off.Cmp(unit) < 0 || off.Cmp(unit.Mul(money.FromInt(slack))) <= 0 {
		return nil
	}
	return fmt.Errorf("%s before the fee, a fee of %s and %s after it do not add up", t.gross, t.fee, t.net)
}

// isFiat tells money that needs no price from assets that do.
func isFiat(currency string) bool {
	return utf8.RuneCountInString(currency) == 3 && money.IsFiat(currency)
}

// legs are the records that one movement becomes.
type legs struct {
	main Record
	// rebate is a fee that came back, extra a fee that was more than what arrived: both are movements of their own,
	// because a fee is never negative and never larger than its gross.
	rebate, extra *Record
}

// settle makes the quantity and, for fiat, the value of a movement of amount, above zero for an inflow, with a fee of the
// same currency that comes off what arrives and on top of what leaves. r holds the rest of the record.
func settle(r Record, amount, fee money.Decimal) legs {
	out := legs{}
	r.Inflow = amount.Sign() > 0
	if amount.IsZero() {
		r.Type = typeFee // Nothing moved but the fee.
	}
	if fee.Sign() < 0 {
		back := r
		back.Value = nil
		back.ExternalID, back.Type = r.ExternalID+":rebate", typeRefund
		back.fill(fee.Abs(), money.Decimal{}, true)
		out.rebate = &back
		fee = money.Decimal{}
	}
	if r.Inflow && fee.Cmp(amount) > 0 {
		more := r
		more.Value = nil
		more.ExternalID, more.Type = r.ExternalID+":fee", typeFee
		more.fill(fee, money.Decimal{}, false)
		out.extra = &more
		fee = money.Decimal{}
	}
	gross := amount.Abs()
	if !r.Inflow {
		gross = gross.Add(fee)
	}
	r.fill(gross, fee, r.Inflow)
	out.main = r
	return out
}

// fill sets quantity, fee and direction, and the value where the currency is fiat.
func (r *Record) fill(gross, fee money.Decimal, inflow bool) {
	r.Inflow = inflow
	r.Quantity = &gross
	if isFiat(r.Currency) {
		net := gross.Sub(fee)
		if r.Type == typeFee && net.IsZero() { // A fee by itself is what the platform got.
			net, fee = gross, money.Decimal{}
		}
		r.Value = &Value{Gross: gross, Fee: fee, Net: net, Currency: r.Currency}
		return
	}
	r.asset()
	if !fee.IsZero() && !(r.Type == typeFee && fee.Equal(gross)) {
		r.Crypto.FeeQuantity, r.Crypto.FeeAssetType = &fee, r.Currency
	}
}

// asset gives a record of something that is not fiat its own Crypto.
func (r *Record) asset() {
	c := Crypto{}
	if r.Crypto != nil {
		c = *r.Crypto
	}
	c.AssetType = r.Currency
	r.Crypto = &c
}

// records lists the legs, joined by a group where there are several.
func (l legs) records() []Record {
	all := []Record{l.main}
	for _, more := range []*Record{l.rebate, l.extra} {
		if more != nil {
			all = append(all, *more)
		}
	}
	if len(all) == 1 {
		return all
	}
	if l.main.Quantity.IsZero() {
		return all[1:]
	}
	for i := range all {
		if all[i].Group == "" {
			all[i].Group = l.main.ExternalID
		}
		if all[0].Inflow != all[1].Inflow {
			all[i].ExternalID = l.main.ExternalID + side(all[i].Inflow)
		}
	}
	return all
}

// side is what tells the ids of two legs apart.
func side(inflow bool) string {
	if inflow {
		return ":in"
	}
	return ":out"
}
