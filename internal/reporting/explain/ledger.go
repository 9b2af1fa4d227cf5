package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/journal"
)

const runningBalance = "running_balance"

var ledgerColumns = []string{"amount", openingBalance, runningBalance}

// linesMax is the maximum number of lines of an entry that are shown beside one of them.
const linesMax = 100

// ledger explains a line of the general ledger, or a whole entry by its debits.
func (i *inquiry) ledger(ctx context.Context) error {
	e, err := journal.Find(ctx, i.tx, i.q.JournalEntryID)
	if err != nil {
		return err
	}
	if e.Status != journal.Posted {
		return fault.Missing("journal entry")
	}
	if _, _, err := i.findEntities(ctx); err != nil {
		return err
	}
	lines, err := selectEntry(ctx, i.tx, e.ID, len(e.Lines))
	if err != nil {
		return err
	}
	if i.q.JournalLineID != "" {
		n := slices.IndexFunc(lines, func(l Line) bool { return l.ID == i.q.JournalLineID })
		if n < 0 {
			return fault.Missing("journal line")
		}
		return i.line(ctx, e, lines, n)
	}
	if i.q.Column != "amount" {
		return fault.Invalidf("journal_line_id", "is required for a balance, which only lines have")
	}
	if err := mustBalance(e, lines); err != nil {
		return err
	}
	var sum money.Decimal
	for _, l := range lines {
		if l.Currency != lines[0].Currency {
			return fault.Invalidf("journal_line_id", "is required, because the legal entities of the entry keep their books in different currencies")
		}
		if l.Debit {
			sum = sum.Add(l.Amount)
			i.out.add("debit", l.Amount, i.q.with("journal_line_id", l.ID), NoList)
		}
	}
	i.out.setValue(sum, lines[0].Currency)
	return i.showEntry(ctx, e, lines)
}

// mustBalance returns an error when lines of a posted entry are missing or damaged: their sum would be a wrong figure.
func mustBalance(e journal.Entry, lines []Line) error {
	var net money.Decimal
	for _, l := range lines {
		net = net.Add(l.Amount)
	}
	if len(lines) == 0 || !net.IsZero() {
		return fmt.Errorf("explain: the %d stored lines of the posted entry %s do not balance (debits less credits: %s); run bursar verify",
			len(lines), e.ID, net)
	}
	return nil
}

// line explains one line of an entry, or the balance of its account before or after it.
func (i *inquiry) line(ctx context.Context, e journal.Entry, lines []Line, n int) error {
	l := lines[n]
	if i.q.Column == "amount" {
		i.out.setValue(l.Amount.Abs(), l.Currency)
		i.out.add("this line", l.Amount.Abs(), nil, NoList)
		return i.showEntry(ctx, e, lines)
	}
	i.q.PeriodID, i.q.LedgerAccountID = e.PeriodID, l.LedgerAccountID // the names that a cell is found by
	c, err := i.cell(ctx)
	if err != nil {
		return err
	}
	f := i.lines(c, "")
	if !slices.Contains(c.entityIDs(), l.LegalEntityID) {
		return fault.Missing("journal line")
	}
	for _, other := range c.entities {
		if other.BaseCurrency != l.Currency {
			return fault.Invalidf(entitiesName, "must be legal entities that keep their books in one currency")
		}
	}
	f.through = &linePosition{l.Date, l.Number, l.Position - 1}
	began, err := sumBefore(ctx, i.tx, l.LedgerAccountID, i.q.TagID, c.at.Key, c.entityIDs())
	if err != nil {
		return err
	}
	moved, err := sumLines(ctx, i.tx, f)
	if err != nil {
		return err
	}
	i.q.PeriodID, i.q.LedgerAccountID = "", ""
	opening := inNormalSign(c.account, began.Add(moved))
	if i.q.Column == runningBalance {
		own := inNormalSign(c.account, l.Amount)
		i.out.setValue(opening.Add(own), l.Currency)
		i.out.add("opening balance", opening, i.q.with("column", openingBalance), NoList)
		i.out.add("this line", own, i.q.with("column", "amount", "tag_id", ""), NoList)
		return i.showEntry(ctx, e, lines)
	}
	var from *Query
	if c.before != nil && permanent(c.account) {
		from = &Query{Report: "balance-sheet", Column: currentBalance, TagID: i.q.TagID, LegalEntityIDs: i.q.LegalEntityIDs,
			PeriodID: c.before.ID, LedgerAccountID: c.account.ID}
	}
	i.out.setValue(opening, l.Currency)
	i.out.add("balance at the start of "+c.at.Key, inNormalSign(c.account, began), from, NoList)
	i.out.add("earlier lines of the period", inNormalSign(c.account, moved), nil, Lines)
	return i.listLines(ctx, f, c.account.NormalBalance == "credit")
}

// showEntry shows the lines of an entry, the lots that it created and consumed, and its origin.
func (i *inquiry) showEntry(ctx context.Context, e journal.Entry, lines []Line) (err error) {
	i.out.Lines = lines[:min(len(lines), linesMax)]
	if !e.Partial { // the origin is about all legal entities of the entry
		if i.out.Booking, err = booking.OriginOf(ctx, i.tx, e.ID); err != nil {
			return err
		}
	}
	return i.showLotsOf(ctx, e.ID)
}

// key returns the position of a line on its account, for a cursor.
func (l Line) key() []string {
	return []string{clock.Format(l.Date), strconv.FormatInt(l.Number, 10), strconv.FormatInt(l.Position, 10)}
}

// linePositionOf parses the result of key. The fingerprint of a cursor is verified before, so it fails only for one
// that was made up.
func linePositionOf(key []string) (*linePosition, error) {
	if key == nil {
		return nil, nil
	}
	var p linePosition
	var errs [3]error
	p.date, errs[0] = time.Parse(time.RFC3339, key[0])
	p.number, errs[1] = strconv.ParseInt(key[1], 10, 64)
	p.position, errs[2] = strconv.ParseInt(key[2], 10, 64)
	if errors.Join(errs[:]...) != nil {
		return nil, fault.Invalidf("cursor", "is not a cursor of this list")
	}
	return &p, nil
}

// listLines lists a page of lines beside the figure. The signs are inverted where credits add to it.
func (i *inquiry) listLines(ctx context.Context, f lineFilter, credits bool) error {
	i.cursorUsed = true
	lines, err := page.List("explain", i.q, i.page, Line.key, func(after []string, limit int) ([]Line, error) {
		from, err := linePositionOf(after)
		if err != nil {
			return nil, err
		}
		return selectLines(ctx, i.tx, f, from, limit)
	})
	for n := range lines.Items {
		if credits {
			lines.Items[n].Amount = lines.Items[n].Amount.Neg()
		}
	}
	i.out.Lines, i.out.HasMore, i.out.NextCursor = lines.Items, lines.HasMore, lines.NextCursor
	return err
}
