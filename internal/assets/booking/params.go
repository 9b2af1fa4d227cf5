package booking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Params describe an entry to create: one that is computed from a transaction, or one with given lines.
type Params struct {
	TransactionID   string
	Type            string
	LedgerAccountID string  // the target; may be empty if the type implies it
	Splits          []Split // several targets instead
	OffsetAccountID string  // instead of that of the source
	AccountingDate  string  // default: that of the transaction
	Memo            *string
	TagIDs          *[]string
	VendorName      string
	AutoPost        bool
	OpenOnly        bool // refuse it if it, or an entry that it changes, is in a closed period; applies to all requests of a call

	// What a rule changes about the transaction.
	RuleID      string
	RuleVersion int64
	Vendor      string   // the payee; empty leaves it as it is
	AddTagIDs   []string // to the tags of the transaction and of the entry

	parts []Part                   // of a payment that is applied to invoices, instead of a target
	known *transaction.Transaction // what TransactionID names, if it was read already

	ByHand *journal.CreateParams // the entry, if its lines are given; all other fields are empty then
}

// validate returns an error with every fault of the parameters. at is the prefix of field names.
func (p Params) validate(b *snapshot.Books, at string) error {
	var faults fault.List
	if !slices.Contains(posting.Types, posting.Type(p.Type)) {
		faults.Addf(at+"transaction_type", "must be one of the transaction types")
	}
	p.validateSplits(&faults, at)
	for _, a := range p.accounts(at) {
		switch found, there := b.Accounts[a.id]; {
		case !there:
			faults.AddMissing("ledger account", a.field)
		case found.ArchivedAt != nil:
			faults.AddConflictf(a.field, "the ledger account %s is archived", found)
		case !found.Postable:
			faults.Addf(a.field, "the ledger account %s is not postable: choose one below it", found)
		}
	}
	return faults.Err()
}

// reference is the id of a record and the field that names it.
type reference struct{ field, id string }

// accounts returns the ledger accounts that the parameters name. at is the prefix of field names.
func (p Params) accounts(at string) []reference {
	all := []reference{{at + "ledger_account_id", p.LedgerAccountID}, {at + "offset_ledger_account_id", p.OffsetAccountID}}
	for i, s := range p.Splits {
		all = append(all, reference{splitField(at, i, "ledger_account_id"), s.LedgerAccountID})
	}
	if p.ByHand != nil {
		for i, l := range p.ByHand.Lines {
			all = append(all, reference{fmt.Sprintf("%slines[%d].ledger_account_id", at, i), l.LedgerAccountID})
		}
	}
	return slices.DeleteFunc(all, func(r reference) bool { return r.id == "" })
}

// requireOwnAccounts returns an error that names the accounts of sources of legal entities outside the actor's key, as if they did not
// exist.
func (m builder) requireOwnAccounts(ctx context.Context, p Params, at string) error {
	named := p.accounts(at)
	ids := make([]string, len(named))
	for i, a := range named {
		ids[i] = a.id
	}
	foreign, err := source.ForeignAccounts(ctx, m.tx, ids)
	if err != nil {
		return err
	}
	var faults fault.List
	for _, a := range named {
		if foreign[a.id] {
			faults.AddMissing("ledger account", a.field)
		}
	}
	return faults.Err()
}

// validateAccountAsset returns an error if an account is restricted to another asset.
func validateAccountAsset(a account.Account, symbol, field string) error {
	if a.AssetType == "" || a.AssetType == symbol {
		return nil
	}
	return fault.Invalidf(field, "the ledger account %s is for %s, not for %s", a, a.AssetType, symbol)
}

// explain converts a refusal of rules/posting into a fault: Invalid if a parameter is missing, else Conflict.
func explain(err error, at string) error {
	var r *posting.Refusal
	if !asRefusal(err, &r) {
		return err
	}
	switch r.Reason {
	case posting.NoTarget, posting.BadSplits:
		return fault.Invalidf(at+r.Field, "%s", r.Message)
	case posting.MissingRate:
		return fault.ConflictAt([]fault.Field{{Name: at + r.Field, Message: r.Message}}, "%s: store it with POST /v1/fx-rates", r.Message)
	case posting.NoValue:
		return fault.ConflictAt([]fault.Field{{Name: at + r.Field, Message: r.Message}}, "%s: store a price of %s, or of the %d hours before, "+
			"with POST /v1/prices", r.Message, clock.Format(r.At), int(price.MaxAge.Hours()))
	}
	return fault.PrefixFields(at, r.Unwrap())
}

// nameDay adds the day to a refusal for lack of a rate or a value.
func nameDay(err error, day string) error {
	var r *posting.Refusal
	if !asRefusal(err, &r) || r.Reason != posting.MissingRate && r.Reason != posting.NoValue {
		return err
	}
	named := *r
	named.Message += " on " + day
	if r.Reason == posting.MissingRate {
		named.Message = r.Message + " for " + day
	}
	return &named
}

// request is an entry that is being created.
type request struct {
	Params
	prefix    string
	index     int
	key       string
	event     *event // nil without a transaction
	entry     journal.CreateParams
	uses      []lots.Use
	previewed bool   // a draft has its lines already
	blocked   string // why a draft cannot be posted as it is; empty if it can
}

// validateRequest returns an error with every fault of a request that can be found before its entry is computed.
func (m builder) validateRequest(ctx context.Context, q *request) error {
	entry, transactionID := journal.CreateParams{AccountingDate: q.AccountingDate}, q.TransactionID
	if q.TagIDs != nil {
		entry.TagIDs = *q.TagIDs
	}
	found := []error{m.requireOwnAccounts(ctx, q.Params, q.prefix)}
	if q.ByHand != nil {
		entry, transactionID = *q.ByHand, q.ByHand.TransactionID
	} else {
		found = append(found, q.Params.validate(m.books, q.prefix), m.requireSplitTags(ctx, q.Params, q.prefix))
	}
	if transactionID != "" || q.ByHand == nil {
		_, err := m.transaction(transactionID, q.prefix)
		found = append(found, err)
	}
	found = append(found, journal.Validate(ctx, m.tx, m.books, entry, q.prefix))
	if q.VendorName != "" {
		found = append(found, fault.PrefixFields(q.prefix+"vendor_", tag.ValidateSupplierName(q.VendorName)))
	}
	var faults fault.List
	for _, err := range found {
		if err := faults.Merge(err); err != nil {
			return err
		}
	}
	return faults.Err()
}

// prepareRequest looks up the transaction of a request and everything else its entry is computed from.
func (m builder) prepareRequest(ctx context.Context, q *request) error {
	if err := m.validateRequest(ctx, q); err != nil {
		return err
	}
	if q.ByHand != nil {
		q.entry = *q.ByHand
		if q.ByHand.TransactionID == "" {
			return nil
		}
		t, err := m.transaction(q.ByHand.TransactionID, q.prefix)
		if err != nil {
			return err
		}
		q.event = &event{first: t}
		q.entry.TransactionNo = t.Number
		if q.entry.Classification == "" {
			q.entry.Classification = string(t.Type)
		}
		return m.bookable(t, q.prefix)
	}
	if q.AutoPost && posting.Type(q.Type) == posting.Unknown {
		return fault.ConflictAt([]fault.Field{{Name: q.prefix + "transaction_type", Message: "is UNKNOWN"}},
			"a transaction of type UNKNOWN cannot be posted: create a draft, or choose another type")
	}
	var err error
	if q.event, err = m.build(ctx, q.Params, q.prefix); err != nil {
		return err
	}
	t := q.event.first
	q.entry = journal.CreateParams{
		LegalEntityID: t.Source.LegalEntityID, AutoEntity: true, AccountingDate: clock.Format(t.At), Memo: t.Memo, TagIDs: t.TagIDs,
		Status: journal.Draft, TransactionID: t.ID, TransactionNo: t.Number, OriginatedBy: journal.ByTransaction, Classification: q.Type,
	}
	if q.AccountingDate != "" {
		q.entry.AccountingDate = q.AccountingDate
	}
	if q.Memo != nil {
		q.entry.Memo = *q.Memo
	}
	if q.TagIDs != nil {
		q.entry.TagIDs = *q.TagIDs
	}
	if q.AutoPost {
		q.entry.Status = journal.Posted
	}
	if q.parts != nil {
		q.entry.OriginatedBy = journal.ByCashApplication
	}
	for _, id := range q.AddTagIDs {
		if !slices.Contains(q.entry.TagIDs, id) {
			q.entry.TagIDs = append(slices.Clip(q.entry.TagIDs), id)
		}
	}
	if _, err := m.transactions[q.TransactionID].WithNotes(q.Vendor, q.AddTagIDs); err != nil {
		return fault.PrefixFields(q.prefix, err)
	}
	return m.requireOpenPeriod(q)
}

// addVendorTag adds the tag of the supplier to the entry.
func (q *request) addVendorTag(ctx context.Context, tx *db.Tx) error {
	if q.VendorName == "" {
		return nil
	}
	supplier, err := tag.Ensure(ctx, tx, tag.Supplier, q.VendorName)
	if err != nil {
		return fault.PrefixFields(q.prefix+"vendor_", err)
	}
	if !slices.Contains(q.entry.TagIDs, supplier.ID) {
		q.entry.TagIDs = append(slices.Clip(q.entry.TagIDs), supplier.ID)
	}
	return nil
}

// duplicate returns the indexes of the first request whose transaction an earlier request books too, and of that earlier one.
// It returns -1 if there is none.
func duplicate(all []*request) (second, first int) {
	booked := map[string]int{}
	for i, q := range all {
		if q.event == nil {
			continue
		}
		for _, t := range q.event.transactions() {
			if earlier, twice := booked[t.ID]; twice {
				return i, earlier
			}
		}
		for _, t := range q.event.transactions() {
			booked[t.ID] = i
		}
	}
	return -1, -1
}

// bookedBy returns the error of a request whose transaction an earlier request books.
func (q *request) bookedBy(earlier *request) error {
	by := cmp.Or(strings.TrimSuffix(earlier.prefix, "."), "another item of this request")
	return fault.Invalidf(q.prefix+"transaction_id", "%s is booked already by %s", q.event.first.SequenceNumber(), by)
}

// entriesOf returns the entries of requests.
func entriesOf(all []*request) []journal.CreateParams {
	out := make([]journal.CreateParams, len(all))
	for i, q := range all {
		out[i] = q.entry
	}
	return out
}

// fieldPrefixes returns a function that returns the prefix of the field names of each request.
func fieldPrefixes(all []*request) func(int) string {
	return func(i int) string { return all[i].prefix }
}
