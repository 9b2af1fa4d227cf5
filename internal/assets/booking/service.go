package booking

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Service holds the use cases of booking.
type Service struct {
	db      *db.DB
	journal *journal.Service
}

// NewService returns a service on a database, and attaches it to the journal as its subledger.
func NewService(d *db.DB, entries *journal.Service) *Service {
	s := &Service{d, entries}
	entries.AttachSubledger(s)
	entries.Protect(journal.ByTrueUp, explainTrueUp)
	return s
}

// FindTransaction returns an error of kind NotFound unless the transaction exists and the actor may see it.
func (s *Service) FindTransaction(ctx context.Context, tx *db.Tx, transactionID string) error {
	_, err := transaction.Find(ctx, tx, transactionID)
	return err
}

// Booked is an entry with the lots it consumes, and the other entries that change because they now consume other lots.
type Booked struct {
	journal.Guided
	Lots    []lots.Use
	Changes []Change
}

// Change is the effect of a booking on another entry.
type Change struct {
	EntryID        string
	SequenceNumber string
	TransactionID  string
	Action         Action
	Basis, Gain    string // the new amount less the old one
	ResultID       string // the entry that was posted for it
}

// Action is what is done to an entry that consumes other lots than before.
type Action string

// The actions.
const (
	Noted     Action = "noted"     // its lines stay the same
	Corrected Action = "corrected" // it is reversed, and a replacement posted
	TruedUp   Action = "trued_up"  // its period is closed: the difference is posted in the first open one
)

// Create books entries, all or none. Their lots are consumed in the order in which the transactions happened, and the
// entries that this changes are corrected once.
func (s *Service) Create(ctx context.Context, ps []Params, at func(int) string) (out []Booked, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		out, err = s.create(ctx, tx, ps, at)
		return err
	})
	return out, err
}

func (s *Service) create(ctx context.Context, tx *db.Tx, ps []Params, at func(int) string) ([]Booked, error) {
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return nil, err
	}
	m, err := newBuilder(ctx, tx, b, ps...)
	if err != nil {
		return nil, err
	}
	all := make([]*request, len(ps))
	var faults fault.List
	for i, p := range ps {
		q := &request{Params: p, prefix: at(i), index: i, key: fmt.Sprintf("new %d", i)}
		if err := faults.Merge(m.prepareRequest(ctx, q)); err != nil {
			return nil, err
		}
		all[i] = q
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if i, earlier := duplicate(all); i >= 0 {
		return nil, all[i].bookedBy(all[earlier])
	}
	outcome, err := newReplay(tx, b, all, replay.Options{}).Run(ctx)
	if err != nil {
		for _, q := range all {
			if outcome.Refused[q.key] != nil {
				return nil, fault.PrefixFields(q.prefix, err)
			}
		}
		return nil, err
	}
	if err := s.requireOpenChanges(ctx, tx, all, outcome.Changes); err != nil {
		return nil, err
	}
	balances := newSettler(tx, b)
	for _, q := range byTime(all) {
		if err := s.setLines(ctx, balances, q, outcome); err != nil {
			return nil, fault.PrefixFields(q.prefix, err)
		}
	}
	return s.enter(ctx, tx, b, all, outcome)
}

// newReplay returns a replay with the effects of the requests that are to be posted.
func newReplay(tx *db.Tx, b *snapshot.Books, all []*request, options replay.Options) *replay.Replay {
	r := replay.New(tx, b, loader(b), options)
	for _, q := range all {
		if q.event != nil && q.AutoPost && q.ByHand == nil {
			r.Add(q.key, q.event.effect)
		}
	}
	return r
}

// previewEffect computes what an entry would consume, settle and create, without refusing anything for lack of lots.
func previewEffect(ctx context.Context, tx *db.Tx, b *snapshot.Books, effect *replay.Effect) (replay.Added, error) {
	const key = "preview"
	r := replay.New(tx, b, loader(b), replay.Options{Preview: true})
	r.Add(key, *effect)
	outcome, err := r.Run(ctx)
	if err != nil {
		return replay.Added{}, err
	}
	added := outcome.Added[key]
	balances := newSettler(tx, b)
	balances.preview = true
	added.Entry, err = balances.settle(ctx, effect, added.Entry)
	return added, err
}

// tryEffect computes an entry as posting it would. If that would be refused, it returns the reason, and what the entry would
// consume and create regardless.
func tryEffect(ctx context.Context, tx *db.Tx, b *snapshot.Books, effect *replay.Effect) (added replay.Added, refused, err error) {
	if effect.Type == string(posting.Unknown) {
		refused = fault.Conflictf("%s", unknownRefusal)
	} else {
		const key = "posted"
		r := replay.New(tx, b, loader(b), replay.Options{})
		r.Add(key, *effect)
		outcome, err := r.Run(ctx)
		if err == nil {
			added = outcome.Added[key]
			added.Entry, err = newSettler(tx, b).settle(ctx, effect, added.Entry)
		}
		if err == nil || !fault.Refused(err) {
			return added, nil, err
		}
		refused = err
	}
	added, err = previewEffect(ctx, tx, b, effect)
	return added, refused, err
}

// setLines sets the lines of an entry: those of the outcome if it is posted, else those that the draft would have now.
func (s *Service) setLines(ctx context.Context, balances *settler, q *request, outcome *replay.Outcome) (err error) {
	if q.ByHand != nil || q.previewed {
		return nil
	}
	added := outcome.Added[q.key]
	if q.AutoPost {
		added.Entry, err = balances.settle(ctx, &q.event.effect, added.Entry)
	} else {
		var refused error
		added, refused, err = tryEffect(ctx, balances.tx, balances.books, &q.event.effect)
		if q.previewed = err == nil; refused != nil {
			q.blocked = refused.Error()
		}
	}
	if err != nil {
		return explain(err, "")
	}
	q.entry.Lines, q.uses = linesOf(added.Entry), added.Uses
	return nil
}

// linesOf returns the lines of an entry of rules/posting as parameters of the journal.
func linesOf(e posting.Entry) []journal.LineParams {
	out := make([]journal.LineParams, len(e.Lines))
	for i, l := range e.Lines {
		out[i] = journal.LineParams{LedgerAccountID: l.Account, Side: l.Side, Amount: l.Amount.String(), Currency: l.Currency,
			LegalEntityID: l.Entity, Memo: l.Memo, TagIDs: l.TagIDs}
		if l.Unit != "" {
			quantity := l.Quantity
			out[i].Unit, out[i].Quantity = l.Unit, &quantity
		}
	}
	return out
}

// results returns entries with their lots. Changes to other entries are listed with the first one.
func results(all []*request, guided []journal.Guided, changes []Change) []Booked {
	out := make([]Booked, len(all))
	for i, q := range all {
		out[i] = Booked{Guided: guided[i], Lots: q.uses}
		if out[i].Status == journal.Draft {
			out[i].Guidance.Warnings = append(out[i].Guidance.Warnings, missingWarnings(q.uses)...)
		}
		if q.blocked != "" {
			out[i].Guidance.ForbidPosting(q.blocked)
		}
	}
	out[0].Changes = changes
	return out
}

// enter creates the entries and updates lots and transactions.
func (s *Service) enter(ctx context.Context, tx *db.Tx, b *snapshot.Books, all []*request, outcome *replay.Outcome) ([]Booked, error) {
	for _, q := range all {
		if err := q.addVendorTag(ctx, tx); err != nil {
			return nil, err
		}
	}
	guided, err := s.journal.CreateGuidedInTx(ctx, tx, entriesOf(all), fieldPrefixes(all))
	if err != nil {
		return nil, err
	}
	refs, changes, err := s.rebook(ctx, tx, outcome.Changes)
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
	if err := insertBookings(ctx, tx, rows); err != nil { // first, because updating drafts may load the bookings of these entries
		return nil, err
	}
	if err := s.write(ctx, tx, b, outcome, refs); err != nil {
		return nil, err
	}
	if _, err := transaction.Save(ctx, tx, edits); err != nil {
		return nil, err
	}
	return results(all, guided, changes), nil
}

// refOf returns a reference to an entry under which lots are written.
func refOf(e journal.Entry) lots.EntryRef {
	return lots.EntryRef{EntryID: e.ID, AccountingDate: e.AccountingDate, PeriodID: e.PeriodID}
}

// edits returns the changes that an entry makes to its transactions.
func (e *event) edits(entry journal.Entry, p Params) (out []transaction.Edit) {
	for _, t := range e.transactions() {
		after := t
		if t.ID == p.TransactionID {
			after, _ = t.WithNotes(p.Vendor, p.AddTagIDs) // it was validated before
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
