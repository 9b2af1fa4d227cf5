package books_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// splitLines formats the lines of an entry with their memos and the number of their tags.
func splitLines(e client.JournalEntry) string {
	var out []string
	for _, l := range e.Lines {
		text := fmt.Sprintf("%s %s", l.CreditOrDebit, l.Amount)
		if l.Memo != nil {
			text += " " + *l.Memo
		}
		if len(l.TagIDs) > 0 {
			text += fmt.Sprintf(" #%d", len(l.TagIDs))
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func TestAnEntryFromATransactionMayBeSplit(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		income, other := n.NewAccount(t, client.CreateLedgerAccount{Name: "One", Type: "Revenue"}),
			n.NewAccount(t, client.CreateLedgerAccount{Name: "Two", Type: "Revenue"})
		tag := n.NewTag(t).ID
		deposit := n.NewTransaction(t) // gross 1200.00, fee 25.10
		splits := []client.Split{
			{LedgerAccountID: income.ID, Percent: "66.6667", Memo: "Licences", TagIDs: []string{tag}},
			{LedgerAccountID: other.ID, Percent: "33.3333"}}
		body := client.BookTransaction{TransactionID: deposit.ID, TransactionType: "INCOME", Splits: splits, AutoPost: true}
		preview, err := n.Client.TryBooking(t.Context(), body)
		want := "CREDIT 800.00 Licences #1; CREDIT 400.00; DEBIT 25.10; DEBIT 1174.90"
		if err != nil || splitLines(preview) != want {
			t.Fatalf("preview %s %v", splitLines(preview), err)
		}
		made, err := n.Client.BookTransaction(t.Context(), body)
		if err != nil || splitLines(made) != want {
			t.Fatalf("%s %v", splitLines(made), err)
		}
		splits[0].Percent, splits[0].Amount, splits[1].Percent, splits[1].Amount = "", "1000.00", "", "200.00"
		corrected, err := n.Client.CorrectBooking(t.Context(), made.ID, client.CorrectBooking{Splits: splits})
		if err != nil || splitLines(corrected) != "CREDIT 1000.00 Licences #1; CREDIT 200.00; DEBIT 25.10; DEBIT 1174.90" {
			t.Fatalf("%s %v", splitLines(corrected), err)
		}
		splits[0].Amount, splits[0].Quantity, splits[1].Amount, splits[1].Quantity = "", "5000", "", "1"
		if _, err := n.Client.CorrectBooking(t.Context(), corrected.ID, client.CorrectBooking{Splits: splits}); err == nil ||
			!strings.Contains(err.Error(), "splits add up to 5001 USD, but ") {
			t.Errorf("more than moved: %v", err)
		}
		if a := n.PostJSON(t, "/v1/journal-entries/batch", map[string]any{"journal_entries": []map[string]any{{"transaction_id": n.NewTransaction(t).ID,
			"transaction_type": "INCOME", "splits": []map[string]any{{"ledger_account_id": income.ID, "percent": "50"},
				{"ledger_account_id": other.ID, "amount": "1"}}}}}, nil); a.Status != 400 ||
			!strings.Contains(string(a.Body), `"field":"journal_entries[0].splits[1].percent"`) {
			t.Errorf("mixed: %d %s", a.Status, a.Body)
		}
		if a := n.PostJSON(t, "/v1/journal-entries", map[string]any{"transaction_id": deposit.ID, "transaction_type": "INCOME",
			"splits": []map[string]any{{"ledger_account_id": income.ID, "percent": "100"}}}, nil); a.Status != 400 ||
			!strings.Contains(string(a.Body), `"field":"splits"`) {
			t.Errorf("one split: %d %s", a.Status, a.Body)
		}
		if a := n.PostJSON(t, "/v1/journal-entries", map[string]any{"lines": []map[string]any{}, "accounting_date": "2026-01-31",
			"splits": []map[string]any{{"ledger_account_id": income.ID, "percent": "50"}, {"ledger_account_id": other.ID, "percent": "50"}}},
			nil); a.Status != 400 || !strings.Contains(string(a.Body), `"field":"splits"`) {
			t.Errorf("with lines: %d %s", a.Status, a.Body)
		}
		unknown, err := n.Client.BookTransaction(t.Context(), client.BookTransaction{TransactionID: n.NewTransaction(t).ID,
			TransactionType: "UNKNOWN", LedgerAccountID: income.ID})
		if err != nil || unknown.Lines[0].LedgerAccountID != income.ID || slices.Contains(unknown.Guidance.AllowedActions, "post") {
			t.Errorf("a draft of unknown type: %+v %v", unknown, err)
		}
	})
}
