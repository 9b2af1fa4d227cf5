package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/observation"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const (
	// batchRecords, batchRows and batchFaults bound what is written in one database transaction.
	batchRecords = 2000
	batchRows    = 10_000
	batchFaults  = 2000
)

// Kind is the background task that reads imports.
var Kind = task.Kind{Noun: noun, Table: "imports", Key: "import_id"}

// Run resumes an import and reads it to its end, reporting progress after each batch. It returns task.ErrClaimed if
// another worker holds the claim. On any other error the import keeps its state and can be resumed. A failed import is
// not an error of Run.
func (s *Service) Run(ctx context.Context, organizationID, importID string, progress func(Import)) (i Import, err error) {
	claim, err := Kind.Claim(ctx, s.db, organizationID, importID)
	if err != nil {
		return Import{}, err
	}
	w := &work{s: s, Claim: claim}
	err = claim.Work(ctx, func(ctx context.Context) error {
		err := s.db.ReadOne(ctx, organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
			w.Import, err = findUnchecked(ctx, tx, importID)
			return err
		})
		if err != nil {
			return err
		}
		ctx = actor.With(ctx, actor.Actor{OrganizationID: organizationID, UserID: w.UserID, APIKeyID: w.APIKeyID,
			LegalEntityIDs: w.LegalEntityIDs, RequestID: w.RequestID})
		if err = w.read(ctx, progress); claim.ShouldFail(ctx, err) {
			err = w.fail(ctx, err)
		}
		return err
	}, func() bool { return w.Status.Ended() })
	if err == nil {
		err = s.deleteFile(ctx, organizationID, importID)
	}
	return w.Import, err
}

// work is an import and the claim on it.
type work struct {
	Import
	*task.Claim
	s      *Service
	pace   *db.Pace
	stated []intake.Stated // the newest balances that the file states, as far as its rows were imported
}

// read reads the file from its start, skips the rows imported already, and imports the others.
func (w *work) read(ctx context.Context, progress func(Import)) error {
	var src source.Source
	err := w.s.db.ReadOne(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		src, err = w.source(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	in, err := intake.Open(&chunks{ctx: ctx, db: w.s.db, organizationID: w.OrganizationID, importID: w.Import.ID},
		options(w.FileName, w.Mapping, src))
	if err != nil {
		return err
	}
	balances := intake.NewBalances()
	for range w.Counts.Rows {
		row, err := in.Next()
		if err != nil {
			return fmt.Errorf("find the row to resume at: %w", err)
		}
		balances.Compare(row)
	}
	w.pace = w.s.db.NewPace(w.s.batch)
	for end := false; !end; {
		var b batch
		var broken error
		if end, broken = b.gather(ctx, in, balances, w.Mapping, src, w.pace.Next()); broken != nil && fault.KindOf(broken) != fault.Invalid {
			return broken
		}
		if err := w.commit(ctx, b); err != nil { // also the rows before the point at which the file is broken
			return err
		}
		if progress != nil {
			progress(w.Import)
		}
		if broken != nil {
			return broken
		}
	}
	for _, hook := range w.s.AfterImport {
		if err := hook(ctx, w.Import); err != nil {
			return fmt.Errorf("after the import: %w", err)
		}
	}
	done := w.Import
	done.Status, done.BytesRead = Completed, done.FileSize
	return w.end(ctx, done, "import.completed")
}

// source finds the source again, which may have been deleted in the meantime.
func (w *work) source(ctx context.Context, tx *db.Tx) (source.Source, error) {
	src, err := source.Find(ctx, tx, w.SourceID)
	if fault.KindOf(err) == fault.NotFound {
		return src, fault.Malformedf("the source of the import was deleted; the transactions imported before remain. Create a source and " +
			"import the file into it")
	}
	return src, err
}

// batch is a number of rows that are imported together.
type batch struct {
	all    []transaction.Params
	faults []intake.Fault
	// warnings are the rows whose stated balance does not follow from the rows.
	warnings []intake.Fault
	stated   []intake.Stated // the newest balances that the file states so far
	counts   Counts
	offset   int64
}

// gather reads the next rows and reports whether they are the last.
func (b *batch) gather(ctx context.Context, in *intake.Reader, balances *intake.Balances, m intake.Mapping, src source.Source,
	records int) (end bool, err error) {
	for len(b.all) < records && b.counts.Rows < batchRows && len(b.faults) < batchFaults {
		row, err := in.Next()
		if errors.Is(err, io.EOF) {
			end = true
			break
		}
		if err != nil {
			return false, err
		}
		all, faults := readRow(row, m, src)
		if differs := balances.Compare(row); differs != nil {
			b.warnings = append(b.warnings, *differs)
		}
		b.counts.Rows++
		b.all, b.faults = append(b.all, all...), append(b.faults, faults...)
		switch {
		case len(faults) > 0:
			b.counts.Faulty++
		case row.Skipped != "":
			b.counts.Skipped++
		}
	}
	b.offset, b.stated = in.Offset(), balances.Newest()
	return end, ctx.Err()
}

// commit adds the transactions of a batch and records the progress of the import in one database transaction.
func (w *work) commit(ctx context.Context, b batch) error {
	after := w.Import
	err := w.s.db.WriteAlone(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // keeps the source from being deleted meanwhile
			return err
		}
		defer w.pace.Measure(len(b.all))()
		src, err := w.source(ctx, tx)
		if err != nil {
			return err
		}
		news := make([]transaction.New, len(b.all))
		for i, p := range b.all {
			news[i] = transaction.New{Source: src, Params: p}
		}
		added, err := transaction.Add(ctx, tx, news)
		if err != nil {
			return err
		}
		after = w.Import
		after.add(b, added)
		if err := insertFaults(ctx, tx, w.Import.ID, numberFaults(w.Counts.Faults, b.faults)); err != nil {
			return err
		}
		return w.advance(ctx, tx, after)
	})
	if err == nil {
		w.Import, w.stated = after, b.stated
		w.Progressed(int(b.counts.Rows))
	}
	return err
}

// add adds the results of a batch to the counts.
func (i *Import) add(b batch, added []transaction.Added) {
	c := &i.Counts
	c.Rows, c.Skipped = c.Rows+b.counts.Rows, c.Skipped+b.counts.Skipped
	c.Faulty, c.Faults = c.Faulty+b.counts.Faulty, c.Faults+int64(len(b.faults))
	c.Warnings += int64(len(b.warnings))
	i.Warnings = append(slices.Clip(i.Warnings), b.warnings[:min(len(b.warnings), max(0, warningsKept-len(i.Warnings)))]...)
	for _, o := range added {
		if o.Duplicate {
			c.Duplicates++
		} else {
			c.Created++
		}
	}
	i.BytesRead = max(i.BytesRead, min(b.offset, i.FileSize))
}

// numberFaults numbers faults after the ones before, up to FaultsKept.
func numberFaults(before int64, faults []intake.Fault) (out []Fault) {
	for i, f := range faults {
		if position := before + int64(i) + 1; position <= FaultsKept {
			out = append(out, Fault{position, f})
		}
	}
	return out
}

func (w *work) advance(ctx context.Context, tx *db.Tx, after Import) error {
	ours, err := advance(ctx, tx, after, w.Text)
	if err == nil && !ours {
		err = task.ErrClaimed
	}
	return err
}

// fail ends an import that cannot continue.
func (w *work) fail(ctx context.Context, because error) error {
	failed := w.Import
	failed.Status, failed.Error = Failed, because.Error()
	if !fault.Refused(because) {
		failed.Error = fmt.Sprintf("the import was started %d times without progress; the transactions imported so far remain. Import the file "+
			"again; if that fails too, see the log of the service", w.Tries)
	}
	return w.end(ctx, failed, "import.failed")
}

// end records how an import ended, and stores the balances that its file states.
func (w *work) end(ctx context.Context, ended Import, action string) error {
	before := w.Import
	err := w.s.db.Write(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		now := tx.Now()
		ended.FinishedAt = &now
		if err := w.advance(ctx, tx, ended); err != nil {
			return err
		}
		if err := observation.Store(ctx, tx, ended.SourceID, ended.ID, balancesOf(w.stated)); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: noun, ResourceID: w.Import.ID, Before: before.facts(),
			After: ended.facts()})
		return nil
	})
	if err == nil {
		w.Import = ended
	}
	return err
}

// chunks reads the file of an import chunk by chunk.
type chunks struct {
	ctx            context.Context
	db             *db.DB
	organizationID string
	importID       string
	position       int64
	rest           []byte
}

// Read returns the rest of the current chunk, or the next one.
func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		err := c.db.ReadOne(c.ctx, c.organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
			c.rest, err = selectChunk(ctx, tx, c.importID, c.position)
			return err
		})
		if err != nil {
			return 0, err
		}
		if len(c.rest) == 0 {
			return 0, io.EOF
		}
		c.position++
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// balancesOf returns the balances that a file states as they are stored.
func balancesOf(stated []intake.Stated) []observation.Balance {
	out := make([]observation.Balance, len(stated))
	for n, s := range stated {
		out[n] = observation.Balance{AssetType: s.Currency, Account: s.Account, Quantity: s.Amount, At: s.At}
	}
	return out
}
