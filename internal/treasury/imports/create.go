package imports

import (
	"bytes"
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

// Params say what a file is and where its transactions belong.
type Params struct {
	SourceID string // of the source or of its account
	FileName string
	Format   intake.Format   // empty where the file tells
	Preset   string          // empty where the file tells
	Mapping  *intake.Mapping // nil where it is to be guessed
}

// Draft is a file that was looked at and can be read.
type Draft struct {
	Layout
	FileName string
	Source   source.Source
}

// Prepare looks at the head of a file and finds out how to read it. A dry run also takes a guess that leaves something open.
func (s *Service) Prepare(ctx context.Context, p Params, file io.ReadSeeker, dry bool) (d Draft, err error) {
	err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		d.Source, err = source.Find(ctx, tx, p.SourceID)
		return missingAt(err, "source_id")
	})
	if err != nil {
		return d, err
	}
	p.FileName = sanitizeName(p.FileName)
	d.FileName = p.FileName
	d.Layout, err = resolveLayout(p, d.Source, file, dry)
	return d, err
}

// missingAt names the input that named what is not there.
func missingAt(err error, field string) error {
	if fault.KindOf(err) == fault.NotFound {
		return fault.MissingAt("source", field)
	}
	return err
}

// sanitizeName is the name of a file as it is kept and shown.
func sanitizeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "�"))
	if letters := []rune(name); len(letters) > nameMax {
		name = string(letters[len(letters)-nameMax:]) // the end tells the format
	}
	if strings.TrimSpace(name) == "" {
		return "file"
	}
	return name
}

// Upload stores a file, a few pieces at a time so that nobody waits for it. What it gives is an import that nobody sees until Create.
func (s *Service) Upload(ctx context.Context, d Draft, file io.Reader) (importID string, err error) {
	who := actor.From(ctx)
	i := Import{SourceID: d.Source.ID, FileName: d.FileName, Mapping: d.Mapping, Status: Uploading, UserID: who.UserID,
		APIKeyID: who.APIKeyID, RequestID: who.RequestID}
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		i.ID, i.CreatedAt = tx.NewID(id.Import), tx.Now()
		return insert(ctx, tx, i)
	})
	if err != nil {
		return "", err
	}
	if err := s.store(ctx, i.ID, file); err != nil {
		return "", errors.Join(err, s.Discard(ctx, i.ID))
	}
	return i.ID, nil
}

// store writes the pieces of a file.
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
			return insertChunks(ctx, tx, importID, position, together.Bytes())
		})
		if err != nil {
			return err
		}
		position += chunksTogether
	}
	return nil
}

// Create makes an import of a file that was uploaded; from then on it is listed, and soon read.
func (s *Service) Create(ctx context.Context, importID string) (i Import, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if i, err = findUnchecked(ctx, tx, importID); err != nil {
			return err
		}
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

// Discard takes away an upload that no import was made of.
func (s *Service) Discard(ctx context.Context, importID string) error {
	ctx = context.WithoutCancel(ctx) // whoever brought it may be gone
	organizationID := actor.From(ctx).OrganizationID
	err := s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error { return abandonUpload(ctx, tx, importID) })
	if err != nil {
		return err
	}
	return s.clear(ctx, organizationID, importID)
}

// clear takes away the pieces of a file that nobody reads any more, some at a time, and an upload that was given up when it has none left.
func (s *Service) clear(ctx context.Context, organizationID, importID string) error {
	for {
		var n int64
		err := s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
			if n, err = deleteChunks(ctx, tx, importID, clearTogether); err != nil || n == clearTogether {
				return err
			}
			return removeUpload(ctx, tx, importID)
		})
		if err != nil || n < clearTogether {
			return err
		}
	}
}

// clearTogether is how many pieces go in one transaction.
const clearTogether = 64
