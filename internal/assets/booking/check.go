package booking

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/asset"
	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// checkChunk is how many entries are looked at together.
const checkChunk = 500

// Check holds transactions, entries and lots against each other: a transaction has one entry that stands and is what
// that is, and an entry is made again, with its lines, its requests and its lots, from what it follows from and the
// lots it took.
func Check(ctx context.Context, tx *db.Tx) ([]string, error) {
	found := finding.About("bookings")
	for _, s := range strays {
		broken, err := db.All[string](ctx, tx, s.query)
		if err != nil {
			return nil, err
		}
		for _, name := range broken {
			found.Addf(s.kind, s.text, name)
		}
	}
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	for after := ""; ; {
		rows, err := selectStanding(ctx, tx, after, checkChunk)
		if err != nil {
			return nil, err
		}
		if err := checkMade(ctx, tx, b, rows, found); err != nil {
			return nil, err
		}
		if len(rows) < checkChunk {
			return found.All(), nil
		}
		after = rows[len(rows)-1].EntryID
	}
}

// checkMade makes entries again.
func checkMade(ctx context.Context, tx *db.Tx, b *snapshot.Books, rows []bookingRow, found *finding.List) error {
	var works []asset.Work
	for _, r := range rows {
		w, err := r.work()
		if err == nil {
			w.Input.Books.Accounts = b.Roles()
			w.Plan, err = posting.Prepare(w.Input)
		}
		if err != nil {
			found.Addf("entries that cannot be made", "the entry %s cannot be made from what it follows from: %v", r.EntryID, err)
			continue
		}
		works = append(works, w)
	}
	made, err := asset.CheckWorks(ctx, tx, b, works, found)
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
			found.Addf("entries whose lines are others",
				"the entry %s and its true-ups are not what they follow from: %s %s is missing on %s", e.SequenceNumber(), rest[0].Side,
				rest[0].Amount, rest[0].LedgerAccountID)
		}
	}
	return nil
}

// bookedFor is the lines of an entry and of what brought it to what it cost after all.
func bookedFor(ctx context.Context, tx *db.Tx, e journal.Entry) ([]journal.LineParams, error) {
	before, err := journal.TrueUps(ctx, tx, e.TransactionID)
	booked := paramsOf(e.Lines)
	for _, t := range before {
		booked = append(booked, paramsOf(t.Lines)...)
	}
	return booked, err
}
