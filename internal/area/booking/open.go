package booking

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/area/asset"
	"github.com/bursarhq/bursar/internal/area/journal"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// open refuses what is dated in a closed period, if it is to be.
func (m builder) open(q *request) error {
	if !q.OpenOnly {
		return nil
	}
	at, err := time.Parse(time.RFC3339, q.entry.AccountingDate)
	if err != nil {
		if at, err = calendar.StartOfDay(q.entry.AccountingDate, m.books.Zone); err != nil {
			return nil // the journal says what is wrong with it
		}
	}
	in := q.event.work.Input
	entities := []string{q.entry.LegalEntityID, in.Target.Entity}
	for _, l := range []*posting.Leg{in.Out, in.In} {
		if l != nil {
			entities = append(entities, l.Entity)
		}
	}
	month := calendar.MonthOf(at, m.books.Zone).Key()
	if month > m.books.ClosedThrough(entities...) {
		return nil
	}
	return closed(q.at+"accounting_date", month)
}

func closed(field, period string) error {
	return fault.ConflictAt([]fault.Field{{Name: field, Message: "the period " + period + " is closed"}}, "the period %s is closed", period)
}

// leavesClosed refuses what would change an entry of a closed period, if any of the requests asks for that.
func (s *Service) leavesClosed(ctx context.Context, tx *db.Tx, all []*request, replay *asset.Replay) error {
	if !slices.ContainsFunc(all, func(q *request) bool { return q.OpenOnly }) {
		return nil
	}
	changes := replay.Changes()
	entries, err := journal.LoadSome(ctx, tx, idsOf(changes))
	if err != nil {
		return err
	}
	b, err := s.books.Of(ctx, tx)
	if err != nil {
		return err
	}
	for _, c := range changes {
		e := entries[c.EntryID]
		is, err := s.journal.IsClosed(ctx, tx, e)
		if err != nil {
			return err
		}
		if p, _ := b.PeriodByID(e.PeriodID); is {
			return fault.ConflictAt([]fault.Field{{Name: "transaction_id", Message: "changes the lots of the entry " + e.SequenceNumber() + ", whose period " + p.Key + " is closed"}},
				"it changes the lots of the entry %s, whose period %s is closed", e.SequenceNumber(), p.Key)
		}
	}
	return nil
}
