package connection

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// FindLedger returns a connection to a general ledger that the actor may see. It runs in the caller's transaction.
func (s *Service) FindLedger(ctx context.Context, tx *db.Tx, connectionID string) (Connection, error) {
	c, err := s.find(ctx, tx, connectionID, "")
	if err != nil {
		return c, err
	}
	if s.providers[c.Provider].Kind != Accounting {
		return c, fault.Invalidf("connection_id", "%s is a connection to %s, which is no general ledger", c.ID, c.title)
	}
	return c, nil
}

// FindLedgerToUse returns a connection to a general ledger that the actor may send entries to. It runs in the caller's transaction.
func (s *Service) FindLedgerToUse(ctx context.Context, tx *db.Tx, connectionID string) (Connection, error) {
	c, err := s.FindLedger(ctx, tx, connectionID)
	if err == nil {
		err = c.requireChangeable(ctx)
	}
	return c, err
}

// Ledgers returns the connections to general ledgers that the actor may see, the oldest first, without those that are disconnected or whose
// setup was never finished. It runs in the caller's transaction.
func (s *Service) Ledgers(ctx context.Context, tx *db.Tx) (out []Connection, err error) {
	var systems []string
	for name, p := range s.providers {
		if p.Kind == Accounting {
			systems = append(systems, name)
		}
	}
	all, err := selectOfProviders(ctx, tx, systems)
	for _, c := range all {
		connected := c.Status != Disconnected && c.Status != PendingSetup
		if connected && c.visibleTo(actor.From(ctx)) {
			out = append(out, c.readAs(s.providers[c.Provider]))
		}
	}
	return out, err
}

// InUseUnchecked returns the connections, the oldest first, without those that are disconnected or whose setup was never finished, whatever
// the actor may see. It runs in the caller's transaction.
func InUseUnchecked(ctx context.Context, tx *db.Tx) ([]Connection, error) {
	return selectAll(ctx, tx, "status NOT IN (?, ?)", string(Disconnected), string(PendingSetup))
}

// RequireConnected returns an error of kind Conflict if a connection is disconnected or has to be authorized again. It runs in the caller's
// transaction.
func (s *Service) RequireConnected(ctx context.Context, tx *db.Tx, connectionID string) error {
	c, err := s.find(ctx, tx, connectionID, "")
	if err == nil {
		err = c.requireReadable()
	}
	return err
}

// RequireReadable returns an error of kind Conflict unless the system can be asked with the credentials of the connection.
func (c Connection) RequireReadable() error { return c.requireReadable() }

// Title returns how people call the system.
func (c Connection) Title() string { return c.title }

// OpenLedger returns a connection to a general ledger with its credentials, for background work.
func (s *Service) OpenLedger(ctx context.Context, organizationID, connectionID string) (out Opened, err error) {
	err = s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		out.Connection, err = s.find(ctx, tx, connectionID, "")
		return err
	})
	if err == nil {
		err = out.requireReadable()
	}
	if err != nil {
		return out, err
	}
	if out.Credentials, err = s.open(organizationID, out.Connection); err != nil {
		return out, fault.Conflictf("%v", ErrSealed)
	}
	out.Keeper = s.keeper(organizationID, connectionID)
	return out, nil
}
