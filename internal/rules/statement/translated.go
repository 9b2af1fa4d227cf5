package statement

import "github.com/bursarhq/bursar/internal/base/money"

// figures is an account of the balance sheet in one period, in the currency of the statement. Balances are debits less
// credits. The effect is how much the balance moved because the rate did.
type figures struct{ opening, debits, credits, closing, current, effect money.Decimal }

// translate returns the figures of an account in the periods shown. They are valid until the next call.
func (l *ledger) translate(b *Books, t *translator, a int) []figures {
	if len(l.columns) != len(b.Columns) {
		l.columns = make([]figures, len(b.Columns))
	}
	out := l.columns
	clear(out)
	if t.rates != nil && b.Accounts[a].KeepsRates {
		l.translateHistorical(b, t, a, out)
		return out
	}
	for i, p := range b.Columns {
		f, at := &out[i], l.at(a, p)
		if p > 0 {
			f.opening = t.closing(l.frozen[at-1], p-1)
		}
		f.debits, f.credits = t.closing(l.debits[at], p), t.closing(l.credits[at], p)
		f.closing, f.current = t.closing(l.frozen[at], p), t.closing(l.live[at], p)
		if t.rates != nil {
			booked := f.debits.Sub(f.credits).Add(t.closing(l.adjusted(a, p), p))
			f.effect = f.closing.Sub(f.opening).Sub(booked)
		}
	}
	return out
}

// translateHistorical translates an equity account. Its lines keep the rates of their dates, so its balances are sums of
// translated lines and there is no effect of the rate. A difference from the balance at a close is translated at the rate of
// that close.
func (l *ledger) translateHistorical(b *Books, t *translator, a int, out []figures) {
	var live, frozen money.Decimal
	column := 0
	for p := l.first[a]; p < l.periods; p++ {
		opening, at := frozen, l.at(a, p)
		moved := l.historical[at].Debits.Sub(l.historical[at].Credits)
		add(&live, moved)
		add(&frozen, moved)
		add(&frozen, t.closing(l.adjusted(a, p), p))
		for column < len(b.Columns) && b.Columns[column] < p {
			column++
		}
		if column < len(b.Columns) && b.Columns[column] == p {
			out[column] = figures{opening: opening, debits: l.historical[at].Debits, credits: l.historical[at].Credits, closing: frozen,
				current: live}
		}
	}
}
