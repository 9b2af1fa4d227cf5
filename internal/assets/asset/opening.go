package asset

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Rebook brings entries that take other lots than they did to what they are now, and says under which entry each is
// written down from now on.
type Rebook func(ctx context.Context, tx *db.Tx, b *snapshot.Books, changes []Changed) (map[string]Ref, error)

// Ledger lets people enter lots. What stands behind entries, and how they are corrected, is for whoever books transactions to say.
type Ledger struct {
	load   Loader
	rebook Rebook
}

// NewLedger makes one.
func NewLedger(load Loader, rebook Rebook) *Ledger { return &Ledger{load, rebook} }

// hand lets a lot be there, be another one, or be no more, each as of a period. Everything that came after it happens again.
func (l *Ledger) hand(ctx context.Context, tx *db.Tx, b *snapshot.Books, before, after *Lot, left, entered string) error {
	r := NewReplay(tx, b, l.load, false)
	refs := map[string]Ref{}
	if after != nil {
		after.Settle(b)
	}
	r.Put(before, after, left, entered)
	if err := r.Run(ctx); err != nil {
		return err
	}
	if changed := r.Changes(); len(changed) > 0 {
		var err error
		if refs, err = l.rebook(ctx, tx, b, changed); err != nil {
			return err
		}
	}
	return r.Write(ctx, refs)
}

// facts is what the audit and events say of a lot that was entered by hand.
func (l Lot) facts() map[string]any {
	return map[string]any{
		"id": l.ID, "asset_type": l.AssetType, "chain": db.OrNull(
			l.Chain), "quantity": l.Quantity, "cost_basis": l.CostBasis, "currency": l.Currency, "date_received": l.AcquiredAt,
		"legal_entity_id": l.LegalEntityID, "ledger_account_id": l.LedgerAccountID, "source_id": l.SourceID,
		"journal_entry_id": db.OrNull(l.JournalEntryID),
	}
}

func record(ctx context.Context, tx *db.Tx, action string, before, after *Lot) {
	c := audit.Change{Action: action, ResourceType: noun}
	if before != nil {
		c.ResourceID, c.Before = before.ID, before.facts()
	}
	if after != nil {
		c.ResourceID, c.After = after.ID, after.facts()
	}
	audit.Record(ctx, tx, c)
}

// Create enters an asset that was there before the books began: a lot, and its cost against the equity that opening
// balances stand in. What cost nothing is a lot without an entry.
func (s *Service) Create(ctx context.Context, p CreateParams) (h Held, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := s.books.Of(ctx, tx)
		if err != nil {
			return err
		}
		l, err := p.settle(ctx, tx, b)
		if err != nil {
			return err
		}
		opening, err := openingOf(ctx, tx, b, l.LegalEntityID)
		if err != nil {
			return err
		}
		if err := isOpen(b, l.LegalEntityID, opening); err != nil {
			return err
		}
		l.ID, l.CreatedAt = tx.NewID(id.Asset), tx.Now()
		if l.AcquiredAt.IsZero() {
			l.AcquiredAt = opening
		}
		periodID, err := s.open(ctx, tx, &l, opening)
		if err != nil {
			return err
		}
		if err := s.ledger.hand(ctx, tx, b, nil, &l, "", periodID); err != nil {
			return err
		}
		record(ctx, tx, "asset.created", nil, &l)
		h, err = get(ctx, tx, l.ID)
		return err
	})
	return h, err
}

// openingOf is the last instant before the first accounting period of a legal entity. That is the month of the first
// thing that happened to it, booked or not; when that is an opening balance, the next ones join it, so that it does
// not move away from itself.
func openingOf(ctx context.Context, tx *db.Tx, b *snapshot.Books, legalEntityID string) (time.Time, error) {
	first := time.Time{}
	earlier := func(at time.Time) {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	entries, err := selectFirstEntry(ctx, tx, legalEntityID)
	if err != nil {
		return first, err
	}
	for _, e := range entries {
		if e.OriginatedBy == journal.ByOpening {
			earlier(e.At.Add(instant))
		} else {
			earlier(calendar.MonthOf(e.At, b.Zone).Start(b.Zone))
		}
	}
	told, err := selectFirstTransactions(ctx, tx, legalEntityID)
	for _, at := range told {
		if at != nil {
			earlier(calendar.MonthOf(*at, b.Zone).Start(b.Zone))
		}
	}
	if first.IsZero() {
		first = calendar.MonthOf(tx.Now(), b.Zone).Start(b.Zone)
	}
	return first.Add(-instant), err
}

// instant is how fine times are kept.
const instant = time.Millisecond

// isOpen refuses to change what a closed first period began with.
func isOpen(b *snapshot.Books, legalEntityID string, opening time.Time) error {
	month := calendar.MonthOf(opening, b.Zone)
	if month.Key() > b.ClosedThrough(legalEntityID) {
		return nil
	}
	return fault.Conflictf("the books of %s begin with a closed period, %s, whose opening balance stands: reopen it first",
		b.Entities[legalEntityID].Name, month.Next().Key())
}

// isOpen refuses to change a lot without an entry that counts in a closed period: nothing would say what changed.
func (l Lot) isOpen(ctx context.Context, tx *db.Tx, b *snapshot.Books) error {
	all, err := period.All(ctx, tx)
	for _, p := range all {
		if p.ID == l.OpenedIn && p.Key <= b.ClosedThrough(l.LegalEntityID) {
			return fault.Conflictf("the asset is part of what %s began with, and %s is closed: reopen it first",
				b.Entities[l.LegalEntityID].Name, p.Key)
		}
	}
	return err
}

// open posts what a lot cost, and gives the accounting period. There is no entry of what cost nothing, but the period is there.
func (s *Service) open(ctx context.Context, tx *db.Tx, l *Lot, at time.Time) (periodID string, err error) {
	if l.CostBasis.IsZero() {
		l.JournalEntryID = ""
		_, l.OpenedIn, err = s.entries.Opens(ctx, tx, at, l.LegalEntityID)
		return l.OpenedIn, err
	}
	lines, err := l.lines(ctx, tx)
	if err != nil {
		return "", err
	}
	made, err := s.entries.Enter(ctx, tx, []journal.CreateParams{{
		LegalEntityID: l.LegalEntityID, AccountingDate: at.Format(time.RFC3339Nano), Memo: "Opening balance of " +
			l.AssetType, OriginatedBy: journal.ByOpening, Status: journal.Posted, Lines: lines,
	}}, func(int) string { return "" })
	if err != nil {
		return "", err
	}
	l.JournalEntryID, l.OpenedIn = made[0].ID, ""
	return made[0].PeriodID, nil
}

// lines are those of the opening entry.
func (l Lot) lines(ctx context.Context, tx *db.Tx) ([]journal.LineParams, error) {
	equity, err := account.ByRole(ctx, tx, account.RoleOpeningBalanceEquity)
	if err != nil {
		return nil, fmt.Errorf("asset: the account of opening balances: %w", err)
	}
	line := func(side book.Side, accountID string) journal.LineParams {
		return journal.LineParams{LedgerAccountID: accountID, Side: side, Amount: l.CostBasis.String(), Currency: l.Currency,
			LegalEntityID: l.LegalEntityID}
	}
	lines := []journal.LineParams{line(book.Debit, l.LedgerAccountID), line(book.Credit, equity.ID)}
	lines[0].Unit, lines[0].Quantity = l.AssetType, &l.Quantity
	return lines, nil
}

// Delete takes an asset away that was entered by hand and of which nothing was taken, and reverses its entry.
func (s *Service) Delete(ctx context.Context, assetID string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := s.books.Of(ctx, tx)
		if err != nil {
			return err
		}
		l, err := Find(ctx, tx, assetID)
		if err != nil {
			return err
		}
		if err := l.byHand(); err != nil {
			return err
		}
		if taken := l.taken(); !taken.IsZero() {
			return fault.Conflictf("%s %s of the asset were taken already: it stays", taken, l.AssetType)
		}
		choosing, err := selectChoosing(ctx, tx, l.ID)
		if err != nil {
			return err
		}
		if len(choosing) > 0 {
			return fault.Conflictf("the asset is chosen for %s: choose other lots for it first", numbered(choosing))
		}
		if err := s.drop(ctx, tx, b, l); err != nil {
			return err
		}
		record(ctx, tx, "asset.deleted", &l, nil)
		return nil
	})
}

// numbered names transactions.
func numbered(numbers []int64) string {
	names := make([]string, len(numbers))
	for i, n := range numbers {
		names[i] = transaction.SequenceNumber(n)
	}
	return strings.Join(names, ", ")
}

// drop takes a lot away, and reverses its entry if it has one.
func (s *Service) drop(ctx context.Context, tx *db.Tx, b *snapshot.Books, l Lot) error {
	periodID, err := s.reverse(ctx, tx, b, l)
	if err != nil {
		return err
	}
	return s.ledger.hand(ctx, tx, b, &l, nil, periodID, "")
}

// reverse undoes the entry of a lot, if it has one, and gives the accounting period in which that counts.
func (s *Service) reverse(ctx context.Context, tx *db.Tx, b *snapshot.Books, l Lot) (periodID string, err error) {
	if l.JournalEntryID == "" {
		return l.OpenedIn, l.isOpen(ctx, tx, b)
	}
	e, err := journal.FindUnchecked(ctx, tx, l.JournalEntryID)
	if err != nil {
		return "", err
	}
	reversal, err := s.entries.Undo(ctx, tx, e)
	return reversal.PeriodID, err
}

// byHand refuses to change what a transaction brought.
func (l Lot) byHand() error {
	if l.Origin == Manual {
		return nil
	}
	return fault.Conflictf("the asset was brought by a transaction and follows from its journal entry: correct that instead")
}

// taken is how much of a lot is gone.
func (l Lot) taken() money.Decimal { return l.Quantity.Sub(l.RemainingQuantity) }

// How many characters a text may have.
const (
	AssetTypeMax = 64
	ChainMax     = source.ChainMax
)

// CreateParams describe an asset that is entered by hand; what is empty is not given.
type CreateParams struct {
	AssetType       string
	Quantity        money.Decimal
	CostBasis       money.Decimal
	LegalEntityID   string
	LedgerAccountID string
	SourceID        string // its own or that of its account
	DateReceived    string // YYYY-MM-DD, where the organization is
	Currency        string // empty is the legal entity's
	Chain           string // empty is that of the source
}

// objections collects what stands against a lot: what is wrong in itself, what is not there, what does not go
// together, and what the state of something forbids. The gravest sort answers.
type objections struct {
	faults, apart fault.List
	missing       []string
	noun          string
	conflicts     []fault.Field
}

func (o *objections) miss(noun, field string) {
	if o.noun == "" {
		o.noun = noun
	}
	o.missing = append(o.missing, field)
}

func (o *objections) conflict(field, format string, args ...any) {
	o.conflicts = append(o.conflicts, fault.Field{Name: field, Message: fmt.Sprintf(format, args...)})
}

func (o *objections) err() error {
	switch {
	case o.faults.Err() != nil:
		return o.faults.Err()
	case len(o.missing) > 0:
		return fault.MissingAt(o.noun, o.missing...)
	case o.apart.Err() != nil:
		return o.apart.Err()
	case len(o.conflicts) > 0:
		return fault.ConflictAt(o.conflicts, "%s", o.conflicts[0].Message)
	}
	return nil
}

// settle makes the lot that is described, or says everything that stands against it. The head is taken.
func (p CreateParams) settle(ctx context.Context, tx *db.Tx, b *snapshot.Books) (Lot, error) {
	l := Lot{
		LegalEntityID: p.LegalEntityID, LedgerAccountID: p.LedgerAccountID, AssetType: strings.TrimSpace(
			p.AssetType), Chain: strings.ToLower(strings.TrimSpace(p.Chain)),
		Quantity: p.Quantity, RemainingQuantity: p.Quantity, CostBasis: p.CostBasis, RemainingBasis: p.CostBasis,
		Currency: strings.TrimSpace(p.Currency), Origin: Manual,
	}
	o := &objections{}
	p.received(o, &l, b.Zone, tx.Now())
	checkSymbol(o, l.AssetType)
	if utf8.RuneCountInString(l.Chain) > ChainMax || strings.ContainsFunc(l.Chain, unicode.IsSpace) {
		o.faults.Addf("chain", "must have at most %d characters and no spaces", ChainMax)
	}
	holder, err := source.Find(ctx, tx, p.SourceID)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		o.miss("source", "source_id")
	case err != nil:
		return l, err
	case l.Chain == "":
		l.Chain = holder.Chain
	}
	l.SourceID = holder.ID
	return l, l.check(ctx, tx, o, b, holder)
}

// received reads the date.
func (p CreateParams) received(o *objections, l *Lot, zone *time.Location, now time.Time) {
	if p.DateReceived == "" {
		return
	}
	at, err := calendar.StartOfDay(p.DateReceived, zone)
	switch {
	case err != nil:
		o.faults.Addf("date_received", "must be a date such as 2026-01-31")
	case at.After(now):
		o.faults.Addf("date_received", "must not be in the future")
	case at.Year() < yearMin:
		o.faults.Addf("date_received", "must not be before %d", yearMin)
	}
	l.AcquiredAt = at
}

// yearMin is when nothing of what is kept by lots existed: a date before it is a slip.
const yearMin = 1970

func checkSymbol(o *objections, symbol string) {
	switch n := utf8.RuneCountInString(symbol); {
	case n < 1 || n > AssetTypeMax || strings.ContainsFunc(symbol, unicode.IsSpace):
		o.faults.Addf("asset_type", "must have 1 to %d characters and no spaces", AssetTypeMax)
	case money.IsFiat(symbol):
		o.faults.Addf("asset_type", "%s is money, which has no lots: post its opening balance with POST /v1/journal-entries", symbol)
	}
}

// check finds what stands against a lot that has its source, if there is one.
func (l *Lot) check(ctx context.Context, tx *db.Tx, o *objections, b *snapshot.Books, holder source.Source) error {
	e, there := b.Entities[l.LegalEntityID]
	if there = there && actor.From(ctx).Sees(e.ID); !there {
		o.miss("legal entity", "legal_entity_id")
	} else if l.Currency == "" {
		l.Currency = e.BaseCurrency
	}
	l.checkAmounts(o)
	switch {
	case !there:
	case l.Currency != e.BaseCurrency && l.ID == "":
		o.apart.Addf("currency", "must be %s, in which %s keeps its books: give the cost in that", e.BaseCurrency, e.Name)
	case l.Currency != e.BaseCurrency:
		o.apart.Addf("legal_entity_id", "%s keeps its books in %s, and the cost of the asset is in %s", e.Name, e.BaseCurrency, l.Currency)
	}
	if there && holder.ID != "" && holder.LegalEntityID != e.ID {
		o.apart.Addf("legal_entity_id", "the source %s that holds the asset belongs to another legal entity than %s", holder.Name, e.Name)
	}
	if err := l.checkAccount(ctx, tx, o, b, holder); err != nil {
		return err
	}
	return o.err()
}

func (l *Lot) checkAmounts(o *objections) {
	if l.Quantity.Sign() <= 0 {
		o.faults.Addf("quantity", "must be positive")
	}
	switch places, _ := money.MinorUnits(l.Currency); {
	case l.CostBasis.Sign() < 0:
		o.faults.Addf("cost_basis", "must not be negative")
	case money.IsFiat(l.Currency) && !l.CostBasis.Round(places).Equal(l.CostBasis):
		o.faults.Addf("cost_basis", "must have at most %d digits after the point, as amounts in %s do", places, l.Currency)
	}
}

// checkAccount looks at where the cost stands: an account that takes lines, is of assets, of this asset if it says
// so, and not that of another source.
func (l *Lot) checkAccount(ctx context.Context, tx *db.Tx, o *objections, b *snapshot.Books, holder source.Source) error {
	const field = "ledger_account_id"
	a, there := b.Accounts[l.LedgerAccountID]
	if !there {
		o.miss("ledger account", field)
		return nil
	}
	switch {
	case a.Type != account.Asset:
		o.apart.Addf(field, "must be an account of type Asset: %s is of type %s", a, a.Type)
	case !a.Postable:
		o.apart.Addf(field, "the ledger account %s is not postable: choose one below it", a)
	case a.Clearing:
		o.apart.Addf(field, "the ledger account %s is a clearing account, on which nothing is held", a)
	case a.AssetType != "" && a.AssetType != l.AssetType:
		o.apart.Addf(field, "the ledger account %s is for %s, and the asset is %s", a, a.AssetType, l.AssetType)
	case a.Archived():
		o.conflict(field, "the ledger account %s is archived: unarchive it or choose another", a)
	}
	if holder.ID == "" || holder.LedgerAccountID == a.ID {
		return nil
	}
	all, err := source.All(ctx, tx)
	for _, other := range all {
		if other.LedgerAccountID == a.ID {
			o.apart.Addf(field, "the ledger account %s is that of another source: choose that of %s, or one of no source", a, holder.Name)
			break
		}
	}
	return err
}
