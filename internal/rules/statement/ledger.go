package statement

import (
	"strconv"

	"github.com/bursarhq/bursar/internal/base/money"
)

// ledger holds the books of one entity as tables by account and period, with balances as debits less credits. It is reused
// for one entity after another, because it is large.
type ledger struct {
	periods         int
	debits, credits []money.Decimal
	live            []money.Decimal // balances that follow from the lines
	frozen          []money.Decimal // balances that continue from closed periods; the same slice as live if nothing differs
	historical      []Sides         // of equity, translated; empty unless the books are translated
	first           []int           // by account, the first period with a posting
	fiscal          []int           // by period, the first period of its fiscal year
	spare           []money.Decimal
	columns         []figures // returned by translate
}

// load reads the books of an entity and compares closed balances with current ones.
func (l *ledger) load(b *Books, entity int) []Alarm {
	e := &b.Entities[entity]
	l.clear(len(b.Accounts), len(b.Periods))
	l.historical = nil
	if e.Rates != nil {
		l.historical = make([]Sides, len(l.live))
	}
	for i := range e.Totals {
		t := &e.Totals[i]
		at := l.at(t.Account, t.Period)
		l.debits[at], l.credits[at] = t.Debits, t.Credits
		if e.Rates != nil {
			l.historical[at] = t.Historical
		}
		l.first[t.Account] = min(l.first[t.Account], t.Period)
	}
	for a := range b.Accounts {
		for p := l.first[a]; p < l.periods; p++ {
			at := l.at(a, p)
			l.live[at] = l.balance(l.live, a, p-1).Add(l.movement(at))
		}
	}
	l.fiscal = fiscalYears(l.fiscal, b.Periods, e.FiscalYearStart)
	var alarms []Alarm
	for _, c := range e.Closings {
		for a := range b.Accounts {
			closed, now := c.Balances[a], l.live[l.at(a, c.Period)]
			if !closed.Equal(now) {
				alarms = append(alarms, Alarm{Entity: entity, Account: a, Period: c.Period, Closed: b.Accounts[a].natural(closed),
					Now: b.Accounts[a].natural(now)})
			}
		}
	}
	l.frozen = l.live
	if len(alarms) > 0 {
		l.freeze(b, e.Closings)
	}
	return alarms
}

// freeze computes the balances that continue from closed periods.
func (l *ledger) freeze(b *Books, closings []Closing) {
	l.spare = zeroed(l.spare, len(l.live))
	l.frozen = l.spare
	closed := make([]*Closing, l.periods)
	for i := range closings {
		closed[closings[i].Period] = &closings[i]
	}
	for a := range b.Accounts {
		for p := range l.periods {
			at := l.at(a, p)
			if c := closed[p]; c != nil {
				l.frozen[at] = c.Balances[a]
				if !c.Balances[a].IsZero() {
					l.first[a] = min(l.first[a], p)
				}
				continue
			}
			l.frozen[at] = l.balance(l.frozen, a, p-1).Add(l.movement(at))
		}
	}
}

func (l *ledger) clear(accounts, periods int) {
	l.periods = periods
	l.debits, l.credits, l.live = zeroed(l.debits, accounts*periods), zeroed(l.credits, accounts*periods), zeroed(l.live, accounts*periods)
	if len(l.first) != accounts {
		l.first = make([]int, accounts)
	}
	for a := range l.first {
		l.first[a] = never
	}
}

// zeroed returns a slice of n zeros, reusing s if it is large enough.
func zeroed(s []money.Decimal, n int) []money.Decimal {
	if cap(s) < n {
		return make([]money.Decimal, n)
	}
	s = s[:n]
	clear(s)
	return s
}

func (l *ledger) at(account, period int) int { return account*l.periods + period }

func (l *ledger) movement(at int) money.Decimal {
	if l.debits[at].IsZero() && l.credits[at].IsZero() {
		return money.Decimal{}
	}
	return l.debits[at].Sub(l.credits[at])
}

// balance returns the balance of an account at the end of a period; before the first period it is zero.
func (l *ledger) balance(chain []money.Decimal, account, period int) money.Decimal {
	if period < 0 {
		return money.Decimal{}
	}
	return chain[l.at(account, period)]
}

// adjusted returns by how much the movement of frozen balances in a period exceeds that of the lines.
func (l *ledger) adjusted(account, period int) money.Decimal {
	if &l.frozen[0] == &l.live[0] {
		return money.Decimal{}
	}
	frozen := l.balance(l.frozen, account, period).Sub(l.balance(l.frozen, account, period-1))
	return frozen.Sub(l.balance(l.live, account, period).Sub(l.balance(l.live, account, period-1)))
}

// earnings holds the translated income less expenses of one entity, cumulated by period.
type earnings struct {
	live, frozen    []money.Decimal
	debits, credits []money.Decimal // of income and expense accounts in each period
	first           int
	fiscal          []int
}

func (l *ledger) earnings(b *Books, t *translator) earnings {
	n := l.periods
	all := make([]money.Decimal, 4*n)
	e := earnings{live: all[:n:n], frozen: all[n : 2*n : 2*n], debits: all[2*n : 3*n : 3*n], credits: all[3*n:], first: never,
		fiscal: l.fiscal}
	for a, account := range b.Accounts {
		if account.Type.permanent() || l.first[a] == never {
			continue
		}
		e.first = min(e.first, l.first[a])
		for p := l.first[a]; p < n; p++ {
			at := l.at(a, p)
			debits, credits := t.average(l.debits[at], p), t.average(l.credits[at], p)
			e.debits[p], e.credits[p] = e.debits[p].Add(debits), e.credits[p].Add(credits)
			if extra := l.adjusted(a, p); !extra.IsZero() {
				e.frozen[p] = e.frozen[p].Sub(t.average(extra, p))
			}
		}
	}
	for p := range n {
		earned := e.credits[p].Sub(e.debits[p])
		e.live[p], e.frozen[p] = before(e.live, p).Add(earned), before(e.frozen, p).Add(e.frozen[p]).Add(earned)
	}
	return e
}

func before(chain []money.Decimal, period int) money.Decimal {
	if period <= 0 {
		return money.Decimal{}
	}
	return chain[period-1]
}

// retained returns the earnings of the years before that of a period.
func (e *earnings) retained(chain []money.Decimal, period int) money.Decimal {
	if period < 0 {
		return money.Decimal{}
	}
	return before(chain, e.fiscal[period])
}

// current returns the earnings of a period's fiscal year up to the end of the period.
func (e *earnings) current(chain []money.Decimal, period int) money.Decimal {
	if period < 0 {
		return money.Decimal{}
	}
	return chain[period].Sub(e.retained(chain, period))
}

// yearEndTransfer returns the amount that moves from current to retained earnings in a period: zero unless the period is
// the first of a fiscal year.
func (e *earnings) yearEndTransfer(period int) money.Decimal {
	if period == 0 || e.fiscal[period] != period {
		return money.Decimal{}
	}
	return e.current(e.frozen, period-1)
}

// sinceRetained returns the first period with earnings from a previous year.
func (e *earnings) sinceRetained() int {
	for p, start := range e.fiscal {
		if start > e.first {
			return p
		}
	}
	return never
}

// fiscalYears returns, for every period, the first period of its fiscal year.
func fiscalYears(out []int, periods []string, startMonth int) []int {
	out = out[:0]
	year := 0
	for p, key := range periods {
		if y := fiscalYear(key, startMonth); p == 0 || y != year {
			year = y
			out = append(out, p)
			continue
		}
		out = append(out, out[p-1])
	}
	return out
}

// fiscalYear returns the calendar year in which the fiscal year of a period begins.
func fiscalYear(key string, startMonth int) int {
	year, _ := strconv.Atoi(key[:4])
	month, _ := strconv.Atoi(key[5:])
	if month < startMonth {
		year--
	}
	return year
}

// Boundaries returns the closed periods of an entity whose closings the statement needs: where balances open and close, and
// where fiscal years end. Translated earnings are cumulated by month and need all of them.
func (b *Books) Boundaries(entity int, closed []int) []int {
	e := &b.Entities[entity]
	if e.Rates != nil {
		return closed
	}
	wanted := make([]bool, len(b.Periods))
	want := func(period int) {
		latest := -1 // an open period continues from the latest closed period before it
		for _, c := range closed {
			if c <= period {
				latest = max(latest, c)
			}
		}
		if latest >= 0 {
			wanted[latest] = true
		}
	}
	fiscal := fiscalYears(nil, b.Periods, e.FiscalYearStart)
	for _, p := range b.Columns {
		want(p)
		if p > 0 { // its opening balance, and the end of the fiscal year before that
			want(p - 1)
			want(fiscal[p-1] - 1)
		}
	}
	var out []int
	for _, c := range closed {
		if c < len(wanted) && wanted[c] {
			out = append(out, c)
		}
	}
	return out
}
