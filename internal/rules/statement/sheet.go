package statement

import "github.com/bursarhq/bursar/internal/base/money"

// Cell is one account in one period: balances in the account's natural sign.
type Cell struct {
	Opening, Closing money.Decimal
	Current          money.Decimal // the closing balance that follows from the lines
	Debits, Credits  money.Decimal
	FXEffect         money.Decimal // what the balance moved by because the rate did; zero unless translated
}

// Row is one account over the columns.
type Row struct {
	Account int
	Cells   []Cell
	Since   []int // by entity, the first period with a posting
}

// Zero reports whether all amounts of the row are zero.
func (r Row) Zero() bool {
	for i := range r.Cells {
		c := &r.Cells[i]
		if !c.Opening.IsZero() || !c.Closing.IsZero() || !c.Current.IsZero() || !c.Debits.IsZero() || !c.Credits.IsZero() {
			return false
		}
	}
	return true
}

// SheetTotal holds the totals of a column. The difference is zero if the books balance.
type SheetTotal struct{ Assets, LiabilitiesPlusEquity, Difference money.Decimal }

// Sheet is a balance sheet.
type Sheet struct {
	Rows   []Row // the accounts of the balance sheet, in the order of Books.Accounts
	Totals []SheetTotal
	Alarms []Alarm
}

// BalanceSheet computes a balance sheet. Its error is a *MissingRate.
func BalanceSheet(b *Books) (*Sheet, error) {
	s := &Sheet{Totals: make([]SheetTotal, len(b.Columns))}
	rows := s.newRows(b)
	unbalanced := make([]Cell, len(b.Columns)) // by how much books do not balance, so that the translation adjustment does not hide it
	since := make([]int, len(b.Entities))
	translated := b.translated()
	var l ledger
	for e := range b.Entities {
		s.Alarms = append(s.Alarms, l.load(b, e)...)
		t := newTranslator(b, e)
		earned := l.earnings(b, t)
		since[e] = never
		for a, account := range b.Accounts {
			since[e] = min(since[e], l.first[a])
			row := rows[a]
			if row == nil {
				continue
			}
			row.Since[e] = l.first[a]
			if l.first[a] != never {
				row.post(b.Accounts[a], l.translate(b, t, a))
			}
			switch account.Role {
			case CurrentEarnings:
				row.addCurrent(b, &earned)
				row.Since[e] = min(row.Since[e], earned.first)
			case RetainedEarnings:
				row.addRetained(b, &earned)
				row.Since[e] = min(row.Since[e], earned.sinceRetained())
			}
		}
		if translated {
			l.addImbalance(b, t, unbalanced)
		}
		if err := t.err(); err != nil {
			return nil, err
		}
	}
	if at := b.role(TranslationAdjustment); translated && at >= 0 && rows[at] != nil {
		copy(rows[at].Since, since)
		s.addTranslationAdjustment(b, rows[at], unbalanced)
	}
	s.computeTotals(b)
	return s, nil
}

// newRows creates a row for every account of the balance sheet and returns the rows by account, nil for other accounts.
func (s *Sheet) newRows(b *Books) []*Row {
	n := 0
	for _, a := range b.Accounts {
		if a.Type.permanent() {
			n++
		}
	}
	columns, entities := len(b.Columns), len(b.Entities)
	s.Rows = make([]Row, 0, n)
	cells, since := make([]Cell, n*columns), make([]int, n*entities)
	for i := range since {
		since[i] = never
	}
	byAccount := make([]*Row, len(b.Accounts))
	for a, account := range b.Accounts {
		if !account.Type.permanent() {
			continue
		}
		i := len(s.Rows)
		s.Rows = append(s.Rows, Row{a, cells[i*columns : (i+1)*columns : (i+1)*columns], since[i*entities : (i+1)*entities : (i+1)*entities]})
		byAccount[a] = &s.Rows[i]
	}
	return byAccount
}

// post adds the postings of an entity to the account itself.
func (r *Row) post(account Account, columns []figures) {
	for i := range columns {
		c, f := &r.Cells[i], &columns[i]
		add(&c.Opening, account.natural(f.opening))
		add(&c.Closing, account.natural(f.closing))
		add(&c.Current, account.natural(f.current))
		add(&c.FXEffect, account.natural(f.effect))
		c.addMovement(f.debits, f.credits)
	}
}

func (r *Row) addCurrent(b *Books, e *earnings) {
	account := b.Accounts[r.Account]
	for i, p := range b.Columns {
		turned := e.yearEndTransfer(p)
		r.Cells[i].addEarnings(account, e.current(e.frozen, p-1), e.current(e.frozen, p), e.current(e.live, p))
		r.Cells[i].addMovement(e.debits[p], e.credits[p])
		r.Cells[i].transferEarnings(turned.Neg())
	}
}

func (r *Row) addRetained(b *Books, e *earnings) {
	account := b.Accounts[r.Account]
	for i, p := range b.Columns {
		r.Cells[i].addEarnings(account, e.retained(e.frozen, p-1), e.retained(e.frozen, p), e.retained(e.live, p))
		r.Cells[i].transferEarnings(e.yearEndTransfer(p))
	}
}

// addEarnings adds earnings, which are credits less debits.
func (c *Cell) addEarnings(account Account, opening, closing, current money.Decimal) {
	add(&c.Opening, account.natural(opening.Neg()))
	add(&c.Closing, account.natural(closing.Neg()))
	add(&c.Current, account.natural(current.Neg()))
}

func (c *Cell) addMovement(debits, credits money.Decimal) {
	add(&c.Debits, debits)
	add(&c.Credits, credits)
}

// transferEarnings adds a transfer of earnings: a credit if it is positive, else a debit.
func (c *Cell) transferEarnings(credit money.Decimal) {
	if credit.Sign() < 0 {
		c.addMovement(credit.Neg(), money.Decimal{})
		return
	}
	c.addMovement(money.Decimal{}, credit)
}

func add(sum *money.Decimal, addend money.Decimal) {
	switch {
	case addend.IsZero():
	case sum.IsZero():
		*sum = addend
	default:
		*sum = sum.Add(addend)
	}
}

// addImbalance adds the sum of all balances of an entity, debits less credits, which is zero if its books balance.
func (l *ledger) addImbalance(b *Books, t *translator, out []Cell) {
	for i, p := range b.Columns {
		if p > 0 {
			add(&out[i].Opening, t.closing(l.sum(l.frozen, p-1), p-1))
		}
		add(&out[i].Closing, t.closing(l.sum(l.frozen, p), p))
		add(&out[i].Current, t.closing(l.sum(l.live, p), p))
	}
}

func (l *ledger) sum(chain []money.Decimal, period int) (total money.Decimal) {
	for a, first := range l.first {
		if first <= period {
			add(&total, chain[l.at(a, period)])
		}
	}
	return total
}

// addTranslationAdjustment adds what the other rows lack to balance, except for the imbalance of the books themselves.
func (s *Sheet) addTranslationAdjustment(b *Books, into *Row, unbalanced []Cell) {
	own := b.Accounts[into.Account]
	for i := range b.Columns {
		var rest Cell
		for r := range s.Rows {
			row := &s.Rows[r]
			account := b.Accounts[row.Account]
			add(&rest.Opening, account.natural(row.Cells[i].Opening))
			add(&rest.Closing, account.natural(row.Cells[i].Closing))
			add(&rest.Current, account.natural(row.Cells[i].Current))
		}
		u, c := &unbalanced[i], &into.Cells[i]
		rest.Opening, rest.Closing, rest.Current = rest.Opening.Sub(u.Opening), rest.Closing.Sub(u.Closing), rest.Current.Sub(u.Current)
		c.addEarnings(own, rest.Opening, rest.Closing, rest.Current)
		c.transferEarnings(rest.Closing.Sub(rest.Opening))
	}
}

func (s *Sheet) computeTotals(b *Books) {
	for r := range s.Rows {
		row := &s.Rows[r]
		account := b.Accounts[row.Account]
		for i := range row.Cells {
			balance := account.natural(row.Cells[i].Closing)
			if account.Type == Asset {
				add(&s.Totals[i].Assets, balance)
			} else {
				add(&s.Totals[i].LiabilitiesPlusEquity, balance.Neg())
			}
		}
	}
	for i := range s.Totals {
		t := &s.Totals[i]
		t.Difference = t.Assets.Sub(t.LiabilitiesPlusEquity)
	}
}
