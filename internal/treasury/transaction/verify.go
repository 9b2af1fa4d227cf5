package transaction

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// verifyBatch is how many transactions are read at a time.
const verifyBatch = 1000

// findings collects violated invariants.
type findings struct{ *finding.List }

// Verify recomputes the invariants of transactions: numbers have no gaps, visibility matches status, amounts are
// possible, sources exist, and derived columns, tags and counts match the transactions.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	state, err := orgstate.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	f, k, next := findings{finding.New("transactions")}, tally{newChange(), map[string]int64{}}, int64(1)
	for {
		rows, err := selectFrom(ctx, tx, next, verifyBatch)
		if err != nil {
			return nil, err
		}
		if err := f.verifyRows(ctx, tx, rows, k); err != nil {
			return nil, err
		}
		for _, r := range rows {
			if r.Number != next {
				f.Addf("gaps", "%s to %s are missing", SequenceNumber(next), SequenceNumber(r.Number-1))
			}
			next = r.Number + 1
		}
		if len(rows) < verifyBatch {
			break
		}
	}
	if next-1 != state.TransactionNumber {
		f.Addf("gaps", "the last number is %s, but the organization state says %s", SequenceNumber(next-1),
			SequenceNumber(state.TransactionNumber))
	}
	if err := f.verifyCounts(ctx, tx, k.kept.counts); err != nil {
		return nil, err
	}
	if err := f.verifyQuantities(ctx, tx, k.kept.quantities); err != nil {
		return nil, err
	}
	if err := f.verifyTags(ctx, tx, k.tags); err != nil {
		return nil, err
	}
	n, err := countUnsearchable(ctx, tx)
	if n > 0 {
		f.Addf("unsearchable", "%d are not in the full-text index", n)
	}
	return f.Messages(), err
}

// tally is what the stored transactions, except deleted ones, add up to: what is kept about them, and the number of transactions with
// each tag.
type tally struct {
	kept change
	tags map[string]int64
}

// verifyRows verifies some transactions and adds them to the tally.
func (f findings) verifyRows(ctx context.Context, tx *db.Tx, rows []keyedRow, k tally) error {
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.SourceID)
	}
	sources, err := source.FindSomeUnchecked(ctx, tx, slices.Compact(slices.Sorted(slices.Values(ids))))
	if err != nil {
		return err
	}
	for _, r := range rows {
		t, readable := f.verifyRow(r, sources)
		if r.Visibility == deleted {
			continue
		}
		for _, key := range r.countKeys() {
			k.kept.counts[key]++
		}
		if readable {
			t.Source.ID = r.SourceID
			k.kept.quantities.add(t, 1)
		}
		for _, tagID := range strings.Fields(r.TagIDs) {
			k.tags[tagID]++
		}
	}
	return nil
}

// verifyRow verifies a single transaction, and returns it if it can be read.
func (f findings) verifyRow(r keyedRow, sources map[string]source.Source) (Transaction, bool) {
	name := SequenceNumber(r.Number)
	s, ok := sources[r.SourceID]
	if !ok && r.Visibility != deleted {
		f.Addf("without their source", "the source %s of %s does not exist", r.SourceID, name)
	}
	f.verifyState(r)
	if fault := r.amountFault(); fault != "" {
		f.Addf("with impossible amounts", "%s %s", name, fault)
		return Transaction{}, false // nothing can be computed from such amounts
	}
	t, err := r.transaction(s)
	if err != nil {
		f.Addf("that cannot be read", "%s cannot be read: %v", name, err)
		return t, false
	}
	if wrong := r.keyFaults(toRow(t)); len(wrong) > 0 {
		f.Addf("with wrong derived columns", "%s has the wrong value in %s", name, strings.Join(wrong, ", "))
	}
	return t, true
}

// verifyState compares type, status and visibility.
func (f findings) verifyState(r keyedRow) {
	name, spam := SequenceNumber(r.Number), Status(r.Status) == Spam
	visibility := listed
	if spam {
		visibility = spammed
	}
	if !slices.Contains(statuses, Status(r.Status)) || r.Visibility != visibility && r.Visibility != deleted {
		f.Addf("with the wrong visibility", "%s is %s, but has visibility %d", name, r.Status, r.Visibility)
	}
	if !slices.Contains(types, r.Type) || spam != (Type(r.Type) == TypeSpam) || spam != (r.TypeBefore != nil) {
		f.Addf("whose type and state differ", "%s is %s of the type %s, before spam %q", name, r.Status, r.Type, db.OrEmpty(r.TypeBefore))
	}
}

// verifyCounts compares the kept counts with the transactions.
func (f findings) verifyCounts(ctx context.Context, tx *db.Tx, want counts) error {
	stored, err := selectCounts(ctx, tx)
	if err != nil {
		return err
	}
	for _, k := range stored {
		if n := want[k.countKey]; n != k.Count {
			f.Addf("wrong counts", "the count of %+v is %d, but there are %d", k.countKey, k.Count, n)
		}
		delete(want, k.countKey)
	}
	for key, n := range want {
		f.Addf("missing counts", "%+v has no count, but there are %d", key, n)
	}
	return nil
}

// verifyQuantities compares the kept sums with the transactions.
func (f findings) verifyQuantities(ctx context.Context, tx *db.Tx, want quantities) error {
	stored, err := selectAllQuantities(ctx, tx)
	if err != nil {
		return err
	}
	for _, k := range stored {
		if n := want[k.quantityKey]; n.Count != k.Count || n.Unknown != k.Unknown || !n.Quantity.Equal(k.Quantity) {
			f.Addf("wrong sums", "the sum of %+v is %s of %d transactions, but they add up to %s of %d", k.quantityKey, k.Quantity, k.Count,
				n.Quantity, n.Count)
		}
		delete(want, k.quantityKey)
	}
	for key, n := range want {
		f.Addf("missing sums", "%+v has no sum, but its transactions add up to %s", key, n.Quantity)
	}
	return nil
}

// verifyTags verifies that transaction_tags has exactly one row for each tag of a transaction.
func (f findings) verifyTags(ctx context.Context, tx *db.Tx, want map[string]int64) error {
	n, err := countStrayTags(ctx, tx)
	if err != nil {
		return err
	}
	if n > 0 {
		f.Addf("stray tags", "%d rows of transaction_tags belong to no transaction with that tag", n)
	}
	stored, err := countByTag(ctx, tx)
	if err != nil {
		return err
	}
	all := maps.Clone(stored)
	maps.Copy(all, want)
	for tagID := range all {
		if stored[tagID] != want[tagID] {
			f.Addf("tags with the wrong number of transactions",
				"the tag %s has %d rows in transaction_tags, but is on %d transactions", tagID, stored[tagID], want[tagID])
		}
	}
	return nil
}

// countKeys returns the counts that a row is included in.
func (r keyedRow) countKeys() []countKey {
	all := []countKey{{"", "", r.SourceID, r.Status}}
	for _, f := range [][2]string{{"transaction_type", r.Type}, {"asset_type", r.Asset}, {"chain", r.Chain},
		{"direction", r.Direction}, {"category_key", db.OrEmpty(r.CategoryKey)}} {
		if f[1] != "" {
			all = append(all, countKey{f[0], f[1], r.SourceID, r.Status})
		}
	}
	return all
}

// amountFault describes impossible amounts of a row, or returns an empty text.
func (r keyedRow) amountFault() string {
	whole := r.Gross != nil
	switch {
	case whole != (r.Fee != nil) || whole != (r.ValueCurrency != nil):
		return "has a value that lacks its gross, fee or currency"
	case r.Quantity != nil && r.Quantity.Sign() < 0 || whole && (r.Gross.Sign() < 0 || r.Fee.Sign() < 0):
		return "has a negative amount"
	case whole && r.Fee.Cmp(*r.Gross) > 0:
		return "has a fee that is more than its gross value"
	}
	return ""
}

// keyFaults returns the derived columns whose stored value is not the computed one.
func (r keyedRow) keyFaults(want keyedRow) (columns []string) {
	for _, k := range []struct{ column, got, want string }{
		{"asset_type", r.Asset, want.Asset}, {"chain", r.Chain, want.Chain}, {"from_key", db.OrEmpty(r.From), db.OrEmpty(want.From)},
		{"to_key", db.OrEmpty(r.To), db.OrEmpty(want.To)},
		{"category_key", db.OrEmpty(r.CategoryKey), db.OrEmpty(want.CategoryKey)}, {"gross_amount_key", r.GrossAmount, want.GrossAmount},
		{"net_amount_key", r.NetAmount, want.NetAmount}, {"gross_price_key", r.GrossPrice, want.GrossPrice}, {"search", r.Search, want.Search},
	} {
		if k.got != k.want {
			columns = append(columns, k.column)
		}
	}
	return columns
}
