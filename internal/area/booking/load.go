package booking

import (
	"context"

	"github.com/bursarhq/bursar/internal/area/asset"
	"github.com/bursarhq/bursar/internal/area/books"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Load gives what entries do to lots.
func (s *Service) Load(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]asset.Work, error) {
	b, err := s.books.Of(ctx, tx)
	if err != nil {
		return nil, err
	}
	return loader(b)(ctx, tx, entryIDs)
}

// loader gives what entries do to lots, in the light of the books.
func loader(b *books.Books) asset.Loader {
	return func(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]asset.Work, error) {
		rows, err := selectBookings(ctx, tx, entryIDs)
		if err != nil {
			return nil, err
		}
		out := make(map[string]asset.Work, len(rows))
		for _, r := range rows {
			w, err := r.work()
			if err != nil {
				return nil, err
			}
			w.Input.Books.Accounts = b.Roles()
			if w.Plan, err = posting.Prepare(w.Input); err != nil {
				return nil, err
			}
			out[r.EntryID] = w
		}
		return out, nil
	}
}

// remake finds everything a draft follows from, as it is now.
func remake(ctx context.Context, tx *db.Tx, b *books.Books, r *bookingRow) (*event, error) {
	p := Params{TransactionID: r.TransactionID, Type: r.Type, LedgerAccountID: db.OrEmpty(r.AccountID), OffsetAccountID: db.OrEmpty(r.OffsetID)}
	m, err := newBuilder(ctx, tx, b, p)
	if err != nil {
		return nil, err
	}
	m.draft = r.EntryID
	return m.build(ctx, p, "")
}
