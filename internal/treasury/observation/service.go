package observation

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Service holds the use cases of observed balances.
type Service struct{ db *db.DB }

// NewService returns a service on a database.
func NewService(d *db.DB) *Service { return &Service{d} }

// Filter narrows a list by every field that is not empty. From and To are instants, or dates in the time zone of the organization, both
// included.
type Filter struct {
	AssetType string
	From, To  string

	first, last time.Time
}

// List returns a page of what a source held over time, the latest first.
func (s *Service) List(ctx context.Context, sourceID string, f Filter, pr page.Request) (page.Page[Observed], error) {
	bound := struct {
		SourceID string
		Filter   Filter
	}{sourceID, f}
	key := func(o Observed) []string { return []string{clock.Format(o.At), o.AssetType} }
	return page.List("observed-balances", bound, pr, key, func(after []string, limit int) (rows []Observed, err error) {
		var position *Balance
		if after != nil {
			position = &Balance{AssetType: after[1]}
			if position.At, err = time.Parse(time.RFC3339, after[0]); err != nil {
				return nil, page.ErrCursor()
			}
		}
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			src, err := source.Find(ctx, tx, sourceID)
			if err != nil {
				return err
			}
			zone, err := snapshot.Zone(ctx, tx)
			if err != nil {
				return err
			}
			var faults fault.List
			f.first = Instant(&faults, "start_date", f.From, zone, false)
			f.last = Instant(&faults, "end_date", f.To, zone, true)
			if err := faults.Err(); err != nil {
				return err
			}
			if !f.first.IsZero() && !f.last.IsZero() && f.first.After(f.last) {
				return fault.Invalidf("start_date", "must not be after end_date")
			}
			rows, err = selectPage(ctx, tx, src.ID, f, position, limit)
			return err
		})
		return rows, err
	})
}

// Instant parses an instant, or a date in a time zone as its first instant or its last one. An empty text is the zero time.
func Instant(faults *fault.List, field, text string, zone *time.Location, last bool) time.Time {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return page.ParseTimeBound(faults, field, text, last)
	}
	if last {
		day = day.AddDate(0, 0, 1)
	}
	start, err := calendar.StartOfDay(day.Format(time.DateOnly), zone)
	if err != nil {
		faults.Addf(field, "%s", clock.Unreadable(text))
		return time.Time{}
	}
	if last {
		start = start.Add(-time.Millisecond)
	}
	return start
}

// EnterParams are a balance that somebody enters, such as the closing balance of a bank statement. At is an instant, or a date, which
// means the end of that day in the time zone of the organization.
type EnterParams struct {
	AssetType string
	Quantity  string
	At        string
	Memo      string
}

// Enter stores a balance that somebody entered. One that was entered for the same time before is replaced; one that a file or a connection
// states is a conflict.
func (s *Service) Enter(ctx context.Context, sourceID string, p EnterParams) (o Observed, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		src, err := source.Find(ctx, tx, sourceID)
		if err != nil {
			return err
		}
		if o, err = p.observed(ctx, tx, src); err != nil {
			return err
		}
		known, err := selectOne(ctx, tx, src.ID, o.AssetType, o.At)
		if err != nil {
			return err
		}
		change := audit.Change{Action: "stated_balance.stored", ResourceType: "stated_balance", ResourceID: src.ID, After: o.facts(),
			NoEvent: true}
		if len(known) > 0 {
			if !known[0].Entered() {
				return fault.Conflictf("what the source held of %s at %s is stated by its provider or in a file: %s. Use another instant",
					o.AssetType, clock.Format(o.At), known[0].Quantity)
			}
			change.Before = known[0].facts()
		}
		audit.Record(ctx, tx, change)
		return store(ctx, tx, src.ID, o, []Balance{o.Balance})
	})
	return o, err
}

// observed validates the parameters.
func (p EnterParams) observed(ctx context.Context, tx *db.Tx, src source.Source) (Observed, error) {
	var faults fault.List
	who := actor.From(ctx)
	o := Observed{Balance: Balance{AssetType: strings.TrimSpace(p.AssetType)}, UserID: who.UserID, APIKeyID: who.APIKeyID,
		Memo: strings.TrimSpace(p.Memo)}
	if o.AssetType == "" {
		faults.Addf("asset_type", "must not be empty")
	} else if why := src.RequireHolds(o.AssetType); why != "" {
		faults.Addf("asset_type", "%s", why)
	}
	zone, err := snapshot.Zone(ctx, tx)
	if err != nil {
		return o, err
	}
	if o.At = Instant(&faults, "observed_at", p.At, zone, true); o.At.After(tx.Now()) {
		faults.Addf("observed_at", "must not be in the future, and a date means the end of that day: %s is later than now", clock.Format(o.At))
	}
	if o.Quantity, err = money.Parse(p.Quantity); err != nil {
		faults.Addf("quantity", "%s", err)
	}
	return o, faults.Err()
}

func (o Observed) facts() map[string]any {
	return map[string]any{"asset_type": o.AssetType, "quantity": o.Quantity.String(), "observed_at": clock.Format(o.At), "memo": o.Memo}
}
