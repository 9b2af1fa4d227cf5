package booking

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/asset"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Rebook brings entries that take other lots than they did to what they are now, and says under which entry each is
// written down from now on.
func (s *Service) Rebook(ctx context.Context, tx *db.Tx, _ *snapshot.Books, changes []asset.Changed) (map[string]asset.Ref, error) {
	refs, _, err := s.rebook(ctx, tx, changes)
	return refs, err
}

func (s *Service) rebook(ctx context.Context, tx *db.Tx, changes []asset.Changed) (map[string]asset.Ref, []Change, error) {
	refs, out, renamed := map[string]asset.Ref{}, make([]Change, 0, len(changes)), map[string]string{}
	ctx = actor.With(ctx, unlimited(actor.From(ctx)))
	entries, err := journal.FindSomeUnchecked(ctx, tx, idsOf(changes))
	if err != nil {
		return nil, nil, err
	}
	for _, c := range changes {
		e := entries[c.EntryID]
		now, booked, err := s.changeOf(ctx, tx, c, e)
		if err != nil {
			return nil, nil, err
		}
		if now.Action == TruedUp {
			refs[e.ID], now.ResultID, err = s.trueUp(ctx, tx, e, difference(linesOf(c.Entry), booked))
		} else if refs[e.ID], now.ResultID, err = s.correct(ctx, tx, e, c); now.ResultID != "" {
			renamed[e.ID] = now.ResultID
		}
		if err != nil {
			return nil, nil, err
		}
		if now.ResultID == "" {
			now.Action = Noted
		}
		out = append(out, now)
	}
	return refs, out, s.renamed(ctx, tx, renamed)
}

func idsOf(changes []asset.Changed) []string {
	out := make([]string, len(changes))
	for i, c := range changes {
		out[i] = c.EntryID
	}
	return out
}

// renamed lets bookings and transactions know the entries that corrected theirs.
func (s *Service) renamed(ctx context.Context, tx *db.Tx, to map[string]string) error {
	if len(to) == 0 {
		return nil
	}
	if err := copyBookings(ctx, tx, to); err != nil {
		return err
	}
	rows, err := selectBookings(ctx, tx, slices.Sorted(maps.Keys(to)))
	if err != nil {
		return err
	}
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.TransactionID)
		if r.PartnerID != nil {
			ids = append(ids, *r.PartnerID)
		}
	}
	return edit(ctx, tx, ids, func(t *transaction.Transaction) { t.JournalEntryID = cmp.Or(to[t.JournalEntryID], t.JournalEntryID) })
}

// edit changes transactions.
func edit(ctx context.Context, tx *db.Tx, ids []string, change func(*transaction.Transaction)) error {
	transactions, err := transaction.FindSomeUnchecked(ctx, tx, ids)
	if err != nil {
		return err
	}
	edits := make([]transaction.Edit, len(transactions))
	for i, t := range transactions {
		after := t
		change(&after)
		edits[i] = transaction.Edit{Before: t, After: after}
	}
	_, err = transaction.Save(ctx, tx, edits)
	return err
}

// unlimited is the actor without the bounds of a key: what follows from a change is for the books to do, whoever made it.
func unlimited(who actor.Actor) actor.Actor {
	who.LegalEntityIDs = nil
	return who
}

// changeOf says what is to be done to an entry, and what is booked for it until now. What was trued up once stays,
// also when its period is opened again: everything that comes is the difference to all of it.
func (s *Service) changeOf(ctx context.Context, tx *db.Tx, c asset.Changed, e journal.Entry) (Change, []journal.LineParams, error) {
	out := Change{EntryID: e.ID, SequenceNumber: e.SequenceNumber(), TransactionID: e.TransactionID, Action: Corrected,
		Basis: c.Basis.String(), Gain: c.Gain.String()}
	stays, err := s.journal.IsClosed(ctx, tx, e)
	booked := paramsOf(e.Lines)
	if err == nil && c.Corrected {
		booked, err = bookedFor(ctx, tx, e)
		stays = stays || len(booked) > len(e.Lines)
	}
	if stays {
		out.Action = TruedUp
	}
	return out, booked, err
}

// outlook says what would be done to entries.
func (s *Service) outlook(ctx context.Context, tx *db.Tx, changes []asset.Changed) ([]Change, error) {
	out := make([]Change, 0, len(changes))
	entries, err := journal.FindSomeUnchecked(ctx, tx, idsOf(changes))
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		e := entries[c.EntryID]
		now, booked, err := s.changeOf(ctx, tx, c, e)
		if err != nil {
			return nil, err
		}
		if len(difference(linesOf(c.Entry), booked)) == 0 {
			now.Action = Noted
		}
		out = append(out, now)
	}
	return out, nil
}

// correct reverses an entry and posts it anew, unless its lines are the same.
func (s *Service) correct(ctx context.Context, tx *db.Tx, e journal.Entry, c asset.Changed) (asset.Ref, string, error) {
	lines := linesOf(c.Entry)
	if len(difference(lines, paramsOf(e.Lines))) == 0 {
		return refOf(e), "", nil
	}
	again, err := s.journal.Restate(ctx, tx, e, lines)
	if err != nil {
		return asset.Ref{}, "", err
	}
	return refOf(again), again.ID, nil
}

// point changes the transactions of an entry.
func (s *Service) point(ctx context.Context, tx *db.Tx, e journal.Entry, change func(*transaction.Transaction)) error {
	found, err := selectBooking(ctx, tx, e.ID)
	if err != nil {
		return err
	}
	ids := []string{e.TransactionID}
	if found != nil && found.PartnerID != nil {
		ids = append(ids, *found.PartnerID)
	}
	return edit(ctx, tx, ids, change)
}

// trueUp books in the first open period what an entry of a closed one should have been, less what it was.
func (s *Service) trueUp(ctx context.Context, tx *db.Tx, e journal.Entry, lines []journal.LineParams) (asset.Ref, string, error) {
	at := e.AccountingDate
	if e.IntendedDate != nil {
		at = *e.IntendedDate
	}
	if len(lines) == 0 {
		date, periodID, err := s.journal.Opens(ctx, tx, at, entitiesOf(e)...)
		return asset.Ref{EntryID: e.ID, AccountingDate: date, PeriodID: periodID, Correct: true}, "", err
	}
	made, err := s.journal.Enter(ctx, tx, []journal.CreateParams{{
		LegalEntityID: e.LegalEntityID, AccountingDate: clock.Format(at), Memo: "True-up of " +
			e.SequenceNumber(), TagIDs: e.TagIDs, Status: journal.Posted, TransactionID: e.TransactionID,
		TransactionNo: e.TransactionNo, OriginatedBy: journal.ByTrueUp, Classification: e.Classification, Lines: lines,
	}}, func(int) string { return "" })
	if err != nil {
		return asset.Ref{}, "", err
	}
	ref := refOf(made[0])
	ref.Correct = true
	return ref, made[0].ID, nil
}

func entitiesOf(e journal.Entry) []string {
	out := []string{e.LegalEntityID}
	for _, l := range e.Lines {
		out = append(out, l.LegalEntityID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func paramsOf(lines []journal.Line) []journal.LineParams {
	out := make([]journal.LineParams, len(lines))
	for i, l := range lines {
		out[i] = journal.LineParams{LedgerAccountID: l.LedgerAccountID, Side: l.Side, Amount: l.Amount.String(), Currency: l.Currency,
			LegalEntityID: l.LegalEntityID, Unit: l.Unit, Quantity: l.Quantity}
	}
	return out
}

// spot is an account of a legal entity, and what stands on it.
type spot struct{ entity, account, currency, unit string }

type sum struct{ amount, quantity money.Decimal }

// difference is the lines that make of some lines what others are, by account.
func difference(want, have []journal.LineParams) []journal.LineParams {
	net := map[spot]sum{}
	var order []spot
	add := func(lines []journal.LineParams, sign int64) {
		for _, l := range lines {
			k := spot{l.LegalEntityID, l.LedgerAccountID, l.Currency, l.Unit}
			if _, known := net[k]; !known {
				order = append(order, k)
			}
			n := money.FromInt(sign)
			if l.Side == book.Credit {
				n = n.Neg()
			}
			was := net[k]
			was.amount = was.amount.Add(money.MustParse(l.Amount).Mul(n))
			if l.Quantity != nil {
				was.quantity = was.quantity.Add(l.Quantity.Mul(n))
			}
			net[k] = was
		}
	}
	add(want, 1)
	add(have, -1)
	var out []journal.LineParams
	for _, k := range order {
		d := net[k]
		if d.amount.IsZero() {
			continue
		}
		l := journal.LineParams{LedgerAccountID: k.account, Side: book.Debit, Amount: d.amount.Abs().String(), Currency: k.currency,
			LegalEntityID: k.entity, Unit: k.unit}
		if d.amount.Sign() < 0 {
			l.Side, d.quantity = book.Credit, d.quantity.Neg()
		}
		if k.unit != "" {
			quantity := d.quantity
			l.Quantity = &quantity
		}
		out = append(out, l)
	}
	slices.SortStableFunc(out, func(a, b journal.LineParams) int { return cmp.Compare(b.Side, a.Side) })
	return out
}
