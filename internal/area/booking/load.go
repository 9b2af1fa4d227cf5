package booking

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/area/asset"
	"github.com/bursarhq/bursar/internal/area/books"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Load gives what an entry does to lots.
func (s *Service) Load(ctx context.Context, tx *db.Tx, entryID string) (asset.Work, error) {
	b, err := s.books.Of(ctx, tx)
	if err != nil {
		return asset.Work{}, err
	}
	return loader(b)(ctx, tx, entryID)
}

// loader gives what entries do to lots, in the light of the books.
func loader(b *books.Books) asset.Loader {
	return func(ctx context.Context, tx *db.Tx, entryID string) (asset.Work, error) {
		r, err := selectBooking(ctx, tx, entryID)
		if err != nil {
			return asset.Work{}, err
		}
		if r == nil {
			return asset.Work{}, fmt.Errorf("booking: nothing is known of what entry %s follows from", entryID)
		}
		w, err := r.work()
		if err != nil {
			return w, err
		}
		w.Input.Books.Accounts = b.Roles()
		w.Plan, err = posting.Prepare(w.Input)
		return w, err
	}
}

// again finds everything a draft follows from, as it is now.
func (m builder) again(ctx context.Context, r *bookingRow) (*event, error) {
	p := Params{TransactionID: r.TransactionID, Type: r.Type, LedgerAccountID: db.OrEmpty(r.AccountID), OffsetAccountID: db.OrEmpty(r.OffsetID)}
	m.draft = r.EntryID
	return m.build(ctx, p, "")
}
