package archive

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// Progress is told how many rows are done, of a total.
type Progress func(done, total int64)

// Write writes the archive of an organization from one snapshot of the database, beside whatever else runs. It needs little memory.
func Write(ctx context.Context, a *app.App, organizationID, program string, w io.Writer, progress Progress) (m *Manifest, err error) {
	schema, err := db.SchemaVersion()
	if err != nil {
		return nil, err
	}
	err = a.DB.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		o, err := orgstate.FindOrganization(ctx, tx)
		if err != nil {
			return err
		}
		state, err := orgstate.Read(ctx, tx)
		if err != nil {
			return err
		}
		m = &Manifest{Format: formatName, FormatVersion: formatVersion, Program: program, Schema: schema, OrganizationID: o.ID,
			OrganizationName: o.Name, MadeAt: clock.Format(tx.Now()), AuditSequence: state.AuditSequence, AuditHash: state.AuditHash,
			LeftOut: map[string]string{}}
		for _, t := range db.ArchivedTables() {
			if t.LeftOut != "" {
				m.LeftOut[t.Name] = t.LeftOut
			}
		}
		waiting, err := job.Waiting(ctx, tx, identity.Happened{}.Kind(), "user_id")
		if err != nil {
			return err
		}
		m.Unrecorded = []string{}
		for userID := range waiting {
			m.Unrecorded = append(m.Unrecorded, userID)
		}
		slices.Sort(m.Unrecorded)
		return writeAll(ctx, tx, m, w, progress)
	})
	return m, err
}

func writeAll(ctx context.Context, tx *db.Tx, m *Manifest, w io.Writer, progress Progress) error {
	counts, total, err := count(ctx, tx)
	if err != nil {
		return err
	}
	z, done := zip.NewWriter(w), int64(0)
	for i, a := range kept() {
		f, err := z.Create(entry(a.Name))
		if err != nil {
			return err
		}
		t, err := writeTable(ctx, tx, a, f, func() error {
			if done++; progress != nil && done%rowsShown == 0 {
				progress(min(done, total), total)
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		if t.Rows != counts[i] {
			return fmt.Errorf("archive: %s has %d rows, but %d were counted in the same snapshot", t.Name, t.Rows, counts[i])
		}
		m.Tables = append(m.Tables, t)
	}
	f, err := z.Create(manifestFile)
	if err != nil {
		return err
	}
	e := json.NewEncoder(f)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return err
	}
	if progress != nil {
		progress(total, total)
	}
	return z.Close()
}

// rowsShown is how often progress is reported, in rows.
const rowsShown = 1000

func count(ctx context.Context, tx *db.Tx) (counts []int64, total int64, err error) {
	for _, a := range kept() {
		n, err := db.CountArchived(ctx, tx, a)
		if err != nil {
			return nil, 0, err
		}
		counts, total = append(counts, n), total+n
	}
	return counts, total, nil
}

// writeTable writes the rows of a table and returns what the manifest says about them. It calls each before each row, and stops if that
// returns an error.
func writeTable(ctx context.Context, tx *db.Tx, a db.ArchivedTable, w io.Writer, each func() error) (Table, error) {
	l, err := a.Layout()
	if err != nil {
		return Table{}, err
	}
	out := &hashed{w: w, hash: sha256.New()}
	t := Table{Name: a.Name, Columns: l.Names()}
	var buf []byte
	err = db.EachArchived(ctx, tx, a, func(values []any) error {
		if err := each(); err != nil {
			return err
		}
		if buf, err = appendLine(buf[:0], values); err != nil {
			return fmt.Errorf("a row of %s: %w", a.Name, err)
		}
		t.Rows++
		_, err = out.Write(buf)
		return err
	})
	t.Bytes, t.SHA256 = out.n, hex.EncodeToString(out.hash.Sum(nil))
	return t, err
}

// hashed is a writer that hashes and counts what it writes.
type hashed struct {
	w    io.Writer
	hash hash.Hash
	n    int64
}

// Write implements io.Writer.
func (h *hashed) Write(p []byte) (int, error) {
	h.hash.Write(p)
	h.n += int64(len(p))
	return h.w.Write(p)
}
