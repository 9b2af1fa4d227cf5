package revaluation

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// Kind is what is measured, and how.
type Kind string

// The kinds.
const (
	FairValue   Kind = "fair_value"  // ASU 2023-08: changes in net income
	Revaluation Kind = "revaluation" // IAS 38: what exceeds cost is a surplus in equity
	Impairment  Kind = "impairment"  // cost, or what less it is worth
	Exchange    Kind = "fx"          // foreign money at the closing rate
)

// Kinds lists every kind there is.
var Kinds = []Kind{FairValue, Revaluation, Impairment, Exchange}

// Status is what became of a run, or of its part.
type Status string

// The states.
const (
	Posted   Status = "posted"
	Replaced Status = "replaced" // by a later run of the period
	Reversed Status = "reversed"
)

// Run measured what legal entities held at the end of an accounting period.
type Run struct {
	ID         string // empty for a try
	PeriodID   string
	PeriodKey  string
	AsOf       time.Time // the last instant of the period
	CreatedBy  string
	CreatedAt  time.Time
	ReversedAt *time.Time
	Parts      []Part
	Items      []Item
	Rows       []Row // the first RowsMax of them
	RowCount   int64
}

// RowsMax is how many rows a run shows; the rest are listed.
const RowsMax = 1000

// Part is what a run measured for a legal entity.
type Part struct {
	LegalEntityID string
	Kind          Kind
	Status        Status
}

// Status is that of the parts: one that stands is enough.
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

// Outcome is what a run did about an item.
type Outcome string

// The outcomes.
const (
	Nothing        Outcome = "none"     // there was nothing to book
	EntryPosted    Outcome = "posted"   // an entry was made
	EntryKept      Outcome = "kept"     // that of an earlier run still says it
	EntryReplaced  Outcome = "replaced" // that of an earlier run was reversed, and another made
	EntryWithdrawn Outcome = "reversed" // that of an earlier run was reversed
)

// Quote is a price or a rate, as it was when it was used.
type Quote struct {
	Value   money.Decimal
	PriceID string // empty for a rate
	At      time.Time
	Origin  string
}

// Item is an asset or a currency of a legal entity.
type Item struct {
	LegalEntityID string
	Kind          Kind
	Unit          string // the asset, or the foreign currency
	Currency      string
	Quantity      money.Decimal
	Cost          *money.Decimal // nil for foreign money
	Before        money.Decimal  // what the adjustment stood at, or what foreign money did
	Price         *Quote         // nil where nothing is held
	Value         money.Decimal
	After         money.Decimal
	Outcome       Outcome
	EntryID       string // that books it
	ReplacedID    string // that was reversed
	Lines         []Line
}

// Delta is what is booked on the adjustment, or on the accounts of foreign money.
func (i Item) Delta() money.Decimal { return i.After.Sub(i.Before) }

// Line is one line of an item's entry.
type Line struct {
	AccountID string        `json:"account_id,omitempty"` // empty for one that is made when it is first booked on
	Role      string        `json:"role,omitempty"`       // empty for an account of foreign money
	Side      book.Side     `json:"side"`
	Amount    money.Decimal `json:"amount"`
}

// Row is what an item is made of: a lot, or an account that foreign money stands on.
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
}

// Delta is what changed.
func (r Row) Delta() money.Decimal { return r.After.Sub(r.Before) }

// facts is what the audit and events say of a run.
func (r Run) facts() map[string]any {
	items := make([]map[string]any, 0, len(r.Items))
	for _, i := range r.Items {
		if i.Outcome == Nothing {
			continue
		}
		fact := map[string]any{
			"legal_entity_id": i.LegalEntityID, "kind": i.Kind, "unit": i.Unit, "before": i.Before, "after": i.After, "value": i.Value,
			"outcome":          i.Outcome,
			"journal_entry_id": db.OrNull(i.EntryID), "replaced_entry_id": db.OrNull(i.ReplacedID),
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
