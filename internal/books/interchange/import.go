package interchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// ImportParams describe the journal to import and its destination.
type ImportParams struct {
	Format      notation.Format
	Name        string                  // file name, for errors
	LegalEntity string                  // id or name of the legal entity for entries that name none
	Dry         bool                    // validate without changing anything
	Progress    func(done, total int64) // called with the progress; may be nil
}

// Imported counts the results of an import.
type Imported struct {
	Entries  int
	Known    int // entries that exist already, by id or, without one, by content
	Empty    int // entries without postings, such as one that only asserts a balance
	Moved    int // entries of a closed month, booked in the first open one
	Accounts int
	Rates    int
}

// errDry rolls back a dry run.
var errDry = errors.New("interchange: dry run")

// Import imports a journal, all of it or nothing. Accounts, tags, periods and rates that the journal names and the
// books lack are created.
//
// The journal is read more than once: first to its end, so that a mistake is found before anything is locked and all
// declarations and rates are known before the first entry is written; then again from the start, once more for each
// retry of the database transaction.
func (s *Service) Import(ctx context.Context, p ImportParams, r io.ReadSeeker) (Imported, error) {
	src := &source{p, r, ctx}
	found, err := src.survey()
	if err != nil {
		return Imported{}, err
	}
	var done Imported
	err = s.db.WriteAlone(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		m, err := newImporter(ctx, tx, s, src, found)
		if err != nil {
			return err
		}
		if err := m.run(ctx, found); err != nil {
			return err
		}
		done = m.Imported
		if p.Dry {
			return errDry
		}
		return nil
	})
	if errors.Is(err, errDry) {
		err = nil
	}
	return done, err
}

// source is the journal, which can be read repeatedly from its start.
type source struct {
	ImportParams
	file   io.ReadSeeker
	caller context.Context // canceled when the caller gives up, which the context of the database transaction does not reflect
}

// items iterates over the journal from its start, until the caller gives up.
func (s *source) items() iter.Seq2[notation.Item, error] {
	return func(yield func(notation.Item, error) bool) {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			yield(notation.Item{}, err)
			return
		}
		for item, err := range notation.Read(s.Format, s.Name, s.file) {
			if left := s.caller.Err(); err == nil && left != nil {
				err = left
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// fail returns an error about a line of the file.
func (s *source) fail(line int, format string, args ...any) error {
	return fault.Malformedf("%s:%d: %s", s.Name, line, fmt.Sprintf(format, args...))
}

// rejectNUL rejects texts with NUL characters, which PostgreSQL cannot store.
func (s *source) rejectNUL(line int, texts ...string) error {
	for _, text := range texts {
		if strings.IndexByte(text, 0) >= 0 {
			return s.fail(line, "a text contains a NUL character; remove it")
		}
	}
	return nil
}

// survey is the content of a journal.
type survey struct {
	accounts []*notation.Account
	prices   int64
	entries  int64
}

// survey reads the journal to its end without writing anything.
func (s *source) survey() (*survey, error) {
	found := &survey{}
	for item, err := range s.items() {
		switch {
		case err != nil:
			return nil, err
		case item.Account != nil:
			found.accounts = append(found.accounts, item.Account)
		case item.Price != nil:
			found.prices++
		default:
			found.entries++
		}
	}
	return found, nil
}

// importer imports one journal in one database transaction.
type importer struct {
	*source
	Imported
	service         *Service
	tx              *db.Tx
	zone            *time.Location
	chart           *chart
	defaultEntityID string                        // id of the legal entity for entries that name none
	entities        map[string]entity.LegalEntity // by label and by id
	tags            map[notation.Tag]string
	chain           chain
	equal           map[string]int64 // by id that follows from a content, how many entries of the file have it
	waiting         []*notation.Entry
}

func newImporter(ctx context.Context, tx *db.Tx, s *Service, src *source, found *survey) (*importer, error) {
	state, err := orgstate.Lock(ctx, tx) // keeps what is read here from changing until the end
	if err != nil {
		return nil, err
	}
	m := &importer{source: src, service: s, tx: tx, entities: map[string]entity.LegalEntity{}, tags: map[notation.Tag]string{},
		chain: newChain(state.EntryNumber), equal: map[string]int64{}}
	if m.zone, err = period.Zone(ctx, tx); err != nil {
		return nil, err
	}
	entities, err := entity.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	labels := labelsOf(entities)
	for _, e := range entities {
		m.entities[labels[e.ID]], m.entities[e.ID] = e, e
	}
	switch {
	case src.LegalEntity != "":
		if m.defaultEntityID, err = entity.Resolve(entities, src.LegalEntity); err != nil {
			return nil, err
		}
	case len(entities) == 1:
		m.defaultEntityID = entities[0].ID
	}
	m.chart, err = readChart(ctx, tx, found.accounts, labels)
	return m, err
}

// importChunk is how many entries are written together, which bounds memory.
const importChunk = 500

func (m *importer) run(ctx context.Context, found *survey) error {
	if err := m.createDeclared(ctx, found.accounts); err != nil {
		return err
	}
	if found.prices > 0 {
		if err := m.importRates(ctx); err != nil {
			return err
		}
	}
	done := int64(0)
	for item, err := range m.items() {
		if err != nil {
			return err
		}
		if item.Entry == nil {
			continue
		}
		if done++; m.Progress != nil {
			m.Progress(done, found.entries)
		}
		if len(item.Entry.Postings) == 0 {
			m.Empty++
			continue
		}
		m.identify(item.Entry)
		if m.waiting = append(m.waiting, item.Entry); len(m.waiting) == importChunk {
			if err := m.writeWaiting(ctx, false); err != nil {
				return err
			}
		}
	}
	if err := m.writeWaiting(ctx, true); err != nil {
		return err
	}
	return m.archiveAccounts(ctx)
}
