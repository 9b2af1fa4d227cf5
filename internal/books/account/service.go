package account

import (
	"context"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Service holds the use cases.
type Service struct{ db *db.DB }

// NewService returns a Service.
func NewService(d *db.DB) *Service { return &Service{d} }

// Create creates an account.
func (s *Service) Create(ctx context.Context, p CreateParams) (a Account, err error) {
	return s.write(ctx, func(ctx context.Context, tx *db.Tx) (Account, error) { return Create(ctx, tx, p) })
}

// Update changes an account. It writes nothing if nothing changes.
func (s *Service) Update(ctx context.Context, accountID string, p UpdateParams) (Account, error) {
	return s.write(ctx, func(ctx context.Context, tx *db.Tx) (Account, error) { return Update(ctx, tx, accountID, p) })
}

// Archive archives an account, so that it gets no new lines. Archiving an archived account changes nothing.
func (s *Service) Archive(ctx context.Context, accountID string) (Account, error) {
	return s.write(ctx, func(ctx context.Context, tx *db.Tx) (Account, error) { return archive(ctx, tx, accountID) })
}

// Unarchive makes an archived account usable again. Unarchiving an account that is not archived changes nothing.
func (s *Service) Unarchive(ctx context.Context, accountID string) (Account, error) {
	return s.write(ctx, func(ctx context.Context, tx *db.Tx) (Account, error) { return unarchive(ctx, tx, accountID) })
}

// Delete deletes an account and all below it, if nothing refers to any of them.
func (s *Service) Delete(ctx context.Context, accountID string) error {
	_, err := s.write(ctx, func(ctx context.Context, tx *db.Tx) (Account, error) {
		return Account{}, deleteTree(ctx, tx, accountID)
	})
	return err
}

func (s *Service) write(ctx context.Context, change func(context.Context, *db.Tx) (Account, error)) (a Account, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		a, err = change(ctx, tx)
		return err
	})
	return a, err
}

// Get returns an account.
func (s *Service) Get(ctx context.Context, accountID string) (a Account, err error) {
	err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		a, err = find(ctx, tx, accountID)
		return err
	})
	return a.For(actor.From(ctx)), err
}

// Filter narrows a list; empty fields do not.
type Filter struct {
	Type     Type
	Archived *bool
	Postable *bool
	ParentID string
	Search   string // in code or name, regardless of case
}

// List returns a page of accounts by sequence number.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Account], error) {
	number := func(a Account) []string { return []string{strconv.FormatInt(a.SequenceNumber, 10)} }
	return page.List("ledger-accounts", f, p, number, func(after []string, limit int) (rows []Account, err error) {
		above := int64(0)
		if after != nil {
			if above, err = strconv.ParseInt(after[0], 10, 64); err != nil {
				return nil, page.ErrCursor()
			}
		}
		read := s.db.ReadOne
		if f.ParentID != "" || f.Search != "" {
			read = s.db.Read // more than one statement
		}
		err = read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = f.read(ctx, tx, above, limit)
			return err
		})
		return rows, err
	})
}

// searchBatch is how many accounts are read at a time while searching.
const searchBatch = 100

// read returns up to limit accounts that match. It searches here and not in the database, because the databases differ in how they
// fold the case of letters such as é.
func (f Filter) read(ctx context.Context, tx *db.Tx, above int64, limit int) ([]Account, error) {
	if f.ParentID != "" {
		if _, err := find(ctx, tx, f.ParentID); err != nil {
			return nil, err
		}
	}
	who := actor.From(ctx)
	if f.Search == "" {
		found, err := selectPage(ctx, tx, f, above, limit)
		return AllFor(who, found), err
	}
	var found []Account
	for {
		batch, err := selectPage(ctx, tx, f, above, searchBatch)
		if err != nil {
			return nil, err
		}
		for _, a := range batch {
			a = a.For(who)
			if above = a.SequenceNumber; f.matches(a) {
				if found = append(found, a); len(found) == limit {
					return found, nil
				}
			}
		}
		if len(batch) < searchBatch {
			return found, nil
		}
	}
}

func (f Filter) matches(a Account) bool {
	wanted := strings.ToLower(f.Search)
	return strings.Contains(strings.ToLower(a.Code), wanted) || strings.Contains(strings.ToLower(a.Name), wanted)
}
