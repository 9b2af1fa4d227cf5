package imports

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Params describe a file and the source its transactions belong to.
type Params struct {
	SourceID  string         // id of the source or of its account
	NewSource *source.Source // instead of SourceID: a source that is created together with the import, by CreateFor
	FileName  string
	Format    intake.Format   // empty: detected
	Preset    string          // empty: detected
	Mapping   *intake.Mapping // nil: guessed
}

// Draft is a file whose layout is known, ready to be read.
type Draft struct {
	Layout
	FileName string
	Source   source.Source
}

// Prepare reads the head of a file and resolves its layout. A dry run also accepts a guess that leaves something
// undecided.
func (s *Service) Prepare(ctx context.Context, p Params, file io.ReadSeeker, dry bool) (d Draft, err error) {
	var faults fault.List
	if p.NewSource != nil {
		d.Source = *p.NewSource
	} else if err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		d.Source, err = source.Find(ctx, tx, p.SourceID)
		return faults.MergeMissing(err, "source_id")
	}); err != nil {
		return d, err
	}
	p.FileName = sanitizeName(p.FileName)
	d.FileName = p.FileName
	// What a guess leaves undecided may follow from the source, if there is one.
	d.Layout, err = resolveLayout(p, d.Source, file, dry || !faults.Empty())
	if other := faults.Merge(err); other != nil && faults.Empty() {
		return d, other // not about a field, such as a file that cannot be parsed; faults of fields come first
	}
	return d, faults.Err()
}

// missingAt turns a source that was not found into a fault of the input field that named it.
func missingAt(err error, field string) error {
	if fault.KindOf(err) == fault.NotFound {
		return fault.MissingAt("source", field)
	}
	return err
}

// sanitizeName returns the name of a file as it is stored and shown.
func sanitizeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "�"))
	if letters := []rune(name); len(letters) > nameMax {
		name = string(letters[len(letters)-nameMax:]) // keep the end, which has the extension
	}
	if strings.TrimSpace(name) == "" {
		return "file"
	}
	return name
}

// Upload stores a file, a few chunks per database transaction so that other writes do not wait long. It returns the id
// of an import that stays hidden until Create.
func (s *Service) Upload(ctx context.Context, d Draft, file io.Reader) (importID string, err error) {
	who := actor.From(ctx)
	i := Import{SourceID: d.Source.ID, FileName: d.FileName, Mapping: d.Mapping, Status: Uploading, UserID: who.UserID,
		APIKeyID: who.APIKeyID, RequestID: who.RequestID, LegalEntityIDs: who.LegalEntityIDs}
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		i.ID, i.CreatedAt = tx.NewID(id.Import), tx.Now()
		if err := insert(ctx, tx, i); err != nil {
			return err
		}
		return renewUpload(ctx, tx, i.ID, tx.Now().Add(uploadLease))
	})
	if err != nil {
		return "", err
	}
	if err := s.store(ctx, i.ID, file); err != nil {
		return "", errors.Join(err, s.Discard(ctx, i.ID))
	}
	return i.ID, nil
}

// store writes the chunks of a file.
func (s *Service) store(ctx context.Context, importID string, file io.Reader) error {
	var together bytes.Buffer
	for position, end := int64(0), false; !end; {
		together.Reset()
		n, err := io.CopyN(&together, file, chunkSize*chunksTogether)
		if end = errors.Is(err, io.EOF); err != nil && !end {
			return fmt.Errorf("read the file: %w", err)
		}
		if n == 0 {
			break
		}
		err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if err := renewUpload(ctx, tx, importID, tx.Now().Add(uploadLease)); err != nil {
				return err
			}
			return insertChunks(ctx, tx, importID, position, together.Bytes())
		})
		if err != nil {
			return err
		}
		position += chunksTogether
	}
	return nil
}

// Create turns an uploaded file into an import: it is listed from then on, and read in the background.
func (s *Service) Create(ctx context.Context, importID string) (Import, error) {
	return s.CreateFor(ctx, importID, "")
}

// CreateFor is Create for a file whose source did not exist when it was uploaded.
func (s *Service) CreateFor(ctx context.Context, importID, sourceID string) (i Import, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if i, err = findUnchecked(ctx, tx, importID); err != nil {
			return err
		}
		i.SourceID = cmp.Or(sourceID, i.SourceID)
		if _, err := source.Find(ctx, tx, i.SourceID); err != nil {
			return missingAt(err, "source_id")
		}
		i.Status, i.CreatedAt = Pending, tx.Now()
		if i.FileSize, err = createFromUpload(ctx, tx, i); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: EventCreated, ResourceType: noun, ResourceID: i.ID, After: i.facts()})
		return nil
	})
	return i, err
}

// Discard deletes an upload that did not become an import.
func (s *Service) Discard(ctx context.Context, importID string) error {
	ctx = context.WithoutCancel(ctx) // the client may be gone
	organizationID := actor.From(ctx).OrganizationID
	err := s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error { return abandonUpload(ctx, tx, importID) })
	if err != nil {
		return err
	}
	return s.deleteFile(ctx, organizationID, importID)
}

// deleteFile deletes the chunks of a file that is no longer needed, some at a time, and then the row of an abandoned upload.
func (s *Service) deleteFile(ctx context.Context, organizationID, importID string) error {
	for {
		var n int64
		err := s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
			if n, err = deleteChunks(ctx, tx, importID, deletedTogether); err != nil || n == deletedTogether {
				return err
			}
			return removeUpload(ctx, tx, importID)
		})
		if err != nil || n < deletedTogether {
			return err
		}
	}
}

// deletedTogether is how many chunks are deleted in one database transaction.
const deletedTogether = 64
