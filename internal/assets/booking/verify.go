package booking

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// verifyChunk is the number of entries that are verified together.
const verifyChunk = 500

// Verify compares transactions, entries and lots, and returns a text for every difference: a transaction must have one
// entry in force and the same status, and an entry that is booked again from its stored booking and the lots it consumed
// must have the same lines, consumptions and lots. No account of a source may show what its source cannot hold. It is a
// building block.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	found := finding.New("bookings")
	for _, s := range inconsistencies {
		broken, err := db.All[string](ctx, tx, s.query)
		if err != nil {
			return nil, err
		}
		for _, name := range broken {
			found.Addf(s.kind, s.text, name)
		}
	}
	b, err := snapshot.Load(ctx, tx)
	if err != nil {
		return nil, err
	}
	sources, err := findUnholdable(ctx, tx, b, found)
	if err != nil {
		return nil, err
	}
	for after := ""; ; {
		rows, err := selectInForce(ctx, tx, after, verifyChunk)
		if err != nil {
			return nil, err
		}
		if err := verifyEntries(ctx, tx, b, sources, rows, found); err != nil {
			return nil, err
		}
		if len(rows) < verifyChunk {
			return found.Messages(), nil
		}
		after = rows[len(rows)-1].EntryID
	}
}

// verifyEntries books entries again and compares them with those that are stored.
func verifyEntries(ctx context.Context, tx *db.Tx, b *snapshot.Books, sources map[string]source.Source, rows []bookingRow,
	found *finding.List) error {
	var effects []replay.Effect
	for _, r := range rows {
		e, err := r.effect()
		if err == nil {
			e.Input.Books.Accounts = b.Roles()
			e.Plan, err = posting.Prepare(e.Input)
		}
		if err != nil {
			found.Addf("entries that cannot be booked again", "the entry %s cannot be booked again from its stored booking: %v", r.EntryID, err)
			continue
		}
		if target := e.Input.Target.Account; r.AccountID != nil && target != "" && target != *r.AccountID {
			found.Addf("bookings to another account", "the booking of the entry %s names the account %s, but was made for %s", r.EntryID,
				*r.AccountID, target)
		}
		effects = append(effects, e)
		findUnholdableLegs(e, sources, found)
	}
	made, err := replay.VerifyEffects(ctx, tx, b, effects, found)
	if err != nil {
		return err
	}
	ids := slices.Sorted(maps.Keys(made))
	entries, err := journal.FindSomeUnchecked(ctx, tx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		e := entries[id]
		booked, err := bookedFor(ctx, tx, e)
		if err != nil {
			return err
		}
		if rest := difference(linesOf(made[id]), booked); len(rest) > 0 {
			found.Addf("entries with other lines",
				"the lines of the entry %s and its true-ups do not follow from its booking: %s %s is missing on the account %s",
				e.SequenceNumber(), rest[0].Side, rest[0].Amount, rest[0].LedgerAccountID)
		}
	}
	return nil
}

// bookedFor returns the lines of an entry and of its true-ups.
func bookedFor(ctx context.Context, tx *db.Tx, e journal.Entry) ([]journal.LineParams, error) {
	before, err := journal.TrueUps(ctx, tx, e.TransactionID)
	booked := paramsOf(e.Lines)
	for _, t := range before {
		booked = append(booked, paramsOf(t.Lines)...)
	}
	return booked, err
}
