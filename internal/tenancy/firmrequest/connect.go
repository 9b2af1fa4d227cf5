package firmrequest

import (
	"context"
	"errors"
	"io"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// FindIntegration returns an account that a request asks for and that is not connected, by its position. The error is NotFound for any
// other.
func (f Found) FindIntegration(position int) (Integration, error) {
	if position < 0 || position >= len(f.Integrations) || f.AsksAccess || f.Integrations[position].Status != Waiting {
		return Integration{}, errLink
	}
	return f.Integrations[position], nil
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
	as, began := f.asClient(ctx, p.Visitor), s.db.Clock().Now()
	if earlier, ok := f.Setups[i.ConnectionID]; ok && earlier.Status == connection.PendingSetup {
		c, err = s.setUpAgain(as, earlier)
		return f, c, err
	}
	params := connection.CreateParams{Provider: i.Provider, Name: i.Name, Fields: p.Fields, NewSource: p.NewSource}
	if p.LegalEntityID != "" {
		params.LegalEntityIDs = []string{p.LegalEntityID}
	} else if len(f.Entities) == 1 && provider.Kind != connection.Accounting {
		params.LegalEntityIDs = []string{f.Entities[0].ID}
	}
	in, err := s.Connections.Inspect(as, params)
	if err != nil {
		return f, c, err
	}
	if _, err := s.Find(ctx, p.Link); err != nil { // the provider may have been slow
		return f, c, err
	}
	err = s.db.Write(as, f.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if c, err = s.Connections.Create(ctx, params, in); err != nil {
			return err
		}
		f.recordUse(ctx, tx, "connection", c.ID)
		return nil
	})
	if err != nil {
		return f, c, err
	}
	err = s.change(ctx, p.Visitor, f, func(ctx context.Context, tx *db.Tx, r Request) error {
		if r.Integrations[p.Position].Status != Waiting || r.Integrations[p.Position].ConnectionID != i.ConnectionID {
			return fault.Conflictf("%s was connected at the same moment from another page", i.Name)
		}
		after := r.clone()
		at := &after.Integrations[p.Position]
		if at.ConnectionID = c.ID; isConnected(c) {
			at.Status = Connected
		}
		f.Request, err = s.update(ctx, tx, r, after)
		return err
	})
	if err != nil && !c.CreatedAt.Before(began) { // the request has ended meanwhile, and so does what was made by it
		_, failed := s.Connections.Disconnect(context.WithoutCancel(as), c.ID, "")
		err = errors.Join(err, failed)
	}
	return f, c, err
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
	if !after.done() {
		return after, store(ctx, tx, "firm_request.updated", before, after)
	}
	now := tx.Now()
	after.Status, after.EndedBy, after.EndedAt, after.UpdatedAt = Completed, ByClient, &now, &now
	if err := store(ctx, tx, "firm_request.completed", before, after); err != nil {
		return after, err
	}
	return after, s.deleteLinks(ctx, tx, after)
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
	if f.AsksAccess {
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
	granted := len(f.Integrations) == 0 && !f.AsksAccess && !f.Ownerless // nothing else is asked for
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
			f.Request, err = s.end(ctx, tx, r, Completed, ByClient)
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

// UploadParams describe a file that a client uploads, and the source that its transactions belong to.
type UploadParams struct {
	Visitor
	Position      int
	SourceID      string // empty: a new one
	SourceType    source.Type
	SourceName    string
	LegalEntityID string // of a new source; may be empty if there is one only
	Currency      string // of a new source; may be empty
	FileName      string
	File          io.ReadSeeker
}

// Upload imports a file. The error is NotFound if the link does not work (any more).
func (s *Service) Upload(ctx context.Context, p UploadParams) (f Found, made imports.Import, err error) {
	if f, err = s.Find(ctx, p.Link); err != nil {
		return f, made, err
	}
	i, err := f.FindIntegration(p.Position)
	if err == nil && !i.IsFile() {
		err = errLink
	}
	if err != nil {
		return f, made, err
	}
	as := f.asClient(ctx, p.Visitor)
	if p.SourceID, err = s.sourceOf(as, f, p); err != nil {
		return f, made, err
	}
	draft, err := s.Imports.Prepare(as, imports.Params{SourceID: p.SourceID, FileName: p.FileName}, p.File, false)
	if err != nil {
		return f, made, err
	}
	uploaded, err := s.Imports.Upload(as, draft, p.File)
	if err != nil {
		return f, made, err
	}
	if _, err = s.Find(ctx, p.Link); err == nil { // the file may have taken long to arrive
		err = s.db.Write(as, f.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if made, err = s.Imports.Create(ctx, uploaded); err != nil {
				return err
			}
			f.recordUse(ctx, tx, "import", made.ID)
			return nil
		})
	}
	if err != nil {
		return f, made, errors.Join(err, s.Imports.Discard(as, uploaded))
	}
	return f, made, s.change(ctx, p.Visitor, f, func(ctx context.Context, tx *db.Tx, r Request) error {
		after := r.clone()
		if at := &after.Integrations[p.Position]; at.ImportID == "" {
			at.ImportID, at.Status = made.ID, Connected
		}
		f.Request, err = s.update(ctx, tx, r, after)
		return err
	})
}

// sourceOf returns the id of the source of a file, which must be one that the page shows, or creates one.
func (s *Service) sourceOf(ctx context.Context, f Found, p UploadParams) (string, error) {
	for _, one := range f.Sources {
		if one.ID == p.SourceID {
			return one.ID, nil
		}
	}
	if p.SourceID != "" {
		return "", fault.MissingAt("source", "source_id")
	}
	if p.LegalEntityID == "" && len(f.Entities) == 1 {
		p.LegalEntityID = f.Entities[0].ID
	}
	g, err := s.Sources.Create(ctx, source.CreateParams{Type: p.SourceType, Name: p.SourceName, LegalEntityID: p.LegalEntityID,
		Currency: p.Currency, Provider: source.File})
	return g.ID, err
}
