package measure

import (
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// Effect is what measuring does to the books. Adjustment is what is debited to the account beside cost; the others
// are what is credited to earnings and equity for it, and add up to it.
type Effect struct {
	Adjustment money.Decimal
	Unrealized money.Decimal // earned or lost by holding
	Impairment money.Decimal // lost for being worth less than cost, or regained
	Realized   money.Decimal // put right about what disposals realized
	Surplus    money.Decimal // other comprehensive income
	Retained   money.Decimal // what was a surplus until the asset left
	Exchange   money.Decimal // earned or lost on foreign money
}

// Account is what a line of an effect is booked on.
type Account string

// The accounts.
const (
	Adjustment       Account = "adjustment"
	UnrealizedGain   Account = "unrealized_gain"
	UnrealizedLoss   Account = "unrealized_loss"
	ImpairmentLoss   Account = "impairment_loss"
	RealizedGain     Account = "realized_gain"
	RealizedLoss     Account = "realized_loss"
	Surplus          Account = "revaluation_surplus"
	RetainedEarnings Account = "retained_earnings_posted"
	FXGain           Account = "fx_gain"
	FXLoss           Account = "fx_loss"
)

// Line is one line of an entry.
type Line struct {
	Account Account
	Side    book.Side
	Amount  money.Decimal
}

// Lines gives the lines to be booked, none of them zero; nothing when there is nothing to do.
func (e Effect) Lines() []Line {
	out := appendLine(nil, Adjustment, Adjustment, e.Adjustment.Neg())
	out = appendLine(out, UnrealizedGain, UnrealizedLoss, e.Unrealized)
	out = appendLine(out, ImpairmentLoss, ImpairmentLoss, e.Impairment)
	out = appendLine(out, RealizedGain, RealizedLoss, e.Realized)
	out = appendLine(out, FXGain, FXLoss, e.Exchange)
	out = appendLine(out, Surplus, Surplus, e.Surplus)
	return appendLine(out, RetainedEarnings, RetainedEarnings, e.Retained)
}

// side adds a line that credits an account with what is gained, or debits one with what is lost.
func appendLine(lines []Line, gain, loss Account, amount money.Decimal) []Line {
	switch amount.Sign() {
	case 1:
		return append(lines, Line{gain, book.Credit, amount})
	case -1:
		return append(lines, Line{loss, book.Debit, amount.Neg()})
	}
	return lines
}
