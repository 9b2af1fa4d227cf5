// Package sealing counts and renews what is stored encrypted, when its key is rotated. The packages that own the tables declare the
// columns.
package sealing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
)

// Column is a column whose values are sealed, for a context that consists of a purpose, if there is one, and of other columns of the row.
type Column struct {
	Table, Name string
	Title       string // for people
	Purpose     string
	Of          []string // one or two columns, which identify the row
}

// context returns the context for which a value is sealed.
func (c Column) context(r row) []string {
	out := []string{r.First, r.Second}[:len(c.Of)]
	if c.Purpose != "" {
		out = append([]string{c.Purpose}, out...)
	}
	return out
}

// together is how many values are read and written at a time.
const together = 200

// each calls do with the values of a column, page by page.
func (c Column) each(ctx context.Context, d *db.DB, do func(all []row) error) error {
	for after := (row{}); ; {
		var all []row
		err := d.ReadAcross(ctx, "keys are those of all organizations", func(ctx context.Context, tx *db.Tx) (err error) {
			all, err = c.page(ctx, tx, after)
			return err
		})
		if err != nil || len(all) == 0 {
			return err
		}
		if err := do(all); err != nil {
			return err
		}
		after = all[len(all)-1]
	}
}

// Counts is how many values are sealed under each key, and how many are not sealed at all.
type Counts struct {
	ByKey    map[seal.KeyID]int
	Unsealed int
}

// Count counts the values of a column.
func (c Column) Count(ctx context.Context, d *db.DB) (Counts, error) {
	out := Counts{ByKey: map[seal.KeyID]int{}}
	err := c.each(ctx, d, func(all []row) error {
		for _, r := range all {
			if id, ok := seal.KeyOf(r.Sealed); ok {
				out.ByKey[id]++
			} else {
				out.Unsealed++
			}
		}
		return nil
	})
	return out, err
}

// Renew seals the values of a column that are sealed under a former key of a keyset under the one that seals, and returns how many there
// were. Values under a key that the keyset does not have are left. An error names a value that cannot be opened although its key is there.
func (c Column) Renew(ctx context.Context, d *db.DB, k *seal.Key) (renewed int, err error) {
	state, err := k.State()
	if err != nil {
		return 0, err
	}
	former := map[seal.KeyID]bool{}
	for _, id := range state.Keys {
		former[id] = id != state.Primary
	}
	err = c.each(ctx, d, func(all []row) error {
		var stale []row
		for _, r := range all {
			if id, ok := seal.KeyOf(r.Sealed); ok && former[id] {
				stale = append(stale, r)
			}
		}
		if len(stale) == 0 {
			return nil
		}
		n, err := c.renew(ctx, d, k, stale)
		renewed += n
		return err
	})
	return renewed, err
}

// renew seals some values again.
func (c Column) renew(ctx context.Context, d *db.DB, k *seal.Key, all []row) (n int, err error) {
	sealed := make([]string, len(all))
	for i, r := range all {
		plain, err := k.Open(r.Sealed, c.context(r)...)
		if err == nil {
			sealed[i], err = k.Seal(plain, c.context(r)...)
		}
		if err != nil {
			return 0, fmt.Errorf("%s of %v: %w", c.Title, c.context(r), err)
		}
	}
	err = d.WriteAcross(ctx, "keys are those of all organizations", func(ctx context.Context, tx *db.Tx) error {
		n = 0
		for i, r := range all {
			done, err := c.replace(ctx, tx, r, sealed[i])
			if err != nil {
				return err
			}
			if done {
				n++
			}
		}
		return nil
	})
	return n, err
}

// Verify returns an error unless every value that is sealed under one of some keys can be opened with a key.
func (c Column) Verify(ctx context.Context, d *db.DB, k *seal.Key, under []seal.KeyID) error {
	named := map[seal.KeyID]bool{}
	for _, id := range under {
		named[id] = true
	}
	return c.each(ctx, d, func(all []row) error {
		for _, r := range all {
			id, ok := seal.KeyOf(r.Sealed)
			if !ok || !named[id] {
				continue
			}
			if _, err := k.Open(r.Sealed, c.context(r)...); err != nil {
				return fmt.Errorf("%s of %v, sealed under the key %s: %w", c.Title, c.context(r), id, errors.Join(ErrNotRenewed, err))
			}
		}
		return nil
	})
}

// ErrNotRenewed means that a value cannot be opened with the key that seals.
var ErrNotRenewed = errors.New("it cannot be opened with the newest key alone")
