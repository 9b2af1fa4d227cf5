package booking

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bursarhq/bursar/internal/assets/asset"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Origin is how the entry of a transaction was asked for, and what it follows from.
type Origin struct {
	TransactionID   string
	PartnerID       string // the other half of a transfer; empty without one
	Type            string
	LedgerAccountID string
	OffsetAccountID string
	RuleID          string // the rule of classification that asked for it; empty where somebody did
	RuleVersion     int64
	Picks           []lot.Pick
	Input           posting.Input // without the roles of the chart
}

// OriginOf gives what an entry follows from; nil for one that follows from no transaction. It is a building block.
func OriginOf(ctx context.Context, tx *db.Tx, entryID string) (*Origin, error) {
	r, err := selectBooking(ctx, tx, entryID)
	if err != nil || r == nil {
		return nil, err
	}
	var f followed
	if err := json.Unmarshal([]byte(r.Input), &f); err != nil {
		return nil, fmt.Errorf("booking: read what %s follows from: %w", entryID, err)
	}
	o := &Origin{TransactionID: r.TransactionID, PartnerID: db.OrEmpty(r.PartnerID), Type: r.Type,
		LedgerAccountID: db.OrEmpty(r.AccountID), OffsetAccountID: db.OrEmpty(r.OffsetID),
		RuleID: db.OrEmpty(r.RuleID), Picks: f.Picks, Input: f.Input}
	if r.RuleVersion != nil {
		o.RuleVersion = *r.RuleVersion
	}
	return o, nil
}

// Target is what the entry of a transaction was booked as, where an account was named for it.
type Target struct {
	LedgerAccountID string
	Type            string
}

// Targets gives what entries were booked as, by their ids; those that follow from no transaction or name no account
// are left out. It is a building block.
func Targets(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]Target, error) {
	rows, err := selectTargets(ctx, tx, entryIDs)
	out := make(map[string]Target, len(rows))
	for _, r := range rows {
		out[r.EntryID] = Target{r.LedgerAccountID, r.Type}
	}
	return out, err
}

// Load gives what entries do to lots.
func (s *Service) Load(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]asset.Work, error) {
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return nil, err
	}
	return loader(b)(ctx, tx, entryIDs)
}

// loader gives what entries do to lots, in the light of the books.
func loader(b *snapshot.Books) asset.Loader {
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
func remake(ctx context.Context, tx *db.Tx, b *snapshot.Books, r *bookingRow) (*event, error) {
	p := Params{TransactionID: r.TransactionID, Type: r.Type, LedgerAccountID: db.OrEmpty(r.AccountID),
		OffsetAccountID: db.OrEmpty(r.OffsetID)}
	m, err := newBuilder(ctx, tx, b, p)
	if err != nil {
		return nil, err
	}
	m.draft = r.EntryID
	return m.build(ctx, p, "")
}
