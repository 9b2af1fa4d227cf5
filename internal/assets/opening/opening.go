package opening

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Rebook corrects the entries that consume other lots than before, and returns the entry under which the uses of each are
// written from now on.
type Rebook func(ctx context.Context, tx *db.Tx, b *snapshot.Books, changes []replay.Change) (map[string]lots.EntryRef, error)

// Service holds the use cases of entering, changing and deleting opening balances.
type Service struct {
	db      *db.DB
	entries *journal.Service
	load    replay.Loader
	rebook  Rebook
}

// NewService returns a service on a database. load and rebook are those of booking.Service.
func NewService(d *db.DB, entries *journal.Service, load replay.Loader, rebook Rebook) *Service {
	return &Service{db: d, entries: entries, load: load, rebook: rebook}
}

// save stores a change to an opening balance, and recomputes everything that came after it.
func (s *Service) save(ctx context.Context, tx *db.Tx, b *snapshot.Books, c replay.Opening) error {
	if c.After != nil {
		c.After.AssignPool(b)
	}
	r := replay.New(tx, b, s.load, replay.Options{})
	r.SetOpening(c)
	outcome, err := r.Run(ctx)
	if err != nil {
		return err
	}
	refs := map[string]lots.EntryRef{}
	if len(outcome.Changes) > 0 {
		if refs, err = s.rebook(ctx, tx, b, outcome.Changes); err != nil {
			return err
		}
	}
	return outcome.Write(ctx, refs)
}

// facts returns what audit records and events contain of an opening balance.
func facts(l *lots.Lot) map[string]any {
	return map[string]any{
		"id": l.ID, "asset_type": l.AssetType, "chain": db.OrNull(l.Chain), "quantity": l.Quantity, "cost_basis": l.CostBasis,
		"currency": l.Currency, "date_received": l.AcquiredAt, "legal_entity_id": l.LegalEntityID,
		"ledger_account_id": l.LedgerAccountID, "source_id": l.SourceID, "journal_entry_id": db.OrNull(l.JournalEntryID),
	}
}

func recordAudit(ctx context.Context, tx *db.Tx, action string, before, after *lots.Lot) {
	c := audit.Change{Action: action, ResourceType: lots.Noun}
	if before != nil {
		c.ResourceID, c.Before = before.ID, facts(before)
	}
	if after != nil {
		c.ResourceID, c.After = after.ID, facts(after)
	}
	audit.Record(ctx, tx, c)
}

// Create creates an opening balance: a lot, and an entry that posts its cost against opening balance equity. A lot that cost
// nothing has no entry.
func (s *Service) Create(ctx context.Context, p CreateParams) (h lots.Held, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		l, err := p.resolve(ctx, tx, b)
		if err != nil {
			return err
		}
		if err := requireOpenBooks(b, l.LegalEntityID); err != nil {
			return err
		}
		l.ID, l.CreatedAt = tx.NewID(id.Asset), tx.Now()
		if l.AcquiredAt.IsZero() {
			if l.AcquiredAt, err = beginning(ctx, tx, b, l.LegalEntityID); err != nil {
				return err
			}
		}
		if err := markPending(ctx, tx, &l); err != nil {
			return err
		}
		entered, err := s.postOpening(ctx, tx, &l)
		if err != nil {
			return err
		}
		if err := s.save(ctx, tx, b, replay.Opening{After: &l, Entered: entered}); err != nil {
			return err
		}
		recordAudit(ctx, tx, "asset.created", nil, &l)
		h, err = lots.Show(ctx, tx, l.ID)
		return err
	})
	return h, err
}

// markPending marks a lot that cost nothing: its basis is pending, as that of every lot that enters at 0.00, until a cost is stated. Tokens
// that the organization issued cost nothing.
func markPending(ctx context.Context, tx *db.Tx, l *lots.Lot) error {
	if l.BasisPending = l.CostBasis.IsZero(); !l.BasisPending {
		return nil
	}
	policies, err := assetpolicy.ForAssets(ctx, tx, []string{l.AssetType})
	l.BasisPending = !policies[l.AssetType].OwnToken
	return err
}

// beginning returns the last instant before the first accounting period of a legal entity: the month of its first entry or
// transaction, booked or not. An asset that was received on an unknown date is as old as that.
func beginning(ctx context.Context, tx *db.Tx, b *snapshot.Books, legalEntityID string) (time.Time, error) {
	posted, err := journal.FirstPostedAt(ctx, tx, legalEntityID)
	if err != nil {
		return time.Time{}, err
	}
	dates, err := selectFirstTransactions(ctx, tx, legalEntityID)
	if err != nil {
		return time.Time{}, err
	}
	first := tx.Now()
	for _, at := range append(dates, posted) {
		if at != nil && at.Before(first) {
			first = *at
		}
	}
	return calendar.MonthOf(first, b.Zone).Start(b.Zone).Add(-precision), nil
}

// precision is the precision at which times are stored.
const precision = time.Millisecond

// requireOpenBooks returns an error if the first period of a legal entity is closed, because its opening balances, which stand
// before that, cannot change then.
func requireOpenBooks(b *snapshot.Books, legalEntityID string) error {
	if b.ClosedThrough(legalEntityID) == "" {
		return nil
	}
	return fault.Conflictf("the first period of %s, %s, is closed, so that no opening balance can be added: reopen it first. "+
		"One that exists and is booked can be changed with PATCH /v1/assets/{asset_id}",
		b.Entities[legalEntityID].Name, b.FirstPeriod().Key)
}

// requireOpenLot returns an error for a lot without an entry that is counted in a closed period: no entry would say what
// changed.
func requireOpenLot(b *snapshot.Books, l *lots.Lot) error {
	through := b.ClosedThrough(l.LegalEntityID)
	if p, there := b.PeriodOfEntry(l.OpenedIn); !there || p.Key > through {
		return nil
	}
	return fault.Conflictf("the asset is an opening balance of %s, whose books are closed through %s: reopen its periods first",
		b.Entities[l.LegalEntityID].Name, through)
}

// postOpening posts the opening entry of a lot and returns when the lot is counted. A lot that cost nothing gets no entry, only
// an accounting period.
func (s *Service) postOpening(ctx context.Context, tx *db.Tx, l *lots.Lot) (entered lots.Dated, err error) {
	if l.CostBasis.IsZero() {
		l.JournalEntryID = ""
		_, l.OpenedIn, err = s.entries.ResolvePostingPeriod(ctx, tx, period.OpeningDate, l.LegalEntityID)
		return lots.Dated{PeriodID: l.OpenedIn}, err
	}
	lines, err := openingLines(ctx, tx, l)
	if err != nil {
		return lots.Dated{}, err
	}
	made, err := s.entries.CreateInTx(ctx, tx, []journal.CreateParams{{
		LegalEntityID: l.LegalEntityID, Opening: true, Memo: "Opening balance of " + l.AssetType,
		OriginatedBy: journal.ByOpening, Status: journal.Posted, Lines: lines,
	}}, func(int) string { return "" })
	if err != nil {
		return lots.Dated{}, err
	}
	l.JournalEntryID, l.OpenedIn = made[0].ID, ""
	return datedAs(made[0]), nil
}

// datedAs returns the accounting date of an entry.
func datedAs(e journal.Entry) lots.Dated {
	return lots.Dated{Date: e.AccountingDate, PeriodID: e.PeriodID}
}

// openingLines returns the lines of the opening entry.
func openingLines(ctx context.Context, tx *db.Tx, l *lots.Lot) ([]journal.LineParams, error) {
	equity, err := account.ByRole(ctx, tx, account.RoleOpeningBalanceEquity)
	if err != nil {
		return nil, fmt.Errorf("opening: the account of opening balances: %w", err)
	}
	line := func(side book.Side, accountID string) journal.LineParams {
		return journal.LineParams{LedgerAccountID: accountID, Side: side, Amount: l.CostBasis.String(), Currency: l.Currency,
			LegalEntityID: l.LegalEntityID}
	}
	lines := []journal.LineParams{line(book.Debit, l.LedgerAccountID), line(book.Credit, equity.ID)}
	lines[0].Unit, lines[0].Quantity = l.AssetType, &l.Quantity
	return lines, nil
}

// Delete deletes an opening balance of which nothing was consumed, and reverses its entry.
func (s *Service) Delete(ctx context.Context, assetID string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		l, err := lots.Find(ctx, tx, assetID)
		if err != nil {
			return err
		}
		if err := requireManual(&l); err != nil {
			return err
		}
		if consumed := l.Consumed(); !consumed.IsZero() {
			return fault.Conflictf("%s %s of the asset are consumed already: reverse the entries that consumed them first", consumed, l.AssetType)
		}
		picked, err := lots.SelectedFor(ctx, tx, l.ID)
		if err != nil {
			return err
		}
		if len(picked) > 0 {
			return fault.Conflictf("the asset is selected for %s: select other lots first", sequenceNumbers(picked))
		}
		if err := s.remove(ctx, tx, b, l); err != nil {
			return err
		}
		recordAudit(ctx, tx, "asset.deleted", &l, nil)
		return nil
	})
}

// sequenceNumbers returns the sequence numbers of transactions, separated by commas.
func sequenceNumbers(numbers []int64) string {
	names := make([]string, len(numbers))
	for i, n := range numbers {
		names[i] = transaction.SequenceNumber(n)
	}
	return strings.Join(names, ", ")
}

// remove deletes a lot, and reverses its entry if it has one.
func (s *Service) remove(ctx context.Context, tx *db.Tx, b *snapshot.Books, l lots.Lot) error {
	c, err := s.reverse(ctx, tx, b, l)
	if err != nil {
		return err
	}
	return s.save(ctx, tx, b, c)
}

// reverse reverses the entry of a lot, if it has one, and returns the removal of the lot.
func (s *Service) reverse(ctx context.Context, tx *db.Tx, b *snapshot.Books, l lots.Lot) (replay.Opening, error) {
	if l.JournalEntryID == "" {
		at := lots.Dated{PeriodID: l.OpenedIn}
		return replay.Opening{Before: &l, Stored: at, Left: at}, requireOpenLot(b, &l)
	}
	e, err := journal.FindUnchecked(ctx, tx, l.JournalEntryID)
	if err != nil {
		return replay.Opening{}, err
	}
	reversal, err := s.entries.ReverseInTx(ctx, tx, e)
	return replay.Opening{Before: &l, Stored: datedAs(e), Left: datedAs(reversal)}, err
}

// requireManual returns an error for a lot that a transaction created.
func requireManual(l *lots.Lot) error {
	if l.Origin == lots.Manual {
		return nil
	}
	return fault.Conflictf("the asset was created by a transaction: correct the journal entry of that transaction instead")
}
