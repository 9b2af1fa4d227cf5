package firmrequest

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/naming"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

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

// newSource describes the source of a file that belongs to none yet.
func (p UploadParams) newSource(f Found) source.CreateParams {
	if p.LegalEntityID == "" && len(f.Entities) == 1 {
		p.LegalEntityID = f.Entities[0].ID
	}
	return source.CreateParams{Type: p.SourceType, Name: p.SourceName, LegalEntityID: p.LegalEntityID, Currency: p.Currency,
		Provider: source.File}
}

// Upload imports a file. A new source is created together with the import, so that a file that cannot be read leaves nothing behind. The
// error is NotFound if the link does not work (any more).
func (s *Service) Upload(ctx context.Context, p UploadParams) (f Found, made imports.Import, err error) {
	if f, err = s.Find(ctx, p.Link); err != nil {
		return f, made, err
	}
	i, err := f.FindIntegration(p.Position)
	if err == nil && !i.IsFile() {
		err = errLink
	}
	if err == nil {
		err = s.allowUse(ctx, f)
	}
	if err != nil {
		return f, made, err
	}
	as := f.asClient(ctx, p.Visitor)
	draft, err := s.readFile(as, f, p)
	if err != nil {
		return f, made, err
	}
	uploaded, err := s.Imports.Upload(as, draft, p.File)
	if err != nil {
		return f, made, err
	}
	if made, err = s.createImport(as, f, p, uploaded); err != nil {
		return f, made, errors.Join(err, s.Imports.Discard(as, uploaded))
	}
	err = s.change(ctx, p.Visitor, f, func(ctx context.Context, tx *db.Tx, r Request) error {
		after := r.clone()
		at := &after.Integrations[p.Position]
		at.ImportID, at.Status = made.ID, Connected
		f.Request, err = s.update(ctx, tx, r, after)
		return err
	})
	return f, made, err
}

// readFile returns how a file is to be read, for a source that the page shows, or for a new one that is not created yet.
func (s *Service) readFile(ctx context.Context, f Found, p UploadParams) (imports.Draft, error) {
	params := imports.Params{SourceID: p.SourceID, FileName: p.FileName}
	if p.SourceID == "" {
		if problem := naming.Problem(p.SourceName, nameMax); problem != "" {
			return imports.Draft{}, fault.Invalidf("name", "%s", problem)
		}
		described, err := s.Sources.Check(ctx, p.newSource(f))
		if err != nil {
			return imports.Draft{}, err
		}
		params.NewSource = &described
	} else if !slices.ContainsFunc(f.Sources, func(one source.Source) bool { return one.ID == p.SourceID }) {
		return imports.Draft{}, fault.MissingAt("source", "source_id")
	}
	return s.Imports.Prepare(ctx, params, p.File, false)
}

// createImport turns an uploaded file into an import, if the link still works when the file has arrived.
func (s *Service) createImport(ctx context.Context, f Found, p UploadParams, uploaded string) (made imports.Import, err error) {
	err = s.db.Write(ctx, f.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if err := f.hold(ctx, tx, p.Link); err != nil {
			return err
		}
		sourceID := p.SourceID
		if sourceID == "" {
			g, err := s.Sources.Create(ctx, p.newSource(f))
			if err != nil {
				return err
			}
			f.recordUse(ctx, tx, "source", g.ID)
			sourceID = g.ID
		}
		if made, err = s.Imports.CreateFor(ctx, uploaded, sourceID); err != nil {
			return err
		}
		f.recordUse(ctx, tx, "import", made.ID)
		return nil
	})
	return made, err
}
