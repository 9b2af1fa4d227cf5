package interchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// chain orders entries so that each one follows the entry that it reverses or replaces. Imported entries keep their
// ids, and others get one that follows from what they say, so that importing a journal twice creates each entry once and references
// between entries stay valid.
type chain struct {
	last     int64                        // the number of the last entry before the import
	known    map[string]journal.Link      // the entries of this batch and their predecessors, by id
	waiting  map[string][]*notation.Entry // entries that wait for their predecessor, by its id
	orphaned map[string]bool              // entries whose predecessor is neither in the books nor in the file
	ready    []*notation.Entry
}

func newChain(last int64) chain {
	return chain{last: last, waiting: map[string][]*notation.Entry{}, orphaned: map[string]bool{}}
}

// identify gives an entry without an id of this program one that follows from its content, from the legal entity that it belongs to, and
// from how many equal entries the file has before it.
func (m *importer) identify(e *notation.Entry) {
	if id.Valid(id.JournalEntry, e.ID) {
		return
	}
	text := contentOf(e, cmp.Or(e.Entity, m.defaultEntityID))
	first := id.Derive(id.JournalEntry, text)
	before := m.equal[first]
	m.equal[first]++
	keepForeignID(e)
	e.ID = first
	if before > 0 {
		e.ID = id.Derive(id.JournalEntry, strconv.AppendInt(text, before, 10))
	}
}

// keepForeignID turns the id that another program gave an entry into a tag.
func keepForeignID(e *notation.Entry) {
	if e.ID != "" {
		e.Tags = append(e.Tags, notation.Tag{Kind: "id", Name: e.ID})
	}
}

// contentVersion begins the content from which ids are derived.
const contentVersion = "journal entry 1"

// contentOf returns the content of an entry from which its id is derived. What is written here must never change, or importing a file
// again would book it twice: a new field of an entry is added to the content of entries that have it only.
func contentOf(e *notation.Entry, legalEntity string) []byte {
	b := appendTexts(nil, contentVersion, legalEntity, e.ID, e.Number, e.Date, e.Instant, e.Intended, strconv.FormatBool(e.Posted), e.Memo,
		e.Classification, e.OriginatedBy, e.Previous, e.Next)
	b = appendTags(b, e.Tags)
	for _, p := range e.Postings {
		base := ""
		if p.Base != nil {
			base = p.Base.String()
		}
		b = appendTexts(b, "posting", strconv.Itoa(len(p.Account)))
		b = appendTexts(b, p.Account...)
		b = appendTexts(b, strconv.FormatBool(p.Debit), p.Amount.String(), p.Currency, base, p.BaseCurrency, p.Memo, p.Entity)
		b = appendTags(b, p.Tags)
	}
	return b
}

func appendTags(b []byte, tags []notation.Tag) []byte {
	b = appendTexts(b, strconv.Itoa(len(tags)))
	for _, t := range tags {
		b = appendTexts(b, t.Kind, t.Name)
	}
	return b
}

// appendTexts appends texts, each after its length, so that different lists of texts have different bytes.
func appendTexts(b []byte, texts ...string) []byte {
	for _, t := range texts {
		b = strconv.AppendInt(b, int64(len(t)), 10)
		b = append(append(b, ':'), t...)
	}
	return b
}

// previousOf returns the id of the preceding entry in a chain of corrections. A draft has none.
func previousOf(e *notation.Entry) string {
	if e.Posted && (e.OriginatedBy == journal.ByReversal || e.OriginatedBy == journal.ByCorrection) && id.Valid(id.JournalEntry, e.Previous) {
		return e.Previous
	}
	return ""
}

// writeWaiting writes the waiting entries; at the end of the file also those whose predecessor did not appear.
func (m *importer) writeWaiting(ctx context.Context, end bool) error {
	var ids []string
	for _, e := range m.waiting {
		for _, one := range []string{e.ID, previousOf(e)} {
			if one != "" {
				ids = append(ids, one)
			}
		}
	}
	var err error
	if m.chain.known, err = journal.FindLinks(ctx, m.tx, ids); err != nil {
		return err
	}
	for _, e := range m.waiting {
		if err := m.schedule(e); err != nil {
			return err
		}
	}
	m.waiting = m.waiting[:0]
	for end && len(m.chain.waiting) > 0 {
		if err := m.releaseOrphans(); err != nil {
			return err
		}
	}
	return m.writeReady(ctx)
}

// releaseOrphans stops waiting for a predecessor that did not appear: the entries that follow it are imported as
// independent entries. Of several waiting entries in one chain it releases the first.
func (m *importer) releaseOrphans() error {
	c := &m.chain
	behind := map[string]bool{}
	var first string
	for _, held := range c.waiting {
		for _, e := range held {
			behind[e.ID] = true
		}
	}
	for previous := range c.waiting {
		if !behind[previous] && (first == "" || previous < first) {
			first = previous
		}
	}
	if first == "" {
		for _, held := range c.waiting {
			return m.fail(held[0].Line, "the entry follows itself in a chain of corrections; remove its tag \"previous\"")
		}
	}
	held := c.waiting[first]
	delete(c.waiting, first)
	for _, e := range held {
		c.orphaned[e.ID] = true
		if err := m.schedule(e); err != nil {
			return err
		}
	}
	return nil
}

// schedule decides whether an entry exists already, must wait for its predecessor, or can be written.
func (m *importer) schedule(e *notation.Entry) error {
	c := &m.chain
	own, previous := e.ID, previousOf(e)
	if l, exists := c.known[own]; exists {
		if l.Number == 0 || l.Number > c.last {
			return m.fail(e.Line, "another entry of this file has the id %s too; remove it from one of them", own)
		}
		m.Known++
		return m.scheduleFollowers(own)
	}
	made := journal.ByImport
	switch before, exists := c.known[previous]; {
	case previous == "" || c.orphaned[own]:
		e.Previous = ""
	case c.orphaned[previous] && e.OriginatedBy == journal.ByCorrection: // it replaces an entry that is not reversed here
		c.orphaned[own], e.Previous = true, ""
	case !exists:
		c.waiting[previous] = append(c.waiting[previous], e)
		return nil
	case !before.AcceptsNext(e.OriginatedBy):
		return m.fail(e.Line, "the entry is a %s of %s, which is a draft or has been followed by another entry already; remove its tag "+
			"\"previous\" to import it as an independent entry", e.OriginatedBy, previous)
	default:
		made, before.NextID = e.OriginatedBy, own
		c.known[previous] = before
	}
	e.OriginatedBy = made
	c.ready = append(c.ready, e)
	status := journal.Draft
	if e.Posted {
		status = journal.Posted
	}
	c.known[own] = journal.Link{ID: own, Status: status, OriginatedBy: made}
	return m.scheduleFollowers(own)
}

// scheduleFollowers schedules the entries that waited for an entry.
func (m *importer) scheduleFollowers(previous string) error {
	held := m.chain.waiting[previous]
	delete(m.chain.waiting, previous)
	for _, e := range held {
		if err := m.schedule(e); err != nil {
			return err
		}
	}
	return nil
}

// writeReady writes the entries that are ready.
func (m *importer) writeReady(ctx context.Context) error {
	ready := m.chain.ready
	m.chain.ready = ready[:0]
	ps, lines := make([]journal.CreateParams, len(ready)), make([][]int, len(ready))
	kept := 0
	for _, e := range ready {
		p, at, err := m.entryParams(ctx, e)
		if err != nil {
			return err
		}
		if len(p.Lines) == 0 {
			m.Empty++
			continue
		}
		ps[kept], lines[kept] = p, append(at, e.Line)
		kept++
	}
	made, err := m.service.journal.CreateInTx(ctx, m.tx, ps[:kept], func(i int) string { return strconv.Itoa(i) + " " })
	if err != nil {
		return m.locateFaults(err, lines)
	}
	m.Entries += len(made)
	for i, e := range made {
		if e.Reassigned() && ps[i].IntendedDate == "" {
			m.Moved++
		}
	}
	return m.tx.Group().Flush(ctx)
}

var fieldRe = regexp.MustCompile(`^(\d+) (?:lines\[(\d+)\]\.)?(.*)$`)

// locateFaults replaces the field names of requests by lines of the file.
func (m *importer) locateFaults(err error, lines [][]int) error {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Fields) == 0 {
		return err
	}
	out := &fault.Error{Kind: f.Kind, Message: "the journal cannot be imported into these books; nothing was changed"}
	for _, field := range f.Fields {
		name := field.Name
		if part := fieldRe.FindStringSubmatch(name); part != nil {
			at, _ := strconv.Atoi(part[1])
			line := lines[at][len(lines[at])-1]
			if n, err := strconv.Atoi(part[2]); err == nil {
				line = lines[at][n]
			}
			name = fmt.Sprintf("%s:%d: %s", m.Name, line, part[3])
		}
		out.Fields = append(out.Fields, fault.Field{Name: name, Message: field.Message})
	}
	return out
}
