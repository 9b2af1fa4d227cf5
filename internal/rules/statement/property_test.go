package statement_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

// drawBooks makes balanced books of some entities over up to three years, each with its own fiscal year, in whole and broken amounts.
func drawBooks(t *rapid.T, translated bool) *statement.Books {
	first := rapid.SampledFrom([]string{"2023-01", "2023-07", "2023-12"}).Draw(t, "first")
	b := ledger(first, "2026-06")
	n := rapid.IntRange(1, len(b.Periods)).Draw(t, "periods")
	b.Periods, b.Columns, b.Entities = b.Periods[:n], b.Columns[:n], nil
	var postable []int
	for i, a := range b.Accounts {
		if a.Role == "" {
			postable = append(postable, i)
		}
	}
	for range rapid.IntRange(1, 3).Draw(t, "entities") {
		e := statement.Entity{FiscalYearStart: rapid.IntRange(1, 12).Draw(t, "fiscal")}
		for range rapid.IntRange(0, 40).Draw(t, "entries") {
			p := rapid.IntRange(0, n-1).Draw(t, "period")
			amount := drawAmount(t)
			post(&e, rapid.SampledFrom(postable).Draw(t, "debit"), p, amount)
			post(&e, rapid.SampledFrom(postable).Draw(t, "credit"), p, amount.Neg())
		}
		if translated && rapid.Bool().Draw(t, "foreign") {
			e.Rates = &statement.Rates{Closing: drawRates(t, n), Average: drawRates(t, n)}
			for i := range e.Totals {
				if total := &e.Totals[i]; b.Accounts[total.Account].KeepsRates {
					at := drawRates(t, 1)[0]
					total.Historical = statement.Sides{Debits: at.Convert(total.Debits, 2), Credits: at.Convert(total.Credits, 2)}
				}
			}
		}
		b.Entities = append(b.Entities, e)
	}
	return b
}

func drawAmount(t *rapid.T) money.Decimal {
	places := rapid.SampledFrom([]int32{0, 2, 5}).Draw(t, "places")
	return money.FromInt(rapid.Int64Range(1, 5_000_000).Draw(t, "amount")).Quo(money.FromInt([]int64{1, 10, 100, 1000, 10_000,
		100_000}[places]), places)
}

func drawRates(t *rapid.T, n int) []statement.Rate {
	out := make([]statement.Rate, n)
	for i := range out {
		out[i] = statement.Rate{Times: money.FromInt(rapid.Int64Range(1, 900).Draw(t, "times")),
			Over: money.FromInt(rapid.Int64Range(1, 300).Draw(t, "over"))}
	}
	return out
}

func must[T any](t *rapid.T, v T, err error) T {
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func sheetOf(t *rapid.T, b *statement.Books) *statement.Sheet {
	s, err := statement.BalanceSheet(b)
	return must(t, s, err)
}

func TestASheetBalancesAndEveryBalanceFollowsFromTheOneBefore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := drawBooks(t, rapid.Bool().Draw(t, "translated"))
		s := sheetOf(t, b)
		for i, total := range s.Totals {
			if !total.Difference.IsZero() {
				t.Fatalf("%s: %+v", b.Periods[i], total)
			}
		}
		for _, row := range s.Rows {
			for i, c := range row.Cells {
				moved := c.Debits.Sub(c.Credits)
				if b.Accounts[row.Account].Credit {
					moved = moved.Neg()
				}
				if !c.Closing.Equal(money.Sum(c.Opening, moved, c.FXEffect)) || !c.Current.Equal(c.Closing) || c.Debits.Sign() < 0 ||
					c.Credits.Sign() < 0 {
					t.Fatalf("%s %s: %+v", chart[row.Account].name, b.Periods[i], c)
				}
				if i > 0 && !c.Opening.Equal(row.Cells[i-1].Closing) || i == 0 && !c.Opening.IsZero() {
					t.Fatalf("%s %s opens with %s", chart[row.Account].name, b.Periods[i], c.Opening)
				}
			}
		}
	})
}

func TestATrialBalanceHasEqualSidesAndTheEarningsOfTheSheet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := drawBooks(t, rapid.Bool().Draw(t, "translated"))
		s := sheetOf(t, b)
		trialBalance, err := statement.TrialBalance(b)
		trial := must(t, trialBalance, err)
		incomeStatement, err := statement.IncomeStatement(b)
		income := must(t, incomeStatement, err)
		retained, current := s.Rows[5], s.Rows[4]
		for i := range b.Columns {
			if !trial.Totals[i].Balanced() || !s.Totals[i].Difference.IsZero() {
				t.Fatalf("%s: %+v %+v", b.Periods[i], trial.Totals[i], s.Totals[i])
			}
			if !trial.Rows[retained.Account].Cells[i].Closing.Neg().Equal(retained.Cells[i].Closing) {
				t.Fatalf("%s: retained earnings differ", b.Periods[i])
			}
			earned := current.Cells[i].Closing.Add(retained.Cells[i].Closing).Sub(current.Cells[i].Opening).Sub(retained.Cells[i].Opening)
			if own := s.Rows[5].Cells[i]; !income.NetIncome[i].Equal(earned) {
				t.Fatalf("%s: net income %s, earnings moved by %s, %+v", b.Periods[i], income.NetIncome[i], earned, own)
			}
			var effects money.Decimal
			for _, row := range trial.Rows {
				c := row.Cells[i]
				effects = effects.Add(c.FXEffect)
				if !c.Closing.Equal(c.Opening.Add(c.Debits).Sub(c.Credits).Add(c.FXEffect)) {
					t.Fatalf("%s %s of the trial balance: %+v", chart[row.Account].name, b.Periods[i], c)
				}
			}
			if !effects.IsZero() {
				t.Fatalf("%s: the FX effects of the trial balance add up to %s", b.Periods[i], effects)
			}
			sum := income.GrossProfit[i].Sub(income.Sections[2].Totals[i]).Add(income.Sections[3].Totals[i]).Sub(income.Sections[4].Totals[i])
			if !income.NetIncome[i].Equal(sum) {
				t.Fatalf("%s: the sections do not add up", b.Periods[i])
			}
		}
	})
}

func TestEntitiesTogetherAreTheSumOfEachAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := drawBooks(t, true)
		whole := sheetOf(t, b)
		alone := make([]*statement.Sheet, len(b.Entities))
		for e := range b.Entities {
			one := *b
			one.Entities = b.Entities[e : e+1]
			alone[e] = sheetOf(t, &one)
		}
		for r, row := range whole.Rows {
			translation := b.Accounts[row.Account].Role == statement.TranslationAdjustment
			for i := range row.Cells {
				var sum statement.Cell
				for _, s := range alone {
					c := s.Rows[r].Cells[i]
					sum.Opening, sum.Closing, sum.Current = sum.Opening.Add(c.Opening), sum.Closing.Add(c.Closing), sum.Current.Add(c.Current)
					sum.Debits, sum.Credits, sum.FXEffect = sum.Debits.Add(c.Debits), sum.Credits.Add(c.Credits), sum.FXEffect.Add(c.FXEffect)
				}
				if translation { // its gains and losses net out
					sum.Debits, sum.Credits = row.Cells[i].Debits, row.Cells[i].Credits
				}
				if !same(row.Cells[i], sum) {
					t.Fatalf("%s %s: %+v, alone %+v", chart[row.Account].name, b.Periods[i], row.Cells[i], sum)
				}
			}
		}
	})
}

func same(a, b statement.Cell) bool {
	return a.Opening.Equal(b.Opening) && a.Closing.Equal(b.Closing) && a.Current.Equal(b.Current) && a.Debits.Equal(b.Debits) &&
		a.Credits.Equal(b.Credits) && a.FXEffect.Equal(b.FXEffect)
}

// Some columns say what they say among all, also when periods are closed and only some closings are looked at.
func TestAColumnSaysTheSameWhateverStandsBesideIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := drawBooks(t, rapid.Bool().Draw(t, "translated"))
		all := make([][]statement.Closing, len(b.Entities))
		for e := range b.Entities {
			all[e] = drawClosings(t, b, e)
			b.Entities[e].Closings = all[e]
		}
		whole := sheetOf(t, b)
		fullTrial, err := statement.TrialBalance(b)
		trial := must(t, fullTrial, err)

		some := *b
		some.Columns = nil
		for _, p := range b.Columns {
			if rapid.IntRange(0, 3).Draw(t, "shown") == 0 {
				some.Columns = append(some.Columns, p)
			}
		}
		if len(some.Columns) > 0 {
			some.Periods = b.Periods[:some.Columns[len(some.Columns)-1]+1]
		}
		some.Entities = slices.Clone(b.Entities)
		for e := range some.Entities {
			restrict(&some, e, all[e])
		}
		part := sheetOf(t, &some)
		partTrial, err := statement.TrialBalance(&some)
		less := must(t, partTrial, err)
		for i, p := range some.Columns {
			for r := range part.Rows {
				if !same(part.Rows[r].Cells[i], whole.Rows[r].Cells[p]) {
					t.Fatalf("%s %s: %+v, among all %+v", chart[part.Rows[r].Account].name, b.Periods[p], part.Rows[r].Cells[i], whole.Rows[r].Cells[p])
				}
			}
			for r := range less.Rows {
				x, y := less.Rows[r].Cells[i], trial.Rows[r].Cells[p]
				if !x.Opening.Equal(y.Opening) || !x.Closing.Equal(y.Closing) || !x.Debits.Equal(y.Debits) || !x.Credits.Equal(y.Credits) {
					t.Fatalf("%s %s: %+v, among all %+v", chart[r].name, b.Periods[p], x, y)
				}
			}
		}
	})
}

// drawClosings closes an entity's first periods, with balances that may since have changed.
func drawClosings(t *rapid.T, b *statement.Books, e int) (out []statement.Closing) {
	for p := range rapid.IntRange(0, len(b.Periods)).Draw(t, "closed") {
		balances := map[int]money.Decimal{}
		for _, total := range b.Entities[e].Totals {
			if total.Period <= p {
				balances[total.Account] = balances[total.Account].Add(total.Debits).Sub(total.Credits)
			}
		}
		if rapid.IntRange(0, 5).Draw(t, "changed") == 0 {
			a := rapid.IntRange(0, len(b.Accounts)-1).Draw(t, "account")
			balances[a] = balances[a].Add(money.FromInt(7))
		}
		out = append(out, statement.Closing{Period: p, Balances: balances})
	}
	return out
}

// restrict leaves an entity what a statement of these columns reads.
func restrict(b *statement.Books, e int, closings []statement.Closing) {
	totals := b.Entities[e].Totals
	b.Entities[e].Totals, b.Entities[e].Closings = nil, nil
	for _, total := range totals {
		if total.Period < len(b.Periods) {
			b.Entities[e].Totals = append(b.Entities[e].Totals, total)
		}
	}
	var closed []int
	for _, c := range closings {
		if c.Period < len(b.Periods) {
			closed = append(closed, c.Period)
		}
	}
	for _, p := range b.Boundaries(e, closed) {
		b.Entities[e].Closings = append(b.Entities[e].Closings, closings[p])
	}
}
