package books

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// entryRequest is a request for an entry. One that names a transaction reads and writes more than group commit can defer, so that it
// runs in a database transaction of its own.
type entryRequest struct{ Body CreateJournalEntry }

func (r *entryRequest) NeedsOwnTransaction() bool { return r.Body.namesTransaction() }

// IsDryRun reports whether nothing is to be written.
func (r *entryRequest) IsDryRun() bool { return r.Body.DryRun }

type entriesRequest struct{ Body CreateJournalEntries }

// IsDryRun reports whether nothing is to be written.
func (r *entriesRequest) IsDryRun() bool { return r.Body.DryRun }

func (r *entriesRequest) NeedsOwnTransaction() bool {
	return slices.ContainsFunc(r.Body.JournalEntries, CreateJournalEntry.namesTransaction)
}

func (h handlers) createJournalEntry(ctx context.Context, in *entryRequest) (wire.Data[JournalEntry], error) {
	var faults fault.List
	p := in.Body.params("", &faults)
	if in.NeedsOwnTransaction() {
		made, err := h.app.Bookings.Create(ctx, []booking.Params{p}, func(int) string { return "" })
		if err := in.Body.blameSent("", faults.With(err)); err != nil {
			return wire.Data[JournalEntry]{}, err
		}
		return wire.DataOf(viewMade(actor.From(ctx).OrganizationID, made[0])), nil
	}
	g, err := h.app.Journal.Create(ctx, *p.ByHand)
	if err := faults.With(err); err != nil {
		return wire.Data[JournalEntry]{}, err
	}
	return wire.DataOf(viewEntry(actor.From(ctx).OrganizationID, g)), nil
}

// blameSent names the type in an error as the request does: it may use the former name classification.
func (b CreateJournalEntry) blameSent(at string, err error) error {
	if b.Classification == "" || b.TransactionType != "" {
		return err
	}
	return fault.RenameField(err, at+"transaction_type", at+"classification")
}

func (h handlers) createJournalEntries(ctx context.Context, in *entriesRequest) (JournalEntries, error) {
	var faults fault.List
	at := func(i int) string { return fmt.Sprintf("journal_entries[%d].", i) }
	ps, byHand := make([]booking.Params, len(in.Body.JournalEntries)), make([]journal.CreateParams, len(in.Body.JournalEntries))
	for i, b := range in.Body.JournalEntries {
		if ps[i] = b.params(at(i), &faults); ps[i].ByHand != nil {
			byHand[i] = *ps[i].ByHand
		}
	}
	if in.NeedsOwnTransaction() {
		made, err := h.app.Bookings.Create(ctx, ps, at)
		err = faults.With(err)
		for i, b := range in.Body.JournalEntries {
			err = b.blameSent(at(i), err)
		}
		out := JournalEntries{make([]JournalEntry, len(made))}
		for i, m := range made {
			out.Data[i] = viewMade(actor.From(ctx).OrganizationID, m)
		}
		return out, err
	}
	made, err := h.app.Journal.CreateBatch(ctx, byHand)
	if err := faults.With(err); err != nil {
		return JournalEntries{}, err
	}
	out := JournalEntries{make([]JournalEntry, len(made))}
	for i, g := range made {
		out.Data[i] = viewEntry(actor.From(ctx).OrganizationID, g)
	}
	return out, nil
}

// params turns either form into parameters. A request that mixes the two forms, or has neither, is refused.
func (b CreateJournalEntry) params(at string, faults *fault.List) booking.Params {
	fromTransaction := []struct {
		name  string
		given bool
	}{
		{"transaction_type", b.TransactionType != ""},
		{"classification", b.Classification != ""},
		{"ledger_account_id", b.LedgerAccountID != ""},
		{"splits", b.Splits != nil},
		{"offset_ledger_account_id", b.OffsetLedgerAccountID != ""},
		{"vendor_name", b.VendorName.Set},
		{"auto_post", b.AutoPost != nil},
	}
	byHand := b.Lines != nil || b.Status != "" || b.LegalEntityID != ""
	for _, property := range fromTransaction {
		if property.given && byHand {
			faults.Addf(at+property.name, "is for entries from a transaction and cannot be combined with lines, status or legal_entity_id")
		}
	}
	if b.fromTransaction() {
		return b.transactionForm(at, faults)
	}
	if b.DryRun {
		faults.Addf(at+"dry_run", "is for entries from a transaction, or for the whole batch")
	}
	if b.Lines == nil {
		faults.Addf(at+"lines", "is required")
	}
	if b.AccountingDate == "" {
		faults.Addf(at+"accounting_date", "is required")
	}
	p := journal.CreateParams{
		LegalEntityID:  b.LegalEntityID,
		AccountingDate: b.AccountingDate,
		Memo:           b.Memo.Value,
		TagIDs:         b.TagIDs,
		Status:         journal.Status(b.Status),
		TransactionID:  b.TransactionID,
		OriginatedBy:   journal.ByHand,
		Lines:          lineParams(b.Lines),
	}
	return booking.Params{ByHand: &p}
}

// fromTransaction reports whether the request has the form for an entry that is computed from a transaction.
func (b CreateJournalEntry) fromTransaction() bool {
	byHand := b.Lines != nil || b.Status != "" || b.LegalEntityID != ""
	return !byHand && (b.TransactionID != "" || b.TransactionType != "" || b.Classification != "" || b.LedgerAccountID != "" ||
		b.Splits != nil || b.OffsetLedgerAccountID != "" || b.VendorName.Set || b.AutoPost != nil)
}

// namesTransaction reports whether the entry belongs to a transaction, or should.
func (b CreateJournalEntry) namesTransaction() bool {
	return b.TransactionID != "" || b.fromTransaction()
}

func (b CreateJournalEntry) transactionForm(at string, faults *fault.List) booking.Params {
	if b.TransactionID == "" {
		faults.Addf(at+"transaction_id", "is required with transaction_type")
	}
	if (b.TransactionType == "") == (b.Classification == "") {
		faults.Addf(at+"transaction_type", "is required, or its former name classification, but not both")
	}
	p := booking.Params{
		TransactionID:   b.TransactionID,
		Type:            cmp.Or(b.TransactionType, b.Classification),
		LedgerAccountID: b.LedgerAccountID,
		Splits:          splitParams(b.Splits),
		OffsetAccountID: b.OffsetLedgerAccountID,
		AccountingDate:  b.AccountingDate,
		VendorName:      b.VendorName.Value,
		AutoPost:        b.AutoPost != nil && *b.AutoPost,
	}
	if b.Memo.Set {
		p.Memo = &b.Memo.Value
	}
	if b.TagIDs != nil {
		p.TagIDs = &b.TagIDs
	}
	return p
}

func splitParams(splits []CreateSplit) (out []booking.Split) {
	for _, s := range splits {
		out = append(out, booking.Split{LedgerAccountID: s.LedgerAccountID, Amount: s.Amount, Percent: s.Percent,
			Quantity: s.Quantity, Memo: s.Memo.Value, TagIDs: s.TagIDs})
	}
	return out
}

func lineParams(lines []CreateJournalLine) []journal.LineParams {
	if lines == nil {
		return nil
	}
	out := make([]journal.LineParams, len(lines))
	for i, l := range lines {
		out[i] = journal.LineParams{
			LedgerAccountID: l.LedgerAccountID,
			Side:            book.Side(l.CreditOrDebit),
			Amount:          l.Amount,
			Currency:        l.Currency,
			LegalEntityID:   l.LegalEntityID,
			Memo:            l.Memo.Value,
			TagIDs:          l.TagIDs,
		}
	}
	return out
}

// entryPath is the parameter of operations on one journal entry.
type entryPath struct {
	ID string `path:"journal_entry_id" minLength:"1" maxLength:"64" doc:"Identifier of the journal entry."`
}

func (h handlers) listJournalEntries(ctx context.Context, in *struct {
	wire.Paging
	LegalEntityIDs  []string `query:"legal_entity_ids" maxItems:"100" doc:"Return only entries that belong to one of these legal entities, or have a line of one."`
	LedgerAccountID string   `query:"ledger_account_id" minLength:"1" maxLength:"64" doc:"Return only entries with a line on this ledger account."`
	PeriodID        string   `query:"accounting_period_id" minLength:"1" maxLength:"64" doc:"Return only entries of this accounting period."`
	Status          string   `query:"status" enum:"draft,posted" doc:"Return only drafts or only posted entries."`
	TagID           string   `query:"tag_id" minLength:"1" maxLength:"64" doc:"Return only entries that have this tag, on the entry or on a line."`
	TransactionID   string   `query:"transaction_id" minLength:"1" maxLength:"64" doc:"Return only entries of this transaction."`
	StartDate       string   `query:"start_date" minLength:"1" maxLength:"64" doc:"Return only accounting dates at or after this time: an RFC 3339 time, or a date in the organization's time zone."`
	EndDate         string   `query:"end_date" minLength:"1" maxLength:"64" doc:"Return only accounting dates at or before this time: an RFC 3339 time, or a date in the organization's time zone."`
	Search          string   `query:"search" minLength:"1" maxLength:"200" doc:"Return only entries with this text in the sequence number, the memo or a line's memo; case-insensitive."`
}) (wire.List[JournalEntry], error) {
	f := journal.Filter{
		LegalEntityIDs:  in.LegalEntityIDs,
		LedgerAccountID: in.LedgerAccountID,
		PeriodID:        in.PeriodID,
		Status:          journal.Status(in.Status),
		TagID:           in.TagID,
		TransactionID:   in.TransactionID,
		Span:            journal.Span{From: in.StartDate, To: in.EndDate},
		Search:          in.Search,
	}
	entries, err := h.app.Journal.List(ctx, f, in.Request())
	if err != nil {
		return wire.List[JournalEntry]{}, err
	}
	org := actor.From(ctx).OrganizationID
	err = h.withSynced(ctx, entries.Items)
	return wire.ListOf(entries, func(g journal.Guided) JournalEntry { return viewEntry(org, g) }), err
}

func (h handlers) getJournalEntry(ctx context.Context, in *struct{ entryPath }) (wire.Data[JournalEntry], error) {
	m, err := h.app.Bookings.Get(ctx, in.ID)
	if err != nil {
		return wire.Data[JournalEntry]{}, err
	}
	one := []journal.Guided{m.Guided}
	if err := h.withSynced(ctx, one); err != nil {
		return wire.Data[JournalEntry]{}, err
	}
	m.Guided = one[0]
	return wire.DataOf(viewMade(actor.From(ctx).OrganizationID, m)), nil
}

func (b UpdateJournalEntry) params() journal.UpdateParams {
	p := journal.UpdateParams{LegalEntityID: b.LegalEntityID, AccountingDate: b.AccountingDate, TagIDs: b.TagIDs}
	if b.Memo.Set {
		p.Memo = &b.Memo.Value
	}
	if b.Lines != nil {
		lines := lineParams(*b.Lines)
		p.Lines = &lines
	}
	return p
}

func (h handlers) updateJournalEntry(ctx context.Context, in *struct {
	entryPath
	Body UpdateJournalEntry
}) (wire.Data[JournalEntry], error) {
	g, err := h.app.Journal.Update(ctx, in.ID, in.Body.params())
	return h.viewGuided(ctx, g, err)
}

func (h handlers) deleteJournalEntry(ctx context.Context, in *struct{ entryPath }) (wire.Data[wire.Deleted], error) {
	err := h.app.Journal.Delete(ctx, in.ID)
	return wire.DeletedOf(in.ID), err
}

func (h handlers) postJournalEntry(ctx context.Context, in *struct{ entryPath }) (wire.Data[JournalEntry], error) {
	g, err := h.app.Journal.Post(ctx, in.ID)
	return h.viewGuided(ctx, g, err)
}

func (h handlers) unpostJournalEntry(ctx context.Context, in *struct{ entryPath }) (wire.Data[JournalEntry], error) {
	g, err := h.app.Journal.Unpost(ctx, in.ID)
	return h.viewGuided(ctx, g, err)
}

func (h handlers) reverseJournalEntry(ctx context.Context, in *struct {
	entryPath
	Body *ReverseJournalEntry
}) (wire.Data[JournalEntry], error) {
	var p journal.ReverseParams
	if b := in.Body; b != nil {
		p = journal.ReverseParams{AccountingDate: b.AccountingDate, Memo: b.Memo.Value, Cascade: b.Cascade != ""}
	}
	g, err := h.app.Journal.Reverse(ctx, in.ID, p)
	return h.viewGuided(ctx, g, err)
}

// correction is a request to correct an entry.
type correction struct {
	entryPath
	Body CorrectJournalEntry
}

// IsDryRun reports whether nothing is to be written.
func (c *correction) IsDryRun() bool { return c.Body.DryRun }

func (h handlers) correctJournalEntry(ctx context.Context, in *correction) (wire.Data[JournalEntry], error) {
	b := in.Body
	var faults fault.List
	anew := b.TransactionType != "" || b.Classification != "" || b.LedgerAccountID != nil || b.Splits != nil ||
		b.OffsetLedgerAccountID != nil
	if b.TransactionType != "" && b.Classification != "" {
		faults.Addf("transaction_type", "cannot be combined with its former name classification")
	}
	if anew && (b.Lines != nil || b.LegalEntityID != nil) {
		faults.Addf("lines", "cannot be combined with transaction_type, splits, ledger_account_id or offset_ledger_account_id, "+
			"from which they follow")
	}
	if !anew && b.DryRun {
		faults.Addf("dry_run", "requires transaction_type, splits, ledger_account_id or offset_ledger_account_id")
	}
	if !anew {
		g, err := h.app.Journal.Correct(ctx, in.ID, b.UpdateJournalEntry.params())
		return h.viewGuided(ctx, g, faults.With(err))
	}
	m, err := h.app.Bookings.Correct(ctx, in.ID, booking.CorrectParams{
		Type:            cmp.Or(b.TransactionType, b.Classification),
		LedgerAccountID: b.LedgerAccountID,
		Splits:          splitParams(b.Splits),
		OffsetAccountID: b.OffsetLedgerAccountID,
		Update:          b.UpdateJournalEntry.params(),
	})
	if err = faults.With(err); b.TransactionType == "" && b.Classification != "" {
		err = fault.RenameField(err, "transaction_type", "classification")
	}
	if err != nil {
		return wire.Data[JournalEntry]{}, err
	}
	return wire.DataOf(viewMade(actor.From(ctx).OrganizationID, m)), nil
}

func (h handlers) listLedgerAccountLines(ctx context.Context, in *struct {
	wire.Paging
	ID             string   `path:"ledger_account_id" minLength:"1" maxLength:"64" doc:"Identifier of the ledger account."`
	LegalEntityIDs []string `query:"legal_entity_ids" maxItems:"100" doc:"Return only lines of these legal entities."`
	StartDate      string   `query:"start_date" minLength:"1" maxLength:"64" doc:"Return only accounting dates at or after this time: an RFC 3339 time, or a date in the organization's time zone."`
	EndDate        string   `query:"end_date" minLength:"1" maxLength:"64" doc:"Return only accounting dates at or before this time: an RFC 3339 time, or a date in the organization's time zone."`
}) (wire.List[AccountLine], error) {
	f := journal.LineFilter{LedgerAccountID: in.ID, LegalEntityIDs: in.LegalEntityIDs, Span: journal.Span{From: in.StartDate, To: in.EndDate}}
	lines, err := h.app.Journal.Lines(ctx, f, in.Request())
	return wire.ListOf(lines, viewAccountLine), err
}

func (h handlers) viewGuided(ctx context.Context, g journal.Guided, err error) (wire.Data[JournalEntry], error) {
	if err != nil {
		return wire.Data[JournalEntry]{}, err
	}
	one := []journal.Guided{g}
	err = h.withSynced(ctx, one)
	return wire.DataOf(viewEntry(actor.From(ctx).OrganizationID, one[0])), err
}

// accountingPeriodID returns the accounting period of an entry, or nil for an opening balance, which stands before all of them.
func accountingPeriodID(e journal.Entry) *string {
	if period.IsOpening(e.AccountingDate) {
		return nil
	}
	return db.OrNull(e.PeriodID)
}

func viewEntry(organizationID string, g journal.Guided) JournalEntry {
	e := g.Entry
	v := JournalEntry{
		ID:                e.ID,
		OrganizationID:    organizationID,
		SequenceNumber:    e.SequenceNumber(),
		Status:            string(e.Status),
		OriginatedBy:      e.OriginatedBy,
		AccountingDate:    wire.Timestamp(e.AccountingDate),
		PostedAt:          wire.TimestampOrNull(e.PostedAt),
		Memo:              db.OrNull(e.Memo),
		LegalEntityID:     db.OrNull(e.LegalEntityID),
		TransactionID:     db.OrNull(e.TransactionID),
		TransactionNumber: transactionNumber(e),
		PeriodID:          accountingPeriodID(e),
		Classification:    e.Classification,
		TagIDs:            wire.NonNil(e.TagIDs),
		ReversalChain:     ReversalChain{db.OrNull(e.PreviousID), db.OrNull(e.NextID)},
		PeriodReassigned:  e.Reassigned(),
		IntendedDate:      wire.TimestampOrNull(e.IntendedDate),
		EntityAssigned:    e.AutoEntity,
		Lines:             make([]JournalLine, len(e.Lines)),
		Guidance:          wire.Guidance{AllowedActions: g.Guidance.Allowed, Warnings: g.Guidance.Warnings, Version: g.Guidance.Version},
		CreatedAt:         wire.Timestamp(e.CreatedAt),
		UpdatedAt:         wire.Timestamp(e.UpdatedAt),
	}
	for i, l := range e.Lines {
		v.Lines[i] = viewLine(l)
	}
	v.showSynced(e)
	return v
}

// viewMade returns the view of an entry with its lots.
func viewMade(organizationID string, m booking.Booked) JournalEntry {
	v := viewEntry(organizationID, m.Guided)
	for _, u := range m.Lots {
		v.Lots = append(v.Lots, EntryLot{
			AssetID:      db.OrNull(u.LotID),
			AssetType:    u.AssetType,
			Kind:         u.Kind,
			Quantity:     u.Quantity.String(),
			CostBasis:    u.Basis.Fixed(u.Currency),
			Proceeds:     u.Proceeds.Fixed(u.Currency),
			Fee:          u.Fee.Fixed(u.Currency),
			GainLoss:     u.Gain.Fixed(u.Currency),
			DateAcquired: wire.Timestamp(u.AcquiredAt),
			Term:         db.OrNull(u.Term),
			Method:       db.OrNull(u.Method),
			IsCorrection: u.Correction,
		})
	}
	for _, c := range m.Changes {
		v.Changes = append(v.Changes, LotChange{
			JournalEntryID:  c.EntryID,
			SequenceNumber:  c.SequenceNumber,
			TransactionID:   db.OrNull(c.TransactionID),
			Action:          string(c.Action),
			CostBasisChange: c.Basis,
			GainLossChange:  c.Gain,
			ResultID:        db.OrNull(c.ResultID),
		})
	}
	return v
}

func viewLine(l journal.Line) JournalLine {
	v := JournalLine{
		Unit:            db.OrNull(l.Unit),
		ID:              l.ID,
		LedgerAccountID: l.LedgerAccountID,
		LegalEntityID:   l.LegalEntityID,
		CreditOrDebit:   string(l.Side),
		Amount:          l.Amount.Fixed(l.Currency),
		Currency:        l.Currency,
		Memo:            db.OrNull(l.Memo),
		TagIDs:          wire.NonNil(l.TagIDs),
	}
	if l.Base != nil {
		base := l.Base.Fixed(l.BaseCurrency)
		v.BaseAmount = &base
	}
	if l.Quantity != nil {
		quantity := l.Quantity.String()
		v.UnitQuantity = &quantity
	}
	return v
}

func viewAccountLine(l journal.AccountLine) AccountLine {
	return AccountLine{
		JournalLine:    viewLine(l.Line),
		JournalEntryID: l.EntryID,
		SequenceNumber: l.SequenceNumber(),
		AccountingDate: wire.Timestamp(l.AccountingDate),
		EntryMemo:      db.OrNull(l.EntryMemo),
	}
}

func transactionNumber(e journal.Entry) *string {
	if e.TransactionNo == 0 {
		return nil
	}
	text := transaction.SequenceNumber(e.TransactionNo)
	return &text
}
