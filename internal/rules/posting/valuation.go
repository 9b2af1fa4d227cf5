package posting

import "github.com/bursarhq/bursar/internal/base/money"

// valuation is a value in the currency of the books, rounded to its minor unit.
type valuation struct{ gross, fee money.Decimal }

func (w valuation) net() money.Decimal { return w.gross.Sub(w.fee) }

// valueLeg returns the value of a leg in the base currency of its legal entity.
func (p *Plan) valueLeg(l *Leg) (valuation, error) { return p.valueLegIn(l, p.currency(l)) }

// currency returns the base currency of the leg's legal entity.
func (p *Plan) currency(l *Leg) string { return p.in.Books.Currencies[l.Entity] }

func (p *Plan) valueLegIn(l *Leg, currency string) (valuation, error) {
	if l.Value == nil {
		r := refuse(NoValue, fieldValue, "the value of %s is not known", l.Asset.Symbol)
		r.At = l.At
		return valuation{}, r
	}
	v := *l.Value
	if v.Fee.Sign() < 0 || v.Fee.Cmp(v.Gross) > 0 {
		return valuation{}, refuse(BadValue, fieldValue, "gross must be net plus fee, and none of them negative")
	}
	gross, err := p.in.Books.convert(v.Gross, v.Currency, currency)
	if err != nil {
		return valuation{}, err
	}
	fee, err := p.in.Books.convert(v.Fee, v.Currency, currency)
	if err != nil {
		return valuation{}, err
	}
	return valuation{gross, fee}, nil
}

// convert converts an amount to a currency, if it is in another, and rounds it to the minor unit.
func (b Books) convert(amount money.Decimal, from, to string) (money.Decimal, error) {
	if from == to {
		return amount.RoundTo(to), nil
	}
	rate, ok := b.Rates[Rate{from, to}]
	if !ok {
		r := refuse(MissingRate, fieldValue+".currency", "the rate from %s to %s is needed", from, to)
		r.Rate = Rate{from, to}
		return money.Decimal{}, r
	}
	return amount.Mul(rate).RoundTo(to), nil
}

const (
	// quantityPlaces is the number of decimal places of a divided quantity.
	quantityPlaces = money.DigitsAfterMax
	// unitPlaces is the number of digits after the point of the smallest unit of most tokens.
	unitPlaces = 18
)

// share returns the part of an amount that is due to part of a whole, or 0 if the whole is 0.
func share(amount, part, whole money.Decimal, currency string) money.Decimal {
	if whole.IsZero() {
		return money.Decimal{}
	}
	places, _ := money.MinorUnits(currency)
	return amount.Mul(part).Quo(whole, places)
}

// shortfall returns the quantity of a transfer that did not arrive, and its value.
func (p *Plan) shortfall(out, in *Leg) (quantity, value money.Decimal, err error) {
	quantity = out.Quantity.Sub(in.netQuantity())
	if quantity.Sign() < 0 {
		return quantity, value, refuse(NotAPair, fieldQuantity, "more %s arrived than left", out.Asset.Symbol)
	}
	if quantity.IsZero() {
		return quantity, value, nil
	}
	priced := out
	if out.Value == nil && in.Value != nil {
		priced = in
	}
	currency := p.currency(out)
	w, err := p.valueLegIn(priced, currency)
	if err != nil {
		return quantity, value, err
	}
	// The fee that the platform reports is used if its quantity is exactly the missing one.
	if stated := w.fee; stated.Sign() > 0 && priced.FeeQuantity.Equal(quantity) {
		return quantity, stated, nil
	}
	return quantity, share(w.gross, quantity, priced.Quantity, currency), nil
}
