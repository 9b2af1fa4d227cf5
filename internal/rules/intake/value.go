package intake

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/money"
)

// symbolMax bounds the symbol of an asset, in bytes. Tokens may have any name.
const symbolMax = 64

// notFiat returns the symbol of a token, or its contract address if the symbol is missing or that of a fiat currency,
// so that a token called USD does not pass for the currency.
func notFiat(symbol, contract string) string {
	if symbol == "" || isFiat(symbol) {
		return strings.ToLower(strings.TrimSpace(contract))
	}
	return symbol
}

// cleanCurrency normalizes a currency code or symbol; it returns an empty string if the text cannot be one.
func cleanCurrency(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > symbolMax || strings.IndexFunc(s, func(r rune) bool { return unicode.IsControl(r) }) >= 0 {
		return ""
	}
	return strings.ToUpper(s)
}

// lastFour returns the last four letters or digits of an account number, ignoring spaces between digits.
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

// signs are the currency symbols written beside amounts, with the currencies they may stand for.
var signs = map[string]string{
	"€": "EUR", "£": "GBP", "¥": "JPY CNY", "₹": "INR", "₿": "BTC", "Ξ": "ETH", "₺": "TRY", "₽": "RUB", "₩": "KRW", "₪": "ILS",
	"฿": "THB", "₫": "VND", "₱": "PHP", "₦": "NGN", "₴": "UAH", "R$": "BRL", "US$": "USD", "C$": "CAD", "CA$": "CAD",
	"A$": "AUD", "AU$": "AUD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD", "SG$": "SGD", "MX$": "MXN", "ZŁ": "PLN", "KČ": "CZK",
	"FT": "HUF", "KR": "SEK NOK DKK ISK", "LEI": "RON", "FR": "CHF", "SFR": "CHF", "RS": "INR PKR", "ЛВ": "BGN",
}

// matchesCurrency reports whether the code or symbol beside a number may mean the currency. A dollar sign may mean
// many.
func matchesCurrency(code, currency string) bool {
	if code == "" || code == currency || code == "$" {
		return true
	}
	if known, ok := signs[code]; ok {
		return strings.Contains(known, currency) && currency != ""
	}
	return false
}

// triple is the value stated by a row; missing parts are nil.
type triple struct{ gross, fee, net *money.Decimal }

// value converts a triple into a Value. Its parts have no sign, except for a returned fee. slack is how many minor
// units the three may differ by if a platform rounds each separately.
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
		if err := t.validateSum(currency, slack); err != nil {
			return nil, err
		}
		if t.gross.Cmp(*t.net) < 0 { // By less than a unit, so there was no fee.
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

// validateSum requires the three parts to add up to within a minor unit. Gross and net are what moved, so the fee
// absorbs a remainder below the unit.
func (t triple) validateSum(currency string, slack int64) error {
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

// isFiat reports whether a currency is fiat money, which needs no price.
func isFiat(currency string) bool {
	return utf8.RuneCountInString(currency) == 3 && money.IsFiat(currency)
}

// legs are the records of one movement.
type legs struct {
	main Record
	// rebate is a returned fee, extra a fee that exceeds what arrived: both get records of their own, because a fee is
	// never negative and never larger than its gross.
	rebate, extra *Record
}

// splitLegs sets the quantity and, for fiat, the value of a movement of amount, above zero for an inflow. The fee, in
// the same currency, is deducted from what arrives and added to what leaves. r holds the rest of the record.
func splitLegs(r Record, amount, fee money.Decimal) legs {
	out := legs{}
	r.Inflow = amount.Sign() > 0
	if amount.IsZero() {
		r.Type = typeFee // Only the fee moved.
	}
	if fee.Sign() < 0 {
		back := r
		back.Value = nil
		back.ExternalID, back.Type = r.ExternalID+":rebate", typeRefund
		back.setAmounts(fee.Abs(), money.Decimal{}, true)
		out.rebate = &back
		fee = money.Decimal{}
	}
	if r.Inflow && fee.Cmp(amount) > 0 {
		more := r
		more.Value = nil
		more.ExternalID, more.Type = r.ExternalID+":fee", typeFee
		more.setAmounts(fee, money.Decimal{}, false)
		out.extra = &more
		fee = money.Decimal{}
	}
	gross := amount.Abs()
	if !r.Inflow {
		gross = gross.Add(fee)
	}
	r.setAmounts(gross, fee, r.Inflow)
	out.main = r
	return out
}

// setAmounts sets quantity, fee and direction, and the value if the currency is fiat.
func (r *Record) setAmounts(gross, fee money.Decimal, inflow bool) {
	r.Inflow = inflow
	r.Quantity = &gross
	if isFiat(r.Currency) {
		net := gross.Sub(fee)
		if r.Type == typeFee && net.IsZero() { // A separate fee is what the platform received.
			net, fee = gross, money.Decimal{}
		}
		r.Value = &Value{Gross: gross, Fee: fee, Net: net, Currency: r.Currency}
		return
	}
	r.setAssetType()
	if !fee.IsZero() && !(r.Type == typeFee && fee.Equal(gross)) {
		r.Crypto.FeeQuantity, r.Crypto.FeeAssetType = &fee, r.Currency
	}
}

// setAssetType gives a record of a non-fiat asset a Crypto of its own, not shared with other legs.
func (r *Record) setAssetType() {
	c := Crypto{}
	if r.Crypto != nil {
		c = *r.Crypto
	}
	c.AssetType = r.Currency
	r.Crypto = &c
}

// records returns the legs, joined by a group if there are several.
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
			all[i].ExternalID = l.main.ExternalID + legSuffix(all[i].Inflow)
		}
	}
	return all
}

// legSuffix tells the ids of two legs apart.
func legSuffix(inflow bool) string {
	if inflow {
		return ":in"
	}
	return ":out"
}
