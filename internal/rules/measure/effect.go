package measure

import (
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// Effect is the effect of a measurement on the books. Adjustment is debited to the adjustment account; the other amounts are
// credited to earnings and equity and add up to it.
type Effect struct {
	Adjustment money.Decimal
	Unrealized money.Decimal // unrealized gain or loss
	Impairment money.Decimal // impairment loss, or its reversal
	Realized   money.Decimal // correction of the gain or loss that disposals realized
	Surplus    money.Decimal // other comprehensive income
	Retained   money.Decimal // surplus of assets that were disposed of
	Exchange   money.Decimal // gain or loss on foreign currency
}

// Account names the account that a line is booked to.
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

// Lines returns the lines to book, without zero lines; none if there is nothing to book.
func (e Effect) Lines() []Line {
	out := appendLine(nil, Adjustment, Adjustment, e.Adjustment.Neg())
	out = appendLine(out, UnrealizedGain, UnrealizedLoss, e.Unrealized)
	out = appendLine(out, ImpairmentLoss, ImpairmentLoss, e.Impairment)
	out = appendLine(out, RealizedGain, RealizedLoss, e.Realized)
	out = appendLine(out, FXGain, FXLoss, e.Exchange)
	out = appendLine(out, Surplus, Surplus, e.Surplus)
	return appendLine(out, RetainedEarnings, RetainedEarnings, e.Retained)
}

// appendLine appends a line that credits a gain to one account or debits a loss to another.
func appendLine(lines []Line, gain, loss Account, amount money.Decimal) []Line {
	switch amount.Sign() {
	case 1:
		return append(lines, Line{gain, book.Credit, amount})
	case -1:
		return append(lines, Line{loss, book.Debit, amount.Neg()})
	}
	return lines
}
