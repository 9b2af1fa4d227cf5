package booking

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/assets/asset"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Service holds the use cases.
type Service struct {
	db      *db.DB
	journal *journal.Service
	books   *snapshot.Cache
}

// NewService makes one, which from then on stands behind the entries of a journal.
func NewService(d *db.DB, entries *journal.Service) *Service {
	s := &Service{d, entries, &snapshot.Cache{}}
	entries.AttachSubledger(s)
	return s
}

// FindTransaction returns an error of kind NotFound unless the transaction exists and the actor may see it.
func (s *Service) FindTransaction(ctx context.Context, tx *db.Tx, transactionID string) error {
	_, err := transaction.Find(ctx, tx, transactionID)
	return err
}

// Made is an entry with the lots it takes, and what it changes about the entries that come after it.
type Made struct {
	journal.Guided
	Lots    []asset.Use
	Changes []Change
}

// Change is what an entry changes about another one, because that takes other lots then.
type Change struct {
	EntryID        string
	SequenceNumber string
	TransactionID  string
	Action         Action
	Basis, Gain    string // new less old
	ResultID       string // the entry that says so
}

// Action is how an entry that takes other lots is brought to that.
type Action string

// The actions.
const (
	Noted     Action = "noted"     // its lines are the same
	Corrected Action = "corrected" // it is reversed and posted anew
	TruedUp   Action = "trued_up"  // its period is closed: the difference is booked in the first open one
)

// Create makes entries, all or none. The lots of all of them are taken in the order in which things happened, and
// what that changes is corrected once. Dry gives what would be made and makes nothing.
func (s *Service) Create(ctx context.Context, ps []Params, at func(int) string, dry bool) (out []Made, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		out, err = s.create(ctx, tx, ps, at, dry)
		return err
	})
	return out, err
}

func (s *Service) create(ctx context.Context, tx *db.Tx, ps []Params, at func(int) string, dry bool) ([]Made, error) {
	b, err := s.books.Of(ctx, tx)
	if err != nil {
		return nil, err
	}
	m, err := newBuilder(ctx, tx, b, ps...)
	if err != nil {
		return nil, err
	}
	all := make([]*request, len(ps))
	for i, p := range ps {
		q := &request{Params: p, at: at(i), index: i, key: fmt.Sprintf("new %d", i)}
		if err := m.ready(ctx, q); err != nil {
			return nil, err
		}
		all[i] = q
	}
	if i, earlier := again(all); i >= 0 {
		return nil, all[i].bookedBy(all[earlier])
	}
	replay := newReplay(tx, b, all)
	if err := replay.Run(ctx); err != nil {
		for _, q := range all {
			if q.key == replay.Culprit() {
				return nil, fault.Within(q.at, err)
			}
		}
		return nil, err
	}
	if err := s.leavesClosed(ctx, tx, all, replay); err != nil {
		return nil, err
	}
	for _, q := range all {
		if err := s.draw(ctx, tx, b, q, replay); err != nil {
			return nil, fault.Within(q.at, err)
		}
	}
	if dry {
		return s.look(ctx, tx, all, replay)
	}
	return s.enter(ctx, tx, b, all, replay)
}

// newReplay lets what is to be posted happen.
func newReplay(tx *db.Tx, b *snapshot.Books, all []*request) *asset.Replay {
	replay := asset.NewReplay(tx, b, loader(b), false)
	for _, q := range all {
		if q.event != nil && q.AutoPost && q.ByHand == nil {
			replay.Add(q.key, q.event.work)
		}
	}
	return replay
}

// draw gives an entry its lines: those of a draft from a look at the lots, those of a posted one from what it takes.
func (s *Service) draw(ctx context.Context, tx *db.Tx, b *snapshot.Books, q *request, replay *asset.Replay) error {
	if q.ByHand != nil || q.drawn {
		return nil
	}
	if !q.AutoPost {
		look := asset.NewReplay(tx, b, loader(b), true)
		look.Add(q.key, q.event.work)
		if err := look.Run(ctx); err != nil {
			return err
		}
		replay = look
	}
	q.entry.Lines, q.lots, q.drawn = linesOf(replay.Entry(q.key)), replay.Slices(q.key), !q.AutoPost
	return nil
}

// linesOf describes what rules/posting made.
func linesOf(e posting.Entry) []journal.LineParams {
	out := make([]journal.LineParams, len(e.Lines))
	for i, l := range e.Lines {
		out[i] = journal.LineParams{LedgerAccountID: l.Account, Side: l.Side, Amount: l.Amount.String(), Currency: l.Currency,
			LegalEntityID: l.Entity, Memo: l.Memo}
		if l.Unit != "" {
			quantity := l.Quantity
			out[i].Unit, out[i].Quantity = l.Unit, &quantity
		}
	}
	return out
}

// look gives what would be made.
func (s *Service) look(ctx context.Context, tx *db.Tx, all []*request, replay *asset.Replay) ([]Made, error) {
	guided, err := s.journal.Look(ctx, tx, entriesOf(all), placeIn(all))
	if err != nil {
		return nil, err
	}
	changes, err := s.outlook(ctx, tx, replay.Changes())
	if err != nil {
		return nil, err
	}
	return made(all, guided, changes), nil
}

// made joins the entries with their lots. What they change together stands with the first.
func made(all []*request, guided []journal.Guided, changes []Change) []Made {
	out := make([]Made, len(all))
	for i, q := range all {
		out[i] = Made{Guided: guided[i], Lots: q.lots}
		if out[i].Status == journal.Draft {
			out[i].Guidance.Warnings = append(out[i].Guidance.Warnings, missing(q.lots)...)
		}
	}
	out[0].Changes = changes
	return out
}

// enter makes the entries, and lets the lots and the transactions know.
func (s *Service) enter(ctx context.Context, tx *db.Tx, b *snapshot.Books, all []*request, replay *asset.Replay) ([]Made, error) {
	for _, q := range all {
		if err := q.vendor(ctx, tx); err != nil {
			return nil, err
		}
	}
	guided, err := s.journal.EnterGuided(ctx, tx, entriesOf(all), placeIn(all))
	if err != nil {
		return nil, err
	}
	refs, changes, err := s.rebook(ctx, tx, replay.Changes())
	if err != nil {
		return nil, err
	}
	var edits []transaction.Edit
	var rows []bookingRow
	for i, q := range all {
		e := guided[i].Entry
		if q.event == nil {
			continue
		}
		edits = append(edits, q.event.edits(e, q.Params)...)
		if q.ByHand != nil {
			continue
		}
		row, err := q.event.row(e.ID, q.Params)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
		if e.Status == journal.Posted {
			refs[q.key] = refOf(e)
		}
	}
	if err := insertBookings(ctx, tx, rows); err != nil { // first: drafts that are made anew may ask what these entries follow from
		return nil, err
	}
	if err := s.write(ctx, tx, b, replay, refs); err != nil {
		return nil, err
	}
	if _, err := transaction.Save(ctx, tx, edits); err != nil {
		return nil, err
	}
	return made(all, guided, changes), nil
}

// refOf is an entry as lots know it.
func refOf(e journal.Entry) asset.Ref {
	return asset.Ref{EntryID: e.ID, AccountingDate: e.AccountingDate, PeriodID: e.PeriodID}
}

// edits are what an entry makes of its transactions.
func (e *event) edits(entry journal.Entry, p Params) (out []transaction.Edit) {
	for _, t := range e.transactions() {
		after := t
		if t.ID == p.TransactionID {
			after, _ = t.WithNotes(p.Vendor, p.AddTagIDs) // it was looked at
		}
		after.JournalEntryID = entry.ID
		if p.Type != "" {
			after.Type = transaction.Type(p.Type)
		}
		if entry.Status == journal.Posted {
			after.Status = transaction.Posted
		}
		out = append(out, transaction.Edit{Before: t, After: after, ByRule: p.RuleID != ""})
	}
	return out
}
