package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/audit"
	"github.com/bursarhq/bursar/internal/area/head"
	"github.com/bursarhq/bursar/internal/area/source"
	"github.com/bursarhq/bursar/internal/area/txn"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

const (
	// batchRecords, batchRows and batchFaults bound what one transaction takes in.
	batchRecords = 2000
	batchRows    = 10_000
	batchFaults  = 2000
	// lease is how long an import waits for whoever is at it and says nothing; it is renewed much more often.
	lease      = 8 * time.Second
	renewEvery = 2 * time.Second
	// triesMax is how often an import is taken up without getting any further before it fails.
	triesMax = 20
)

// ErrTaken says that somebody else is at an import, or was before this one could be.
var ErrTaken = errors.New("imports: somebody else is at it")

// Run takes an import up where it is and reads it to its end, telling each batch. It gives ErrTaken where somebody else does. Another error means
// that it could not go on: the import stays as it is and goes on when it is taken up again, unless it has failed, which is no error here.
func (s *Service) Run(ctx context.Context, organizationID, importID string, progress func(Import)) (i Import, err error) {
	w, err := s.take(ctx, organizationID, importID)
	if err != nil {
		return Import{}, err
	}
	ctx, cancel := context.WithCancelCause(actor.With(ctx, actor.Actor{OrganizationID: organizationID, UserID: w.UserID, APIKeyID: w.APIKeyID, RequestID: w.RequestID}))
	var held sync.WaitGroup
	held.Go(func() { s.hold(ctx, organizationID, importID, w.claim, cancel) })
	defer func() {
		cancel(nil)
		held.Wait()
		w.release(ctx)
	}()
	err = w.read(ctx, progress)
	if lost := context.Cause(ctx); errors.Is(lost, ErrTaken) {
		err = lost
	}
	if fault.KindOf(err) == fault.Invalid || w.tries > triesMax && err != nil && !errors.Is(err, ErrTaken) && !errors.Is(err, context.Canceled) {
		err = w.fail(ctx, err)
	}
	if err == nil {
		err = s.clear(ctx, organizationID, importID)
	}
	return w.Import, err
}

// work is an import and the claim on it.
type work struct {
	Import
	s              *Service
	organizationID string
	claim          string
	tries          int64
}

func (s *Service) take(ctx context.Context, organizationID, importID string) (*work, error) {
	w := &work{s: s, organizationID: organizationID}
	err := s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		w.claim = tx.NewID(id.Import) // any text that nobody else has
		ours, err := take(ctx, tx, importID, w.claim, tx.Now().Add(lease))
		if err != nil {
			return err
		}
		r, err := findRow(ctx, tx, importID)
		if err == nil && !ours {
			return ErrTaken
		}
		if err != nil {
			return err
		}
		w.tries = r.Tries
		w.Import, err = r.imported()
		return err
	})
	return w, err
}

// hold keeps a claim while the work goes on, and ends the work when it is lost.
func (s *Service) hold(ctx context.Context, organizationID, importID, claim string, lost context.CancelCauseFunc) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			ours, err := renew(ctx, tx, importID, claim, tx.Now().Add(lease))
			if err == nil && !ours {
				err = ErrTaken
			}
			return err
		})
		if errors.Is(err, ErrTaken) { // a database that does not answer is tried again: whoever takes the import over keeps the next batch from being written
			lost(err)
			return
		}
	}
}

// release lets others take the import up at once, or, when it did not get far, after a while that grows.
func (w *work) release(ctx context.Context) {
	if w.Status.Ended() {
		return
	}
	_ = w.s.db.Write(context.WithoutCancel(ctx), w.organizationID, func(ctx context.Context, tx *db.Tx) error { // else the claim ends by itself
		_, err := renew(ctx, tx, w.ID, w.claim, tx.Now().Add(time.Duration(w.tries-1)*time.Second-time.Millisecond))
		return err
	})
}

// read goes through the file from its start, past the rows that are in already, and takes the others in.
func (w *work) read(ctx context.Context, progress func(Import)) error {
	var src source.Source
	err := w.s.db.ReadOne(ctx, w.organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		src, err = w.source(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	in, err := intake.Open(&chunks{ctx: ctx, db: w.s.db, organizationID: w.organizationID, importID: w.ID}, options(w.FileName, w.Mapping, src))
	if err != nil {
		return err
	}
	for range w.Counts.Rows {
		if _, err := in.Next(); err != nil {
			return fmt.Errorf("find the row to go on at: %w", err)
		}
	}
	for end := false; !end; {
		var b batch
		var broken error
		if end, broken = b.gather(ctx, in, w.Mapping, w.s.batch); broken != nil && fault.KindOf(broken) != fault.Invalid {
			return broken
		}
		if err := w.put(ctx, b); err != nil { // also what stands before the place at which the file is broken
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

// source finds the source once more: it may have been deleted while its file was read.
func (w *work) source(ctx context.Context, tx *db.Tx) (source.Source, error) {
	src, err := source.Find(ctx, tx, w.SourceID)
	if fault.KindOf(err) == fault.NotFound {
		return src, fault.Malformedf("the source of the import is deleted; what was read before stays. Make a source and import the file into that")
	}
	return src, err
}

// batch is what rows that are taken in together tell.
type batch struct {
	all    []txn.Params
	faults []intake.Fault
	counts Counts
	offset int64
}

// gather reads the next rows, and tells whether they are the last.
func (b *batch) gather(ctx context.Context, in *intake.Reader, m intake.Mapping, records int) (end bool, err error) {
	for len(b.all) < records && b.counts.Rows < batchRows && len(b.faults) < batchFaults {
		row, err := in.Next()
		if errors.Is(err, io.EOF) {
			end = true
			break
		}
		if err != nil {
			return false, err
		}
		all, faults := readRow(row, m)
		b.counts.Rows++
		b.all, b.faults = append(b.all, all...), append(b.faults, faults...)
		switch {
		case len(faults) > 0:
			b.counts.Faulty++
		case row.Skipped != "":
			b.counts.Skipped++
		}
	}
	b.offset = in.Offset()
	return end, ctx.Err()
}

// put adds what a batch tells and says how far the import is, in one transaction.
func (w *work) put(ctx context.Context, b batch) error {
	after := w.Import
	err := w.s.db.WriteAlone(ctx, w.organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := head.Lock(ctx, tx); err != nil { // nobody deletes the source from here on
			return err
		}
		src, err := w.source(ctx, tx)
		if err != nil {
			return err
		}
		news := make([]txn.New, len(b.all))
		for i, p := range b.all {
			news[i] = txn.New{Source: src, Params: p}
		}
		outcomes, err := txn.Add(ctx, tx, news)
		if err != nil {
			return err
		}
		after = w.Import
		after.add(b, outcomes)
		if err := insertFaults(ctx, tx, w.ID, keep(w.Counts.Faults, b.faults)); err != nil {
			return err
		}
		return w.advance(ctx, tx, after)
	})
	if err == nil {
		w.Import, w.tries = after, 1
	}
	return err
}

// add counts what a batch came to.
func (i *Import) add(b batch, outcomes []txn.Outcome) {
	c := &i.Counts
	c.Rows, c.Skipped, c.Faulty, c.Faults = c.Rows+b.counts.Rows, c.Skipped+b.counts.Skipped, c.Faulty+b.counts.Faulty, c.Faults+int64(len(b.faults))
	for _, o := range outcomes {
		if o.Duplicate {
			c.Duplicates++
		} else {
			c.Created++
		}
	}
	i.BytesRead = max(i.BytesRead, min(b.offset, i.FileSize))
}

// keep numbers faults behind those before, as far as they are kept.
func keep(before int64, faults []intake.Fault) (out []Fault) {
	for i, f := range faults {
		if position := before + int64(i) + 1; position <= FaultsKept {
			out = append(out, Fault{position, f})
		}
	}
	return out
}

func (w *work) advance(ctx context.Context, tx *db.Tx, after Import) error {
	ours, err := advance(ctx, tx, after, w.claim)
	if err == nil && !ours {
		err = ErrTaken
	}
	return err
}

// fail ends an import that cannot go on.
func (w *work) fail(ctx context.Context, because error) error {
	failed := w.Import
	failed.Status, failed.Error = Failed, because.Error()
	if fault.KindOf(because) != fault.Invalid {
		failed.Error = fmt.Sprintf("the import was begun %d times and got no further; what was read stays. Import the file again, and if that fails too, look into the log of the service", w.tries)
	}
	return w.end(ctx, failed, "import.failed")
}

func (w *work) end(ctx context.Context, ended Import, action string) error {
	before := w.Import
	err := w.s.db.Write(ctx, w.organizationID, func(ctx context.Context, tx *db.Tx) error {
		now := tx.Now()
		ended.FinishedAt = &now
		if err := w.advance(ctx, tx, ended); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: noun, ResourceID: w.ID, Before: before.facts(), After: ended.facts()})
		return nil
	})
	if err == nil {
		w.Import = ended
	}
	return err
}

// chunks reads the file of an import piece by piece.
type chunks struct {
	ctx            context.Context
	db             *db.DB
	organizationID string
	importID       string
	position       int64
	rest           []byte
}

// Read gives what is left of a piece, or of the next one.
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
