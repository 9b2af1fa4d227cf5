package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// ledger makes entries of an accountant's notation: "Dr 1010 100.00; Cr 4000 100.00 USD". Accounts are codes of the default chart.
type ledger struct {
	*apitest.Tenant
	accounts map[string]string
}

func openLedger(t *testing.T, n *apitest.Tenant) *ledger {
	t.Helper()
	l := &ledger{n, map[string]string{}}
	for a, err := range n.Client.LedgerAccounts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if a.Code != nil {
			l.accounts[*a.Code] = a.ID
		}
	}
	return l
}

func (l *ledger) lines(text string) (out []client.CreateJournalLine) {
	for part := range strings.SplitSeq(text, ";") {
		f := strings.Fields(part)
		line := client.CreateJournalLine{LedgerAccountID: f[1], CreditOrDebit: map[string]string{"Dr": "DEBIT", "Cr": "CREDIT"}[f[0]], Amount: f[2]}
		if id, ok := l.accounts[f[1]]; ok {
			line.LedgerAccountID = id
		}
		for _, extra := range f[3:] {
			switch {
			case strings.HasPrefix(extra, "le_"):
				line.LegalEntityID = extra
			case strings.HasPrefix(extra, "tag_"):
				line.TagIDs = append(line.TagIDs, extra)
			default:
				line.Currency = extra
			}
		}
		out = append(out, line)
	}
	return out
}

func (l *ledger) entry(date, status, text string) client.CreateJournalEntry {
	return client.CreateJournalEntry{AccountingDate: date, Status: status, Memo: "test", Lines: l.lines(text)}
}

func (l *ledger) post(t *testing.T, date, text string) client.JournalEntry {
	t.Helper()
	e, err := l.Client.CreateJournalEntry(t.Context(), l.entry(date, "posted", text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (l *ledger) draft(t *testing.T, date, text string) client.JournalEntry {
	t.Helper()
	e, err := l.Client.CreateJournalEntry(t.Context(), l.entry(date, "draft", text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// written shows an entry in the notation it was made from.
func written(l *ledger, e client.JournalEntry) string {
	codes := map[string]string{}
	for code, id := range l.accounts {
		codes[id] = code
	}
	var parts []string
	for _, line := range e.Lines {
		parts = append(parts, fmt.Sprint(map[string]string{"DEBIT": "Dr", "CREDIT": "Cr"}[line.CreditOrDebit], " ", codes[line.LedgerAccountID], " ", line.Amount))
	}
	return strings.Join(parts, "; ")
}

const sale = "Dr 1010 100.00; Cr 4010 100.00"

func TestAnEntryLivesAsTheRulesSay(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		d := l.draft(t, "2026-01-05", sale)
		if d.Status != "draft" || d.SequenceNumber != "JE-1" || d.PostedAt != nil || written(l, d) != sale || d.LegalEntityID != l.LegalEntity.ID {
			t.Errorf("%+v", d)
		}
		p, err := l.Client.PostJournalEntry(t.Context(), d.ID)
		if err != nil || p.Status != "posted" || p.PostedAt == nil || p.AccountingPeriodID == nil || p.PeriodAutoReassigned {
			t.Errorf("%+v %v", p, err)
		}
		r, err := l.Client.ReverseJournalEntry(t.Context(), p.ID, client.ReverseJournalEntry{})
		if err != nil || written(l, r) != "Cr 1010 100.00; Dr 4010 100.00" || *r.ReversalChain.PreviousEntryID != p.ID || r.SequenceNumber != "JE-2" {
			t.Errorf("%+v %v", r, err)
		}
		p, err = l.Client.JournalEntry(t.Context(), p.ID)
		if err != nil || p.ReversalChain.NextEntryID == nil || *p.ReversalChain.NextEntryID != r.ID {
			t.Errorf("%+v %v", p, err)
		}
	})
}
