package books_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// held is a wallet with an opening asset, and outflows of it.
type held struct {
	*apitest.Tenant
	t      *testing.T
	wallet string
	asset  client.Asset
}

// hold creates a wallet with an opening asset of 2 ETH for 3000.00.
func hold(t *testing.T, n *apitest.Tenant) held {
	t.Helper()
	a := n.NewAsset(t, client.CreateAsset{AssetType: "ETH", Quantity: "2", CostBasis: "3000.00", DateReceived: "2025-01-10"})
	return held{n, t, *a.SourceID, a}
}

func (h held) out(day, quantity, gross string) client.Transaction {
	return h.happens("debit", day, quantity, gross)
}

func (h held) happens(direction, day, quantity, gross string) client.Transaction {
	h.t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		h.t.Fatal(err)
	}
	made, err := h.Client.CreateTransactions(h.t.Context(), client.CreateTransaction{SourceID: h.wallet,
		ExternalID: client.NewIdempotencyKey(), External: client.CreateTransactionExternal{
			Timestamp: at.Add(12 * time.Hour), Description: "Payment", Direction: direction, Quantity: &quantity, Currency: "ETH",
			ValueFiat: &client.ValuedFiat{Gross: gross, Fee: "0.00", Net: gross, Currency: "USD"},
		}})
	if err != nil {
		h.t.Fatal(err)
	}
	return made.Data[0]
}

func (h held) book(b client.BookTransaction) client.JournalEntry {
	h.t.Helper()
	e, err := h.Client.BookTransaction(h.t.Context(), b)
	if err != nil {
		h.t.Fatal(err)
	}
	return e
}

// spelled formats an entry with its lines and lots.
func spelled(e client.JournalEntry) string {
	var out []string
	for _, l := range e.Lines {
		text := l.CreditOrDebit + " " + l.Amount
		if l.Unit != nil {
			text += " for " + *l.UnitQuantity + " " + *l.Unit
		}
		if l.Memo != nil {
			text += " (" + *l.Memo + ")"
		}
		out = append(out, text)
	}
	for _, u := range e.Lots {
		out = append(out, fmt.Sprintf("%s %s %s at %s for %s, %s, %s %s", u.Kind, u.Quantity, u.AssetType, u.CostBasis, u.Proceeds,
			u.GainLoss, *u.Term, *u.Method))
	}
	return strings.Join(out, "; ")
}

func TestATransactionIsBookedShownCorrectedAndReversed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		h := hold(t, s.Found(t, "mine"))
		contractors, marketing := h.AccountByCode(t, "6020").ID, h.AccountByCode(t, "6060").ID
		out := h.out("2025-09-15", "0.5", "1200.00")
		ask := client.BookTransaction{TransactionID: out.ID, TransactionType: "EXPENSE", LedgerAccountID: contractors, VendorName: "Ada"}
		const want = "DEBIT 1200.00; CREDIT 750.00 for 0.5 ETH (FIFO: 0.5 @ 2025-01-10); CREDIT 450.00; dispose 0.5 ETH at 750.00 for " +
			"1200.00, 450.00, short fifo"
		before := h.AuditCount(t)
		dry, err := h.Client.TryBooking(t.Context(), ask)
		if err != nil || spelled(dry) != want || h.AuditCount(t) != before {
			t.Errorf("%s %v", spelled(dry), err)
		}
		draft := h.book(ask)
		shown, err := h.Client.JournalEntry(t.Context(), draft.ID)
		if err != nil || spelled(draft) != want || spelled(shown) != want || draft.Status != "draft" ||
			draft.OriginatedBy != "transaction" || draft.Classification != "EXPENSE" ||
			*draft.TransactionID != out.ID || *draft.TransactionNumber != out.SequenceNumber || len(draft.TagIDs) != 1 ||
			!draft.LegalEntityAutoAssigned {
			t.Errorf("%s\n%s\n%+v %v", spelled(draft), spelled(shown), draft, err)
		}
		if at, err := h.Client.Transaction(t.Context(), out.ID); err != nil || *at.Internal.JournalEntryID != draft.ID ||
			at.Internal.Status != "pending" || at.Internal.TransactionType != "EXPENSE" {
			t.Errorf("%+v %v", at.Internal, err)
		}
		_, err = h.Client.BookTransaction(t.Context(), ask)
		apitest.WantError(t, "twice", err, 409, []string{"transaction_id"}, draft.ID)
		if _, err := h.Client.PostJournalEntry(t.Context(), draft.ID); err != nil {
			t.Fatal(err)
		}
		if at, err := h.Client.Transaction(t.Context(), out.ID); err != nil || at.Internal.Status != "posted" {
			t.Errorf("%+v %v", at.Internal, err)
		}
		if a, err := h.Client.Asset(t.Context(), h.asset.ID); err != nil || a.RemainingQuantity != "1.5" || a.RemainingCostBasis != "2250.00" {
			t.Errorf("%+v %v", a, err)
		}
		before = h.AuditCount(t)
		dry, err = h.Client.CorrectBooking(t.Context(), draft.ID, client.CorrectBooking{LedgerAccountID: &marketing, DryRun: true})
		if err != nil || spelled(dry) != want || dry.Lines[0].LedgerAccountID != marketing || len(dry.Changes) != 0 ||
			h.AuditCount(t) != before {
			t.Errorf("%s %+v %v", spelled(dry), dry.Changes, err)
		}
		memo := "ads"
		now, err := h.Client.CorrectBooking(t.Context(), draft.ID, client.CorrectBooking{LedgerAccountID: &marketing,
			UpdateJournalEntry: client.UpdateJournalEntry{Memo: &memo}})
		if err != nil || spelled(now) != want || now.Lines[0].LedgerAccountID != marketing || *now.Memo != memo ||
			now.ReversalChain.PreviousEntryID == nil {
			t.Errorf("%s %+v %v", spelled(now), now, err)
		}
		_, err = h.Client.CorrectBooking(t.Context(), now.ID, client.CorrectBooking{DryRun: true,
			UpdateJournalEntry: client.UpdateJournalEntry{Memo: &memo}})
		apitest.WantError(t, "a dry run of nothing", err, 400, []string{"dry_run"},
			"requires transaction_type, splits, ledger_account_id or offset_ledger_account_id")
		_, err = h.Client.CorrectBooking(t.Context(), now.ID, client.CorrectBooking{LedgerAccountID: &contractors,
			UpdateJournalEntry: client.UpdateJournalEntry{Lines: &[]client.CreateJournalLine{}}})
		apitest.WantError(t, "lines too", err, 400, []string{"lines"}, "")
		if _, err := h.Client.ReverseJournalEntry(t.Context(), now.ID, client.ReverseJournalEntry{}); err != nil {
			t.Fatal(err)
		}
		if at, err := h.Client.Transaction(t.Context(), out.ID); err != nil || at.Internal.JournalEntryID != nil ||
			at.Internal.Status != "pending" {
			t.Errorf("%+v %v", at.Internal, err)
		}
		if a, err := h.Client.Asset(t.Context(), h.asset.ID); err != nil || a.RemainingQuantity != "2" || a.RemainingCostBasis != "3000.00" {
			t.Errorf("%+v %v", a, err)
		}
	})
}

// A late transaction causes corrections in the same request, and the answer lists them.
func TestALateTransactionSaysWhatItChanges(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		h := hold(t, s.Found(t, "mine"))
		contractors, capital := h.AccountByCode(t, "6020").ID, h.AccountByCode(t, "3010").ID
		out := h.out("2025-09-15", "1", "2400.00")
		sold := h.book(client.BookTransaction{TransactionID: out.ID, TransactionType: "EXPENSE", LedgerAccountID: contractors, AutoPost: true})
		late := h.happens("credit", "2025-01-05", "1", "1000.00")
		ask := client.BookTransaction{TransactionID: late.ID, TransactionType: "DEPOSIT", LedgerAccountID: capital, AutoPost: true}
		dry, err := h.Client.TryBooking(t.Context(), ask)
		if err != nil {
			t.Fatal(err)
		}
		made := h.book(ask)
		for _, e := range []client.JournalEntry{dry, made} {
			if len(e.Changes) != 1 || e.Changes[0].JournalEntryID != sold.ID || e.Changes[0].Action != "corrected" ||
				e.Changes[0].CostBasisChange != "-500" || e.Changes[0].GainLossChange != "500" ||
				*e.Changes[0].TransactionID != out.ID || e.Changes[0].SequenceNumber != sold.SequenceNumber {
				t.Errorf("%+v", e.Changes)
			}
		}
		now, err := h.Client.JournalEntry(t.Context(), *made.Changes[0].ResultID)
		if err != nil || !strings.HasPrefix(spelled(now), "DEBIT 2400.00; CREDIT 1000.00 for 1 ETH (FIFO: 1.0 @ 2025-01-05); CREDIT 1400.00;") {
			t.Errorf("%s %v", spelled(now), err)
		}
		_, err = h.Client.ReverseJournalEntry(t.Context(), made.ID, client.ReverseJournalEntry{})
		apitest.WantError(t, "its lot is used", err, 409, nil, `send {"cascade":"replay"} with the reversal of this one`)
		if _, err := h.Client.ReverseJournalEntry(t.Context(), made.ID, client.ReverseJournalEntry{Cascade: "replay"}); err != nil {
			t.Fatal(err)
		}
		if a, err := h.Client.Asset(t.Context(), h.asset.ID); err != nil || a.RemainingQuantity != "1" {
			t.Errorf("%+v %v", a, err)
		}
	})
}

// An opening asset that was consumed since is changed together with all entries that depend on it, or not at all.
func TestAnAssetThatWasUsedIsChangedWithWhatFollowed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		h := hold(t, s.Found(t, "mine"))
		out := h.out("2025-09-15", "1.5", "3600.00")
		sold := h.book(client.BookTransaction{TransactionID: out.ID, TransactionType: "EXPENSE",
			LedgerAccountID: h.AccountByCode(t, "6020").ID, AutoPost: true})
		other := h.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"})
		before := h.AuditCount(t)
		change := func(u client.UpdateAsset) error {
			_, err := h.Client.UpdateAsset(t.Context(), h.asset.ID, u)
			return err
		}
		text := func(s string) *string { return &s }
		apitest.WantError(t, "less than was used", change(client.UpdateAsset{Quantity: text("1.4")}), 409, []string{"quantity"}, "1.5")
		apitest.WantError(t, "another legal entity", change(client.UpdateAsset{LegalEntityID: &other.ID}), 409, []string{"legal_entity_id"},
			"INTERCOMPANY TRANSFER")
		apitest.WantConflict(t, h.Client.DeleteAsset(t.Context(), h.asset.ID), "")
		if h.AuditCount(t) != before {
			t.Error("something was written")
		}
		if err := change(client.UpdateAsset{CostBasis: text("2000.00")}); err != nil {
			t.Fatal(err)
		}
		at, err := h.Client.Transaction(t.Context(), out.ID)
		if err != nil || *at.Internal.JournalEntryID == sold.ID {
			t.Fatalf("%+v %v", at.Internal, err)
		}
		now, err := h.Client.JournalEntry(t.Context(), *at.Internal.JournalEntryID)
		if err != nil || now.Lines[1].Amount != "1500.00" || now.Lines[2].Amount != "2100.00" {
			t.Errorf("%s %v", spelled(now), err)
		}
		short := h.out("2025-10-01", "0.75", "1000.00")
		_, err = h.Client.BookTransaction(t.Context(), client.BookTransaction{TransactionID: short.ID, TransactionType: "EXPENSE",
			LedgerAccountID: h.AccountByCode(t, "6020").ID, AutoPost: true})
		apitest.WantError(t, "more than there is", err, 409, []string{"quantity"}, "0.25 ETH are missing")
		_, err = h.Client.BookTransactions(t.Context(), []client.BookTransaction{{TransactionID: short.ID, TransactionType: "EXPENSE",
			LedgerAccountID: h.AccountByCode(t, "6020").ID, AutoPost: true}})
		apitest.WantError(t, "more than there is, in a batch", err, 409, []string{"journal_entries[0].quantity"}, "0.25 ETH are missing")
	})
}

// Of many concurrent bookings that consume the same lots, as many succeed as the quantity allows, in whatever way they are sent.
func TestConcurrentBookingsConsumeEachLotOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		h := hold(t, s.Found(t, "mine"))
		contractors := h.AccountByCode(t, "6020").ID
		var booking []func() error
		var out []client.Transaction
		for i := range 6 {
			sold := h.out("2025-09-15", "0.5", "1200.00")
			out = append(out, sold)
			ask := client.BookTransaction{TransactionID: sold.ID, TransactionType: "EXPENSE", LedgerAccountID: contractors, AutoPost: i%2 == 0}
			if ask.AutoPost {
				booking = append(booking, func() error { _, err := h.Client.BookTransaction(t.Context(), ask); return err })
				continue
			}
			draft := h.book(ask)
			booking = append(booking, func() error { _, err := h.Client.PostJournalEntry(t.Context(), draft.ID); return err })
		}
		errs := make([]error, len(booking))
		var wait sync.WaitGroup
		for i, book := range booking {
			wait.Go(func() { errs[i] = book() })
		}
		wait.Wait()
		booked := 0
		for i, err := range errs {
			at, failed := h.Client.Transaction(t.Context(), out[i].ID)
			if failed != nil {
				t.Fatal(failed)
			}
			if err == nil {
				booked++
			} else {
				apitest.WantError(t, "too many", err, 409, []string{"quantity"}, "0.5 ETH are missing")
			}
			if (at.Internal.Status == "posted") != (err == nil) {
				t.Errorf("%v, but %s", err, at.Internal.Status)
			}
		}
		if a, err := h.Client.Asset(t.Context(), h.asset.ID); err != nil || booked != 4 || a.RemainingQuantity != "0" ||
			a.RemainingCostBasis != "0.00" {
			t.Errorf("%d are booked: %+v %v", booked, a, err)
		}
	})
}

func TestLinesOfALoanShowItsUnits(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		h := hold(t, s.Found(t, "mine"))
		loans := h.AccountByCode(t, "2220").ID
		for _, x := range []struct{ direction, day, gross, kind, lines string }{
			{"credit", "2025-09-15", "20000.00", "BORROW", "CREDIT 20000.00 for 10 ETH; DEBIT 20000.00 for 10 ETH"},
			{"debit", "2025-09-20", "26000.00", "REPAYMENT", "DEBIT 20000.00 for 10 ETH; CREDIT 19000.00 for 10 ETH " +
				"(FIFO: 2.0 @ 2025-01-10, 8.0 @ 2025-09-15); DEBIT 6000.00; CREDIT 7000.00"},
		} {
			made := h.book(client.BookTransaction{TransactionID: h.happens(x.direction, x.day, "10", x.gross).ID, TransactionType: x.kind,
				LedgerAccountID: loans, AutoPost: true})
			shown, err := h.Client.JournalEntry(t.Context(), made.ID)
			shown.Lots = nil
			if got := spelled(shown); err != nil || got != x.lines {
				t.Errorf("%s: %s, %v\nwant %s", x.kind, got, err, x.lines)
			}
		}
		var listed []string
		for line, err := range h.Client.GeneralLedger(t.Context(), url.Values{"start_date": {"2025-09-01"}, "end_date": {"2025-09-30"}}) {
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case line.LedgerAccountID == loans && line.Unit != nil && line.UnitQuantity != nil:
				listed = append(listed, line.CreditOrDebit+" "+line.Amount+" for "+*line.UnitQuantity+" "+*line.Unit)
			case (line.Unit == nil) != (line.UnitQuantity == nil) || line.LedgerAccountID == loans:
				t.Errorf("a line of the general ledger lacks its unit: %+v", line)
			}
		}
		if got := strings.Join(listed, "; "); got != "CREDIT 20000.00 for 10 ETH; DEBIT 20000.00 for 10 ETH" {
			t.Errorf("the general ledger shows %s", got)
		}
	})
}
