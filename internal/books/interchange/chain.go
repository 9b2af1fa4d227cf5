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

// chain puts entries in an order in which each comes behind the one it reverses or replaces. Entries keep their ids,
// so that a journal can be read twice and is there once, and so that they know each other again.
type chain struct {
	last  int64                        // the number of the last entry that was there before
	known map[string]journal.Link      // what is known of the entries at hand and those they follow
	held  map[string][]*notation.Entry // those that came before the one they follow, by its id
	loose map[string]bool              // those that follow an entry which is neither here nor in the file
	ready []*notation.Entry
}

func newChain(last int64) chain {
	return chain{last: last, held: map[string][]*notation.Entry{}, loose: map[string]bool{}}
}

// idOf is the id of an entry, if it has one of ours.
func idOf(e *notation.Entry) string {
	if id.Valid(id.JournalEntry, e.ID) {
		return e.ID
	}
	return ""
}

// previousOf is the id of the entry that one follows in a chain of corrections. A draft follows none.
func previousOf(e *notation.Entry) string {
	if e.Posted && (e.OriginatedBy == journal.ByReversal || e.OriginatedBy == journal.ByCorrection) && id.Valid(id.JournalEntry, e.Previous) {
		return e.Previous
	}
	return ""
}

// write puts down the entries that wait, and in the end also those that wait for others in vain.
func (m *importer) write(ctx context.Context, end bool) error {
	var ids []string
	for _, e := range m.waiting {
		for _, one := range []string{idOf(e), previousOf(e)} {
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
		if err := m.place(e); err != nil {
			return err
		}
	}
	m.waiting = m.waiting[:0]
	for end && len(m.chain.held) > 0 {
		if err := m.let(); err != nil {
			return err
		}
	}
	return m.enter(ctx)
}

// let gives up waiting for the entry that another follows: it comes in by itself. Of several in one chain that is the first.
func (m *importer) let() error {
	c := &m.chain
	behind := map[string]bool{}
	var first string
	for _, held := range c.held {
		for _, e := range held {
			behind[idOf(e)] = true
		}
	}
	for previous := range c.held {
		if !behind[previous] && (first == "" || previous < first) {
			first = previous
		}
	}
	if first == "" {
		for _, held := range c.held {
			return m.fail(held[0].Line, "the entry follows itself in a chain of corrections; take its tag \"previous\" off")
		}
	}
	held := c.held[first]
	delete(c.held, first)
	for _, e := range held {
		c.loose[idOf(e)] = true
		if err := m.place(e); err != nil {
			return err
		}
	}
	return nil
}

// place finds out what an entry is: here already, to be held back, or ready.
func (m *importer) place(e *notation.Entry) error {
	c := &m.chain
	own, previous := idOf(e), previousOf(e)
	if l, there := c.known[own]; there && own != "" {
		if l.Number == 0 || l.Number > c.last {
			return m.fail(e.Line, "another entry of this file has the id %s too; take it off one of them", own)
		}
		m.Known++
		return m.follow(own)
	}
	made := journal.ByImport
	switch before, there := c.known[previous]; {
	case previous == "" || c.loose[own]:
		e.Previous = ""
	case c.loose[previous] && e.OriginatedBy == journal.ByCorrection: // it replaces what is no reversal here
		c.loose[own], e.Previous = true, ""
	case !there:
		c.held[previous] = append(c.held[previous], e)
		return nil
	case !before.AcceptsNext(e.OriginatedBy):
		return m.fail(e.Line, "the entry is a %s behind %s, which is a draft, or has another one behind it already; take its tag "+
			"\"previous\" off to read it by itself", e.OriginatedBy, previous)
	default:
		made, before.NextID = e.OriginatedBy, cmp.Or(own, "one without an id")
		c.known[previous] = before
	}
	e.OriginatedBy = made
	c.ready = append(c.ready, e)
	if own == "" {
		return nil
	}
	status := journal.Draft
	if e.Posted {
		status = journal.Posted
	}
	c.known[own] = journal.Link{ID: own, Status: status, OriginatedBy: made}
	return m.follow(own)
}

// follow places those that were held back for an entry.
func (m *importer) follow(previous string) error {
	held := m.chain.held[previous]
	delete(m.chain.held, previous)
	for _, e := range held {
		if err := m.place(e); err != nil {
			return err
		}
	}
	return nil
}

// enter writes the entries that are ready.
func (m *importer) enter(ctx context.Context) error {
	ready := m.chain.ready
	m.chain.ready = ready[:0]
	ps, lines := make([]journal.CreateParams, len(ready)), make([][]int, len(ready))
	kept := 0
	for _, e := range ready {
		p, at, err := m.params(ctx, e)
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
		return m.blame(err, lines)
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

// blame turns the fields of requests into places in the file.
func (m *importer) blame(err error, lines [][]int) error {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Fields) == 0 {
		return err
	}
	out := &fault.Error{Kind: f.Kind, Message: "the journal cannot be read into these books; nothing was changed"}
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
