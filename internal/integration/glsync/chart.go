package glsync

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// Service holds the use cases.
type Service struct {
	db          *db.DB
	connections *connection.Service
	providers   map[string]*Provider
	log         *slog.Logger
}

// NewService returns a service for the general ledgers of connections.
func NewService(d *db.DB, connections *connection.Service) *Service {
	return &Service{db: d, connections: connections, providers: map[string]*Provider{}, log: slog.New(slog.DiscardHandler)}
}

// WithLog has pauses of runs logged. It is called before the service is used.
func (s *Service) WithLog(log *slog.Logger) *Service {
	s.log = log
	return s
}

// WithProvider makes a general ledger available. It is called before the service is used.
func (s *Service) WithProvider(p *Provider) *Service {
	if p != nil {
		s.providers[p.Name] = p
	}
	return s
}

// Account is an account of a general ledger.
type Account struct {
	ID           string
	ConnectionID string
	ExternalID   string
	Code         string // empty if there is none
	Name         string
	Type         string // that of ledger accounts; empty if the general ledger has another
	Currency     string // of an account with only one; empty otherwise
	Active       bool
	Refusal      string // why no journal can have the account; empty if it can
	CreatedAt    time.Time
	UpdatedAt    *time.Time
}

// gone is the refusal of an account that the general ledger no longer has.
const gone = "it no longer exists in the general ledger"

// Unusable returns why entries cannot be sent to the account; empty if they can.
func (a Account) Unusable() string {
	switch {
	case a.Refusal != "":
		return a.Refusal
	case !a.Active:
		return "it is inactive in the general ledger"
	}
	return ""
}

// Label returns how people call the account.
func (a Account) Label() string { return strings.TrimSpace(a.Code + " " + a.Name) }

// search returns the text that searches look in.
func (a Account) search() string { return strings.ToLower(a.Code + "\n" + a.Name) }

// books is what was read of a general ledger.
type books struct {
	Currency      string
	Foreign       bool
	LockedThrough string
}

// The longest texts that are stored, in characters.
const (
	textMax  = 500
	errorMax = 1000
)

// cut returns a text of at most a number of characters.
func cut(text string, limit int) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}

// StoreChart stores what a general ledger has in the place of what was read before. Accounts keep their ids. It runs in the caller's
// transaction.
func StoreChart(ctx context.Context, tx *db.Tx, connectionID string, c Chart) error {
	b := books{Currency: c.Currency, Foreign: c.Foreign, LockedThrough: c.LockedThrough}
	if err := upsertBooks(ctx, tx, connectionID, b); err != nil {
		return err
	}
	stored, err := selectAccounts(ctx, tx, connectionID)
	if err != nil {
		return err
	}
	before := make(map[string]Account, len(stored))
	for _, a := range stored {
		before[a.ExternalID] = a
	}
	var changed []Account
	seen := map[string]bool{}
	for _, e := range c.Accounts {
		if seen[e.ID] {
			continue
		}
		seen[e.ID] = true
		was, known := before[e.ID]
		a := Account{ID: was.ID, ConnectionID: connectionID, ExternalID: e.ID, Code: cut(e.Code, textMax), Name: cut(e.Name, textMax),
			Type: e.Type, Currency: e.Currency, Active: e.Active, Refusal: cut(e.Refuses, textMax), CreatedAt: was.CreatedAt,
			UpdatedAt: was.UpdatedAt}
		if !known {
			a.ID, a.CreatedAt = tx.NewID(id.GLAccount), tx.Now()
		}
		if a != was {
			changed = append(changed, touched(a, known, tx.Now()))
		}
	}
	for _, a := range stored {
		if !seen[a.ExternalID] && a.Refusal != gone {
			a.Active, a.Refusal = false, gone
			changed = append(changed, touched(a, true, tx.Now()))
		}
	}
	if err := upsertAccounts(ctx, tx, changed); err != nil {
		return err
	}
	return storeValues(ctx, tx, connectionID, c.Values)
}

// touched returns an account with the time of its change, if it was known before.
func touched(a Account, known bool, now time.Time) Account {
	if known {
		a.UpdatedAt = &now
	}
	return a
}

// AccountFilter narrows a list of accounts; empty fields match everything.
type AccountFilter struct {
	ConnectionID string
	Active       *bool
	Search       string
}

// Accounts lists the accounts of general ledgers, in the order in which they were first read.
func (s *Service) Accounts(ctx context.Context, f AccountFilter, p page.Request) (page.Page[Account], error) {
	return page.ListByKey("gl-accounts", f, p, "", func(a Account) string { return a.ID },
		func(above string, limit int) (rows []Account, err error) {
			err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
				connections, err := s.visible(ctx, tx, f.ConnectionID)
				if err != nil {
					return err
				}
				rows, err = selectAccountPage(ctx, tx, f, connections, above, limit)
				return err
			})
			return rows, err
		})
}

// visible returns the ids of the connections to general ledgers that a list is about: one, or all that the actor may see.
func (s *Service) visible(ctx context.Context, tx *db.Tx, connectionID string) (ids []string, err error) {
	if connectionID != "" {
		c, err := s.connections.FindLedger(ctx, tx, connectionID)
		return []string{c.ID}, err
	}
	all, err := s.connections.Ledgers(ctx, tx)
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids, err
}

// only returns the connection with an id or, if the id is empty, the only one to a general ledger that there is.
func (s *Service) only(ctx context.Context, tx *db.Tx, connectionID string) (connection.Connection, error) {
	if connectionID != "" {
		return s.connections.FindLedger(ctx, tx, connectionID)
	}
	all, err := s.connections.Ledgers(ctx, tx)
	switch {
	case err != nil:
		return connection.Connection{}, err
	case len(all) == 0:
		return connection.Connection{}, fault.Conflictf("no general ledger is connected: create a connection to one with POST /v1/connections")
	case len(all) > 1:
		return connection.Connection{}, fault.Invalidf("connection_id", "is required, because several general ledgers are connected")
	}
	return all[0], nil
}

// toUse returns the connection that a mapping is for, and the ids of those whose records the mapping may name. If the connection is faulty,
// these are all that the actor may see, so that the other faults are found as well.
func (s *Service) toUse(ctx context.Context, tx *db.Tx, connectionID string, faults *fault.List) (c connection.Connection, among []string,
	err error) {
	c, err = s.only(ctx, tx, connectionID)
	if err == nil {
		c, err = s.connections.FindLedgerToUse(ctx, tx, c.ID)
	}
	if err == nil {
		return c, []string{c.ID}, nil
	}
	if err := faults.MergeMissing(err, "connection_id"); err != nil {
		return c, nil, faults.With(err)
	}
	among, err = s.visible(ctx, tx, "")
	return c, among, err
}
