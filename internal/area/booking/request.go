package booking

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/area/asset"
	"github.com/bursarhq/bursar/internal/area/journal"
	"github.com/bursarhq/bursar/internal/area/tag"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// request is an entry on its way.
type request struct {
	Params
	at    string
	index int
	key   string
	event *event // nil where it has no transaction
	entry journal.CreateParams
	lots  []asset.Use
	drawn bool // its lines are those of a draft, whatever else is made
}

// ready finds what an entry follows from.
func (m builder) ready(ctx context.Context, q *request) error {
	if q.ByHand != nil {
		q.entry = *q.ByHand
		if q.ByHand.TransactionID == "" {
			return nil
		}
		t, err := m.transaction(q.ByHand.TransactionID, q.at)
		if err != nil {
			return err
		}
		q.event = &event{first: t}
		q.entry.TransactionNo = t.Number
		if q.entry.Classification == "" {
			q.entry.Classification = string(t.Type)
		}
		return m.bookable(t, q.at)
	}
	if q.AutoPost && posting.Type(q.Type) == posting.Unknown {
		return fault.ConflictAt([]fault.Field{{Name: q.at + "transaction_type", Message: "is UNKNOWN"}}, "what is not known is not posted: make a draft, or say what it is")
	}
	var err error
	if q.event, err = m.build(ctx, q.Params, q.at); err != nil {
		return err
	}
	t := q.event.first
	q.entry = journal.CreateParams{
		LegalEntityID: t.Source.LegalEntityID, AutoEntity: true, AccountingDate: clock.Format(t.At), Memo: t.Memo, TagIDs: t.TagIDs, Status: journal.Draft, TransactionID: t.ID,
		TransactionNo: t.Number, OriginatedBy: journal.ByTransaction, Classification: q.Type,
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
	for _, id := range q.AddTagIDs {
		if !slices.Contains(q.entry.TagIDs, id) {
			q.entry.TagIDs = append(slices.Clip(q.entry.TagIDs), id)
		}
	}
	if _, err := m.transactions[q.TransactionID].Noted(q.Vendor, q.AddTagIDs); err != nil {
		return fault.Within(q.at, err)
	}
	if q.VendorName != "" {
		if err := tag.Proper(q.VendorName); err != nil {
			return fault.Within(q.at+"vendor_", err)
		}
	}
	return m.open(q)
}

// vendor attaches the tag of a supplier.
func (q *request) vendor(ctx context.Context, tx *db.Tx) error {
	if q.VendorName == "" {
		return nil
	}
	supplier, err := tag.Ensure(ctx, tx, tag.Supplier, q.VendorName)
	if err != nil {
		return fault.Within(q.at+"vendor_", err)
	}
	if !slices.Contains(q.entry.TagIDs, supplier.ID) {
		q.entry.TagIDs = append(slices.Clip(q.entry.TagIDs), supplier.ID)
	}
	return nil
}

// again finds the first request for a transaction that an earlier one is for, and that one.
func again(all []*request) (second, first int) {
	taken := map[string]int{}
	for i, q := range all {
		if q.event == nil {
			continue
		}
		for _, t := range q.event.transactions() {
			if earlier, twice := taken[t.ID]; twice {
				return i, earlier
			}
		}
		for _, t := range q.event.transactions() {
			taken[t.ID] = i
		}
	}
	return -1, -1
}

// bookedBy refuses a request for what another one is for already.
func (q *request) bookedBy(earlier *request) error {
	return fault.Invalidf(q.at+"transaction_id", "%s is booked by %sthis request already", q.event.first.SequenceNumber(), earlier.at)
}

// entriesOf are the entries that are asked for.
func entriesOf(all []*request) []journal.CreateParams {
	out := make([]journal.CreateParams, len(all))
	for i, q := range all {
		out[i] = q.entry
	}
	return out
}

// placeIn says where the fields of each request are.
func placeIn(all []*request) func(int) string { return func(i int) string { return all[i].at } }
