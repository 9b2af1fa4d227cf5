package booking

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Rebook corrects or trues up entries that consume other lots than before, and returns the entry under which each is
// written from now on.
func (s *Service) Rebook(ctx context.Context, tx *db.Tx, _ *snapshot.Books, changes []replay.Change) (map[string]lots.EntryRef, error) {
	refs, _, err := s.rebook(ctx, tx, changes)
	return refs, err
}

func (s *Service) rebook(ctx context.Context, tx *db.Tx, changes []replay.Change) (map[string]lots.EntryRef, []Change, error) {
	refs, out, replaced := map[string]lots.EntryRef{}, make([]Change, 0, len(changes)), map[string]string{}
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
			replaced[e.ID] = now.ResultID
		}
		if err != nil {
			return nil, nil, err
		}
		if now.ResultID == "" {
			now.Action = Noted
		}
		out = append(out, now)
	}
	return refs, out, s.reassign(ctx, tx, replaced)
}

func idsOf(changes []replay.Change) []string {
	out := make([]string, len(changes))
	for i, c := range changes {
		out[i] = c.EntryID
	}
	return out
}

// reassign moves the bookings and transactions of entries to the entries that replaced them.
func (s *Service) reassign(ctx context.Context, tx *db.Tx, to map[string]string) error {
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
	return saveTransactions(ctx, tx, ids, func(t *transaction.Transaction) {
		t.JournalEntryID = cmp.Or(to[t.JournalEntryID], t.JournalEntryID)
	})
}

// saveTransactions applies a change to transactions and stores them.
func saveTransactions(ctx context.Context, tx *db.Tx, ids []string, change func(*transaction.Transaction)) error {
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

// changeOf returns the change to an entry, and the lines that are posted for it so far, including true-ups. An entry that was
// trued up once is trued up again, even if its period was reopened.
func (s *Service) changeOf(ctx context.Context, tx *db.Tx, c replay.Change, e journal.Entry) (Change, []journal.LineParams, error) {
	out := Change{EntryID: e.ID, SequenceNumber: e.SequenceNumber(), TransactionID: e.TransactionID, Action: Corrected,
		Basis: c.Basis.String(), Gain: c.Gain.String()}
	stays, err := s.journal.InClosedPeriod(ctx, tx, e)
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

// correct reverses an entry and posts a replacement, unless its lines stay the same.
func (s *Service) correct(ctx context.Context, tx *db.Tx, e journal.Entry, c replay.Change) (lots.EntryRef, string, error) {
	lines := linesOf(c.Entry)
	if len(difference(lines, paramsOf(e.Lines))) == 0 {
		return refOf(e), "", nil
	}
	again, err := s.journal.Restate(ctx, tx, e, lines)
	if err != nil {
		return lots.EntryRef{}, "", err
	}
	ref := refOf(again)
	ref.Stored = refOf(e).At()
	return ref, again.ID, nil
}

// editTransactions changes the transactions of an entry.
func (s *Service) editTransactions(ctx context.Context, tx *db.Tx, e journal.Entry, change func(*transaction.Transaction)) error {
	found, err := selectBooking(ctx, tx, e.ID)
	if err != nil {
		return err
	}
	ids := []string{e.TransactionID}
	if found != nil && found.PartnerID != nil {
		ids = append(ids, *found.PartnerID)
	}
	return saveTransactions(ctx, tx, ids, change)
}

// trueUp posts the difference between what an entry of a closed period should have been and was, in the first open period.
func (s *Service) trueUp(ctx context.Context, tx *db.Tx, e journal.Entry, lines []journal.LineParams) (lots.EntryRef, string, error) {
	at := e.AccountingDate
	if e.IntendedDate != nil {
		at = *e.IntendedDate
	}
	if len(lines) == 0 {
		date, periodID, err := s.journal.ResolvePostingPeriod(ctx, tx, at, entitiesOf(e)...)
		return lots.EntryRef{EntryID: e.ID, AccountingDate: date, PeriodID: periodID, Correct: true, Stored: refOf(e).At()}, "", err
	}
	made, err := s.journal.CreateInTx(ctx, tx, []journal.CreateParams{{
		LegalEntityID: e.LegalEntityID, AccountingDate: clock.Format(at), Memo: "True-up of " + e.SequenceNumber(), TagIDs: e.TagIDs,
		Status: journal.Posted, TransactionID: e.TransactionID, TransactionNo: e.TransactionNo, OriginatedBy: journal.ByTrueUp,
		Classification: e.Classification, Lines: lines,
	}}, func(int) string { return "" })
	if err != nil {
		return lots.EntryRef{}, "", err
	}
	ref := refOf(made[0])
	ref.Correct, ref.Stored = true, refOf(e).At()
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

// balanceKey is the key by which difference sums lines.
type balanceKey struct{ entity, account, currency, unit string }

type sum struct{ amount, quantity money.Decimal }

// difference returns the lines that turn have into want, summed by account.
func difference(want, have []journal.LineParams) []journal.LineParams {
	net := map[balanceKey]sum{}
	var order []balanceKey
	add := func(lines []journal.LineParams, sign int64) {
		for _, l := range lines {
			k := balanceKey{l.LegalEntityID, l.LedgerAccountID, l.Currency, l.Unit}
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
