// Package statement computes financial statements from the totals of each account in each period: the balance
// sheet, the trial balance and the income statement, of one legal entity or of several together, in their own
// currency or translated into another.
//
// Translation uses the rate at the end of the period for assets and liabilities, the average rate of the month for income
// and expenses, and the rate of each line's date for equity that keeps its rates. Earnings are sums of translated months. The translation
// adjustment is the rest that makes the sheet balance. A balance that is translated at a new rate in each period moves without
// a posting; that part is the FX effect of its row: opening + debits - credits + FX effect = closing.
//
// There are no closing entries at the end of a year. Earnings are computed: current earnings are income less expenses since
// the fiscal year began, retained earnings those of all years before. The first period of a year shows the transfer from
// current to retained earnings as if it had been posted.
//
// A closed period keeps the balances it was closed with. Later periods continue from them, so that every balance opens with
// the closing balance of the period before. The balance that follows from the lines is shown next to it, and an Alarm
// reports every difference between the two.
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

// Role marks the accounts that show computed amounts.
type Role string

// The roles. The translation adjustment is the difference that arises from translating at different rates.
const (
	CurrentEarnings       Role = "current_earnings"
	RetainedEarnings      Role = "retained_earnings"
	TranslationAdjustment Role = "translation_adjustment"
)

// Account holds the fields of a ledger account that statements use.
type Account struct {
	Type       Type
	Credit     bool    // it grows by credits
	KeepsRates bool    // its lines are translated at the rates of their dates
	Role       Role    // empty unless it shows a computed amount
	Section    Section // of the income statement
}

// natural converts debits less credits to the natural sign of the account.
func (a Account) natural(balance money.Decimal) money.Decimal {
	if a.Credit {
		return balance.Neg()
	}
	return balance
}

// Books is the input of a statement.
type Books struct {
	Accounts []Account
	Periods  []string // the keys, YYYY-MM, of every period up to the last one shown, oldest first
	Columns  []int    // the periods shown, oldest first, as indexes of Periods
	Entities []Entity
	Currency string // of the statement
}

// Entity holds the books of one legal entity.
type Entity struct {
	FiscalYearStart int // the month, 1 to 12
	Totals          []Total
	Closings        []Closing // of the periods that Boundaries returns
	Rates           *Rates    // nil if its books are in the currency of the statement
}

// Total holds the debits and credits posted to an account in a period.
type Total struct {
	Account, Period int
	Debits, Credits money.Decimal
	Historical      Sides // the same in the statement's currency; only for equity of an entity with Rates
}

// Sides holds debits and credits that were translated line by line, each at the rate of its date. They keep these rates, so
// that contributed capital, dividends and other entries in equity never change with the exchange rate.
type Sides struct{ Debits, Credits money.Decimal }

// Add adds one line to the sum of its side.
func (s *Sides) Add(debit bool, amount money.Decimal) {
	if debit {
		s.Debits = s.Debits.Add(amount)
		return
	}
	s.Credits = s.Credits.Add(amount)
}

// Closing holds the balances that a period was closed with: debits less credits by account; accounts without a balance may
// be missing.
type Closing struct {
	Period   int
	Balances map[int]money.Decimal
}

// Rates are an entity's rates into the statement's currency, by period.
type Rates struct {
	Closing []Rate // at the end of the period: for assets and liabilities
	Average []Rate // over the period: for income and expenses
}

// Rate converts an amount to another currency: it is multiplied by Times, divided by Over, and rounded once. The zero value
// is an unknown rate.
type Rate struct{ Times, Over money.Decimal }

// Known reports whether the rate is known.
func (r Rate) Known() bool { return !r.Over.IsZero() }

// Convert converts an amount and rounds it to decimal places. The rate must be known.
func (r Rate) Convert(amount money.Decimal, places int32) money.Decimal {
	return amount.Mul(r.Times).Quo(r.Over, places)
}

// MissingRate is the error of a translation that lacks a rate.
type MissingRate struct {
	Entity, Period int
	Average        bool
}

// Error returns a text for logs; callers, who know currencies and dates, write a better one.
func (*MissingRate) Error() string { return "statement: a rate is missing" }

// Alarm reports a closed period whose balance differs from the one it was closed with. Balances are in the account's
// natural sign and the entity's currency.
type Alarm struct {
	Entity, Account, Period int
	Closed, Now             money.Decimal
}

// never is the first period of an account without postings.
const never = math.MaxInt

// translator converts the amounts of one entity to the currency of the statement and records the first missing rate.
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
	return r.Convert(amount, t.places)
}

func (t *translator) err() error {
	if t.missing == nil {
		return nil
	}
	return t.missing
}

// translated reports whether the books of any entity are in another currency.
func (b *Books) translated() bool {
	for i := range b.Entities {
		if b.Entities[i].Rates != nil {
			return true
		}
	}
	return false
}

// role returns the index of the account with a role, or -1.
func (b *Books) role(role Role) int {
	return slices.IndexFunc(b.Accounts, func(a Account) bool { return a.Role == role })
}
