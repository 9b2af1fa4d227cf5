package statement

import "github.com/bursarhq/bursar/internal/base/money"

// Section is a part of the income statement.
type Section string

// The sections.
const (
	SectionRevenue          Section = "revenue"
	SectionCostOfRevenue    Section = "cost_of_revenue"
	SectionOperatingExpense Section = "operating_expense"
	SectionOtherIncome      Section = "other_income"
	SectionOtherExpense     Section = "other_expense"
)

// Sections lists all sections in the order of the statement.
var Sections = []Section{SectionRevenue, SectionCostOfRevenue, SectionOperatingExpense, SectionOtherIncome, SectionOtherExpense}

// section returns the section of an account, by default that of its type.
func (a Account) section() Section {
	switch {
	case a.Section != "":
		return a.Section
	case a.Type == Revenue:
		return SectionRevenue
	}
	return SectionOperatingExpense
}

// income reports whether the section adds to earnings; otherwise it is deducted.
func (s Section) income() bool { return s == SectionRevenue || s == SectionOtherIncome }

// IncomeRow is one account over the columns: its movement in each, in its natural sign.
type IncomeRow struct {
	Account int
	Amounts []money.Decimal
	moved   bool
}

// Zero reports whether nothing was posted to the account in any column.
func (r IncomeRow) Zero() bool { return !r.moved }

// IncomeSection holds the accounts of a section and their sum, which is positive for income in an income section and for
// expenses in an expense section.
type IncomeSection struct {
	Section Section
	Rows    []IncomeRow
	Totals  []money.Decimal
}

// Income is an income statement.
type Income struct {
	Sections                                []IncomeSection // all five, in the order of Sections
	GrossProfit, OperatingIncome, NetIncome []money.Decimal
	Alarms                                  []Alarm
}

// IncomeStatement computes an income statement. The net income of a period is the change of current earnings in
// it, without the year-end transfer. Its error is a *MissingRate.
func IncomeStatement(b *Books) (*Income, error) {
	n := len(b.Columns)
	s := &Income{Sections: make([]IncomeSection, len(Sections)), GrossProfit: make([]money.Decimal, n),
		OperatingIncome: make([]money.Decimal, n), NetIncome: make([]money.Decimal, n)}
	place := map[Section]int{}
	for i, section := range Sections {
		s.Sections[i] = IncomeSection{Section: section, Totals: make([]money.Decimal, n)}
		place[section] = i
	}
	rows := make([]IncomeRow, len(b.Accounts))
	amounts := make([]money.Decimal, len(b.Accounts)*n)
	for a := range rows {
		rows[a] = IncomeRow{Account: a, Amounts: amounts[a*n : (a+1)*n : (a+1)*n]}
	}
	var l ledger
	for e := range b.Entities {
		s.Alarms = append(s.Alarms, l.load(b, e)...)
		t := newTranslator(b, e)
		for a, account := range b.Accounts {
			if !account.Type.permanent() && l.first[a] != never {
				rows[a].post(b, &l, t)
			}
		}
		if err := t.err(); err != nil {
			return nil, err
		}
	}
	for a, account := range b.Accounts {
		if !account.Type.permanent() {
			s.Sections[place[account.section()]].add(account, rows[a])
		}
	}
	for i := range n {
		total := func(section Section) money.Decimal { return s.Sections[place[section]].Totals[i] }
		s.GrossProfit[i] = total(SectionRevenue).Sub(total(SectionCostOfRevenue))
		s.OperatingIncome[i] = s.GrossProfit[i].Sub(total(SectionOperatingExpense))
		s.NetIncome[i] = s.OperatingIncome[i].Add(total(SectionOtherIncome)).Sub(total(SectionOtherExpense))
	}
	return s, nil
}

func (r *IncomeRow) post(b *Books, l *ledger, t *translator) {
	account := b.Accounts[r.Account]
	for i, p := range b.Columns {
		at := l.at(r.Account, p)
		moved := t.average(l.debits[at], p).Sub(t.average(l.credits[at], p)).Add(t.average(l.adjusted(r.Account, p), p))
		add(&r.Amounts[i], account.natural(moved))
		r.moved = r.moved || !moved.IsZero() || !l.debits[at].IsZero() || !l.credits[at].IsZero()
	}
}

func (s *IncomeSection) add(account Account, r IncomeRow) {
	s.Rows = append(s.Rows, r)
	for i, amount := range r.Amounts {
		if s.Section.income() != account.Credit {
			amount = amount.Neg()
		}
		add(&s.Totals[i], amount)
	}
}
