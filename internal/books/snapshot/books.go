// Package snapshot keeps the chart of accounts, the legal entities and the accounting periods of organizations in
// memory. A snapshot is read again when the version in the organization's state row says that something changed.
package snapshot

import (
	"context"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Books is one organization's, as of a version. It is never changed once made.
type Books struct {
	Version  int64
	Zone     *time.Location
	Entities map[string]entity.LegalEntity
	Accounts map[string]account.Account
	// Elections are what each legal entity elected about cost basis, in the order in which it did.
	Elections map[string][]entity.Election

	roles         map[string]string        // accounts by role
	periods       map[string]period.Period // by key
	byID          map[string]period.Period
	closedThrough map[string]string // by legal entity, the key of its last closed month
}

// Period is the row of a month, by its key.
func (b *Books) Period(key string) (period.Period, bool) {
	p, ok := b.periods[key]
	return p, ok
}

// PeriodByID is the row with an id.
func (b *Books) PeriodByID(id string) (period.Period, bool) {
	p, ok := b.byID[id]
	return p, ok
}

// ClosedThrough is the key of the last month that is closed for any of some legal entities; empty when none is. Months close in order, so
// everything up to it is closed, also what has no row.
func (b *Books) ClosedThrough(entities ...string) (key string) {
	for _, e := range entities {
		key = max(key, b.closedThrough[e])
	}
	return key
}

// Roles gives the account of every role there is. Nobody may change it.
func (b *Books) Roles() map[string]string { return b.roles }

// Read loads the books as they are in a transaction.
func Read(ctx context.Context, tx *db.Tx) (*Books, error) {
	b := &Books{
		Entities: map[string]entity.LegalEntity{}, Accounts: map[string]account.Account{}, roles: map[string]string{},
		periods: map[string]period.Period{}, byID: map[string]period.Period{}, closedThrough: map[string]string{},
	}
	var err error
	if b.Zone, err = period.Zone(ctx, tx); err != nil {
		return nil, err
	}
	entities, err := entity.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, e := range entities {
		b.Entities[e.ID] = e
	}
	if b.Elections, err = entity.AllElections(ctx, tx); err != nil {
		return nil, err
	}
	accounts, err := account.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, a := range accounts {
		b.Accounts[a.ID] = a
		if a.Role != "" {
			b.roles[a.Role] = a.ID
		}
	}
	periods, err := period.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, p := range periods {
		b.periods[p.Key], b.byID[p.ID] = p, p
	}
	standing, err := period.Standing(ctx, tx)
	for _, c := range standing {
		b.closedThrough[c.LegalEntityID] = max(b.closedThrough[c.LegalEntityID], b.byID[c.PeriodID].Key)
	}
	return b, err
}

// keptMax bounds how many organizations' books are kept at hand.
const keptMax = 512

// Cache keeps books between transactions.
type Cache struct {
	mu    sync.Mutex
	byOrg map[string]*Books
}

// Of takes the organization's head and gives the books as they are under it: until the transaction ends nobody else changes them.
func (c *Cache) Of(ctx context.Context, tx *db.Tx) (*Books, error) {
	h, err := orgstate.Lock(ctx, tx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	b := c.byOrg[tx.Organization()]
	c.mu.Unlock()
	if b != nil && b.Version == h.BooksVersion && !h.Touched() {
		return b, nil
	}
	if b, err = Read(ctx, tx); err != nil {
		return nil, err
	}
	b.Version = h.BooksVersion
	if !h.Touched() { // what this transaction changed may yet be rolled back
		c.keep(tx.Organization(), b)
	}
	return b, nil
}

func (c *Cache) keep(org string, b *Books) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byOrg == nil || len(c.byOrg) >= keptMax {
		c.byOrg = map[string]*Books{}
	}
	c.byOrg[org] = b
}
