package explain

import (
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
)

// Explanation is a figure with the parts that it is made of.
type Explanation struct {
	Query   Query
	Value   *money.Decimal // nil if the report has no value, because a price or a rate is missing
	Unit    string         // of the value: a currency or an asset, or USD/ETH for a price per unit
	Formula string
	Parts   []Part

	Lines      []Line
	Lots       []Lot
	Uses       []Use
	HasMore    bool   // of the list that parts refer to by Listed
	NextCursor string // of the next page of that list

	Price          *price.Price
	Election       *entity.Election // by which the lots were selected
	Booking        *booking.Origin  // the origin of the entry
	TransactionIDs []string         // behind the lists of this page

	lotsHeld bool   // the listed lots are all that make up the figure
	note     string // appended to the formula
}

// List identifies one of the lists beside a figure.
type List string

// The lists.
const (
	NoList       List = ""
	Lines        List = "lines"
	Lots         List = "lots"
	Dispositions List = "dispositions"
)

// Part is one of the addends of a figure.
type Part struct {
	Label   string
	Value   money.Decimal // with the sign of its contribution
	Explain *Query        // the query that explains it, if it is a figure of a report
	Listed  List          // the list that adds up to it, over all pages
	debits  bool          // of two parts made of lines, the one made of debit lines
}

// Line is a posted journal line.
type Line struct {
	ID              string
	EntryID         string
	Number          int64
	Position        int64
	Date            time.Time
	LedgerAccountID string
	LegalEntityID   string
	Debit           bool
	Amount          money.Decimal // in the currency of the books, with the sign of its contribution
	Currency        string
	Unit            string         // the asset or foreign currency of the line
	Quantity        *money.Decimal // in that unit
	Memo            string
	EntryMemo       string
	OriginatedBy    string
	TransactionID   string
	TransactionNo   int64
}

// Lot is a lot with its origin.
type Lot struct {
	ID                string
	Amount            *money.Decimal // its contribution; nil if the lot is only shown as part of the chain of origins
	AssetType         string
	LegalEntityID     string
	SourceID          string
	LedgerAccountID   string
	AcquiredAt        time.Time
	Quantity          money.Decimal
	RemainingQuantity money.Decimal
	CostBasis         money.Decimal
	RemainingBasis    money.Decimal
	Currency          string
	Origin            string
	ParentID          string
	JournalEntryID    string
	TransactionID     string

	averaged bool // RemainingBasis is its share of the basis of its pool, rounded
}

// Use is a quantity consumed from a lot.
type Use struct {
	ID              string
	Amount          *money.Decimal // its contribution; nil if it is only shown
	Kind            string
	LotID           string
	AssetType       string
	LegalEntityID   string
	JournalEntryID  string
	TransactionID   string
	TransactionType string
	Date            time.Time // the accounting date
	DisposedAt      time.Time
	Quantity        money.Decimal
	Basis           money.Decimal
	Proceeds        money.Decimal
	Fee             money.Decimal
	Gain            money.Decimal // for tax: proceeds less cost
	BookGain        money.Decimal // in the books: proceeds less carrying amount
	Currency        string
	Term            string
	Method          string
	Correction      bool
}

// add adds a part.
func (x *Explanation) add(label string, value money.Decimal, explain *Query, listed List) {
	x.Parts = append(x.Parts, Part{Label: label, Value: value, Explain: explain, Listed: listed, debits: label == "debits"})
}

// addNonZero adds a part unless it is zero.
func (x *Explanation) addNonZero(label string, value money.Decimal, explain *Query) {
	if !value.IsZero() {
		x.add(label, value, explain, NoList)
	}
}

// addRemainder adds the amount that the parts lack, if any.
func (x *Explanation) addRemainder(label string) {
	if x.Value != nil {
		x.addNonZero(label, x.Value.Sub(x.sum()), nil)
	}
}

func (x *Explanation) sum() (total money.Decimal) {
	for _, p := range x.Parts {
		total = total.Add(p.Value)
	}
	return total
}

// Text formats an amount like the figure.
func (x *Explanation) Text(d money.Decimal) string {
	if money.IsFiat(x.Unit) {
		return d.Fixed(x.Unit)
	}
	return d.String()
}

// formulaMax is the maximum number of parts that a formula spells out.
const formulaMax = 12

// writeFormula writes the formula from the parts, unless it is set already.
func (x *Explanation) writeFormula() {
	if x.Formula != "" || x.Value == nil {
		return
	}
	var b strings.Builder
	for i, p := range x.Parts {
		if i == formulaMax {
			b.WriteString(" + more")
			break
		}
		switch {
		case p.Value.Sign() < 0 && i == 0:
			b.WriteString("-")
		case p.Value.Sign() < 0:
			b.WriteString(" - ")
		case i > 0:
			b.WriteString(" + ")
		}
		b.WriteString(p.Label + " " + x.Text(p.Value.Abs()))
	}
	if len(x.Parts) == 0 {
		b.WriteString("no movements")
	}
	x.Formula = b.String() + " = " + x.Text(*x.Value) + x.note
}

// TextOrNull is Text for an amount that may be missing.
func (x *Explanation) TextOrNull(d *money.Decimal) *string {
	if d == nil {
		return nil
	}
	return new(x.Text(*d))
}

// Explain returns the query that explains a lot.
func (l Lot) Explain() Query { return Query{Report: "asset-tax-lots", AssetID: l.ID} }

// Explain returns the query that explains a disposition, or nil for a relocation, which the schedule does not show.
func (u Use) Explain() *Query {
	if u.Kind != "dispose" && u.Kind != "fee" {
		return nil
	}
	return &Query{Report: "schedule-of-dispositions", DispositionID: u.ID}
}
