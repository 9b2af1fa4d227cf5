package glsync

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// planTogether is how many entries are planned in one database transaction.
const planTogether = 500

const (
	// runsKept is how long runs are remembered with their results, and deletedTogether how many are deleted when another one begins.
	runsKept        = 400 * 24 * time.Hour
	deletedTogether = 50
)

// plan finds out what has to be done with each entry of the scope, and stores it. It begins anew if it was interrupted.
func (w *work) plan(ctx context.Context) error {
	if err := w.refresh(ctx); err != nil {
		return err
	}
	p := &planner{work: w, progress: progress{blockers: map[string]Blocker{}, totals: map[string]money.Decimal{}}}
	err := w.write(ctx, func(ctx context.Context, tx *db.Tx) error {
		w.run.Total, w.run.Done, w.run.Counts = 0, 0, map[string]int64{}
		if err := deleteRuns(ctx, tx, tx.Now().Add(-runsKept), deletedTogether); err != nil {
			return err
		}
		return deleteAttempts(ctx, tx, w.run.ID)
	})
	for more := err == nil && w.run.Kind != Check; more && err == nil; {
		more, err = p.posted(ctx)
	}
	for more := err == nil; more && err == nil; {
		more, err = p.sent(ctx)
	}
	if err != nil {
		return err
	}
	return w.write(ctx, func(context.Context, *db.Tx) error {
		p.finish()
		w.run.stage = sending
		return nil
	})
}

// refresh reads the accounts of the general ledger again.
func (w *work) refresh(ctx context.Context) error {
	chart, err := w.open().Chart(ctx)
	if err != nil {
		return err
	}
	return w.write(ctx, func(ctx context.Context, tx *db.Tx) error {
		w.run.Warnings = chart.Warnings
		if w.run.Warnings == nil {
			w.run.Warnings = []string{}
		}
		return StoreChart(ctx, tx, w.run.ConnectionID, chart)
	})
}

// load reads what journals are made of.
func (w *work) load(ctx context.Context, tx *db.Tx) (err error) {
	b, err := snapshot.Read(ctx, tx)
	if err == nil {
		w.maker, err = newMaker(ctx, tx, w.connection, b)
	}
	return err
}

// planner is the planning of a run.
type planner struct {
	*work
	progress
	planned map[entryPart]bool // what the run does already, of the entries that are planned now
}

// progress is what was planned so far.
type progress struct {
	after    journal.Position
	afterRow journalPosition
	position int64
	blockers map[string]Blocker
	order    []string // of the blockers
	totals   map[string]money.Decimal
}

// clone returns a copy that can be changed.
func (p progress) clone() progress {
	p.blockers, p.order, p.totals = maps.Clone(p.blockers), slices.Clone(p.order), maps.Clone(p.totals)
	return p
}

// step runs a function in a database transaction that stores the progress of the run as well. The function may run again.
func (p *planner) step(ctx context.Context, do func(ctx context.Context, tx *db.Tx) error) error {
	before := p.progress
	return p.write(ctx, func(ctx context.Context, tx *db.Tx) error {
		p.progress = before.clone()
		if err := p.load(ctx, tx); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}

// entities returns the legal entities whose entries are looked at; none means all.
func (w *work) entities() []string {
	if w.connection.LegalEntityID != "" {
		return []string{w.connection.LegalEntityID}
	}
	return w.run.Scope.LegalEntityIDs
}

// posted plans the next posted entries of the scope, and reports whether there are more.
func (p *planner) posted(ctx context.Context) (more bool, err error) {
	s := p.run.Scope
	err = p.step(ctx, func(ctx context.Context, tx *db.Tx) error {
		entries, err := journal.PostedAfter(ctx, tx, journal.Scope{LegalEntityIDs: p.entities(), From: s.From, Until: s.Until,
			EntryIDs: s.EntryIDs}, p.after, planTogether)
		if err != nil {
			return err
		}
		ids := make([]string, len(entries))
		for n, e := range entries {
			ids[n], p.after = e.ID, journal.Position{Date: e.AccountingDate, Number: e.Number}
		}
		rows, err := p.rowsOf(ctx, tx, ids)
		if err == nil {
			p.planned, err = selectPlanned(ctx, tx, p.run.ID, ids)
		}
		if err != nil {
			return err
		}
		var attempts []Attempt
		for _, e := range entries {
			attempts = append(attempts, p.attempts(tx, e, rows[e.ID])...)
		}
		more = len(entries) == planTogether
		return insertAttempts(ctx, tx, attempts)
	})
	return more, err
}

// rowsOf reads what was sent of entries.
func (w *work) rowsOf(ctx context.Context, tx *db.Tx, ids []string) (map[string][]journalRow, error) {
	out := map[string][]journalRow{}
	if len(ids) == 0 {
		return out, nil
	}
	rows, err := selectJournals(ctx, tx, w.run.book, ids)
	for _, r := range rows {
		out[r.EntryID] = append(out[r.EntryID], r)
	}
	return out, err
}

// days returns the first and the last day of the scope, each of which may be empty.
func (w *work) days() (from, through string) {
	zone := w.maker.books.Zone
	if at := w.run.Scope.From; !at.IsZero() {
		from = calendar.DateOf(at, zone)
	}
	if at := w.run.Scope.Until; !at.IsZero() {
		through = calendar.DateOf(at.Add(-time.Millisecond), zone)
	}
	return from, through
}

// sent plans the next entries of which something was sent in the scope, and which are not among its posted ones. A check compares all of
// what was sent. It reports whether there are more.
func (p *planner) sent(ctx context.Context) (more bool, err error) {
	err = p.step(ctx, func(ctx context.Context, tx *db.Tx) error {
		rows, err := p.nextSent(ctx, tx)
		if err != nil {
			return err
		}
		more = len(rows) == planTogether && len(p.run.Scope.EntryIDs) == 0
		var ids []string
		for _, r := range rows {
			if p.afterRow = (journalPosition{r.Date, r.Number, r.Part}); !slices.Contains(ids, r.EntryID) {
				ids = append(ids, r.EntryID)
			}
		}
		entries, err := journal.FindSomeUnchecked(ctx, tx, ids)
		if err != nil {
			return err
		}
		all, err := p.rowsOf(ctx, tx, ids)
		if err == nil {
			p.planned, err = selectPlanned(ctx, tx, p.run.ID, ids)
		}
		if err != nil {
			return err
		}
		var attempts []Attempt
		for _, id := range ids {
			e := entries[id]
			mine, err := p.responsible(ctx, tx, e, all[id])
			switch {
			case err != nil:
				return err
			case len(mine) == 0:
			case p.run.Kind == Check:
				attempts = append(attempts, p.checks(tx, e, mine)...)
			case !p.listed(e):
				attempts = append(attempts, p.attempts(tx, e, mine)...)
			}
		}
		return insertAttempts(ctx, tx, attempts)
	})
	return more, err
}

// nextSent returns the next of what was sent in the scope or, if it names entries, all of it.
func (p *planner) nextSent(ctx context.Context, tx *db.Tx) ([]journalRow, error) {
	from, through := p.days()
	if len(p.run.Scope.EntryIDs) == 0 {
		return selectJournalsAfter(ctx, tx, p.run.book, from, through, p.afterRow, planTogether)
	}
	rows, err := selectJournals(ctx, tx, p.run.book, p.run.Scope.EntryIDs)
	return slices.DeleteFunc(rows, func(r journalRow) bool {
		return r.State == absent || r.Date < from || through != "" && r.Date > through
	}), err
}

// responsible returns what was sent of an entry and is in the scope, apart from its date. What was sent for a legal entity stays its own,
// whichever legal entities the entry has now.
func (p *planner) responsible(ctx context.Context, tx *db.Tx, e journal.Entry, rows []journalRow) (out []journalRow, err error) {
	entities := p.entities()
	all := len(entities) == 0 || slices.ContainsFunc(e.LegalEntityIDs(), func(id string) bool { return slices.Contains(entities, id) })
	for _, r := range rows {
		mine := all
		if own := p.connection.LegalEntityID; own != "" && !all {
			sentFor := r.Part
			if r.Part == "" {
				if sentFor, err = p.entityOf(ctx, tx, r.ConnectionID); err != nil {
					return nil, err
				}
			}
			mine = sentFor == own
		}
		if mine {
			out = append(out, r)
		}
	}
	return out, nil
}

// entityOf returns the legal entity of a connection, which may be disconnected; empty if it has none.
func (p *planner) entityOf(ctx context.Context, tx *db.Tx, connectionID string) (string, error) {
	if connectionID == p.connection.ID {
		return p.connection.LegalEntityID, nil
	}
	c, err := p.connections.FindLedger(ctx, tx, connectionID)
	if fault.KindOf(err) == fault.NotFound {
		return "", nil
	}
	return c.LegalEntityID, err
}

// listed reports whether an entry of the scope is one of the posted ones, which were planned already.
func (p *planner) listed(e journal.Entry) bool {
	s, entities := p.run.Scope, p.entities()
	ours := len(entities) == 0 || slices.ContainsFunc(e.LegalEntityIDs(), func(id string) bool { return slices.Contains(entities, id) })
	return ours && e.Status == journal.Posted && (s.From.IsZero() || !e.AccountingDate.Before(s.From)) &&
		(s.Until.IsZero() || e.AccountingDate.Before(s.Until))
}

// attempts returns what is to be done with an entry, and counts it. Whether one that cannot be sent has failed is decided when all is
// planned.
func (p *planner) attempts(tx *db.Tx, e journal.Entry, rows []journalRow) (out []Attempt) {
	for _, d := range p.maker.decide(e, rows) {
		if p.planned[entryPart{e.ID, d.part}] { // the entry was changed meanwhile, which is seen before it is sent
			continue
		}
		for _, b := range d.problems {
			p.block(b)
		}
		if d.Action == "" && !d.empty {
			p.run.Counts["unchanged"]++
			continue
		}
		if d.empty {
			if p.run.Counts[string(NothingToSend)]++; p.run.Kind != Dry && len(p.run.Scope.EntryIDs) == 0 {
				continue // each run would store it again
			}
		}
		a := p.attempt(tx, e, cmp.Or(d.Action, Create), d.part)
		because := d.problems
		if locked, is := p.maker.lockedBy(d); is && !d.empty && len(because) == 0 {
			p.block(locked)
			because = []Blocker{locked}
		}
		switch {
		case d.empty:
			a.Status, a.Error = NothingToSend, "there is nothing to send: no line has an amount in "+d.journal.Currency
		case len(because) > 0:
			a.Status, a.Error, a.Code = AttemptBlocked, texts(because), because[0].Code
			p.run.Counts[string(AttemptBlocked)]++
		default:
			p.run.Counts[string(d.Action)]++
			p.run.Total++
			if d.Action != Remove {
				p.totals[d.journal.Currency] = p.totals[d.journal.Currency].Add(d.journal.total())
			}
		}
		out = append(out, a)
	}
	return out
}

// attempt returns the next attempt.
func (p *planner) attempt(tx *db.Tx, e journal.Entry, action Action, part string) Attempt {
	p.position++
	return Attempt{ID: tx.NewID(id.GLSyncAttempt), RunID: p.run.ID, Position: p.position, ConnectionID: p.run.ConnectionID,
		Provider: p.connection.Provider, EntryID: e.ID, Number: e.Number, Action: action, Status: Planned, part: part,
		entities: p.concern(e, part)}
}

// checks returns the comparisons of what was sent of an entry.
func (p *planner) checks(tx *db.Tx, e journal.Entry, rows []journalRow) (out []Attempt) {
	for _, r := range rows {
		ours := p.connection.LegalEntityID == "" || r.Part == "" || r.Part == p.connection.LegalEntityID
		if ours && r.State == present && !p.planned[entryPart{e.ID, r.Part}] {
			p.run.Total++
			out = append(out, p.attempt(tx, e, CheckOnly, r.Part))
		}
	}
	return out
}

// block counts an entry of a blocker.
func (p *planner) block(b Blocker) {
	key := b.Code + " " + b.LedgerAccountID + " " + b.LegalEntityID + " " + b.TagID
	if first, is := p.blockers[key]; is {
		b = first
	} else {
		b.StopsRun = stops(b.Code)
		p.order = append(p.order, key)
	}
	b.Count++
	p.blockers[key] = b
}

// finish stores the sums with the run.
func (p *planner) finish() {
	p.run.Blockers, p.run.Totals = []Blocker{}, map[string]string{}
	for _, key := range p.order {
		p.run.Blockers = append(p.run.Blockers, p.blockers[key])
	}
	for currency, sum := range p.totals {
		p.run.Totals[currency] = sum.Fixed(currency)
	}
}
