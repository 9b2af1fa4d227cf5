package asset

import (
	"context"

	"github.com/bursarhq/bursar/internal/area/books"
	"github.com/bursarhq/bursar/internal/db"
)

// Rebook brings entries that take other lots than they did to what they are now, and says under which entry each is written down from now on.
type Rebook func(ctx context.Context, tx *db.Tx, b *books.Books, changes []Changed) (map[string]Ref, error)

// Ledger lets people enter lots. What stands behind entries, and how they are corrected, is for whoever books transactions to say.
type Ledger struct {
	load   Loader
	rebook Rebook
}

// NewLedger makes one.
func NewLedger(load Loader, rebook Rebook) *Ledger { return &Ledger{load, rebook} }

// hand lets a lot be there, be another one, or be no more, as of a period. Everything that came after it happens again.
func (l *Ledger) hand(ctx context.Context, tx *db.Tx, b *books.Books, before, after *Lot, periodID string) error {
	r := NewReplay(tx, b, l.load, false)
	refs, lotID := map[string]Ref{}, ""
	if before != nil {
		lotID = before.ID
	}
	if after != nil {
		after.Settle(b)
		lotID = after.ID
	}
	r.Put(before, after)
	if err := r.Run(ctx); err != nil {
		return err
	}
	if changed := r.Changes(); len(changed) > 0 {
		var err error
		if refs, err = l.rebook(ctx, tx, b, changed); err != nil {
			return err
		}
	}
	refs[HandRef(lotID)] = Ref{PeriodID: periodID}
	return r.Write(ctx, refs)
}
