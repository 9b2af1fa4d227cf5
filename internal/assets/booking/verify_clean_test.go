package booking_test

import (
	"slices"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
)

// close closes every month up to one.
func (w *world) close(through string) {
	w.Helper()
	all, err := w.periods.List(w.ctx, period.Filter{}, page.Request{Limit: 100})
	if err != nil {
		w.Fatal(err)
	}
	for _, p := range slices.Backward(all.Items) { // the last one is first
		if p.Key > through {
			break
		}
		if _, err := w.periods.Close(w.ctx, p.ID, ""); err != nil {
			w.Fatalf("close %s: %v", p.Key, err)
		}
	}
}

func (w *world) reverse(e journal.Entry, cascade bool) {
	w.Helper()
	if _, err := w.journal.Reverse(w.ctx, e.ID, journal.ReverseParams{Cascade: cascade}); err != nil {
		w.Fatalf("reverse %s: %v", e.SequenceNumber(), err)
	}
}

func TestBooksThatWereTruedUpHaveNoFindings(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-02-01", "A in 1 ETH = 2000.00"), "SWAP", "Bank")
		w.book(w.add("2025-03-10", "A out 0.5 ETH = 1300.00"), "SWAP", "Bank")
		out, in := w.add("2025-03-20", "A out 0.25 ETH = 700.00"), w.add("2025-03-20T12:05:00Z", "B in 0.25 ETH = 700.00")
		w.link(out, in)
		w.book(out, "INTERNAL TRANSFER", "")
		w.book(w.add("2025-04-02", "B out 0.1 ETH = 300.00"), "SWAP", "Bank")
		w.close("2025-03")
		w.book(w.add("2025-01-05", "A in 1 ETH = 1200.00"), "SWAP", "Bank")
		w.verifyBooks()
		w.book(w.add("2025-01-03", "A in 0.1 ETH = 50.00"), "SWAP", "Bank")
	})
}

func TestBooksWhoseClosedEntriesWereReversedHaveNoFindings(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		first := w.book(w.add("2025-02-01", "A in 1 ETH = 2000.00"), "SWAP", "Bank")
		w.book(w.add("2025-02-02", "A in 1 ETH = 3000.00"), "SWAP", "Bank")
		w.book(w.add("2025-03-09", "A out 0.2 ETH = 1300.00"), "SWAP", "Bank")
		sale := w.book(w.add("2025-03-10", "A out 0.5 ETH = 1300.00"), "SWAP", "Bank")
		w.close("2025-03")
		w.reverse(sale.Entry, false)
		w.verifyBooks()
		w.book(w.add("2025-03-10", "A out 0.4 ETH = 1300.00"), "SWAP", "Bank")
		w.verifyBooks()
		w.reverse(first.Entry, true)
	})
}

func TestBooksWithDeficitsHaveNoFindings(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		zero := entity.ShortAtZeroBasis
		if _, err := w.entities.Update(w.ctx, w.us, entity.UpdateParams{ShortDisposal: &zero}); err != nil {
			t.Fatal(err)
		}
		w.book(w.add("2025-02-01", "A in 1 ETH = 2000.00"), "SWAP", "Bank")
		w.book(w.add("2025-03-10", "A out 1.5 ETH = 3900.00"), "SWAP", "Bank")
		w.verifyBooks()
		w.book(w.add("2025-03-20", "B in 1 ETH = 2500.00"), "INTERNAL TRANSFER", "") // nothing is parked
		w.verifyBooks()
		w.book(w.add("2025-01-20", "A in 0.25 ETH = 500.00"), "SWAP", "Bank")
		w.book(w.add("2025-04-20", "A out 0.5 ETH = 1500.00"), "INTERNAL TRANSFER", "")
		w.verifyBooks()
		w.book(w.add("2025-04-21", "B in 0.5 ETH = 1500.00"), "INTERNAL TRANSFER", "")
	})
}

func TestBooksOfSeveralLegalEntitiesAndOpeningsHaveNoFindings(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		assets := opening.NewService(w.db, w.journal, w.bookings.Load, w.bookings.Rebook)
		w.add("2025-01-10", "A in 2 ETH = 4000.00") // which the openings are before
		held, err := assets.Create(w.ctx, opening.CreateParams{
			AssetType: "ETH", Quantity: money.MustParse("3"), CostBasis: money.MustParse("1000"), LegalEntityID: w.us,
			LedgerAccountID: w.source("A").LedgerAccountID, SourceID: w.source("A").ID, DateReceived: "2024-05-05",
		})
		if err != nil {
			t.Fatal(err)
		}
		free, err := assets.Create(w.ctx, opening.CreateParams{
			AssetType: "ETH", Quantity: money.MustParse("1"), LegalEntityID: w.us, LedgerAccountID: w.source("A").LedgerAccountID,
			SourceID: w.source("A").ID, DateReceived: "2024-05-06",
		})
		if err != nil {
			t.Fatal(err)
		}
		w.book(w.add("2025-03-10", "A out 1.5 ETH = 3900.00"), "SWAP", "Bank")
		out, in := w.add("2025-03-20", "A out 0.25 ETH = 700.00"), w.add("2025-03-20T12:05:00Z", "SubA in 0.25 ETH = 700.00")
		w.link(out, in)
		w.book(out, "INTERCOMPANY TRANSFER", "")
		w.verifyBooks()
		cost := money.MustParse("1500")
		if _, err := assets.Update(w.ctx, held.ID, opening.UpdateParams{CostBasis: &cost}); err != nil {
			t.Fatal(err)
		}
		w.verifyBooks()
		if err := assets.Delete(w.ctx, free.ID); err != nil {
			t.Fatal(err)
		}
		w.book(w.add("2025-05-10", "A in 1 PUNK token 7 = 100.00"), "NFT", "Bank")
		w.book(w.add("2025-05-11", "A out 1 PUNK token 7 = 150.00"), "NFT", "Bank")
		sale := w.book(w.add("2025-05-12", "A out 0.1 ETH = 150.00 gas 0.01 ETH"), "SWAP", "Bank")
		kind := "EXPENSE"
		target := w.accountID("Software and subscriptions")
		if _, err := w.bookings.Correct(w.ctx, sale.ID, booking.CorrectParams{Type: kind, LedgerAccountID: &target}); err != nil {
			t.Fatal(err)
		}
	})
}
