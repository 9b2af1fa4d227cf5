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

// checkChunk is how many entries are looked at together.
const checkChunk = 1000

// findings collects what is broken.
type findings struct{ *finding.List }

// Check recomputes the journal: every entry balances and stands in its month, numbers have no gaps, chains hold
// together, lines and what entries are found by repeat what the entry says, everything they refer to is there, and
// the totals are what the lines add up to.
func Check(ctx context.Context, tx *db.Tx) ([]string, error) {
	h, err := orgstate.Read(ctx, tx)
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
		rows, err := selectFrom(ctx, tx, next, checkChunk)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if r.Entry.Number != next {
				f.Addf("gaps", "the entries JE-%d to JE-%d are missing", next, r.Entry.Number-1)
			}
			next = r.Entry.Number + 1
			f.entry(b, r)
			for _, tag := range r.Entry.tags() {
				if r.Entry.Status != deleted {
					marks[tag]++
				}
			}
			if r.Entry.Status == Posted {
				totals.Add(r.Entry.PeriodID, r.Entry.book())
				r.Entry.units(units, false)
			}
		}
		if len(rows) < checkChunk {
			break
		}
	}
	if next-1 != h.EntryNumber {
		f.Addf("gaps", "the last entry is JE-%d, but the head says JE-%d", next-1, h.EntryNumber)
	}
	if err := f.chains(ctx, tx); err != nil {
		return nil, err
	}
	if err := f.strays(ctx, tx, marks); err != nil {
		return nil, err
	}
	if err := f.totals(ctx, tx, totals); err != nil {
		return nil, err
	}
	err = f.units(ctx, tx, units)
	return f.Messages(), err
}

// entry looks at one entry by itself.
func (f findings) entry(b *snapshot.Books, r checked) {
	e := r.Entry
	if e.Status == deleted {
		if len(e.Lines) > 0 {
			f.Addf("tombstones with lines", "the deleted entry %s has lines", e.SequenceNumber())
		}
		return
	}
	bare := len(e.Lines) == 0 && e.TransactionID != "" // of what is worth nothing
	if len(e.Lines) < LinesMin && !bare || len(book.Differences(e.book())) > 0 {
		f.Addf("unbalanced entries", "the entry %s does not balance", e.SequenceNumber())
	}
	if !r.repeats {
		f.Addf("lines that differ from their entry", "the lines of %s do not repeat its date, number or state", e.SequenceNumber())
	}
	if r.search != e.search() {
		f.Addf("entries that are not found by their text", "the entry %s is not found by its text", e.SequenceNumber())
	}
	for _, l := range e.Lines {
		_, hasAccount := b.Accounts[l.LedgerAccountID]
		_, hasEntity := b.Entities[l.LegalEntityID]
		if !hasAccount || !hasEntity || l.Amount.Sign() <= 0 {
			f.Addf("faulty lines",
				"a line of %s has an amount that is not positive, or an account or legal entity that is not there", e.SequenceNumber())
		}
	}
	if e.Status != Posted {
		return
	}
	p, there := b.PeriodByID(e.PeriodID)
	if !there || !p.Holds(e.AccountingDate) {
		f.Addf("entries outside their period", "the entry %s is not in its period", e.SequenceNumber())
	}
	base := book.Totals{}
	for _, l := range e.book() {
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

// chains checks that links of reversal chains point at each other.
func (f findings) chains(ctx context.Context, tx *db.Tx) error {
	broken, err := selectBrokenChains(ctx, tx)
	for _, number := range broken {
		f.Addf("broken chains", "the chain of reversals is broken at JE-%d", number)
	}
	return err
}

// strays checks that no line or tag is left of an entry that is not there, and that each tag finds as many as carry it.
func (f findings) strays(ctx context.Context, tx *db.Tx, want map[string]int64) error {
	for _, table := range []string{"journal_lines", "journal_tags"} {
		n, err := countStrays(ctx, tx, table)
		if err != nil {
			return err
		}
		if n > 0 {
			f.Addf("rows without their entry", "%d rows of %s belong to no entry, or not to its date and number", n, table)
		}
	}
	marks, err := selectMarks(ctx, tx)
	if err != nil {
		return err
	}
	all := maps.Clone(marks)
	maps.Copy(all, want)
	for tag := range all {
		if marks[tag] != want[tag] {
			f.Addf("tags that do not find their entries", "the tag %s finds %d entries, but is on %d", tag, marks[tag], want[tag])
		}
	}
	return nil
}

// totals compares what is kept with what the lines come to.
func (f findings) totals(ctx context.Context, tx *db.Tx, want book.Totals) error {
	kept, err := balance.All(ctx, tx)
	if err != nil {
		return err
	}
	for k, total := range kept {
		if w := want[k]; !w.Debits.Equal(total.Debits) || !w.Credits.Equal(total.Credits) {
			f.Addf("balances that differ from their lines", "account %s of %s in %s (tag %q) is kept as %s/%s, but its lines come to %s/%s",
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

// units compares how much of foreign money and assets is kept with what the lines come to.
func (f findings) units(ctx context.Context, tx *db.Tx, want balance.Units) error {
	kept, err := balance.AllUnits(ctx, tx)
	if err != nil {
		return err
	}
	all := maps.Clone(kept)
	maps.Copy(all, want)
	for k := range all {
		if h, w := kept[k], want[k]; !h.Quantity.Equal(w.Quantity) || !h.Amount.Equal(w.Amount) {
			f.Addf("quantities that differ from their lines",
				"account %s of %s in %s is kept as holding %s %s at %s, but its lines come to %s at %s",
				k.Account, k.Entity, k.Period, h.Quantity, k.Unit, h.Amount, w.Quantity, w.Amount)
		}
	}
	return nil
}
