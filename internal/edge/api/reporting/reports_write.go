package reporting

import (
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

func (s BalanceSheet) AppendJSON(b []byte) []byte {
	b = s.ReportFrame.begin(b)
	b = wire.AppendProperty(b, `,"ledger_accounts":`, s.LedgerAccounts)
	b = s.Balances.AppendJSON(append(b, `,"balances":`...))
	b = wire.AppendProperty(b, `,"data_quality":`, s.DataQuality)
	return append(b, '}')
}

func (s TrialBalance) AppendJSON(b []byte) []byte {
	b = s.ReportFrame.begin(b)
	b = wire.AppendProperty(b, `,"ledger_accounts":`, s.LedgerAccounts)
	b = s.Balances.AppendJSON(append(b, `,"balances":`...))
	b = s.Totals.AppendJSON(append(b, `,"totals":`...))
	b = wire.AppendProperty(b, `,"data_quality":`, s.DataQuality)
	return append(b, '}')
}

// begin writes the beginning of the object and leaves it open.
func (f ReportFrame) begin(b []byte) []byte {
	b = wire.AppendProperty(b, `{"currency":`, f.Currency)
	b = wire.AppendProperty(b, `,"periods":`, f.Periods)
	return wire.AppendProperty(b, `,"legal_entity_ids":`, f.LegalEntityIDs)
}

// Approximate sizes in JSON, used to allocate memory once.
const (
	sheetCellBytes = 450
	trialCellBytes = 180
	figureBytes    = 16
)

func (s SheetBalances) AppendJSON(b []byte) []byte {
	if s.compact {
		return s.appendCompact(b)
	}
	b = grow(b, len(s.report.Rows)*len(s.report.Periods)*sheetCellBytes)
	places, _ := money.MinorUnits(s.report.Currency)
	translated := s.report.Translated()
	// What comes before the first figure of a column and after the last is the same in every row.
	heads, tails := make([]string, len(s.report.Periods)), make([]string, len(s.report.Periods))
	for i, p := range s.report.Periods {
		heads[i] = `"` + p.Key + `":{"credit_debit":{"opening_balance":{"value":"`
		tails[i] = `"},"accounting_period_start_date_utc":"` + wire.Timestamp(p.Start) + `","legal_entity_ids":[`
	}
	b = append(b, '{')
	for r := range s.report.Rows {
		row := &s.report.Rows[r]
		b = appendKey(b, r, s.report.Accounts[r].ID)
		for i := range row.Cells {
			if i > 0 {
				b = append(b, ',')
			}
			c := &row.Cells[i]
			b = c.Opening.AppendFixed(append(b, heads[i]...), places)
			b = c.Closing.AppendFixed(append(b, `"},"closing_balance":{"value":"`...), places)
			b = c.Current.AppendFixed(append(b, `"},"current_balance":{"value":"`...), places)
			b = c.Debits.AppendFixed(append(b, `"},"debits":{"value":"`...), places)
			b = c.Credits.AppendFixed(append(b, `"},"credits":{"value":"`...), places)
			if translated {
				b = c.FXEffect.AppendFixed(append(b, `"},"fx_effect":{"value":"`...), places)
			}
			b = appendEntities(append(b, tails[i]...), &s.report.Frame, row, i)
			b = c.Closing.AppendFixed(append(b, `]},"tag_balance":{"value":"`...), places)
			b = append(b, `"}}`...)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// appendKey begins the object of an account.
func appendKey(b []byte, row int, accountID string) []byte {
	if row > 0 {
		b = append(b, ',')
	}
	b = append(append(b, '"'), accountID...)
	return append(b, `":{`...)
}

func appendEntities(b []byte, f *statements.Frame, row *statement.Row, column int) []byte {
	first := true
	for e, id := range f.LegalEntityIDs {
		if !f.Has(row, e, column) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(append(b, '"'), id...), '"')
	}
	return b
}

func (s SheetBalances) appendCompact(b []byte) []byte {
	b = grow(b, len(s.report.Rows)*len(s.report.Periods)*4*figureBytes)
	places, _ := money.MinorUnits(s.report.Currency)
	b = append(b, '{')
	for r := range s.report.Rows {
		cells := s.report.Rows[r].Cells
		b = appendKey(b, r, s.report.Accounts[r].ID)
		b = appendSeries(b, `"opening_balance":[`, cells, places, func(c *statement.Cell) money.Decimal { return c.Opening })
		b = appendSeries(b, `,"debits":[`, cells, places, func(c *statement.Cell) money.Decimal { return c.Debits })
		b = appendSeries(b, `,"credits":[`, cells, places, func(c *statement.Cell) money.Decimal { return c.Credits })
		b = appendSeries(b, `,"closing_balance":[`, cells, places, func(c *statement.Cell) money.Decimal { return c.Closing })
		if s.report.Translated() {
			b = appendSeries(b, `,"fx_effect":[`, cells, places, func(c *statement.Cell) money.Decimal { return c.FXEffect })
		}
		for i := range cells {
			if !cells[i].Current.Equal(cells[i].Closing) {
				b = appendSeries(b, `,"current_balance":[`, cells, places, func(c *statement.Cell) money.Decimal { return c.Current })
				break
			}
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// appendSeries writes one figure of each cell as an array.
func appendSeries[T any](b []byte, head string, cells []T, places int32, figure func(*T) money.Decimal) []byte {
	b = append(b, head...)
	for i := range cells {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(figure(&cells[i]).AppendFixed(append(b, '"'), places), '"')
	}
	return append(b, ']')
}

func grow(b []byte, n int) []byte {
	return append(make([]byte, 0, len(b)+n), b...)
}

// trialFigures are the names of what a trial balance shows, and where each comes from.
var trialFigures = []struct {
	name string
	of   func(*statement.TrialTotal) money.Decimal
}{
	{`"opening_debit":`, func(t *statement.TrialTotal) money.Decimal { return t.OpeningDebit }},
	{`"opening_credit":`, func(t *statement.TrialTotal) money.Decimal { return t.OpeningCredit }},
	{`"debits":`, func(t *statement.TrialTotal) money.Decimal { return t.Debits }},
	{`"credits":`, func(t *statement.TrialTotal) money.Decimal { return t.Credits }},
	{`"closing_debit":`, func(t *statement.TrialTotal) money.Decimal { return t.ClosingDebit }},
	{`"closing_credit":`, func(t *statement.TrialTotal) money.Decimal { return t.ClosingCredit }},
}

func (s TrialBalances) AppendJSON(b []byte) []byte {
	b = grow(b, len(s.report.Rows)*len(s.report.Periods)*trialCellBytes)
	b = append(b, '{')
	sides := make([]statement.TrialTotal, len(s.report.Periods))
	for r := range s.report.Rows {
		clear(sides)
		s.report.Rows[r].AddTo(sides)
		b = appendKey(b, r, s.report.Accounts[r].ID)
		b = append(appendTrial(b, &s.report.Frame, sides, s.effects(r), s.compact), '}')
	}
	return append(b, '}')
}

func (s TrialTotals) AppendJSON(b []byte) []byte {
	return append(appendTrial(append(b, '{'), &s.report.Frame, s.report.Totals, nil, s.compact), '}')
}

// effects returns the FX effects of a row in the natural sign of its account, or nil if the report is not translated.
func (s TrialBalances) effects(row int) []money.Decimal {
	if !s.report.Translated() {
		return nil
	}
	out := make([]money.Decimal, len(s.report.Periods))
	for i, c := range s.report.Rows[row].Cells {
		out[i] = c.FXEffect
		if s.report.Accounts[row].NormalBalance == account.Credit {
			out[i] = out[i].Neg()
		}
	}
	return out
}

// appendTrial writes what is inside the object of an account, or of the totals, which have no FX effects.
func appendTrial(b []byte, f *statements.Frame, cells []statement.TrialTotal, effects []money.Decimal, compact bool) []byte {
	places, _ := money.MinorUnits(f.Currency)
	if compact {
		for i, figure := range trialFigures {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendSeries(b, figure.name+"[", cells, places, figure.of)
		}
		if effects != nil {
			b = appendSeries(b, `,"fx_effect":[`, effects, places, func(d *money.Decimal) money.Decimal { return *d })
		}
		return b
	}
	for i := range cells {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), f.Periods[i].Key...), `":{`...)
		for j, figure := range trialFigures {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(append(b, figure.name...), '"')
			b = append(figure.of(&cells[i]).AppendFixed(b, places), '"')
		}
		if effects != nil {
			b = append(effects[i].AppendFixed(append(b, `,"fx_effect":"`...), places), '"')
		}
		b = append(b, '}')
	}
	return b
}

// Written is a single record that writes its own JSON, because encoding/json would take most of the time of the request.
type Written[T wire.Appender] struct {
	Data T `json:"data" doc:"The record."`
}

// AppendJSON writes the record in its wrapper.
func (w Written[T]) AppendJSON(b []byte) []byte {
	return append(w.Data.AppendJSON(append(b, `{"data":`...)), '}')
}
