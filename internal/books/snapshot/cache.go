package snapshot

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/lru"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// rowsMax bounds the memory of the cache by the rows of all snapshots together: about 500 bytes each.
const rowsMax = 200_000

// cache holds the latest snapshot of each organization. There is one for each database handle.
type cache struct {
	mu    sync.Mutex
	byOrg *lru.Cache[string, *Books]
}

type cacheKey struct{}

func cacheOf(tx *db.Tx) *cache {
	return tx.DB().Value(cacheKey{}, func() any { return &cache{byOrg: lru.New[string](rowsMax, (*Books).rows, nil)} }).(*cache)
}

// get returns the snapshot of a version, if it is in memory.
func (c *cache) get(org string, version int64) *Books {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b, ok := c.byOrg.Get(org); ok && b.Version == version {
		return b
	}
	return nil
}

// put stores a snapshot, unless a newer one is there: a long read transaction sees an old version.
func (c *cache) put(org string, b *Books) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if newer, ok := c.byOrg.Get(org); !ok || newer.Version <= b.Version {
		c.byOrg.Put(org, b)
	}
}

// Lock locks the organization state and returns the books as the actor may see them. No other transaction can change them until this one
// ends.
func Lock(ctx context.Context, tx *db.Tx) (*Books, error) {
	b, err := lock(ctx, tx)
	return b.as(actor.From(ctx)), err
}

// lockedKey is where a transaction remembers the books that it has loaded while it holds the lock.
type lockedKey struct{}

func lock(ctx context.Context, tx *db.Tx) (*Books, error) {
	state, err := orgstate.Lock(ctx, tx)
	if err != nil {
		return nil, err
	}
	if state.Touched() {
		return loadTouched(ctx, tx, state.BooksVersion)
	}
	c := cacheOf(tx)
	if b := c.get(tx.Organization(), state.BooksVersion); b != nil {
		return b, nil
	}
	b, _ := tx.Group().State(lockedKey{}, func() any {
		var b *Books
		if err = orgstate.Confirm(ctx, tx); err != nil { // what is loaded must be of the version it is kept under
			return b
		}
		if b, err = loadVersion(ctx, tx, state.BooksVersion); err == nil {
			putAfterCommit(tx, c, b)
		}
		return b
	}).(*Books)
	if err != nil {
		tx.Group().Discard(lockedKey{})
		return nil, err
	}
	return b, nil
}

type unchangingKey struct{}

// Unchanging returns a context in which Lock loads the books of a transaction that has changed them once, and not for every call. It is for
// functions that only read: to describe a thousand new entries, the books are needed a thousand times.
func Unchanging(ctx context.Context) context.Context {
	return context.WithValue(ctx, unchangingKey{}, new(*Books))
}

// loadTouched loads the books of a transaction that has changed them, and may change them again.
func loadTouched(ctx context.Context, tx *db.Tx, version int64) (*Books, error) {
	loaded, _ := ctx.Value(unchangingKey{}).(**Books)
	if loaded != nil && *loaded != nil {
		return *loaded, nil
	}
	b, err := loadVersion(ctx, tx, version)
	if err == nil && loaded != nil {
		*loaded = b
	}
	return b, err
}

// putAfterCommit stores books that a write has loaded. Before its commit they may contain what a write before it has changed: on SQLite the
// two may share one commit. If that failed, another change would get the same version.
func putAfterCommit(tx *db.Tx, c *cache, b *Books) {
	tx.Group().BeforeCommit(func(_ context.Context, tx *db.Tx) error { // also if the member of a group that loaded them fails
		tx.AfterCommit(func() { c.put(tx.Organization(), b) })
		return nil
	})
}

// loadVersion loads the books, which are of a version. Its statements do not count as those of the request, because others use the books
// too.
func loadVersion(ctx context.Context, tx *db.Tx, version int64) (*Books, error) {
	b, err := Load(db.WithMeter(ctx, nil), tx)
	if err == nil {
		b.Version = version
	}
	return b, err
}

// readKey is where a read transaction remembers its snapshot, so that the version is read once.
type readKey struct{}

// Read returns the books as they are in the transaction and as the actor may see them. In a read transaction it reads the
// version from the organization's state row and loads the rest only if that version is not in memory. A transaction that
// writes may have changed the books itself and loads them.
func Read(ctx context.Context, tx *db.Tx) (*Books, error) {
	b, err := readOnce(ctx, tx)
	return b.as(actor.From(ctx)), err
}

// readOnce reads the books once for a read transaction.
func readOnce(ctx context.Context, tx *db.Tx) (*Books, error) {
	if !tx.ReadOnly() {
		return Load(ctx, tx)
	}
	if !tx.SeesOneSnapshot() { // each statement sees another moment, so that the version says nothing about what is loaded
		return read(ctx, tx, false)
	}
	var err error
	b, _ := tx.Group().State(readKey{}, func() any {
		var b *Books
		b, err = read(ctx, tx, true)
		return b
	}).(*Books)
	if err != nil {
		tx.Group().Discard(readKey{})
		return nil, err
	}
	return b, nil
}

func read(ctx context.Context, tx *db.Tx, keep bool) (*Books, error) {
	state, err := orgstate.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	c := cacheOf(tx)
	if b := c.get(tx.Organization(), state.BooksVersion); b != nil {
		return b, nil
	}
	b, err := loadVersion(ctx, tx, state.BooksVersion)
	if err == nil && keep {
		c.put(tx.Organization(), b)
	}
	return b, err
}

// The following return parts of the books as Read does. The caller may change the list. In a transaction that writes
// they read that part alone.

// Accounts returns the chart of accounts in the order of account.All.
func Accounts(ctx context.Context, tx *db.Tx) ([]account.Account, error) {
	return part(ctx, tx, account.All, func(b *Books) []account.Account { return b.chart })
}

// Entities returns the legal entities in the order of entity.All.
func Entities(ctx context.Context, tx *db.Tx) ([]entity.LegalEntity, error) {
	return part(ctx, tx, entity.All, func(b *Books) []entity.LegalEntity { return b.entities })
}

// Periods returns the accounting periods in the order of period.All.
func Periods(ctx context.Context, tx *db.Tx) ([]period.Period, error) {
	return part(ctx, tx, period.All, func(b *Books) []period.Period { return b.months })
}

// Closings returns the closings that have not been reopened in the order of period.ActiveClosings.
func Closings(ctx context.Context, tx *db.Tx) ([]period.Closing, error) {
	return part(ctx, tx, period.ActiveClosings, func(b *Books) []period.Closing { return b.closings })
}

// Zone returns the time zone of the organization.
func Zone(ctx context.Context, tx *db.Tx) (*time.Location, error) {
	if !tx.ReadOnly() {
		return period.Zone(ctx, tx)
	}
	b, err := Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	return b.Zone, nil
}

func part[T any](ctx context.Context, tx *db.Tx, load func(context.Context, *db.Tx) ([]T, error), of func(*Books) []T) ([]T, error) {
	if !tx.ReadOnly() {
		return load(ctx, tx)
	}
	b, err := Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	return slices.Clone(of(b)), nil
}
