package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// ImportParams say how an archive is imported.
type ImportParams struct {
	DryRun       bool // do everything and undo it
	KeepFindings bool // import books in which verification finds something

	Progress func(stage string, done, total int64) // nil means that nobody wants to know
}

// The stages of an import.
const (
	StageStored   = "stored"
	StageCompared = "compared"
)

// Summary is what an import has done.
type Summary struct {
	Manifest *Manifest
	Tables   int   // that were compared with the archive and are equal
	Rows     int64 // in them
	Digest   string

	Users   Users
	Adapted Adapted

	Findings []app.Finding // of verification; they are kept only if that was asked for
}

// Import stores the organization of an archive in a database that does not have it, in one database transaction: all of it or nothing.
// What was stored is read again and compared with the archive, what cannot work here is ended with audit records that say so, and all
// invariants are verified before the commit.
func Import(ctx context.Context, a *app.App, from *Archive, p ImportParams) (Summary, error) {
	ids, err := a.Org.IDs(ctx)
	if err != nil {
		return Summary{}, err
	}
	if slices.Contains(ids, from.OrganizationID) {
		return Summary{}, fault.Conflictf("this database has the organization %s already: an archive is imported once, into another database",
			from.OrganizationID)
	}
	i := &importing{app: a, from: from, params: p, caller: ctx}
	if i.firmKnown, err = i.findFirm(ctx); err != nil {
		return Summary{}, err
	}
	ctx = actor.With(ctx, actor.Actor{OrganizationID: from.OrganizationID})
	err = a.DB.WriteAlone(ctx, from.OrganizationID, i.run)
	if errors.Is(err, errDry) {
		err = nil
	}
	return i.Summary, err
}

// errDry undoes what a dry run has done.
var errDry = errors.New("archive: the import was a dry run")

// importing is an import under way.
type importing struct {
	Summary
	app       *app.App
	from      *Archive
	params    ImportParams
	caller    context.Context // ends when the user interrupts the import; that of the database transaction does not
	firmKnown bool            // the firm whose client the organization is knows it in this database
	changed   []string        // users that are not as the archive has them
}

// show reports progress.
func (i *importing) show(stage string, done, total int64) {
	if i.params.Progress != nil {
		i.params.Progress(stage, done, total)
	}
}

// run is the body of the database transaction. It may run more than once.
func (i *importing) run(ctx context.Context, tx *db.Tx) error {
	i.Summary, i.changed = Summary{Manifest: &i.from.Manifest}, nil
	if err := i.store(ctx, tx); err != nil {
		return err
	}
	if err := i.compare(ctx, tx); err != nil {
		return err
	}
	if err := i.recordMembers(ctx, tx); err != nil {
		return err
	}
	if err := tx.Group().Flush(ctx); err != nil {
		return err
	}
	// Before anything is adapted: the audit records of that state what is stored, and would hide what somebody has changed in the file.
	if err := i.verify(ctx); err != nil {
		return err
	}
	if err := i.adapt(ctx, tx); err != nil {
		return err
	}
	m := i.Manifest
	audit.Record(ctx, tx, audit.Change{Action: "organization.imported", ResourceType: "organization", ResourceID: m.OrganizationID,
		NoEvent: true, After: map[string]any{"id": m.OrganizationID, "archive_made_at": m.MadeAt, "archive_digest": i.Digest,
			"archive_audit_sequence": m.AuditSequence, "archive_audit_hash": m.AuditHash, "tables": i.Tables, "rows": i.Rows}})
	if err := tx.Group().Flush(ctx); err != nil {
		return err
	}
	if err := i.verify(ctx); err != nil {
		return err
	}
	if i.params.DryRun {
		return errDry
	}
	return nil
}

const (
	// rowsTogether and bytesTogether bound how many rows are stored by one statement.
	rowsTogether  = 1000
	bytesTogether = 4 << 20
)

// store stores the rows of all tables.
func (i *importing) store(ctx context.Context, tx *db.Tx) error {
	total, done := i.from.Rows(), int64(0)
	for n, of := range kept() {
		t := i.from.Tables[n]
		insert := func(rows [][]any) error {
			_, err := db.InsertArchived(ctx, tx, of, rows)
			return err
		}
		if of.Name == "users" {
			insert = func(rows [][]any) error { return i.storeUsers(ctx, tx, of, rows) }
		}
		var rows [][]any
		var bytes int
		flush := func() error {
			if err := i.caller.Err(); err != nil {
				return err
			}
			if err := insert(rows); err != nil {
				return err
			}
			done += int64(len(rows))
			i.show(StageStored, done, total)
			rows, bytes = rows[:0], 0
			return nil
		}
		err := i.from.each(t, of, func(values []any, size int) error {
			if err := requireOrganization(of, t, values, i.from.OrganizationID); err != nil {
				return err
			}
			if rows, bytes = append(rows, values), bytes+size; len(rows) < rowsTogether && bytes < bytesTogether {
				return nil
			}
			return flush()
		})
		if err == nil {
			err = flush()
		}
		if err != nil {
			return err
		}
	}
	return db.AnalyzeArchived(ctx, tx, kept()...)
}

// requireOrganization returns an error for a row of a table without organizations that belongs to another organization.
func requireOrganization(of db.ArchivedTable, t Table, values []any, organizationID string) error {
	if of.OrganizationColumn == "" {
		return nil
	}
	if v := values[slices.Index(t.Columns, of.OrganizationColumn)]; v != nil && v != organizationID {
		return damaged("a row of %s belongs to another organization, %s", t.Name, printable(fmt.Sprint(v)))
	}
	return nil
}

// compare reads what was stored and compares it with the archive. Users and apps that were in the database before are left out.
func (i *importing) compare(ctx context.Context, tx *db.Tx) error {
	total, done, whole := i.from.Rows(), int64(0), sha256.New()
	for n, of := range kept() {
		t := i.from.Tables[n]
		fmt.Fprintf(whole, "%s %s\n", t.Name, t.SHA256)
		if of.Merged() {
			continue
		}
		stored, err := writeTable(ctx, tx, of, io.Discard, func() error {
			if done++; done%rowsShown == 0 {
				i.show(StageCompared, min(done, total), total)
			}
			return i.caller.Err()
		})
		if err != nil {
			return err
		}
		if stored.SHA256 != t.SHA256 || stored.Rows != t.Rows {
			return damaged("what was stored of %s is not equal to it: %d rows with the SHA-256 %s instead of %d with %s", t.Name, stored.Rows,
				stored.SHA256, t.Rows, t.SHA256)
		}
		i.Tables, i.Rows = i.Tables+1, i.Rows+stored.Rows
	}
	i.show(StageCompared, total, total)
	i.Digest = hex.EncodeToString(whole.Sum(nil))
	return nil
}

// findingsShown limits how many findings an error lists.
const findingsShown = 10

// verify verifies every invariant of what was imported.
func (i *importing) verify(ctx context.Context) error {
	found, err := i.app.VerifyOrganization(ctx, i.from.OrganizationID)
	if i.Findings = found; err != nil || len(found) == 0 || i.params.KeepFindings {
		return err
	}
	texts := make([]string, 0, findingsShown)
	for _, f := range found[:min(len(found), findingsShown)] {
		texts = append(texts, f.Text)
	}
	return fault.Conflictf("verification of the imported books finds what should not be, and nothing was imported. `bursar verify` on the "+
		"database that they come from says whether it is so there; to import them as they are, use --keep-findings:\n  %s",
		strings.Join(texts, "\n  "))
}
