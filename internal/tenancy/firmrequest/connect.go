package firmrequest

import (
	"context"
	"errors"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/wording"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// FindIntegration returns an account that a request asks for and that is not connected, or files, of which there may be several, by its
// position. The error is NotFound for any other.
func (f Found) FindIntegration(position int) (Integration, error) {
	if position < 0 || position >= len(f.Integrations) || f.AsksAccess() {
		return Integration{}, errLink
	}
	i := f.Integrations[position]
	if i.Status != Waiting && !i.IsFile() {
		return Integration{}, errLink
	}
	return i, nil
}

// Provider returns the provider of an account that is asked for. The error is Conflict for one that is not available any more.
func (s *Service) Provider(i Integration) (connection.Provider, error) {
	for _, p := range s.Connections.Available() {
		if p.Name == i.Provider && p.Unavailable == "" {
			return p, nil
		}
	}
	return connection.Provider{}, fault.Conflictf("%s is not available at present: ask the firm what to do instead", i.Name)
}

// ConnectParams describe the account that a client connects.
type ConnectParams struct {
	Visitor
	Position      int
	LegalEntityID string // may be empty if there is one only
	Fields        connection.Credentials
	NewSource     bool
}

// Connect connects an account, or begins its setup on a page of the provider, which the browser must open then. It must not run inside a
// database transaction, because the provider may be slow. The error is NotFound if the link does not work (any more).
func (s *Service) Connect(ctx context.Context, p ConnectParams) (f Found, c connection.Connection, err error) {
	if f, err = s.Find(ctx, p.Link); err != nil {
		return f, c, err
	}
	i, err := f.FindIntegration(p.Position)
	if err != nil {
		return f, c, err
	}
	provider, err := s.Provider(i)
	if err != nil {
		return f, c, err
	}
	if err := s.allowUse(ctx, f); err != nil {
		return f, c, err
	}
	as, began := f.asClient(ctx, p.Visitor), s.db.Clock().Now()
	if earlier, ok := f.Setups[i.ConnectionID]; ok && earlier.Status == connection.PendingSetup {
		c, err = s.setUpAgain(as, earlier)
		return f, c, err
	}
	if c, err = s.createConnection(as, p, f, i, provider.Kind); err != nil {
		return f, c, err
	}
	r, err := s.noteConnection(ctx, p, f, i, c)
	if err != nil && !c.CreatedAt.Before(began) { // the request has ended meanwhile, and so does what was made by it
		_, failed := s.Connections.Disconnect(context.WithoutCancel(as), c.ID, "")
		return f, c, errors.Join(err, failed)
	}
	f.Request = r
	return f, c, err
}

// createConnection connects an account in the books of the client, if the link still works when the provider has answered.
func (s *Service) createConnection(ctx context.Context, p ConnectParams, f Found, i Integration,
	kind connection.Kind) (c connection.Connection, err error) {
	params := connection.CreateParams{Provider: i.Provider, Name: i.Name, Fields: p.Fields, NewSource: p.NewSource}
	if p.LegalEntityID != "" {
		params.LegalEntityIDs = []string{p.LegalEntityID}
	} else if len(f.Entities) == 1 && kind != connection.Accounting {
		params.LegalEntityIDs = []string{f.Entities[0].ID}
	}
	in, err := s.Connections.Inspect(ctx, params)
	if err != nil {
		return c, err
	}
	err = s.db.Write(ctx, f.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if err := f.hold(ctx, tx, p.Link); err != nil {
			return err
		}
		if c, err = s.Connections.Create(ctx, params, in); err != nil {
			return err
		}
		f.recordUse(ctx, tx, "connection", c.ID)
		return nil
	})
	return c, err
}

// noteConnection stores in the request that an account is connected, or that its setup was begun.
func (s *Service) noteConnection(ctx context.Context, p ConnectParams, f Found, i Integration,
	c connection.Connection) (r Request, err error) {
	err = s.change(ctx, p.Visitor, f, func(ctx context.Context, tx *db.Tx, before Request) error {
		if at := before.Integrations[p.Position]; at.Status != Waiting || at.ConnectionID != i.ConnectionID {
			return fault.Conflictf("%s was connected at the same moment from another page", i.Name)
		}
		after := before.clone()
		at := &after.Integrations[p.Position]
		if at.ConnectionID = c.ID; isConnected(c) {
			at.Status = Connected
		}
		r, err = s.update(ctx, tx, before, after)
		return err
	})
	return r, err
}

// hold returns the error NotFound if the link of the request no longer works, or the firm has lost its access, and keeps both as they are
// until the database transaction ends, which is one of the client. Whoever ends the request waits for that, or was first.
func (f Found) hold(ctx context.Context, tx *db.Tx, link secret.Text) error {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return err
	}
	a, err := firm.FindActive(ctx, tx)
	if fault.KindOf(err) == fault.NotFound || err == nil && a.ClientID != f.ClientID {
		return errLink
	}
	if err != nil {
		return err
	}
	return identity.HoldLink(ctx, tx, identity.FirmRequest, link)
}

// usesPerHour is how often somebody may try to connect an account or to upload a file by a request within an hour: whoever has a link could
// otherwise make the service ask a provider so often that it refuses everybody.
const usesPerHour = 60

// allowUse counts one use of a request, and returns a RateLimited fault if there were too many.
func (s *Service) allowUse(ctx context.Context, f Found) error {
	return s.db.Write(ctx, f.Request.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		wait, err := identity.Allowance{Subject: "firm request used\n" + f.ID, Most: usesPerHour, Within: time.Hour}.Use(ctx, tx)
		if err == nil && wait > 0 {
			err = fault.RateLimitedf(wait, "this was tried %d times within an hour, which is the maximum: wait %s, then try again", usesPerHour,
				wording.Duration(wait))
		}
		return err
	})
}

// recordUse records in the books of the client by which request of which firm something was connected.
func (f Found) recordUse(ctx context.Context, tx *db.Tx, kind, id string) {
	audit.Record(ctx, tx, audit.Change{Action: "firm_request.used", ResourceType: kind, ResourceID: id, NoEvent: true,
		After: map[string]any{"id": id, "firm_request_id": f.ID, "firm_id": f.Firm.ID, "firm_organization_id": f.Request.OrganizationID}})
}

// setUpAgain returns a connection whose setup was begun with a page that can be opened.
func (s *Service) setUpAgain(ctx context.Context, c connection.Connection) (connection.Connection, error) {
	if a := c.Attempt; a != nil && a.Status == connection.AttemptPending && a.SetupURL != "" {
		return c, nil
	}
	in, err := s.Connections.InspectReauthorize(ctx, c.ID, "", "")
	if err != nil {
		return c, err
	}
	return s.Connections.Reauthorize(ctx, c.ID, "", "", in)
}

// isConnected reports whether nothing is left to do for a connection.
func isConnected(c connection.Connection) bool {
	return c.Status != connection.PendingSetup && c.Status != connection.Disconnected &&
		(c.Attempt == nil || c.Attempt.Status != connection.AttemptPending)
}

// update stores integrations that have changed. The request is completed when all are connected.
func (s *Service) update(ctx context.Context, tx *db.Tx, before, after Request) (Request, error) {
	if after.done() {
		return s.end(ctx, tx, before, after, Completed, ByClient)
	}
	return after, store(ctx, tx, "firm_request.updated", before, after)
}

// Refresh looks whether setups that were begun by the link of a request are finished, and returns the request as it is then. The error is
// NotFound if the link does not work (any more).
func (s *Service) Refresh(ctx context.Context, v Visitor) (f Found, err error) {
	if f, err = s.Find(ctx, v.Link); err != nil {
		return f, err
	}
	return s.refresh(ctx, v, f)
}

func (s *Service) refresh(ctx context.Context, v Visitor, f Found) (Found, error) {
	if f.AsksAccess() {
		return f, nil
	}
	settled := map[string]bool{} // whether the connection exists
	for id, c := range f.Setups {
		if isConnected(c) || c.Status == connection.Disconnected {
			settled[id] = c.Status != connection.Disconnected
		}
	}
	for _, id := range f.begun() {
		if _, ok := f.Setups[id]; !ok {
			settled[id] = false
		}
	}
	granted := f.granted()
	if len(settled) == 0 && !granted {
		return f, nil
	}
	f.Changed = true
	err := s.change(ctx, v, f, func(ctx context.Context, tx *db.Tx, r Request) error {
		after := r.clone()
		changed := false
		for n := range after.Integrations {
			i := &after.Integrations[n]
			exists, ok := settled[i.ConnectionID]
			if !ok || i.Status != Waiting || i.ConnectionID == "" {
				continue
			}
			changed = true
			if i.Status = Connected; !exists { // another setup can be begun
				i.Status, i.ConnectionID = Waiting, ""
			}
		}
		var err error
		if f.Request = after; granted {
			f.Request, err = s.end(ctx, tx, r, r, Completed, ByClient)
			return err
		}
		if !changed {
			return nil
		}
		f.Request, err = s.update(ctx, tx, r, after)
		return err
	})
	return f, err
}
