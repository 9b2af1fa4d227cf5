package lots

import (
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Relocated is the kind of a consumption and its uses that move a holding between two sources of the same pool. No lot
// changes.
const Relocated = "relocate"

// Consumption is the request of an entry to consume a quantity from a pool.
type Consumption struct {
	Pool            string
	OrderKey        lot.OrderKey
	EntryID         string
	Position        int // among the consumptions of the entry
	TransactionID   string
	SourceID        string // where it is held
	LedgerAccountID string // of the source, or the one that replaces it
	Chain           string
	At              time.Time
	Block, Number   int64
	Kind            posting.Kind
	Quantity        money.Decimal // including the fee
	FeeQuantity     money.Decimal // the part that pays the fee
	Proceeds        money.Decimal
	FeeProceeds     money.Decimal
	Costs           money.Decimal
	NetFees         bool // the costs reduce the gain
	Picks           []lot.Pick
}

// Equal reports whether two consumptions are the same request.
func (c *Consumption) Equal(o *Consumption) bool {
	return c.Pool == o.Pool && c.OrderKey == o.OrderKey && c.Kind == o.Kind && c.SourceID == o.SourceID &&
		c.LedgerAccountID == o.LedgerAccountID && c.Chain == o.Chain && c.At.Equal(o.At) && c.Block == o.Block &&
		c.Number == o.Number && c.TransactionID == o.TransactionID && c.Quantity.Equal(o.Quantity) &&
		c.FeeQuantity.Equal(o.FeeQuantity) && c.Proceeds.Equal(o.Proceeds) && c.FeeProceeds.Equal(o.FeeProceeds) &&
		c.Costs.Equal(o.Costs) && c.NetFees == o.NetFees
}

// Principal returns the quantity without the fee.
func (c *Consumption) Principal() money.Decimal { return c.Quantity.Sub(c.FeeQuantity) }

// Use is what a consumption drew from one lot.
type Use struct {
	ID              string
	Pool            string
	OrderKey        lot.OrderKey // of the consumption
	Position        int64        // of the consumption
	LotID           string       // empty for a lot deficit
	Kind            string       // a lot.Kind, or Relocated
	Correction      bool         // amounts are differences to a use in a closed period
	JournalEntryID  string
	TransactionID   string
	TransactionType string
	LegalEntityID   string
	SourceID        string // where it was held
	LedgerAccountID string // that it left
	AssetType       string
	Chain           string
	TokenID         string
	AccountingDate  time.Time
	PeriodID        string
	Quantity        money.Decimal
	Basis           money.Decimal
	Proceeds        money.Decimal // before the fee
	Fee             money.Decimal
	Gain            money.Decimal
	Currency        string
	AcquiredAt      time.Time
	DisposedAt      time.Time
	Days            int64
	Term            string
	Method          string
	LotCount        int64 // -1 if it emptied the lot

	// Marks are those of the lot. They are known while a replay runs, and not stored.
	Marks lot.Marks
}

// Realizes reports whether a gain or a loss was realized: a move or a conversion realizes none.
func (u *Use) Realizes() bool { return u.Kind == string(lot.Dispose) || u.Kind == string(lot.Fee) }

// UseKey identifies a use among those of its consumption.
type UseKey struct{ lotID, kind, sourceID, accountID string }

// Key returns the key of a use.
func (u *Use) Key() UseKey { return UseKey{u.LotID, u.Kind, u.SourceID, u.LedgerAccountID} }

// SameUses reports whether two lists have the same uses, in any order.
func SameUses(a, b []Use) bool {
	if len(a) != len(b) {
		return false
	}
	byKey := make(map[UseKey]*Use, len(b))
	for i := range b {
		byKey[b[i].Key()] = &b[i]
	}
	for i := range a {
		x := &a[i]
		y := byKey[x.Key()]
		if y == nil || !x.Quantity.Equal(y.Quantity) || !x.Basis.Equal(y.Basis) || !x.Proceeds.Equal(y.Proceeds) ||
			!x.Fee.Equal(y.Fee) || !x.Gain.Equal(y.Gain) || !x.AcquiredAt.Equal(y.AcquiredAt) || x.Term != y.Term ||
			x.Method != y.Method || x.LotCount != y.LotCount || x.LedgerAccountID != y.LedgerAccountID {
			return false
		}
	}
	return true
}

// Effective adds the corrections of a consumption to the uses they correct, and leaves out uses that cancel out.
func Effective(rows []Use) []Use {
	var out []Use
	index := map[UseKey]int{}
	for _, r := range rows {
		i, found := index[r.Key()]
		if !found {
			index[r.Key()] = len(out)
			out = append(out, r)
			continue
		}
		out[i] = out[i].Plus(r, 1)
	}
	return slices.DeleteFunc(out, func(u Use) bool { return u.Quantity.IsZero() && u.Basis.IsZero() })
}

// Plus adds the amounts of another use with sign 1, and subtracts them with sign -1.
func (u Use) Plus(o Use, sign int64) Use {
	n := money.FromInt(sign)
	u.Quantity, u.Basis = u.Quantity.Add(o.Quantity.Mul(n)), u.Basis.Add(o.Basis.Mul(n))
	u.Proceeds, u.Fee, u.Gain = u.Proceeds.Add(o.Proceeds.Mul(n)), u.Fee.Add(o.Fee.Mul(n)), u.Gain.Add(o.Gain.Mul(n))
	u.LotCount += sign * o.LotCount
	return u
}

// Differences returns what must be added to the uses in before to get those in after.
func Differences(before, after []Use) (out []Use) {
	old := make(map[UseKey]Use, len(before))
	for _, u := range before {
		old[u.Key()] = u
	}
	for _, u := range after {
		d := u
		if o, found := old[u.Key()]; found {
			d = u.Plus(o, -1)
			delete(old, u.Key())
		}
		out = append(out, d)
	}
	for _, u := range before {
		if o, left := old[u.Key()]; left {
			out = append(out, u.withoutAmounts().Plus(o, -1))
		}
	}
	return slices.DeleteFunc(out, func(u Use) bool {
		return u.Quantity.IsZero() && u.Basis.IsZero() && u.Gain.IsZero() && u.Proceeds.IsZero() && u.Fee.IsZero() && u.LotCount == 0
	})
}

func (u Use) withoutAmounts() Use {
	u.Quantity, u.Basis, u.Proceeds, u.Fee, u.Gain, u.LotCount =
		money.Decimal{}, money.Decimal{}, money.Decimal{}, money.Decimal{}, money.Decimal{}, 0
	return u
}

// negated returns the correction that cancels a use.
func (u Use) negated() Use {
	out := u.withoutAmounts().Plus(u, -1)
	out.Correction = true
	return out
}

// EntryRef refers to the entry under which uses and lots are written.
type EntryRef struct {
	EntryID        string
	AccountingDate time.Time
	PeriodID       string
	// Correct means that stored uses stay, because their period is closed or they were undone on another date: only differences are
	// written under this entry.
	Correct bool
	// Stored is the date of the stored entry that this one reverses, replaces or corrects, if it is another one.
	Stored Dated
}

// At returns the date of the entry.
func (r EntryRef) At() Dated { return Dated{r.AccountingDate, r.PeriodID} }

// StoredAt returns the date of the stored entry whose rows change.
func (r EntryRef) StoredAt() Dated {
	if r.Stored.PeriodID == "" {
		return r.At()
	}
	return r.Stored
}

// UndoneBy returns the reference for the entry that reverses another one. If it has another date, the uses of that one stay.
func (r EntryRef) UndoneBy(reversal EntryRef) EntryRef {
	reversal.Stored, reversal.Correct = r.At(), !reversal.AccountingDate.Equal(r.AccountingDate)
	return reversal
}

// Under returns the use with a new ID, written under an entry.
func (u Use) Under(ref EntryRef, tx *db.Tx) Use {
	u.ID, u.JournalEntryID, u.AccountingDate, u.PeriodID = tx.NewID(id.LotUse), ref.EntryID, ref.AccountingDate, ref.PeriodID
	return u
}
