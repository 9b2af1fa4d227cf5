package receivables_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func TestACreditNoteReducesWhatIsDueUntilItIsVoid(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-31", "4010 100.00 20% 2050")
		credit := func(date, lines string) (client.CreditNote, error) {
			return l.Client.CreateCreditNote(t.Context(), client.CreateCreditNote{CustomerID: l.customer.ID, InvoiceID: i.ID,
				LegalEntityID: l.LegalEntity.ID, CreditNoteDate: date, Lines: l.lines(lines)})
		}
		state := func() string {
			got, err := l.Client.Invoice(t.Context(), i.ID)
			if err != nil {
				t.Fatal(err)
			}
			apitest.Verify(t, s.App)
			return got.Status + " " + got.AmountDue
		}
		part, err := credit("2026-02-15", "4010 10.00 20% 2050")
		if err != nil || part.CreditNoteNumber != "CN-1" || part.Status != "issued" || part.TotalAmount != "12.00" ||
			part.AmountRemaining != "0.00" || part.CustomerID != l.customer.ID || part.LegalEntityID != l.LegalEntity.ID ||
			l.written(t, &part.JournalEntryID) != "Cr Trade receivables 12.00; Dr 4010 10.00; Dr 2050 2.00" {
			t.Fatalf("%+v %v", part, err)
		}
		if got := state(); got != "open 108.00" {
			t.Error(got)
		}
		_, err = l.Client.VoidInvoice(t.Context(), i.ID, client.VoidInvoice{})
		apitest.WantConflict(t, err, "12.00 of the invoice INV-1 are settled", "credit notes that settle it")
		_, err = credit("2026-02-15", "4010 108.01")
		apitest.WantError(t, "too much", err, 409, []string{"lines"}, "108.00 is due on the invoice INV-1")
		_, err = credit("2026-01-30", "4010 1.00")
		apitest.WantError(t, "too early", err, 400, []string{"credit_note_date"}, "2026-01-31")
		rest, err := credit("2026-02-16", "4080 108.00")
		if err != nil || state() != "paid 0.00" {
			t.Errorf("%+v %v: %s", rest, err, state())
		}
		_, err = credit("2026-02-17", "4010 1.00")
		apitest.WantError(t, "paid", err, 409, []string{"invoice_id"}, "only an open one")
		void, err := l.Client.VoidCreditNote(t.Context(), part.ID, client.VoidCreditNote{Reason: "Twice"})
		if err != nil || void.Status != "void" || *void.VoidReason != "Twice" || state() != "open 12.00" {
			t.Errorf("%+v %v: %s", void, err, state())
		}
		if e := l.Find(t, part.JournalEntryID); e.ReversalChain.NextEntryID == nil {
			t.Error("its entry is not reversed")
		}
		_, err = l.Client.VoidCreditNote(t.Context(), part.ID, client.VoidCreditNote{})
		apitest.WantConflict(t, err, "void already")
		_, err = l.Client.ReverseJournalEntry(t.Context(), rest.JournalEntryID, client.ReverseJournalEntry{})
		apitest.WantConflict(t, err, "books the credit note CN-2: void that with POST /v1/credit-notes/"+rest.ID+"/void")
		var numbers []string
		for c, err := range l.Client.CreditNotes(t.Context(), url.Values{"invoice_id": {i.ID}, "status": {"issued"}}) {
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, c.CreditNoteNumber)
		}
		if strings.Join(numbers, " ") != "CN-2" {
			t.Errorf("%q", numbers)
		}
	})
}

func TestACreditNoteOfACustomerRemainsToBeUsed(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		p := client.CreateCreditNote{CustomerID: l.customer.ID, LegalEntityID: l.LegalEntity.ID, CreditNoteDate: "2026-02-15",
			CreditNoteNumber: "G-1", Lines: l.lines("4010 50.00")}
		made, err := l.Client.CreateCreditNote(t.Context(), p)
		if err != nil || made.AmountRemaining != "50.00" || made.InvoiceID != nil {
			t.Fatalf("%+v %v", made, err)
		}
		apitest.Verify(t, s.App)
		_, err = l.Client.CreateCreditNote(t.Context(), p)
		apitest.WantError(t, "number", err, 409, []string{"credit_note_number"}, "G-1 already")
		if void, err := l.Client.VoidCreditNote(t.Context(), made.ID, client.VoidCreditNote{}); err != nil || void.AmountRemaining != "0.00" {
			t.Errorf("%+v %v", void, err)
		}
		p.InvoiceID, p.CreditNoteDate = "inv_1", "2026-02-30"
		_, err = l.Client.CreateCreditNote(t.Context(), p)
		apitest.WantError(t, "unknown", err, 400, []string{"invoice_id", "credit_note_date", "credit_note_number"}, "")
		l.AddEntity(t, "DE", "EUR")
		other := l.invoice(t, "open", "2026-01-31", "4010 100.00")
		before := l.AuditCount(t)
		_, err = l.Client.CreateCreditNote(t.Context(), client.CreateCreditNote{CustomerID: "cus_1", LegalEntityID: l.Names["DE"],
			InvoiceID: other.ID, Currency: "EUR", CreditNoteDate: "2026-02-15", Lines: l.lines("4010 5.00")})
		apitest.WantError(t, "others", err, 400, []string{"customer_id", "legal_entity_id", "currency"}, "must be that of the invoice")
		if after := l.AuditCount(t); after != before {
			t.Errorf("%d changes were made by refused requests", after-before)
		}
	})
}
