package booking

import (
	"context"

	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Origin is the stored booking of an entry: the request, and the input from which the entry was computed.
type Origin struct {
	TransactionID   string
	PartnerID       string // the other half of a transfer; empty without one
	Type            string
	LedgerAccountID string
	OffsetAccountID string
	RuleID          string // the classification rule that booked it; empty if a user did
	RuleVersion     int64
	Picks           []lot.Pick
	Input           posting.Input // without the accounts of roles
}

// OriginOf returns the origin of an entry, nil if it was not computed from a transaction. It is a building block.
func OriginOf(ctx context.Context, tx *db.Tx, entryID string) (*Origin, error) {
	r, err := selectBooking(ctx, tx, entryID)
	if err != nil || r == nil {
		return nil, err
	}
	f, err := r.decode()
	if err != nil {
		return nil, err
	}
	o := &Origin{TransactionID: r.TransactionID, PartnerID: db.OrEmpty(r.PartnerID), Type: r.Type,
		LedgerAccountID: db.OrEmpty(r.AccountID), OffsetAccountID: db.OrEmpty(r.OffsetID),
		RuleID: db.OrEmpty(r.RuleID), Picks: f.Picks, Input: f.Input}
	if r.RuleVersion != nil {
		o.RuleVersion = *r.RuleVersion
	}
	return o, nil
}

// Target is the account to which a transaction was booked, and as which type.
type Target struct {
	LedgerAccountID string
	Type            string
}

// Targets returns the targets of entries by their IDs, without those that were not computed from a transaction or have no
// target account. It is a building block.
func Targets(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]Target, error) {
	rows, err := selectTargets(ctx, tx, entryIDs)
	out := make(map[string]Target, len(rows))
	for _, r := range rows {
		out[r.EntryID] = Target{r.LedgerAccountID, r.Type}
	}
	return out, err
}

// LoanAccounts returns the accounts to which loans or repayments were booked, also those of which the entry is reversed. It is a
// building block.
func LoanAccounts(ctx context.Context, tx *db.Tx) ([]string, error) {
	return selectLoanAccounts(ctx, tx)
}

// Load returns the effects of entries on lots. It is a building block.
func (s *Service) Load(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]replay.Effect, error) {
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return nil, err
	}
	return loader(b)(ctx, tx, entryIDs)
}

// loader returns a function that loads the effects of entries on lots, with the account roles of the chart.
func loader(b *snapshot.Books) replay.Loader {
	return func(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]replay.Effect, error) {
		rows, err := selectBookings(ctx, tx, entryIDs)
		if err != nil {
			return nil, err
		}
		out := make(map[string]replay.Effect, len(rows))
		for _, r := range rows {
			e, err := r.effect()
			if err != nil {
				return nil, err
			}
			e.Input.Books.Accounts = b.Roles()
			if e.Plan, err = posting.Prepare(e.Input); err != nil {
				return nil, err
			}
			out[r.EntryID] = e
		}
		return out, nil
	}
}

// rebuild collects everything that a draft is computed from, as it is now.
func rebuild(ctx context.Context, tx *db.Tx, b *snapshot.Books, r *bookingRow) (*event, error) {
	p, err := r.params()
	if err != nil {
		return nil, err
	}
	m, err := newBuilder(ctx, tx, b, p)
	if err != nil {
		return nil, err
	}
	m.rebooked = r.EntryID
	return m.build(ctx, p, "")
}
