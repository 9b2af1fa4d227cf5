package posting

import "github.com/bursarhq/bursar/internal/base/money"

// worth is a value in the currency of the books, at its minor unit.
type valuation struct{ gross, fee money.Decimal }

func (w valuation) net() money.Decimal { return w.gross.Sub(w.fee) }

// worth is the value of a leg in the currency of its legal entity.
func (p *Plan) valueLeg(l *Leg) (valuation, error) { return p.valueLegIn(l, p.currency(l)) }

// currency is that of the leg's legal entity.
func (p *Plan) currency(l *Leg) string { return p.in.Books.Currencies[l.Entity] }

func (p *Plan) valueLegIn(l *Leg, currency string) (valuation, error) {
	if l.Value == nil {
		return valuation{}, refuse(NoValue, fieldValue, "what %s was worth is not known", l.Asset.Symbol)
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

// convert rounds an amount to the minor unit of a currency, at the rate that was given where it is in another.
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
	// quantityPlaces is how exact a quantity is that has to be divided.
	quantityPlaces = money.DigitsAfterMax
	// unitPlaces is the number of digits after the point of the smallest unit of most tokens.
	unitPlaces = 18
)

// feeQuantity is the part of an outflow that its fee took. Where the platform does not say, it is the fee's share of the value.
func (l *Leg) feeQuantity() money.Decimal {
	if !l.FeeQuantity.IsZero() || l.Value == nil || l.Value.Gross.IsZero() {
		return l.FeeQuantity
	}
	return l.Quantity.Mul(l.Value.Fee).Quo(l.Value.Gross, quantityPlaces)
}

// share is the part of an amount that falls on part of a whole; of nothing it is nothing.
func share(amount, part, whole money.Decimal, currency string) money.Decimal {
	if whole.IsZero() {
		return money.Decimal{}
	}
	places, _ := money.MinorUnits(currency)
	return amount.Mul(part).Quo(whole, places)
}

// shortfall is what of a transfer did not arrive, and what it was worth.
func (p *Plan) shortfall(out, in *Leg) (quantity, value money.Decimal, err error) {
	quantity = out.Quantity.Sub(in.netQuantity())
	if quantity.Sign() < 0 {
		return quantity, value, refuse(NotAPair, fieldQuantity, "more %s arrives than left", out.Asset.Symbol)
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
	// What the platforms say of the fee holds where it is about just what is missing.
	if stated := w.fee; stated.Sign() > 0 && priced.FeeQuantity.Equal(quantity) {
		return quantity, stated, nil
	}
	return quantity, share(w.gross, quantity, priced.Quantity, currency), nil
}
