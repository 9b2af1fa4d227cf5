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

// verifyChunk is how many transactions are read at a time.
const verifyChunk = 1000

// findings collects what is broken.
type findings struct{ *finding.List }

// Verify recomputes what follows from transactions: numbers have no gaps, each has the visibility of its status,
// amounts are possible, sources are there, and what transactions are found, marked and counted by repeats what they
// say.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	h, err := orgstate.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	f, k, next := findings{finding.About("transactions")}, tally{counts{}, map[string]int64{}}, int64(1)
	for {
		rows, err := selectFrom(ctx, tx, next, verifyChunk)
		if err != nil {
			return nil, err
		}
		if err := f.chunk(ctx, tx, rows, k); err != nil {
			return nil, err
		}
		for _, r := range rows {
			if r.Number != next {
				f.Addf("gaps", "%s to %s are missing", SequenceNumber(next), SequenceNumber(r.Number-1))
			}
			next = r.Number + 1
		}
		if len(rows) < verifyChunk {
			break
		}
	}
	if next-1 != h.TransactionNumber {
		f.Addf("gaps", "the last is %s, but the head says %s", SequenceNumber(next-1), SequenceNumber(h.TransactionNumber))
	}
	if err := f.counts(ctx, tx, k.counts); err != nil {
		return nil, err
	}
	if err := f.marks(ctx, tx, k.marks); err != nil {
		return nil, err
	}
	n, err := countUnsearchable(ctx, tx)
	if n > 0 {
		f.Addf("unsearchable", "%d are not in the index of texts", n)
	}
	return f.All(), err
}

// tally is what there is: how many of each sort, and how many with each tag. What is deleted is in neither.
type tally struct {
	counts counts
	marks  map[string]int64
}

// chunk looks at some transactions and counts them.
func (f findings) chunk(ctx context.Context, tx *db.Tx, rows []keyedRow, k tally) error {
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.SourceID)
	}
	sources, err := source.FindSomeUnchecked(ctx, tx, slices.Compact(slices.Sorted(slices.Values(ids))))
	if err != nil {
		return err
	}
	for _, r := range rows {
		f.one(r, sources)
		if r.Visibility == deleted {
			continue
		}
		for _, sort := range r.cells() {
			k.counts[sort]++
		}
		for _, tagID := range strings.Fields(r.TagIDs) {
			k.marks[tagID]++
		}
	}
	return nil
}

// one looks at a transaction by itself.
func (f findings) one(r keyedRow, sources map[string]source.Source) {
	name := SequenceNumber(r.Number)
	s, there := sources[r.SourceID]
	if !there && r.Visibility != deleted {
		f.Addf("without their source", "the source %s of %s is not there", r.SourceID, name)
	}
	f.state(r)
	if fault := r.amountFault(); fault != "" {
		f.Addf("with impossible amounts", "%s %s", name, fault)
		return // such amounts have no keys
	}
	t, err := r.transaction(s)
	if err != nil {
		f.Addf("that cannot be read", "%s cannot be read: %v", name, err)
		return
	}
	if wrong := r.keyFaults(toRow(t)); len(wrong) > 0 {
		f.Addf("that are not found by what they say", "%s does not repeat what it says in %s", name, strings.Join(wrong, ", "))
	}
}

// state compares type, status and visibility.
func (f findings) state(r keyedRow) {
	name, spam := SequenceNumber(r.Number), Status(r.Status) == Spam
	visibility := listed
	if spam {
		visibility = spammed
	}
	if !slices.Contains(Statuses, Status(r.Status)) || r.Visibility != visibility && r.Visibility != deleted {
		f.Addf("with the wrong visibility", "%s is %s, but has visibility %d", name, r.Status, r.Visibility)
	}
	if !slices.Contains(Types, r.Type) || spam != (Type(r.Type) == TypeSpam) || spam != (r.TypeBefore != nil) {
		f.Addf("whose type and state differ", "%s is %s of the type %s, before spam %q", name, r.Status, r.Type, db.OrEmpty(r.TypeBefore))
	}
}

// counts compares what is kept with what there is.
func (f findings) counts(ctx context.Context, tx *db.Tx, want counts) error {
	kept, err := selectCounts(ctx, tx)
	if err != nil {
		return err
	}
	for _, k := range kept {
		if n := want[k.cell]; n != k.Count {
			f.Addf("wrong counts", "%+v are counted as %d, but there are %d", k.cell, k.Count, n)
		}
		delete(want, k.cell)
	}
	for cell, n := range want {
		f.Addf("missing counts", "%+v are not counted, but there are %d", cell, n)
	}
	return nil
}

// marks checks that each tag finds as many as carry it, and none that does not.
func (f findings) marks(ctx context.Context, tx *db.Tx, want map[string]int64) error {
	n, err := countStrayMarks(ctx, tx)
	if err != nil {
		return err
	}
	if n > 0 {
		f.Addf("stray tags", "%d rows of transaction_tags belong to none that has the tag", n)
	}
	kept, err := selectMarks(ctx, tx)
	if err != nil {
		return err
	}
	all := maps.Clone(kept)
	maps.Copy(all, want)
	for tagID := range all {
		if kept[tagID] != want[tagID] {
			f.Addf("tags that do not find their transactions", "the tag %s finds %d, but is on %d", tagID, kept[tagID], want[tagID])
		}
	}
	return nil
}

// cells are the sorts that a row is counted with, as it says itself.
func (r keyedRow) cells() []cell {
	all := []cell{{"", "", r.SourceID, r.Status}}
	for _, f := range [][2]string{{"transaction_type", r.Type}, {"asset_type", r.Asset}, {"chain", r.Chain},
		{"direction", r.Direction}, {"category_key", db.OrEmpty(r.CategoryKey)}} {
		if f[1] != "" {
			all = append(all, cell{f[0], f[1], r.SourceID, r.Status})
		}
	}
	return all
}

// amountFault says what cannot be about the amounts of a row.
func (r keyedRow) amountFault() string {
	whole := r.Gross != nil
	switch {
	case whole != (r.Fee != nil) || whole != (r.ValueCurrency != nil):
		return "has a value of which a part is missing"
	case r.Quantity != nil && r.Quantity.Sign() < 0 || whole && (r.Gross.Sign() < 0 || r.Fee.Sign() < 0):
		return "has a negative amount"
	case whole && r.Fee.Cmp(*r.Gross) > 0:
		return "has a fee that is more than its gross value"
	}
	return ""
}

// keyFaults names the columns in which a row does not repeat what it says.
func (r keyedRow) keyFaults(want keyedRow) (columns []string) {
	for _, k := range []struct{ column, got, want string }{
		{"asset_type", r.Asset, want.Asset}, {"chain", r.Chain, want.Chain}, {"from_key", db.OrEmpty(r.From),
			db.OrEmpty(want.From)}, {"to_key", db.OrEmpty(r.To), db.OrEmpty(want.To)},
		{"category_key", db.OrEmpty(r.CategoryKey), db.OrEmpty(want.CategoryKey)}, {"gross_amount_key", r.GrossAmount, want.GrossAmount},
		{"net_amount_key", r.NetAmount, want.NetAmount}, {"gross_price_key", r.GrossPrice, want.GrossPrice}, {"search", r.Search, want.Search},
	} {
		if k.got != k.want {
			columns = append(columns, k.column)
		}
	}
	return columns
}
