package statement

import "github.com/bursarhq/bursar/internal/base/money"

// TrialCell is one account in one period: balances, and what the rate moved them by, as debits less credits.
type TrialCell struct{ Opening, Debits, Credits, Closing, FXEffect money.Decimal }

// TrialRow is one account over the columns.
type TrialRow struct {
	Account int
	Cells   []TrialCell
}

// Zero reports whether all amounts of the row are zero.
func (r TrialRow) Zero() bool {
	for i := range r.Cells {
		c := &r.Cells[i]
		if !c.Opening.IsZero() || !c.Closing.IsZero() || !c.Debits.IsZero() || !c.Credits.IsZero() {
			return false
		}
	}
	return true
}

// TrialTotal is the sum of a column by side.
type TrialTotal struct {
	OpeningDebit, OpeningCredit, Debits, Credits, ClosingDebit, ClosingCredit money.Decimal
}

// Balanced reports whether debits and credits are equal in each pair.
func (t TrialTotal) Balanced() bool {
	return t.OpeningDebit.Equal(t.OpeningCredit) && t.Debits.Equal(t.Credits) && t.ClosingDebit.Equal(t.ClosingCredit)
}

// Trial is a trial balance.
type Trial struct {
	Rows   []TrialRow // every account, in the order of Books.Accounts
	Totals []TrialTotal
	Alarms []Alarm
}

// TrialBalance computes a trial balance. Income and expense accounts begin each fiscal year at zero. The earnings of
// previous years are in retained earnings from the first day of the year; those of the current year are in the accounts
// themselves. Its error is a *MissingRate.
func TrialBalance(b *Books) (*Trial, error) {
	n := len(b.Columns)
	s := &Trial{Rows: make([]TrialRow, len(b.Accounts)), Totals: make([]TrialTotal, n)}
	cells := make([]TrialCell, len(b.Accounts)*n)
	for a := range s.Rows {
		s.Rows[a] = TrialRow{a, cells[a*n : (a+1)*n : (a+1)*n]}
	}
	unbalanced, translated := make([]Cell, n), b.translated()
	var l ledger
	for e := range b.Entities {
		s.Alarms = append(s.Alarms, l.load(b, e)...)
		t := newTranslator(b, e)
		earned := l.earnings(b, t)
		for a, account := range b.Accounts {
			row := &s.Rows[a]
			switch {
			case l.first[a] == never:
			case account.Type.permanent():
				row.post(l.translate(b, t, a))
			default:
				row.accrue(b, &l, t)
			}
			if account.Role == RetainedEarnings {
				for i, p := range b.Columns {
					retained := earned.retained(earned.frozen, p).Neg()
					add(&row.Cells[i].Opening, retained)
					add(&row.Cells[i].Closing, retained)
				}
			}
		}
		if translated {
			l.addImbalance(b, t, unbalanced)
		}
		if err := t.err(); err != nil {
			return nil, err
		}
	}
	if at := b.role(TranslationAdjustment); translated && at >= 0 {
		s.addTranslationAdjustment(&s.Rows[at], unbalanced)
	}
	for r := range s.Rows {
		s.Rows[r].AddTo(s.Totals)
	}
	return s, nil
}

func (r *TrialRow) post(columns []figures) {
	for i := range columns {
		c, f := &r.Cells[i], &columns[i]
		add(&c.Opening, f.opening)
		add(&c.Debits, f.debits)
		add(&c.Credits, f.credits)
		add(&c.Closing, f.closing)
		add(&c.FXEffect, f.effect)
	}
}

// accrue adds the balance of an income or expense account since the fiscal year began.
func (r *TrialRow) accrue(b *Books, l *ledger, t *translator) {
	var sum money.Decimal
	column := 0
	for p := range l.periods {
		if l.fiscal[p] == p {
			sum = money.Decimal{}
		}
		opening, at := sum, l.at(r.Account, p)
		debits, credits := t.average(l.debits[at], p), t.average(l.credits[at], p)
		add(&sum, debits)
		add(&sum, credits.Neg())
		add(&sum, t.average(l.adjusted(r.Account, p), p))
		if column < len(b.Columns) && b.Columns[column] == p {
			c := &r.Cells[column]
			add(&c.Opening, opening)
			add(&c.Debits, debits)
			add(&c.Credits, credits)
			add(&c.Closing, sum)
			column++
		}
	}
}

// addTranslationAdjustment adds what the other rows lack to make debits and credits equal, except for the imbalance of the
// books themselves. Its debits and credits make up for movements at different rates, its FX effect for the other changes.
func (s *Trial) addTranslationAdjustment(into *TrialRow, unbalanced []Cell) {
	for i := range into.Cells {
		var rest TrialCell
		var moved money.Decimal
		for r := range s.Rows {
			cell := &s.Rows[r].Cells[i]
			add(&rest.Opening, cell.Opening)
			add(&rest.Closing, cell.Closing)
			add(&moved, cell.Debits)
			add(&moved, cell.Credits.Neg())
		}
		c := &into.Cells[i]
		add(&c.Opening, unbalanced[i].Opening.Sub(rest.Opening))
		add(&c.Closing, unbalanced[i].Closing.Sub(rest.Closing))
		if moved.Sign() > 0 {
			add(&c.Credits, moved)
		} else {
			add(&c.Debits, moved.Neg())
		}
		c.FXEffect = c.Closing.Sub(c.Opening).Sub(c.Debits.Sub(c.Credits))
	}
}

// AddTo adds the row to the totals of the columns, each balance on its side.
func (r *TrialRow) AddTo(totals []TrialTotal) {
	for i := range r.Cells {
		c, t := &r.Cells[i], &totals[i]
		addToSide(c.Opening, &t.OpeningDebit, &t.OpeningCredit)
		addToSide(c.Closing, &t.ClosingDebit, &t.ClosingCredit)
		add(&t.Debits, c.Debits)
		add(&t.Credits, c.Credits)
	}
}

func addToSide(balance money.Decimal, debit, credit *money.Decimal) {
	if balance.Sign() < 0 {
		add(credit, balance.Neg())
		return
	}
	add(debit, balance)
}
