package interchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/entity"
	"github.com/bursarhq/bursar/internal/area/fx"
	"github.com/bursarhq/bursar/internal/area/journal"
	"github.com/bursarhq/bursar/internal/area/tag"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// ImportParams say what is read and where it goes.
type ImportParams struct {
	Format      notation.Format
	Name        string // the file's, for errors
	LegalEntity string // id or name of the one that takes entries which name none
	Dry         bool   // look, and change nothing
}

// Imported counts what came in.
type Imported struct {
	Entries  int
	Known    int // entries that are here already, by their id
	Accounts int
	Rates    int
}

// importChunk is how many entries are written together.
const importChunk = 500

// errDry undoes an import that was only tried.
var errDry = errors.New("interchange: only a try")

// Import reads a journal into the books, all of it or nothing. What it names and the books lack, accounts, tags, months and rates, is made.
func (s *Service) Import(ctx context.Context, p ImportParams, r io.Reader) (Imported, error) {
	var done Imported
	err := s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		m, err := newImporter(ctx, tx, s, p)
		if err != nil {
			return err
		}
		if err := m.read(ctx, notation.Read(p.Format, p.Name, r)); err != nil {
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

type importer struct {
	ImportParams
	Imported
	service  *Service
	tx       *db.Tx
	chart    *chart
	entities map[string]entity.LegalEntity // by name and by id
	tags     map[notation.Tag]string
	ids      map[string]string // of entries in a chain: what they are called there and here
	waiting  []*notation.Entry
	rates    []fx.Quotation
}

func newImporter(ctx context.Context, tx *db.Tx, s *Service, p ImportParams) (*importer, error) {
	m := &importer{ImportParams: p, service: s, tx: tx, entities: map[string]entity.LegalEntity{}, tags: map[notation.Tag]string{}, ids: map[string]string{}}
	entities, err := entity.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, e := range entities {
		if _, twice := m.entities[e.Name]; !twice {
			m.entities[e.Name] = e
		}
		m.entities[e.ID] = e
	}
	if p.LegalEntity == "" && len(entities) == 1 {
		m.LegalEntity = entities[0].ID
	} else if _, there := m.entities[p.LegalEntity]; p.LegalEntity != "" && !there {
		return nil, fault.Conflictf("there is no legal entity %q", p.LegalEntity)
	}
	m.chart, err = readChart(ctx, tx)
	return m, err
}

func (m *importer) read(ctx context.Context, items iter.Seq2[notation.Item, error]) error {
	for item, err := range items {
		if err != nil {
			return err
		}
		switch {
		case item.Account != nil:
			m.chart.declare(*item.Account)
		case item.Price != nil:
			m.price(item.Price)
		default:
			m.waiting = append(m.waiting, item.Entry)
		}
		if len(m.waiting) >= importChunk || len(m.rates) >= fx.RatesMax {
			if err := m.write(ctx); err != nil {
				return err
			}
		}
	}
	return m.write(ctx)
}

// price keeps a rate between currencies. What a thing was worth is no rate.
func (m *importer) price(p *notation.Price) {
	if money.IsFiat(p.Base) && money.IsFiat(p.Quote) {
		m.rates = append(m.rates, fx.Quotation{Base: p.Base, Quote: p.Quote, Date: p.Date, Rate: p.Rate, Source: "import"})
		m.Rates++
	}
}

// write puts down what was read so far, so that no more than a chunk is ever held.
func (m *importer) write(ctx context.Context) error {
	if err := m.putRates(ctx); err != nil {
		return err
	}
	known, err := journal.Known(ctx, m.tx, idsOf(m.waiting))
	if err != nil {
		return err
	}
	fresh := slices.DeleteFunc(m.waiting, func(e *notation.Entry) bool { return slices.Contains(known, e.ID) })
	for _, id := range known {
		m.ids[id] = id
	}
	m.Known, m.Entries = m.Known+len(known), m.Entries+len(fresh)
	ps := make([]journal.CreateParams, len(fresh))
	for i, e := range fresh {
		if ps[i], err = m.params(ctx, e); err != nil {
			return err
		}
	}
	made, err := m.service.journal.Enter(ctx, m.tx, ps, func(i int) string { return fmt.Sprintf("%s:%d: ", m.Name, fresh[i].Line) })
	if err != nil {
		return err
	}
	for i, e := range fresh {
		if e.Next != "" {
			m.ids[cmp.Or(e.ID, e.Number)], m.ids[cmp.Or(e.Number, e.ID)] = made[i].ID, made[i].ID
		}
	}
	m.waiting = m.waiting[:0]
	return m.tx.Flush(ctx)
}

func idsOf(entries []*notation.Entry) (out []string) {
	for _, e := range entries {
		if e.ID != "" {
			out = append(out, e.ID)
		}
	}
	return out
}

// putRates stores rates, of several for a pair and day the last.
func (m *importer) putRates(ctx context.Context) error {
	byDay := map[[3]string]int{}
	var rates []fx.Quotation
	for _, q := range m.rates {
		key := [3]string{q.Base, q.Quote, q.Date}
		if i, twice := byDay[key]; twice {
			rates[i] = q
			continue
		}
		byDay[key] = len(rates)
		rates = append(rates, q)
	}
	m.rates = nil
	if len(rates) == 0 {
		return nil
	}
	_, err := fx.Put(ctx, m.tx, rates)
	return err
}

// fail blames a place in the file.
func (m *importer) fail(line int, format string, args ...any) error {
	return fault.Malformedf("%s:%d: %s", m.Name, line, fmt.Sprintf(format, args...))
}

// params describes an entry as a request would.
func (m *importer) params(ctx context.Context, e *notation.Entry) (journal.CreateParams, error) {
	own, err := m.entity(e.Line, e.Entity)
	if err != nil {
		return journal.CreateParams{}, err
	}
	p := journal.CreateParams{
		LegalEntityID: own.ID, AccountingDate: cmp.Or(e.Instant, e.Date), Memo: e.Memo, Status: journal.Draft, OriginatedBy: journal.ByImport, Classification: e.Classification,
	}
	if e.Posted {
		p.Status = journal.Posted
	}
	if previous, there := m.ids[e.Previous]; e.Previous != "" && there && (e.OriginatedBy == journal.ByReversal || e.OriginatedBy == journal.ByCorrection) {
		p.PreviousID, p.OriginatedBy = previous, e.OriginatedBy
	}
	if p.TagIDs, err = m.tagIDs(ctx, e.Tags); err != nil {
		return p, err
	}
	priced := !m.balances(e)
	for i := range e.Postings {
		line, err := m.line(ctx, e, &e.Postings[i], own, priced)
		if err != nil {
			return p, err
		}
		p.Lines = append(p.Lines, line)
	}
	return p, nil
}

// balances tells whether each currency balances by itself, as it does in our books. Other programs let what was paid for a thing stand against it.
func (m *importer) balances(e *notation.Entry) bool {
	var lines []book.Line
	for _, p := range e.Postings {
		side := book.Credit
		if p.Debit {
			side = book.Debit
		}
		lines = append(lines, book.Line{Entity: cmp.Or(p.Entity, e.Entity), Side: side, Amount: p.Amount, Currency: p.Currency})
	}
	return len(book.Differences(lines)) == 0
}

// line describes a posting. In an entry that balances only by what things cost, a thing is booked at its cost, and the memo says how much of it.
func (m *importer) line(ctx context.Context, e *notation.Entry, p *notation.Posting, own entity.LegalEntity, priced bool) (l journal.LineParams, err error) {
	if p.Entity != "" {
		if own, err = m.entity(p.Line, p.Entity); err != nil {
			return l, err
		}
	}
	l = journal.LineParams{LegalEntityID: own.ID, Side: book.Credit, Amount: p.Amount.String(), Currency: currency(p.Currency, own), Memo: p.Memo}
	if p.Debit {
		l.Side = book.Debit
	}
	switch {
	case p.Base == nil:
	case priced:
		l.Amount, l.Currency = p.Base.String(), currency(p.BaseCurrency, own)
		l.Memo = p.Amount.String() + " " + p.Currency
		if p.Memo != "" {
			l.Memo += ": " + p.Memo
		}
	case currency(p.BaseCurrency, own) == own.BaseCurrency && e.Posted:
		l.Base = p.Base
	}
	if l.LedgerAccountID, err = m.account(ctx, p); err != nil {
		return l, err
	}
	l.TagIDs, err = m.tagIDs(ctx, p.Tags)
	return l, err
}

// signs are how people write currencies. A dollar is the legal entity's own, if it counts in one.
var signs = map[string]string{"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₺": "TRY", "₴": "UAH", "₪": "ILS", "₫": "VND", "₱": "PHP", "₦": "NGN"}

var dollars = []string{"USD", "AUD", "CAD", "NZD", "SGD", "HKD", "TWD", "BSD", "BZD", "BMD", "KYD", "FJD", "JMD", "LRD", "NAD", "TTD"}

func currency(name string, own entity.LegalEntity) string {
	if name == "$" && slices.Contains(dollars, own.BaseCurrency) {
		return own.BaseCurrency
	}
	return cmp.Or(signs[name], name)
}

func (m *importer) entity(line int, name string) (entity.LegalEntity, error) {
	name = cmp.Or(name, m.LegalEntity)
	if name == "" {
		return entity.LegalEntity{}, m.fail(line, "the entry names no legal entity, and there are several: say which with --legal-entity")
	}
	e, there := m.entities[name]
	if !there {
		return e, m.fail(line, "there is no legal entity %q: make it first", name)
	}
	return e, nil
}

// tagIDs finds or makes tags. A kind that is none of ours becomes part of the name.
func (m *importer) tagIDs(ctx context.Context, tags []notation.Tag) (out []string, err error) {
	for _, t := range tags {
		id, there := m.tags[t]
		if !there {
			kind, name := tag.Kind(t.Kind), t.Name
			if !slices.Contains(tag.Kinds, kind) {
				kind, name = tag.Custom, t.Kind
				if t.Name != "" {
					name += ": " + t.Name
				}
			}
			made, err := tag.Ensure(ctx, m.tx, kind, name)
			if err != nil {
				return nil, err
			}
			id = made.ID
			m.tags[t] = id
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}
