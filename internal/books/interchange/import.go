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

// ImportParams say what is read and where it goes.
type ImportParams struct {
	Format      notation.Format
	Name        string                  // the file's, for errors
	LegalEntity string                  // id or name of the one that takes entries which name none
	Dry         bool                    // look, and change nothing
	Progress    func(done, total int64) // is told how far it is
}

// Imported counts what came in.
type Imported struct {
	Entries  int
	Known    int // entries that are here already, by their id
	Empty    int // entries that move nothing, such as one that only asserts a balance
	Moved    int // entries whose month is closed, and which the first open one took
	Accounts int
	Rates    int
}

// errDry undoes an import that was only tried.
var errDry = errors.New("interchange: only a try")

// Import reads a journal into the books, all of it or nothing. What it names and the books lack, accounts, tags,
// months and rates, is made.
//
// The journal is read more than once: first to the end, so that a mistake there is found before anything is locked,
// and so that what is declared and quoted anywhere in it is known before the first entry is written; and again from
// the start when the database asks to see it again.
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

// source is the journal, which can be read from its start as often as need be.
type source struct {
	ImportParams
	file   io.ReadSeeker
	caller context.Context // ends when the caller no longer wants it; a transaction does not listen to that by itself
}

// items reads from the start, until the caller leaves.
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

// fail blames a place in the file.
func (s *source) fail(line int, format string, args ...any) error {
	return fault.Malformedf("%s:%d: %s", s.Name, line, fmt.Sprintf(format, args...))
}

// plain refuses what no database takes.
func (s *source) plain(line int, texts ...string) error {
	for _, text := range texts {
		if strings.IndexByte(text, 0) >= 0 {
			return s.fail(line, "a text has the character NUL in it; remove it")
		}
	}
	return nil
}

// survey is what a journal holds.
type survey struct {
	accounts []*notation.Account
	prices   int64
	entries  int64
}

// survey reads to the end without writing.
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

// importer writes one journal in one transaction.
type importer struct {
	*source
	Imported
	service  *Service
	tx       *db.Tx
	zone     *time.Location
	chart    *chart
	own      string                        // id of the legal entity that takes entries which name none
	entities map[string]entity.LegalEntity // by label and by id
	tags     map[notation.Tag]string
	chain    chain
	waiting  []*notation.Entry
}

func newImporter(ctx context.Context, tx *db.Tx, s *Service, src *source, found *survey) (*importer, error) {
	h, err := orgstate.Lock(ctx, tx) // nobody else changes what is looked up here and relied on until the end
	if err != nil {
		return nil, err
	}
	m := &importer{source: src, service: s, tx: tx, entities: map[string]entity.LegalEntity{}, tags: map[notation.Tag]string{},
		chain: newChain(h.EntryNumber)}
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
		if m.own, err = pick(entities, src.LegalEntity); err != nil {
			return nil, err
		}
	case len(entities) == 1:
		m.own = entities[0].ID
	}
	m.chart, err = readChart(ctx, tx, found.accounts, labels)
	return m, err
}

// importChunk is how many entries are written together, so that no more are ever held.
const importChunk = 500

func (m *importer) run(ctx context.Context, found *survey) error {
	if err := m.declare(ctx, found.accounts); err != nil {
		return err
	}
	if found.prices > 0 {
		if err := m.readRates(ctx); err != nil {
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
		if m.waiting = append(m.waiting, item.Entry); len(m.waiting) == importChunk {
			if err := m.write(ctx, false); err != nil {
				return err
			}
		}
	}
	if err := m.write(ctx, true); err != nil {
		return err
	}
	return m.putAway(ctx)
}
