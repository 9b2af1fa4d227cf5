package explain

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

var (
	dispositionColumns = []string{"gain_loss", "quantity", "proceeds", "fee", "cost_basis", bookGain, taxGain}
	gainColumns        = []string{"net", "units", "proceeds", "fees", "cost_basis", "realized_gain", "realized_loss", "short_term",
		"long_term", bookGain, taxGain}
)

// The columns for the gain in the books and for tax.
const (
	bookGain = "book_gain"
	taxGain  = "tax_gain"
)

// released is the label of what a revaluation added to a gain.
const released = "correction of the gain by revaluation, from cost to carrying amount"

// amountOf returns what a disposition adds to a column.
func (u Use) amountOf(column string) money.Decimal {
	positive := u.Gain.Sign() >= 0
	long := u.Term == "long"
	switch column {
	case "quantity", "units":
		return u.Quantity
	case "proceeds":
		return u.Proceeds
	case "fee", "fees":
		return u.Fee
	case "cost_basis":
		return u.Basis
	case "realized_gain":
		return onlyIf(positive, u.Gain)
	case "realized_loss":
		return onlyIf(!positive, u.Gain.Neg())
	case "short_term":
		return onlyIf(!long, u.Gain)
	case "long_term":
		return onlyIf(long, u.Gain)
	case bookGain:
		return u.BookGain
	}
	return u.Gain
}

func onlyIf(is bool, d money.Decimal) money.Decimal {
	if is {
		return d
	}
	return money.Decimal{}
}

// listUses lists a page of uses of lots beside the figure, each with its contribution.
func (i *inquiry) listUses(ctx context.Context, f useFilter, count func(Use) money.Decimal) error {
	i.cursorUsed = true
	key := func(u Use) []string { return []string{clock.Format(u.Date), u.ID} }
	uses, err := page.List("explain", i.q, i.page, key, func(after []string, limit int) ([]Use, error) {
		var from *lots.UseCursor
		if after != nil {
			date, err := time.Parse(time.RFC3339, after[0])
			if err != nil {
				return nil, fault.Invalidf("cursor", "is not a cursor of this list")
			}
			from = &lots.UseCursor{Date: date, ID: after[1]}
		}
		return selectUses(ctx, i.tx, f, from, limit)
	})
	for n, u := range uses.Items {
		uses.Items[n].Amount = new(count(u))
	}
	i.out.Uses, i.out.HasMore, i.out.NextCursor = uses.Items, uses.HasMore, uses.NextCursor
	return err
}

// gains explains the gain realized in a period with an asset.
func (i *inquiry) gains(ctx context.Context) error {
	at, _, err := i.findPeriod(i.q.PeriodID)
	if err != nil {
		return err
	}
	f := useFilter{entities: []string{i.q.LegalEntityID}, assetType: i.q.AssetType, from: at.Start, until: at.End, realized: true}
	p := holdings.GainsParams{Filter: holdings.Filter{LegalEntityIDs: f.entities, AssetTypes: []string{i.q.AssetType}},
		Span: holdings.Span{PeriodID: at.ID}}
	if i.q.SourceID != "" {
		s, err := source.Find(ctx, i.tx, i.q.SourceID)
		if err != nil {
			return err
		}
		f.sourceID, p.SourceIDs = s.ID, []string{s.ID}
	}
	found, err := i.holdings.RealizedGainsLosses(ctx, p, page.Request{Limit: 1})
	if err != nil {
		return err
	}
	if len(found.Items) == 0 {
		return fault.Missing("row of the report")
	}
	g := found.Items[0]
	value := map[string]money.Decimal{
		"net": g.Net(), "units": g.Quantity, "proceeds": g.Proceeds, "fees": g.Fee, "cost_basis": g.Basis, "realized_gain": g.Gain,
		"realized_loss": g.Loss, "short_term": g.ShortTerm, "long_term": g.LongTerm, bookGain: g.BookGain(), taxGain: g.Net(),
	}[i.q.Column]
	i.out.setValue(value, g.Currency)
	if i.q.Column == "units" {
		i.out.Unit = g.AssetType
	}
	column := i.q.Column
	if column == bookGain {
		column, value = taxGain, g.Net()
		i.out.addNonZero(released, g.Released, nil)
	}
	i.out.add("dispositions of "+at.Key, value, nil, Dispositions)
	return i.listUses(ctx, f, func(u Use) money.Decimal { return u.amountOf(column) })
}

// disposition explains one row of the schedule, or the total of the rows of an entry or a period.
func (i *inquiry) disposition(ctx context.Context) error {
	if i.q.DispositionID != "" {
		return i.explainDisposition(ctx)
	}
	f, err := i.useFilter(ctx)
	if err != nil {
		return err
	}
	total, currency, err := sumUses(ctx, i.tx, f)
	if err != nil {
		return err
	}
	if len(total) == 0 {
		return fault.Missing("row of the report")
	}
	if currency == "" && i.q.Column != "quantity" {
		return fault.Invalidf("legal_entity_id", "is required, because the legal entities keep their books in different currencies")
	}
	if i.q.Column == bookGain {
		if total[bookGain], err = sumBookGains(ctx, i.tx, f); err != nil {
			return err
		}
	}
	i.out.setValue(total[i.q.Column], currency)
	if i.q.Column == "quantity" {
		i.out.Unit = i.q.AssetType
	}
	i.out.add("dispositions", total[i.q.Column], nil, Dispositions)
	if err := i.listUses(ctx, f, func(u Use) money.Decimal { return u.amountOf(i.q.Column) }); err != nil || i.q.JournalEntryID == "" {
		return err
	}
	return i.showLines(ctx, i.q.JournalEntryID)
}

// useFilter returns the filter for the rows of the schedule that a query is about.
func (i *inquiry) useFilter(ctx context.Context) (f useFilter, err error) {
	f = useFilter{entryID: i.q.JournalEntryID, assetType: i.q.AssetType, realized: true, entities: actor.From(ctx).LegalEntityIDs}
	if i.q.PeriodID != "" {
		at, _, err := i.findPeriod(i.q.PeriodID)
		if err != nil {
			return f, err
		}
		f.from, f.until = at.Start, at.End
	}
	if i.q.LegalEntityID != "" {
		if _, err := entity.Get(ctx, i.tx, i.q.LegalEntityID); err != nil {
			return f, err
		}
		f.entities = []string{i.q.LegalEntityID}
	}
	if i.q.SourceID != "" {
		s, err := source.Find(ctx, i.tx, i.q.SourceID)
		if err != nil {
			return f, err
		}
		f.sourceID = s.ID
	}
	return f, nil
}

// explainDisposition explains one row: what was consumed from one lot.
func (i *inquiry) explainDisposition(ctx context.Context) error {
	rows, err := selectUses(ctx, i.tx, useFilter{id: i.q.DispositionID, realized: true}, nil, 1)
	if err != nil {
		return err
	}
	if len(rows) == 0 || !actor.From(ctx).Sees(rows[0].LegalEntityID) {
		return fault.Missing("disposition")
	}
	for _, name := range []string{i.q.LegalEntityID, i.q.AssetType, i.q.SourceID} {
		if name != "" {
			return fault.Invalidf("disposition_id", "identifies the row: omit the other parameters")
		}
	}
	u := rows[0]
	i.out.setValue(u.amountOf(i.q.Column), u.Currency)
	switch i.q.Column {
	case bookGain:
		i.out.add("gain for tax", u.Gain, i.q.with("column", taxGain), NoList)
		i.out.addRemainder(released)
	case "gain_loss", taxGain:
		i.out.add("proceeds", u.Proceeds, i.q.with("column", "proceeds"), NoList)
		i.out.add("cost basis", u.Basis.Neg(), i.q.with("column", "cost_basis"), NoList)
		i.out.addRemainder("fee and rounding")
	case "quantity":
		i.out.Unit = u.AssetType
		fallthrough
	default:
		u.Amount = i.out.Value
		i.out.add("consumed from the lot", *i.out.Value, nil, Dispositions)
	}
	i.out.Uses = []Use{u}
	if err := i.showElection(ctx, u); err != nil {
		return err
	}
	if err := i.showLotChain(ctx, u.LotID); err != nil {
		return err
	}
	return i.showLines(ctx, u.JournalEntryID)
}

// showElection shows the legal entity's election that was in force at the time of a disposal.
func (i *inquiry) showElection(ctx context.Context, u Use) error {
	zone, err := snapshot.Zone(ctx, i.tx)
	if err != nil {
		return err
	}
	elections, err := entity.Elections(ctx, i.tx, u.LegalEntityID)
	day := calendar.DateOf(u.DisposedAt, zone)
	for n, e := range elections {
		if e.From == "" || e.From <= day {
			i.out.Election = &elections[n]
		}
	}
	return err
}

// showLines shows the lines of an entry, its origin, and the price used where no value was given.
func (i *inquiry) showLines(ctx context.Context, entryID string) (err error) {
	if i.out.Lines, err = selectEntry(ctx, i.tx, entryID, linesMax); err != nil {
		return err
	}
	if hidden, err := journal.HiddenIDs(ctx, i.tx, []string{entryID}); err != nil || hidden[entryID] {
		return err // its origin includes the transaction of the other legal entity
	}
	o, err := booking.OriginOf(ctx, i.tx, entryID)
	if err != nil || o == nil {
		return err
	}
	t, err := transaction.Find(ctx, i.tx, o.TransactionID)
	if fault.KindOf(err) == fault.NotFound {
		return nil // it belongs to a legal entity that the actor may not see
	}
	i.out.Booking = o
	leg := o.Input.Out
	if err != nil || t.Value != nil || leg == nil || leg.Value == nil || !leg.Asset.Lots {
		return err
	}
	p, some, err := price.Latest(ctx, i.tx, leg.Asset.Symbol, leg.Value.Currency, leg.At)
	if err == nil && some && leg.Quantity.Mul(p.Value).RoundTo(leg.Value.Currency).Equal(leg.Value.Gross) {
		i.out.Price = &p
	}
	return err
}
