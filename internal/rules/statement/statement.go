// Package statement computes financial statements from what was posted to each account in each period: the balance
// sheet, the trial balance and the income statement, of one legal entity or of several together, in their own
// currency or translated into another.
//
// Nothing is closed out at the end of a year. Earnings are computed: current earnings are income less expenses since
// the fiscal year began, retained earnings those of all years before. The first period of a year shows the turn of
// the year as if it had been posted: what current earnings had reached moves to retained earnings.
//
// A period that was closed keeps the balances it was closed with. They are followed by what was posted since, so that
// a balance opens with what the one before closed with; beside it goes the balance as the lines give it now, and
// where the two differ there is an alarm.
package statement

import (
	"math"
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Type is the type of a ledger account.
type Type string

// The types. The first three make up the balance sheet, the others the income statement.
const (
	Asset     Type = "Asset"
	Liability Type = "Liability"
	Equity    Type = "Equity"
	Revenue   Type = "Revenue"
	Expense   Type = "Expense"
)

func (t Type) permanent() bool { return t == Asset || t == Liability || t == Equity }

// Role marks the accounts that show what is computed.
type Role string

// The roles. Translation adjustment is what translating at different rates leaves over.
const (
	CurrentEarnings       Role = "current_earnings"
	RetainedEarnings      Role = "retained_earnings"
	TranslationAdjustment Role = "translation_adjustment"
)

// Account is what a statement has to know of a ledger account.
type Account struct {
	Type    Type
	Credit  bool    // it grows by credits
	Role    Role    // empty unless it shows what is computed
	Section Section // of the income statement
}

// natural turns debits less credits into the sign the account grows in.
func (a Account) natural(balance money.Decimal) money.Decimal {
	if a.Credit {
		return balance.Neg()
	}
	return balance
}

// Books is all a statement is computed from.
type Books struct {
	Accounts []Account
	Periods  []string // the keys, YYYY-MM, of every period up to the last one shown, oldest first
	Columns  []int    // the periods shown, oldest first, by their place among Periods
	Entities []Entity
	Currency string // what the statement is in
}

// Entity is the books of one legal entity.
type Entity struct {
	FiscalYearStart int // the month, 1 to 12
	Totals          []Total
	Closings        []Closing // of those periods that Boundaries asks for
	Rates           *Rates    // nil when its books are in the statement's currency already
}

// Total is what was posted to an account in a period.
type Total struct {
	Account, Period int
	Debits, Credits money.Decimal
}

// Closing is what a period that is closed was closed with: debits less credits by account, zero where there is nothing.
type Closing struct {
	Period   int
	Balances map[int]money.Decimal
}

// Rates are an entity's rates into the statement's currency, by period.
type Rates struct {
	Closing []Rate // at the end of the period: for balances
	Average []Rate // over the period: for income and expenses
}

// Rate turns an amount into another currency: it is multiplied, divided, and rounded once. One that is not known is the zero value.
type Rate struct{ Times, Over money.Decimal }

// Known tells whether there is such a rate.
func (r Rate) Known() bool { return !r.Over.IsZero() }

// MissingRate says which rate a translation lacks.
type MissingRate struct {
	Entity, Period int
	Average        bool
}

// Error is for the log; who knows currencies and days says it better.
func (*MissingRate) Error() string { return "statement: a rate is missing" }

// Alarm is a closed period whose balance is not what it was closed with. Balances are in the account's natural sign
// and the entity's currency.
type Alarm struct {
	Entity, Account, Period int
	Closed, Now             money.Decimal
}

// never is the period of what has not happened.
const never = math.MaxInt

// translator turns one entity's amounts into the statement's currency and notes the first rate it lacks.
type translator struct {
	rates   *Rates
	entity  int
	places  int32
	missing *MissingRate
}

func newTranslator(b *Books, entity int) *translator {
	t := &translator{rates: b.Entities[entity].Rates, entity: entity}
	t.places, _ = money.MinorUnits(b.Currency)
	return t
}

func (t *translator) closing(amount money.Decimal, period int) money.Decimal {
	if t.rates == nil || amount.IsZero() {
		return amount
	}
	return t.convert(amount, t.rates.Closing[period], period, false)
}

func (t *translator) average(amount money.Decimal, period int) money.Decimal {
	if t.rates == nil || amount.IsZero() {
		return amount
	}
	return t.convert(amount, t.rates.Average[period], period, true)
}

func (t *translator) convert(amount money.Decimal, r Rate, period int, average bool) money.Decimal {
	if !r.Known() {
		if t.missing == nil {
			t.missing = &MissingRate{t.entity, period, average}
		}
		return money.Decimal{}
	}
	return amount.Mul(r.Times).Quo(r.Over, t.places)
}

func (t *translator) err() error {
	if t.missing == nil {
		return nil
	}
	return t.missing
}

// translated tells whether any entity's books are in another currency.
func (b *Books) translated() bool {
	for i := range b.Entities {
		if b.Entities[i].Rates != nil {
			return true
		}
	}
	return false
}

// role finds the account with a role; -1 when there is none.
func (b *Books) role(role Role) int {
	return slices.IndexFunc(b.Accounts, func(a Account) bool { return a.Role == role })
}
