package journal

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Filter narrows a list of entries; empty fields do not.
type Filter struct {
	LegalEntityIDs  []string
	LedgerAccountID string
	PeriodID        string
	TagID           string
	TransactionID   string
	Status          Status
	Span
	Search string

	limited []string // the legal entities that the actor's key is limited to; empty: no limit
}

// Span is a range of accounting dates, both ends included. From and To are instants, or dates in the organization's time zone.
type Span struct {
	From, To string

	period      period.Period // limits the span if it has an id
	first, last time.Time
}

// resolve parses the bounds of a span into instants.
func (s *Span) resolve(loc *time.Location) error {
	var faults fault.List
	bound := func(field, text string, ofDay func(string, *time.Location) (time.Time, error)) (at time.Time) {
		if text == "" {
			return at
		}
		at, err := time.Parse(time.RFC3339, text)
		if err == nil {
			return at
		}
		if at, err = ofDay(text, loc); err != nil {
			faults.Addf(field, "%s", clock.Unreadable(text))
		}
		return at
	}
	s.first, s.last = bound("start_date", s.From, calendar.StartOfDay), bound("end_date", s.To, lastOfDay)
	if !s.last.IsZero() && s.first.After(s.last) {
		faults.Addf("start_date", "must not be after end_date")
	}
	return faults.Err()
}

// lastOfDay returns the last instant of a date.
func lastOfDay(date string, loc *time.Location) (time.Time, error) {
	next, err := calendar.EndOfDay(date, loc)
	if err != nil {
		return time.Time{}, err
	}
	return next.Add(-time.Millisecond), nil
}

// List returns a page of entries, the latest accounting date first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Guided], error) {
	who := actor.From(ctx)
	f.limited = who.LegalEntityIDs
	return page.List("journal-entries", f, p, func(g Guided) []string {
		return encodeCursorKey(g.AccountingDate, g.Number)
	}, func(after []string, limit int) (rows []Guided, err error) {
		below, err := parseCursorKey(after)
		if err != nil {
			return nil, err
		}
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			b, err := s.resolveFilter(ctx, tx, &f)
			if err != nil {
				return err
			}
			entries, err := listVisible(ctx, tx, who, f, below, limit)
			if err != nil {
				return err
			}
			rows, err = s.guide(ctx, tx, b, entries)
			return err
		})
		return rows, err
	})
}

// listVisible returns the parts of entries that an actor may see. An entry that a search finds by a text which the actor may not see is
// left out, and the next one takes its place.
func listVisible(ctx context.Context, tx *db.Tx, who actor.Actor, f Filter, below *cursorKey, limit int) (out []Entry, err error) {
	text := strings.ToLower(f.Search)
	for {
		entries, err := selectPage(ctx, tx, f, below, limit)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			below = &cursorKey{e.AccountingDate, e.Number}
			if e, _ = e.shownTo(who); !e.Partial || strings.Contains(e.search(), text) {
				out = append(out, e)
			}
		}
		if len(entries) < limit || len(out) >= limit {
			return out[:min(len(out), limit)], nil
		}
	}
}

// resolveFilter parses a filter and returns an error if it names a record that does not exist: an empty list would look as if
// nothing were booked. It returns the books that it looked in.
func (s *Service) resolveFilter(ctx context.Context, tx *db.Tx, f *Filter) (*snapshot.Books, error) {
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	who := actor.From(ctx)
	for _, id := range f.LegalEntityIDs {
		if _, there := b.Entities[id]; !there || !who.Sees(id) {
			return nil, fault.Missing("legal entity")
		}
	}
	if _, there := b.Accounts[f.LedgerAccountID]; f.LedgerAccountID != "" && !there {
		return nil, fault.Missing("ledger account")
	}
	if f.PeriodID != "" {
		var there bool
		if f.period, there = b.PeriodByID(f.PeriodID); !there {
			return nil, fault.Missing("accounting period")
		}
	}
	if f.TransactionID != "" {
		if err := s.subledger.FindTransaction(ctx, tx, f.TransactionID); err != nil {
			return nil, err
		}
	}
	if f.TagID != "" {
		if _, err := tag.Get(ctx, tx, f.TagID); err != nil {
			return nil, err
		}
	}
	return b, f.resolve(b.Zone)
}

// cursorKey is the position of an entry in a list: lists are ordered by date, then by number.
type cursorKey struct {
	date   time.Time
	number int64
}

func encodeCursorKey(date time.Time, number int64) []string {
	return []string{clock.Format(date), strconv.FormatInt(number, 10)}
}

// parseCursorKey parses the key of a cursor. It returns nil for the first page.
func parseCursorKey(key []string) (*cursorKey, error) {
	if key == nil {
		return nil, nil
	}
	date, err := time.Parse(time.RFC3339, key[0])
	if err != nil {
		return nil, page.ErrCursor()
	}
	number, err := strconv.ParseInt(key[1], 10, 64)
	if err != nil {
		return nil, page.ErrCursor()
	}
	return &cursorKey{date, number}, nil
}

// AccountLine is a posted line with the entry it belongs to.
type AccountLine struct {
	Line
	EntryID        string
	Number         int64
	Position       int64
	AccountingDate time.Time
	EntryMemo      string
}

// SequenceNumber returns the number of the entry that users see, such as JE-7.
func (l AccountLine) SequenceNumber() string { return "JE-" + strconv.FormatInt(l.Number, 10) }

// LineFilter narrows an account's lines.
type LineFilter struct {
	LedgerAccountID string
	LegalEntityIDs  []string
	Span

	limited []string
}

// Lines returns a page of the posted lines of an account, the latest first.
func (s *Service) Lines(ctx context.Context, f LineFilter, p page.Request) (page.Page[AccountLine], error) {
	who := actor.From(ctx)
	f.limited = who.LegalEntityIDs
	key := func(l AccountLine) []string {
		return append(encodeCursorKey(l.AccountingDate, l.Number), strconv.FormatInt(l.Position, 10))
	}
	return page.List("ledger-account-lines", f, p, key, func(after []string, limit int) (rows []AccountLine, err error) {
		below, err := parseCursorKey(after)
		if err != nil {
			return nil, err
		}
		position := int64(0)
		if after != nil {
			if position, err = strconv.ParseInt(after[2], 10, 64); err != nil {
				return nil, page.ErrCursor()
			}
		}
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			known := Filter{LedgerAccountID: f.LedgerAccountID, LegalEntityIDs: f.LegalEntityIDs, Span: f.Span}
			b, err := s.resolveFilter(ctx, tx, &known)
			if err != nil {
				return err
			}
			f.Span = known.Span
			rows, err = selectLines(ctx, tx, f, below, position, limit)
			for i := range rows {
				rows[i].BaseCurrency = b.Entities[rows[i].LegalEntityID].BaseCurrency
			}
			return err
		})
		return rows, err
	})
}

// containsPattern returns the LIKE pattern that matches what contains a text.
func containsPattern(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(text)) + "%"
}
