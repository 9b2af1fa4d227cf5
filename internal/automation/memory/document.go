package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// Layer is the owner of a document: the organization or its firm.
type Layer string

// The layers, in the order in which documents with the same path are listed.
const (
	Firm Layer = "firm"
	Org  Layer = "org"
)

// Document is the current version of a file.
type Document struct {
	Path        string
	Layer       Layer
	Version     int64
	Content     string
	Frontmatter string // JSON, or empty
	Suppressed  bool   // the organization has a document of its own at the path of its firm's
}

// ContentMax is the maximum length of a document in characters.
const ContentMax = 200_000

// documentNoun names a document in errors.
const documentNoun = "document"

// PutParams are the complete content of a file. Without an expected version, the file must not exist yet.
type PutParams struct {
	Path            string
	Content         string
	Rationale       string
	ExpectedVersion *string
}

// validate returns the front matter, and collects the faults of the parameters.
func (p PutParams) validate(faults *fault.List) (frontmatter string) {
	if message := validatePath(p.Path); message != "" {
		faults.Addf("path", "%s", message)
	}
	validateRationale(faults, p.Rationale, true)
	if utf8.RuneCountInString(p.Content) > ContentMax {
		faults.Addf("content", "must have at most %d characters", ContentMax)
		return ""
	}
	frontmatter, err := frontmatterOf(p.Path, p.Content)
	if err != nil {
		faults.Addf("content", "%s", err)
	}
	return frontmatter
}

// Put creates or replaces a file.
func (s *Service) Put(ctx context.Context, p PutParams) error {
	var faults fault.List
	frontmatter := p.validate(&faults)
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		switch firm, err := organization.IsFirm(ctx, tx); {
		case err != nil:
			return err
		case firm && !isFirmFile(p.Path):
			faults.Addf("path", "must be one of a firm's: %s", firmText)
		}
		if err := faults.Err(); err != nil {
			return err
		}
		before, err := findDocument(ctx, tx, p.Path)
		if err != nil {
			return err
		}
		if err := before.requireVersion(p.ExpectedVersion); err != nil {
			return err
		}
		return before.change(ctx, tx, Version{Content: p.Content, Frontmatter: frontmatter, Rationale: p.Rationale})
	})
}

// Delete deletes a file that is at the expected version. Its versions are kept, and a new file at the path continues
// their numbers.
func (s *Service) Delete(ctx context.Context, path, expectedVersion, rationale string) error {
	var faults fault.List
	if validateRationale(&faults, rationale, false); faults.Err() != nil {
		return faults.Err()
	}
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := findDocument(ctx, tx, path)
		if err != nil {
			return err
		}
		if !before.exists() {
			return fault.Missing(documentNoun)
		}
		if err := before.requireVersion(&expectedVersion); err != nil {
			return err
		}
		return before.change(ctx, tx, Version{Deleted: true, Rationale: rationale})
	})
}

// entry is a path with the number of its last version.
type entry struct {
	documentRow
}

// exists reports whether there is a file at the path now.
func (e entry) exists() bool { return e.Version > 0 && !e.Gone }

// requireVersion returns a conflict if the file is not at the expected version.
func (e entry) requireVersion(version *string) error {
	switch {
	case version == nil && !e.exists(), version != nil && e.exists() && *version == versionText(e.Version):
		return nil
	case !e.exists():
		return fault.Conflictf("there is no file at this path: send expected_version null to create one")
	case version == nil:
		return fault.Conflictf("there is already a file at this path, at version %d: read it, then send that version as "+
			"expected_version", e.Version)
	}
	return fault.Conflictf("the file is now at version %d: read it again and send that version as expected_version", e.Version)
}

// change adds a version to a path.
func (e entry) change(ctx context.Context, tx *db.Tx, v Version) error {
	after := e
	if after.Version++; after.ID == "" {
		after.ID = tx.NewID(id.Document)
	}
	v.ItemID, v.Number = after.ID, after.Version
	v, err := addVersion(ctx, tx, v)
	if err != nil {
		return err
	}
	after.Revision, after.Size, after.Gone = v.Revision, v.Size, v.Deleted
	c := audit.Change{Action: "memory.updated", ResourceType: "memory", ResourceID: e.Path}
	if e.exists() {
		c.Before = e.facts()
	}
	if !v.Deleted {
		facts, sum := after.facts(), sha256.Sum256([]byte(v.Content))
		facts["rationale"], facts["sha256"] = v.Rationale, hex.EncodeToString(sum[:])
		c.After = facts
	}
	if err := upsertDocument(ctx, tx, after.documentRow); err != nil {
		return err
	}
	c.Parts = []audit.Part{v.part()}
	audit.Record(ctx, tx, c)
	return nil
}

// facts returns the fields for the audit log and events. The content is in the version, and the audit log has its hash.
func (e entry) facts() map[string]any {
	return map[string]any{"path": e.Path, "version": versionText(e.Version), "characters": e.Size}
}
