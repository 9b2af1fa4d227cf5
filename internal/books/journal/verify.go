package journal

import (
	"context"
	"maps"

	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// verifyChunk is how many entries are read at a time.
const verifyChunk = 1000

// findings collects broken invariants.
type findings struct{ *finding.List }

// Verify recomputes the invariants of the journal and returns a sentence for each broken one: every entry balances and
// lies in its period, numbers have no gaps, the links of chains match, the columns that lines and tags repeat from their
// entry agree with it, all references exist, and the balances are the sums of the lines.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	state, err := orgstate.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	b, err := snapshot.Load(ctx, tx)
	if err != nil {
		return nil, err
	}
	f := findings{finding.New("journal")}
	totals, units, marks, next := book.Totals{}, balance.Units{}, map[string]int64{}, int64(1)
	for {
		rows, err := selectFromNumber(ctx, tx, next, verifyChunk)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if r.Entry.Number != next {
				f.Addf("gaps", "the entries JE-%d to JE-%d are missing", next, r.Entry.Number-1)
			}
			next = r.Entry.Number + 1
			f.verifyEntry(b, r)
			for _, tag := range r.Entry.tags() {
				if r.Entry.Status != deleted {
					marks[tag]++
				}
			}
			if r.Entry.Status == Posted {
				totals.Add(r.Entry.PeriodID, r.Entry.bookLines())
				r.Entry.addUnits(units, false)
			}
		}
		if len(rows) < verifyChunk {
			break
		}
	}
	if next-1 != state.EntryNumber {
		f.Addf("gaps", "the last entry is JE-%d, but the organization state says JE-%d", next-1, state.EntryNumber)
	}
	if err := f.verifyChains(ctx, tx); err != nil {
		return nil, err
	}
	if err := f.verifyOrphans(ctx, tx, marks); err != nil {
		return nil, err
	}
	if err := f.verifyTotals(ctx, tx, totals); err != nil {
		return nil, err
	}
	err = f.verifyUnits(ctx, tx, units)
	return f.Messages(), err
}

// verifyEntry verifies one entry.
func (f findings) verifyEntry(b *snapshot.Books, r storedEntry) {
	e := r.Entry
	if e.Status == deleted {
		if len(e.Lines) > 0 {
			f.Addf("tombstones with lines", "the deleted entry %s has lines", e.SequenceNumber())
		}
		return
	}
	bare := len(e.Lines) == 0 && e.TransactionID != "" // books something worthless
	if len(e.Lines) < linesMin && !bare || len(book.Differences(e.bookLines())) > 0 {
		f.Addf("unbalanced entries", "the entry %s does not balance", e.SequenceNumber())
	}
	if !r.linesAgree {
		f.Addf("lines that differ from their entry", "the lines of %s do not have its date, number and state", e.SequenceNumber())
	}
	if r.search != e.search() {
		f.Addf("entries with a wrong search text", "the entry %s cannot be found by its text", e.SequenceNumber())
	}
	for _, l := range e.Lines {
		_, hasAccount := b.Accounts[l.LedgerAccountID]
		_, hasEntity := b.Entities[l.LegalEntityID]
		if !hasAccount || !hasEntity || l.Amount.Sign() <= 0 {
			f.Addf("faulty lines",
				"a line of %s has an amount that is not positive, or an account or legal entity that does not exist", e.SequenceNumber())
		}
	}
	if e.Status != Posted {
		return
	}
	p, there := b.PeriodOfEntry(e.PeriodID)
	if !there || !p.Contains(e.AccountingDate) {
		f.Addf("entries outside their period", "the entry %s is not in its period", e.SequenceNumber())
	}
	base := book.Totals{}
	for _, l := range e.bookLines() {
		l.Tags, l.Account = nil, ""
		base.Add("", []book.Line{l})
	}
	for _, total := range base {
		if !total.Debits.Equal(total.Credits) {
			f.Addf("entries unbalanced in their currency", "the entry %s does not balance in its legal entity's currency",
				e.SequenceNumber())
		}
	}
	for _, l := range e.Lines {
		if l.Base == nil || l.Currency == b.Entities[l.LegalEntityID].BaseCurrency && !l.Base.Equal(l.Amount) {
			f.Addf("untranslated lines", "a line of %s has no amount in its legal entity's currency, or a wrong one", e.SequenceNumber())
		}
	}
}

// verifyChains verifies that the entries of a chain refer to each other.
func (f findings) verifyChains(ctx context.Context, tx *db.Tx) error {
	broken, err := selectBrokenChains(ctx, tx)
	for _, number := range broken {
		f.Addf("broken chains", "the chain of reversals is broken at JE-%d", number)
	}
	return err
}

// verifyOrphans verifies that every line, tag and share belongs to an entry, that each tag has a row for every entry it is on, and that
// entries are found by each legal entity of their lines.
func (f findings) verifyOrphans(ctx context.Context, tx *db.Tx, want map[string]int64) error {
	for _, table := range []string{"journal_lines", "journal_tags", "journal_shares"} {
		n, err := countOrphans(ctx, tx, table)
		if err != nil {
			return err
		}
		if n > 0 {
			f.Addf("rows without their entry", "%d rows of %s belong to no entry, or not to its date and number", n, table)
		}
	}
	wrong, err := selectWrongShares(ctx, tx)
	if err != nil {
		return err
	}
	for _, number := range wrong {
		f.Addf("entries with a wrong index of legal entities", "the entry JE-%d is not found by exactly the legal entities of its lines", number)
	}
	marks, err := countByTag(ctx, tx)
	if err != nil {
		return err
	}
	all := maps.Clone(marks)
	maps.Copy(all, want)
	for tag := range all {
		if marks[tag] != want[tag] {
			f.Addf("tags with a wrong index", "the tag %s has %d rows in the index, but is on %d entries", tag, marks[tag], want[tag])
		}
	}
	return nil
}

// verifyTotals compares the stored balances with the sums of the lines.
func (f findings) verifyTotals(ctx context.Context, tx *db.Tx, want book.Totals) error {
	kept, err := balance.All(ctx, tx)
	if err != nil {
		return err
	}
	for k, total := range kept {
		if w := want[k]; !w.Debits.Equal(total.Debits) || !w.Credits.Equal(total.Credits) {
			f.Addf("balances that differ from their lines",
				"the stored balance of account %s of %s in %s (tag %q) is %s/%s, but its lines add up to %s/%s",
				k.Account, k.Entity, k.Period, k.Tag, total.Debits, total.Credits, w.Debits, w.Credits)
		}
		delete(want, k)
	}
	for k, w := range want {
		if !w.Debits.IsZero() || !w.Credits.IsZero() {
			f.Addf("balances that are missing", "account %s of %s in %s (tag %q) has lines but no balance", k.Account, k.Entity,
				k.Period, k.Tag)
		}
	}
	return nil
}

// verifyUnits compares the stored quantities of assets and foreign currencies with the sums of the lines.
func (f findings) verifyUnits(ctx context.Context, tx *db.Tx, want balance.Units) error {
	kept, err := balance.AllUnits(ctx, tx)
	if err != nil {
		return err
	}
	all := maps.Clone(kept)
	maps.Copy(all, want)
	for k := range all {
		if h, w := kept[k], want[k]; !h.Quantity.Equal(w.Quantity) || !h.Amount.Equal(w.Amount) {
			f.Addf("quantities that differ from their lines",
				"account %s of %s in %s is stored as holding %s %s at %s, but its lines add up to %s at %s",
				k.Account, k.Entity, k.Period, h.Quantity, k.Unit, h.Amount, w.Quantity, w.Amount)
		}
	}
	return nil
}
