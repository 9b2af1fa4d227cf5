package revaluation

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// Kind is what is measured, and how.
type Kind string

// The kinds.
const (
	FairValue   Kind = "fair_value"  // ASU 2023-08: changes in net income
	Revaluation Kind = "revaluation" // IAS 38: the excess over cost is a surplus in equity
	Impairment  Kind = "impairment"  // the lower of cost and value
	Adoption    Kind = "adoption"    // ASU 2023-08 in the first period: the difference at its beginning goes to retained earnings
	Exchange    Kind = "fx"          // foreign currency at the closing rate
	// UnitBalance is digital assets that no lots carry, such as loans and intercompany balances, at the closing price. It applies
	// however the legal entity measures its holdings: what it owes is no asset at cost.
	UnitBalance Kind = "unit_balance"
)

// kinds lists all kinds.
var kinds = []Kind{Adoption, FairValue, Revaluation, Impairment, UnitBalance, Exchange}

// ByAccount reports whether rows of the kind are accounts, and not lots.
func (k Kind) ByAccount() bool { return k == Exchange || k == UnitBalance }

// adjustmentRole returns the role of the account with the adjustment of an asset.
func (k Kind) adjustmentRole(asset string) string {
	if k == Impairment {
		return account.RoleAccumulatedImpairment(asset)
	}
	return account.RoleFairValueAdjustment(asset)
}

// Status is the state of a run, or of a part of it.
type Status string

// The states.
const (
	Posted   Status = "posted"
	Replaced Status = "replaced" // by a later run of the period
	Reversed Status = "reversed"
)

// Run is a measurement of the holdings of legal entities at the end of an accounting period.
type Run struct {
	ID         string // empty for a dry run
	PeriodID   string
	PeriodKey  string
	AsOf       time.Time // the last instant of the period
	begins     time.Time // the first instant of the period; set for a run that is being made
	CreatedBy  string
	CreatedAt  time.Time
	ReversedAt *time.Time
	Parts      []Part
	Items      []Item
	Rows       []Row // the first rowsMax of them
	RowCount   int64
}

// rowsMax is the number of rows that Get returns with a run; Service.Rows lists all of them.
const rowsMax = 1000

// Part is what a run measured for one legal entity and kind.
type Part struct {
	LegalEntityID string
	Kind          Kind
	Status        Status
}

// Status returns the status of the run: posted if any of its parts is.
func (r Run) Status() Status {
	out := Replaced
	for _, p := range r.Parts {
		switch p.Status {
		case Posted:
			return Posted
		case Reversed:
			out = Reversed
		}
	}
	if len(r.Parts) == 0 {
		return Posted
	}
	return out
}

// Outcome is what a run did for an item.
type Outcome string

// The outcomes.
const (
	Nothing        Outcome = "none"     // there was nothing to book
	EntryPosted    Outcome = "posted"   // an entry was posted
	EntryKept      Outcome = "kept"     // the entry of an earlier run is still right
	EntryReplaced  Outcome = "replaced" // the entry of an earlier run was reversed, and another one posted
	EntryWithdrawn Outcome = "reversed" // the entry of an earlier run was reversed
)

// Quote is a price or an exchange rate as it was when the run used it.
type Quote struct {
	Value   money.Decimal
	PriceID string // empty for a rate
	At      time.Time
	Origin  string
}

// Item is an asset, or a unit of which accounts have balances, of a legal entity.
type Item struct {
	LegalEntityID string
	Kind          Kind
	Unit          string // the asset, or the foreign currency
	Currency      string
	Quantity      money.Decimal
	Cost          *money.Decimal // nil for balances of accounts
	Before        money.Decimal  // the adjustment before the run, or the carrying amount of the balances
	Price         *Quote         // nil if nothing is held
	Value         money.Decimal
	After         money.Decimal
	Outcome       Outcome
	EntryID       string // the entry that books it
	ReplacedID    string // the entry that was reversed
	Lines         []Line
}

// Delta returns the amount that is booked on the adjustment account, or on the accounts themselves.
func (i Item) Delta() money.Decimal { return i.After.Sub(i.Before) }

// Line is a line of the entry of an item.
type Line struct {
	AccountID string        `json:"account_id,omitempty"` // empty for an account that is created when it is first used
	Role      string        `json:"role,omitempty"`       // empty for an account whose balance is measured
	Side      book.Side     `json:"side"`
	Amount    money.Decimal `json:"amount"`
}

// Row is a part of an item: a lot, or an account with a balance. The rows of an item add up to it, before and after. So lots of which
// nothing is left are among them, as long as a part of the adjustment is theirs, and so is the adjustment account, if something on it
// belongs to no lot.
type Row struct {
	LegalEntityID string
	Kind          Kind
	Unit          string
	SubjectID     string // the lot or the account
	Currency      string
	Quantity      money.Decimal
	Cost          *money.Decimal
	Before        money.Decimal
	Price         *Quote
	Value         money.Decimal
	After         money.Decimal
	TakenOver     money.Decimal // see measure.State; for the next run, and not shown
}

// release is what a run released with a disposal of a lot that had been moved or taken over since the last run.
type release struct {
	LegalEntityID string
	Kind          Kind
	Unit          string
	LotID         string
	OrderKey      lot.OrderKey // of the disposal
	measure.Release
}

// IsAccount reports whether the row is an account, and not a lot.
func (r Row) IsAccount() bool { return r.Cost == nil }

// Delta returns the change of the adjustment or balance.
func (r Row) Delta() money.Decimal { return r.After.Sub(r.Before) }

// facts returns what audit records and events contain of a run.
func (r Run) facts() map[string]any {
	items := make([]map[string]any, 0, len(r.Items))
	for _, i := range r.Items {
		if i.Outcome == Nothing {
			continue
		}
		fact := map[string]any{
			"legal_entity_id": i.LegalEntityID, "kind": i.Kind, "unit": i.Unit, "before": i.Before, "after": i.After, "value": i.Value,
			"outcome": i.Outcome, "journal_entry_id": db.OrNull(i.EntryID), "replaced_entry_id": db.OrNull(i.ReplacedID),
		}
		if i.Price != nil {
			fact["price"], fact["price_id"] = i.Price.Value, db.OrNull(i.Price.PriceID)
		}
		items = append(items, fact)
	}
	return map[string]any{
		"id": r.ID, "accounting_period_id": r.PeriodID, "period_key": r.PeriodKey, "as_of": clock.Format(r.AsOf), "status": r.Status(),
		"items": items,
	}
}
