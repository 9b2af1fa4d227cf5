package explain

import (
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
)

// Explanation is what a figure is made up of.
type Explanation struct {
	Query   Query
	Value   *money.Decimal // nil where the report has none, because a price or a rate is missing
	Unit    string         // what the value is in: a currency or an asset, or USD/ETH for that of one unit
	Formula string
	Parts   []Part

	Lines      []Line
	Lots       []Lot
	Uses       []Use
	HasMore    bool   // of the list whose parts say that it makes them up
	NextCursor string // where it goes on

	Price          *price.Price
	Election       *entity.Election // by which lots were chosen
	Booking        *booking.Origin  // what the entry follows from
	TransactionIDs []string         // what the lists of this page came from

	lotsHeld bool   // the lots listed are all that make up the figure
	note     string // added to the formula
}

// List is one of the lists beside a figure.
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
	Value   money.Decimal // signed as it counts
	Explain *Query        // the figure it is, if it is one
	Listed  List          // the list that adds up to it, over all pages
	debits  bool          // of two parts that lines make up, the one that the debit lines do
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
	Amount          money.Decimal // in the books, signed as it counts
	Currency        string
	Unit            string         // the asset or foreign money the line is about
	Quantity        *money.Decimal // of it
	Memo            string
	EntryMemo       string
	OriginatedBy    string
	TransactionID   string
	TransactionNo   int64
}

// Lot is a lot with where it came from.
type Lot struct {
	ID                string
	Amount            *money.Decimal // as it counts; nil where the lot is only on the way to where something came from
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
}

// Use is what was taken from a lot.
type Use struct {
	ID              string
	Amount          *money.Decimal // as it counts; nil where it is only shown
	Kind            string
	LotID           string
	AssetType       string
	LegalEntityID   string
	JournalEntryID  string
	TransactionID   string
	TransactionType string
	Date            time.Time // it is accounted for
	DisposedAt      time.Time
	Quantity        money.Decimal
	Basis           money.Decimal
	Proceeds        money.Decimal
	Fee             money.Decimal
	Gain            money.Decimal
	Currency        string
	Term            string
	Method          string
	Correction      bool
}

// add puts a part to the others.
func (x *Explanation) add(label string, value money.Decimal, explain *Query, listed List) {
	x.Parts = append(x.Parts, Part{Label: label, Value: value, Explain: explain, Listed: listed, debits: label == "debits"})
}

// addNonZero is add for what is not worth a line when it is nothing.
func (x *Explanation) addNonZero(label string, value money.Decimal, explain *Query) {
	if !value.IsZero() {
		x.add(label, value, explain, NoList)
	}
}

// addRemainder adds what the parts lack, if they lack anything.
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

// Text is an amount as the figure shows it.
func (x *Explanation) Text(d money.Decimal) string {
	if money.IsFiat(x.Unit) {
		return d.Fixed(x.Unit)
	}
	return d.String()
}

// formulaMax is how many parts a formula writes out.
const formulaMax = 12

// writeFormula writes the formula from the parts, unless a text was set already.
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

// TextOrNull is Text of what may be missing.
func (x *Explanation) TextOrNull(d *money.Decimal) *string {
	if d == nil {
		return nil
	}
	return new(x.Text(*d))
}

// Explain is the query that takes a lot apart.
func (l Lot) Explain() Query { return Query{Report: "asset-tax-lots", AssetID: l.ID} }

// Explain is the query that takes a disposition apart; nil for what only went elsewhere, which the schedule does not show.
func (u Use) Explain() *Query {
	if u.Kind != "dispose" && u.Kind != "fee" {
		return nil
	}
	return &Query{Report: "schedule-of-dispositions", DispositionID: u.ID}
}
