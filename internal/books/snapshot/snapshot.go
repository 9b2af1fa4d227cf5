// Package snapshot keeps the chart of accounts, the legal entities and the accounting periods of organizations in
// memory. A snapshot is read again when the version in the organization's state row says that something changed.
package snapshot

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Books is the snapshot of one organization as of a version. It is shared between requests: callers must not change it.
type Books struct {
	Version  int64
	Zone     *time.Location
	Entities map[string]entity.LegalEntity
	Accounts map[string]account.Account
	// Elections are the cost basis elections of each legal entity, the earliest first.
	Elections map[string][]entity.Election

	entities []entity.LegalEntity // in the order of entity.All
	chart    []account.Account    // in the order of account.All
	months   []period.Period      // in the order of period.All
	closings []period.Closing     // in the order of period.ActiveClosings

	roles         map[string]string        // accounts by role
	periods       map[string]period.Period // by key
	byID          map[string]period.Period
	closedThrough map[string]string // by legal entity, the key of its last closed period
}

// Period returns the accounting period with a key such as 2026-03, or the opening period with its key.
func (b *Books) Period(key string) (period.Period, bool) {
	p, ok := b.periods[key]
	return p, ok
}

// PeriodByID returns the accounting period with an id.
func (b *Books) PeriodByID(id string) (period.Period, bool) {
	p, ok := b.byID[id]
	return p, ok
}

// PeriodOfEntry returns the accounting period with an id, which may be the opening period.
func (b *Books) PeriodOfEntry(id string) (period.Period, bool) {
	if p, ok := b.periods[period.OpeningKey]; ok && p.ID == id {
		return p, true
	}
	return b.PeriodByID(id)
}

// FirstPeriod returns the first accounting period. An organization always has one.
func (b *Books) FirstPeriod() period.Period { return b.months[0] }

// ClosedThrough returns the key of the last period that is closed for any of some legal entities, or an empty key if none
// is. Periods close in order, so that every month up to it is closed, even one that has no period yet.
func (b *Books) ClosedThrough(entities ...string) (key string) {
	for _, e := range entities {
		key = max(key, b.closedThrough[e])
	}
	return key
}

// ClosedThrough returns the key of the last period that is closed for a legal entity, or an empty key if none is.
func ClosedThrough(ctx context.Context, tx *db.Tx, legalEntityID string) (string, error) {
	b, err := Read(ctx, tx)
	if err != nil {
		return "", err
	}
	return b.ClosedThrough(legalEntityID), nil
}

// Roles returns the id of the account of every role. Callers must not change the map.
func (b *Books) Roles() map[string]string { return b.roles }

// MethodOn returns the cost basis method of a legal entity on a date such as 2026-01-31 in the time zone of the organization.
func (b *Books) MethodOn(legalEntityID, day string) string {
	method := entity.MethodFIFO
	for _, elected := range b.Elections[legalEntityID] {
		if elected.From <= day {
			method = elected.Method
		}
	}
	return method
}

// Load reads the books from the database, as they are in the transaction. Use cases call Read or Lock; verification
// calls Load, because it must not rely on what is in memory.
func Load(ctx context.Context, tx *db.Tx) (*Books, error) {
	b := &Books{
		Entities: map[string]entity.LegalEntity{}, Accounts: map[string]account.Account{},
		periods: map[string]period.Period{}, byID: map[string]period.Period{}, closedThrough: map[string]string{},
	}
	var err error
	if b.Zone, err = period.Zone(ctx, tx); err != nil {
		return nil, err
	}
	if b.entities, err = entity.All(ctx, tx); err != nil {
		return nil, err
	}
	for _, e := range b.entities {
		b.Entities[e.ID] = e
	}
	if b.Elections, err = entity.AllElections(ctx, tx); err != nil {
		return nil, err
	}
	if b.chart, err = account.AllUnchecked(ctx, tx); err != nil {
		return nil, err
	}
	for _, a := range b.chart {
		b.Accounts[a.ID] = a
	}
	b.roles = account.FindRoles(b.chart)
	if b.months, err = period.All(ctx, tx); err != nil {
		return nil, err
	}
	for _, p := range b.months {
		b.periods[p.Key], b.byID[p.ID] = p, p
	}
	opening, err := period.FindOpening(ctx, tx)
	if err != nil {
		return nil, err
	}
	if opening != nil {
		b.periods[opening.Key] = *opening
	}
	b.closings, err = period.ActiveClosings(ctx, tx)
	for _, c := range b.closings {
		b.closedThrough[c.LegalEntityID] = max(b.closedThrough[c.LegalEntityID], b.byID[c.PeriodID].Key)
	}
	return b, err
}

// as returns the books as an actor may see them: accounts that are named after legal entities which the actor's key has no access to have
// other names.
func (b *Books) as(who actor.Actor) *Books {
	if b == nil || !who.Limited() {
		return b
	}
	out := *b
	out.chart, out.Accounts = account.AllFor(who, b.chart), make(map[string]account.Account, len(b.chart))
	for _, a := range out.chart {
		out.Accounts[a.ID] = a
	}
	return &out
}

// rows returns how many database rows the books consist of.
func (b *Books) rows() int {
	return 1 + len(b.chart) + len(b.months) + len(b.entities) + len(b.closings)
}
