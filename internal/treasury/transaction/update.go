package transaction

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// UpdateParams are the fields of a transaction that can change; nil leaves a field as it is. What the source reported cannot change.
type UpdateParams struct {
	Memo   *string
	Vendor *string
	Type   *Type
	TagIDs *[]string
	Status *Status
}

// validate collects every fault of a change, such as a type that contradicts the status.
func (p UpdateParams) validate(faults *fault.List, at string) {
	if p.Memo != nil {
		validateText(faults, at+"memo", *p.Memo, textMax)
	}
	if p.Vendor != nil {
		validateText(faults, at+"vendor", *p.Vendor, nameMax)
	}
	if p.Type != nil && !slices.Contains(types, string(*p.Type)) {
		faults.Addf(at+"transaction_type", "must be one of the transaction types")
	}
	if p.TagIDs != nil && len(*p.TagIDs) > tagsMax {
		faults.Addf(at+"tag_ids", "must have at most %d items", tagsMax)
	}
	if p.Status == nil {
		return
	}
	if *p.Status != Spam && *p.Status != Pending {
		faults.Addf(at+"status", "must be spam or pending: to post a transaction, post its journal entry")
	} else if p.Type != nil && (*p.Type == TypeSpam) != (*p.Status == Spam) {
		faults.Addf(at+"transaction_type", "must be SPAM if status is spam, and only then")
	}
}

// apply returns the transaction with the change, or the field that its state does not allow to change.
func (p UpdateParams) apply(t Transaction) (Transaction, *fault.Field) {
	kind, spam := t.Type, t.Status == Spam
	if p.Type != nil {
		kind, spam = *p.Type, *p.Type == TypeSpam
	}
	if p.Status != nil {
		spam = *p.Status == Spam
	}
	const posted = "cannot change while the journal entry is posted: unpost or reverse the entry, or void its cash application, first"
	switch {
	case t.Status == Posted && p.Status != nil:
		return t, &fault.Field{Name: "status", Message: posted}
	case t.Status == Posted && kind != t.Type:
		return t, &fault.Field{Name: "transaction_type", Message: posted}
	case t.JournalEntryID != "" && (kind != t.Type || spam != (t.Status == Spam)):
		return t, &fault.Field{Name: "transaction_type", Message: "cannot change while it has the draft entry " + t.JournalEntryID +
			": delete that first"}
	case spam && t.GroupID != "":
		return t, &fault.Field{Name: "status", Message: "cannot be spam while the transaction is linked to another: unlink it first"}
	}
	t = t.withStatus(spam, kind)
	if p.Memo != nil {
		t.Memo = strings.TrimSpace(*p.Memo)
	}
	if p.Vendor != nil {
		t.Vendor = strings.TrimSpace(*p.Vendor)
	}
	if p.TagIDs != nil {
		t.TagIDs = tagSet(*p.TagIDs)
	}
	return t, nil
}

// WithNotes returns the transaction with another vendor, unless that is empty, and with additional tags. It is a
// building block; the caller has verified that the tags exist.
func (t Transaction) WithNotes(vendor string, tagIDs []string) (Transaction, error) {
	var p UpdateParams
	if vendor != "" {
		p.Vendor = &vendor
	}
	if len(tagIDs) > 0 {
		all := tagSet(slices.Concat(t.TagIDs, tagIDs))
		p.TagIDs = &all
	}
	var faults fault.List
	if p.validate(&faults, ""); faults.Err() != nil {
		return t, faults.Err()
	}
	after, _ := p.apply(t) // type and status stay the same, so no field can be refused
	return after, nil
}

// withStatus marks a transaction as spam or as not spam. It keeps the previous type, so that unmarking restores it.
func (t Transaction) withStatus(spam bool, kind Type) Transaction {
	switch {
	case spam && t.Status != Spam:
		t.TypeBeforeSpam, t.Type, t.Status = t.Type, TypeSpam, Spam
	case !spam && t.Status == Spam:
		if kind == TypeSpam {
			kind = t.TypeBeforeSpam
		}
		t.TypeBeforeSpam, t.Type, t.Status = "", kind, Pending
	case !spam:
		t.Type = kind
	}
	return t
}

// facts returns the fields that people and rules set, for the audit log.
func (t Transaction) facts() map[string]any {
	return map[string]any{
		"sequence_number": t.SequenceNumber(), "transaction_type": t.Type, "status": t.Status, "memo": t.Memo, "vendor": t.Vendor,
		"tag_ids": t.TagIDs, "group_id": t.GroupID, "journal_entry_id": t.JournalEntryID,
	}
}

func (t Transaction) equal(o Transaction) bool {
	return t.Type == o.Type && t.TypeBeforeSpam == o.TypeBeforeSpam && t.Status == o.Status && t.Memo == o.Memo && t.Vendor == o.Vendor &&
		t.GroupID == o.GroupID && t.JournalEntryID == o.JournalEntryID && slices.Equal(t.TagIDs, o.TagIDs)
}

// Edit is a transaction before and after a change.
type Edit struct {
	Before, After Transaction
	ByRule        bool // a classification rule made the change
}

// The audit actions of changes to transactions.
const (
	ActionCreated    = "transaction.created"
	ActionArrived    = "transactions.created" // several at once
	ActionUpdated    = "transaction.updated"
	ActionClassified = "transaction.classified"
	ActionWithdrawn  = "transaction.withdrawn" // its source says that it did not happen
)

// Save writes changed transactions, updates the counts and records the changes in the audit log. It skips edits that
// change nothing, sets UpdatedAt of the others and returns how many there were. It is a building block: the caller has
// read the transactions while holding the lock on the organization state.
func Save(ctx context.Context, tx *db.Tx, edits []Edit) (int, error) {
	c, changed := newChange(), 0
	for i := range edits {
		e := &edits[i]
		if e.Before.equal(e.After) {
			continue
		}
		changed++
		e.After.UpdatedAt = tx.Now()
		if err := update(ctx, tx, e.After); err != nil {
			return 0, err
		}
		if !slices.Equal(e.Before.TagIDs, e.After.TagIDs) {
			if err := replaceTags(ctx, tx, e.Before, e.After); err != nil {
				return 0, err
			}
		}
		c.add(e.Before, -1)
		c.add(e.After, 1)
		shown := e.After
		if shown.Status != Pending || shown.JournalEntryID != "" {
			shown.Suggested = nil
		}
		action := ActionUpdated
		if e.ByRule {
			action = ActionClassified
		}
		audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: noun, ResourceID: e.After.ID, Before: e.Before.facts(),
			After: e.After.facts(), State: e.After.state(), Object: shown})
	}
	return changed, c.write(ctx, tx)
}

// Update changes one transaction.
func (s *Service) Update(ctx context.Context, transactionID string, p UpdateParams) (t Transaction, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := Find(ctx, tx, transactionID)
		if err != nil {
			return err
		}
		if err := p.validateWithTags(ctx, tx, ""); err != nil {
			return err
		}
		after, refused := p.apply(before)
		if refused != nil {
			return fault.ConflictAt([]fault.Field{*refused}, "%s %s", before.SequenceNumber(), refused.Message)
		}
		edits := []Edit{{Before: before, After: after}}
		_, err = Save(ctx, tx, edits)
		t = edits[0].After
		return err
	})
	return t, err
}

// validateWithTags returns an error with every fault of the changes, tags that do not exist included.
func (p UpdateParams) validateWithTags(ctx context.Context, tx *db.Tx, at string) error {
	var faults fault.List
	if p.validate(&faults, at); p.TagIDs == nil || len(*p.TagIDs) == 0 || len(*p.TagIDs) > tagsMax {
		return faults.Err()
	}
	found, err := tag.ExistingIDs(ctx, tx, *p.TagIDs)
	if err != nil {
		return err
	}
	for i, tagID := range *p.TagIDs {
		if !slices.Contains(found, tagID) {
			faults.AddMissing("tag", fmt.Sprintf("%stag_ids[%d]", at, i))
		}
	}
	return faults.Err()
}

const (
	// BulkMax is the maximum number of transactions that one request may change.
	BulkMax = 10_000
	// conflictsShown is the maximum number of conflicting transactions that an error lists.
	conflictsShown = 100
)

// BulkParams describe a change to the transactions listed by id, or to those that match a filter.
type BulkParams struct {
	TransactionIDs []string
	Filter         *Filter
	Expected       *int64 // the number of transactions that the filter should match
	Changes        UpdateParams
	Dry            bool
}

// Bulk is the result of a bulk update.
type Bulk struct {
	Matched, Updated int
}

// BulkUpdate changes many transactions, all or none.
func (s *Service) BulkUpdate(ctx context.Context, p BulkParams) (b Bulk, err error) {
	var faults fault.List
	if (p.Filter == nil) == (p.TransactionIDs == nil) {
		faults.Addf("transaction_ids", "exactly one of transaction_ids and filter is required")
	}
	if n := len(p.TransactionIDs); p.TransactionIDs != nil && (n < 1 || n > BulkMax) {
		faults.Addf("transaction_ids", "must have 1 to %d items", BulkMax)
	}
	selected := faults.Empty()
	if p.Filter != nil && p.Expected == nil && !p.Dry {
		faults.Addf("expected_count", "is required with filter: send a dry run first to learn how many transactions match")
	}
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		faults := faults // a write that is retried starts with the same
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if err := faults.Merge(p.Changes.validateWithTags(ctx, tx, "changes.")); err != nil {
			return err
		}
		var found []Transaction
		if selected {
			var err error
			if found, err = p.resolve(ctx, tx); faults.Merge(err) != nil {
				return err
			}
		}
		if err := faults.Err(); err != nil {
			return err
		}
		edits, err := p.edits(found)
		if err != nil {
			return err
		}
		b.Matched = len(found)
		if p.Dry {
			for _, e := range edits {
				if !e.Before.equal(e.After) {
					b.Updated++
				}
			}
			return nil
		}
		b.Updated, err = Save(ctx, tx, edits)
		return err
	})
	return b, err
}

func (p BulkParams) edits(found []Transaction) ([]Edit, error) {
	edits := make([]Edit, len(found))
	var refused []fault.Field
	for i, t := range found {
		after, why := p.Changes.apply(t)
		if why != nil && len(refused) < conflictsShown {
			refused = append(refused, fault.Field{Name: t.SequenceNumber(), Message: why.Message})
		}
		edits[i] = Edit{Before: t, After: after}
	}
	if len(refused) > 0 {
		return nil, fault.ConflictAt(refused, "nothing was changed, because %s %s", refused[0].Name, refused[0].Message)
	}
	return edits, nil
}

// resolve returns the transactions to change.
func (p BulkParams) resolve(ctx context.Context, tx *db.Tx) ([]Transaction, error) {
	if p.Filter != nil {
		return FindMatching(ctx, tx, *p.Filter, p.Expected)
	}
	return FindByIDs(ctx, tx, p.TransactionIDs)
}

// FindByIDs returns transactions in the order of their ids, each once. The error names every id that does not exist or
// that the actor may not see. It is a building block.
func FindByIDs(ctx context.Context, tx *db.Tx, ids []string) ([]Transaction, error) {
	found, err := selectSome(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]Transaction, len(found))
	for _, t := range found {
		if actor.From(ctx).Sees(t.Source.LegalEntityID) {
			byID[t.ID] = t
		}
	}
	var missing []string
	out := make([]Transaction, 0, len(ids))
	for i, id := range ids {
		t, ok := byID[id]
		switch {
		case !ok:
			missing = append(missing, fmt.Sprintf("transaction_ids[%d]", i))
		case !slices.Contains(ids[:i], id):
			out = append(out, t)
		}
	}
	if len(missing) > 0 {
		return nil, fault.MissingAt(noun, missing...)
	}
	return out, nil
}

// FindMatching returns every transaction that matches a filter, or a conflict if their number is not the expected one or
// more than BulkMax. It is a building block.
func FindMatching(ctx context.Context, tx *db.Tx, f Filter, expected *int64) (out []Transaction, err error) {
	q, err := f.query(ctx, tx)
	if err != nil {
		return nil, fault.PrefixFields("filter.", err)
	}
	n, err := q.count(ctx, tx)
	switch {
	case err != nil:
		return nil, err
	case expected != nil && *expected != n:
		return nil, fault.ConflictAt([]fault.Field{{Name: "expected_count", Message: fmt.Sprintf("the filter now matches %d", n)}},
			"the filter matches %d transactions, not %d: review them and send the new expected_count", n, *expected)
	case n > BulkMax:
		return nil, fault.Conflictf("the filter matches %d transactions, but at most %d can be changed at once: narrow the filter", n, BulkMax)
	}
	order, _ := Sort{By: "created_at", Order: "asc"}.validate()
	var position []string
	for {
		rows, err := q.read(ctx, tx, order, position, page.LimitMax)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
		if len(rows) < page.LimitMax {
			return out, nil
		}
		position = order.position(rows[len(rows)-1])
	}
}

// DeleteOfSource marks every transaction of a deleted source as deleted: the rows stay, and no list shows them. It is a building block.
func DeleteOfSource(ctx context.Context, tx *db.Tx, sourceID string) error {
	return markDeleted(ctx, tx, sourceID)
}

// Withdraw marks transactions as deleted that their sources say did not happen. None of them may be booked or linked. Their sources may
// report them again later, because their ids are free from then on. It is a building block.
func Withdraw(ctx context.Context, tx *db.Tx, all []Transaction) error {
	c := newChange()
	for _, t := range all {
		after := t
		after.ExternalID, after.TagIDs, after.UpdatedAt = "withdrawn:"+t.ID, nil, tx.Now()
		if err := markWithdrawn(ctx, tx, t, after); err != nil {
			return err
		}
		c.add(t, -1)
		audit.Record(ctx, tx, audit.Change{Action: ActionWithdrawn, ResourceType: noun, ResourceID: t.ID, Before: t.facts(),
			After: after.facts(), State: after.state(), Object: after})
	}
	return c.write(ctx, tx)
}
