package replay

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// VerifyEffects compares what is stored of the consumptions and lots of entries with their effects, and returns the
// entries as they would be booked again from the lots they consumed. It is a building block.
func VerifyEffects(ctx context.Context, tx *db.Tx, b *snapshot.Books, effects []Effect,
	found *finding.List) (map[string]posting.Entry, error) {
	ids := make([]string, len(effects))
	for i, e := range effects {
		ids[i] = e.EntryID
	}
	consumptions, err := lots.ConsumptionsOfEntries(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	uses, err := lots.UsesOfConsumptions(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	if err := lots.ReadMarks(ctx, tx, slices.Collect(maps.Values(uses))...); err != nil {
		return nil, err
	}
	created, err := lots.ByEntry(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[string]posting.Entry, len(effects))
	for _, e := range effects {
		stored := consumptions[e.EntryID]
		entry, ok := e.rebuild(b, stored, uses, found)
		if !ok {
			continue
		}
		out[e.EntryID] = entry
		if slices.ContainsFunc(stored, func(c lots.Consumption) bool { return c.Kind == lots.Relocated }) {
			entry.Lots = nil
		}
		e.verifyCreated(b, entry, created[e.EntryID], found)
	}
	return out, nil
}

// rebuild books an entry again from the lots it consumed, and reports whether that is possible.
func (e *Effect) rebuild(b *snapshot.Books, stored []lots.Consumption, uses map[lots.ConsumptionKey][]lots.Use,
	found *finding.List) (posting.Entry, bool) {
	wrong := len(stored) != len(e.Plan.LotRequests)
	answers := make([]posting.Answer, len(e.Plan.LotRequests))
	for i, k := range stored {
		if wrong || k.Position != i {
			wrong = true
			break
		}
		t := e.Plan.LotRequests[i]
		c := newConsumption(e, i, t, lots.PoolOf(b, t.From, t.Asset, e.SeparateAccountID))
		if k.Kind == lots.Relocated {
			c.Kind = lots.Relocated
		}
		c.setOrderKey()
		wrong = wrong || !c.Equal(&k)
		stored := uses[lots.ConsumptionKey{Pool: k.Pool, OrderKey: k.OrderKey}]
		wrong = wrong || !e.isOf(k, stored)
		answers[i] = answer(lots.Effective(stored))
	}
	if wrong {
		found.Addf("entries with other consumptions", "the stored consumptions of the entry %s are not those that follow from its booking",
			e.EntryID)
		return posting.Entry{}, false
	}
	entry, err := e.Plan.Entry(answers)
	if err != nil {
		found.Addf("entries that cannot be booked again", "the entry %s cannot be booked again from the lots it consumed: %v", e.EntryID, err)
	}
	return entry, err == nil
}

// isOf reports whether the uses of a consumption repeat its transaction, position, time and type. Uses that were corrected, in a
// closed period, may be of another type.
func (e *Effect) isOf(k lots.Consumption, uses []lots.Use) bool {
	corrected := slices.ContainsFunc(uses, func(u lots.Use) bool { return u.Correction })
	for _, u := range uses {
		if u.TransactionID != e.TransactionID || u.Position != int64(k.Position) ||
			!corrected && (u.TransactionType != e.Type || !u.DisposedAt.Equal(k.At)) {
			return false
		}
	}
	return true
}

// verifyCreated compares the stored lots of an entry with those it creates.
func (e *Effect) verifyCreated(b *snapshot.Books, entry posting.Entry, stored []lots.Lot, found *finding.List) {
	left := map[string][]lots.Lot{}
	for _, l := range stored {
		left[l.ParentID] = append(left[l.ParentID], l)
	}
	_, key, enters := e.arrival(b)
	var wrong []string
	for _, m := range entry.Lots {
		same := left[m.Parent]
		if len(same) == 0 {
			wrong = append(wrong, fmt.Sprintf("one of %s %s is missing", m.Quantity, m.Asset.Symbol))
			continue
		}
		l, want := same[0], e.newLot(b, m)
		left[m.Parent] = same[1:]
		if want.OrderKey = l.OrderKey; enters {
			want.OrderKey = returning(key, returnOf(l.OrderKey))
		}
		if columns := l.Differing(want); len(columns) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s of %s differs", strings.Join(columns, ", "), l.ID))
		}
	}
	for _, parent := range slices.Sorted(maps.Keys(left)) {
		for _, l := range left[parent] {
			wrong = append(wrong, l.ID+" is one too many")
		}
	}
	if len(wrong) > 0 {
		found.Addf("entries with other lots", "the stored lots of the entry %s are not those that follow from what it consumed: %s", e.EntryID,
			strings.Join(wrong, "; "))
	}
}
