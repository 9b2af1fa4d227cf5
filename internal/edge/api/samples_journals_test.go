package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	on := func(status string) func(t *testing.T, n *apitest.Tenant) sample {
		return func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: map[string]string{"journal_entry_id": newEntry(t, n, status).ID}}
		}
	}
	with := func(status string, body func(t *testing.T, n *apitest.Tenant) map[string]any) func(t *testing.T, n *apitest.Tenant) sample {
		return func(t *testing.T, n *apitest.Tenant) sample {
			s := on(status)(t, n)
			s.body, s.another = body(t, n), map[string]any{"memo": "another"}
			return s
		}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/ledger-accounts/{ledger_account_id}/lines": func(t *testing.T, n *apitest.Tenant) sample {
			e := newEntry(t, n, "posted")
			return sample{path: map[string]string{"ledger_account_id": e.Lines[0].LedgerAccountID},
				query: "limit=1&start_date=2026-01-01&end_date=2026-01-31&legal_entity_ids=" + e.LegalEntityID}
		},
		"GET /v1/journal-entries": func(t *testing.T, n *apitest.Tenant) sample {
			e := newEntry(t, n, "posted")
			return sample{query: "limit=1&status=posted&start_date=2026-01-01&end_date=2026-01-31&search=SAMPLE&legal_entity_ids=" +
				e.LegalEntityID +
				"&ledger_account_id=" + e.Lines[0].LedgerAccountID + "&accounting_period_id=" + *e.AccountingPeriodID + "&tag_id=" +
				e.TagIDs[0] + "&transaction_id=" + n.NewTransaction(t).ID}
		},
		"POST /v1/journal-entries": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{body: manual(t, n), also: []sample{{body: fromTransaction(t, n)}, {body: withSplits(t, n, fromTransaction(t, n))}},
				another: map[string]any{"memo": "another"}}
		},
		"POST /v1/journal-entries/batch": func(t *testing.T, n *apitest.Tenant) sample {
			batch := func(e ...map[string]any) map[string]any {
				return map[string]any{"journal_entries": e, "dry_run": false}
			}
			return sample{
				body: batch(manual(t, n), manual(t, n)), another: batch(manual(t, n)),
				also: []sample{{body: batch(fromTransaction(t, n))}, {body: batch(withSplits(t, n, fromTransaction(t, n)))}},
			}
		},
		"GET /v1/journal-entries/{journal_entry_id}":         on("draft"),
		"PATCH /v1/journal-entries/{journal_entry_id}":       with("draft", changed),
		"DELETE /v1/journal-entries/{journal_entry_id}":      on("draft"),
		"POST /v1/journal-entries/{journal_entry_id}/post":   on("draft"),
		"POST /v1/journal-entries/{journal_entry_id}/unpost": on("posted"),
		"POST /v1/journal-entries/{journal_entry_id}/correct": func(t *testing.T, n *apitest.Tenant) sample {
			s := with("posted", changed)(t, n)
			split := rebooked(t, n)
			split.body = withSplits(t, n, split.body)
			s.also = []sample{rebooked(t, n), split}
			return s
		},
		"POST /v1/journal-entries/{journal_entry_id}/reverse": with("posted", func(*testing.T, *apitest.Tenant) map[string]any {
			return map[string]any{"accounting_date": "2026-01-15", "memo": "a mistake"}
		}),
	})

}

// newEntry creates a tagged entry in January.
func newEntry(t *testing.T, n *apitest.Tenant, status string) client.JournalEntry {
	t.Helper()
	l := n.OpenLedger(t)
	e := l.Entry("2026-01-05", status, apitest.Sale)
	e.Memo, e.TagIDs, e.LegalEntityID = "Sample", []string{n.NewTag(t).ID}, n.LegalEntity.ID
	made, err := n.Client.CreateJournalEntry(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// manual returns a manual entry with all properties.
func manual(t *testing.T, n *apitest.Tenant) map[string]any {
	t.Helper()
	e := changed(t, n)
	e["status"] = "posted"
	return e
}

// changed returns all properties of an entry that may change.
func changed(t *testing.T, n *apitest.Tenant) map[string]any {
	t.Helper()
	line := func(code, side string) map[string]any {
		return map[string]any{
			"ledger_account_id": n.AccountByCode(t, code).ID, "credit_or_debit": side, "amount": "12.50", "currency": "USD",
			"legal_entity_id": n.LegalEntity.ID, "memo": "line", "tag_ids": []string{n.NewTag(t).ID},
		}
	}
	return map[string]any{
		"accounting_date": "2026-01-10", "legal_entity_id": n.LegalEntity.ID, "memo": "Sample", "tag_ids": []string{n.NewTag(t).ID},
		"lines": []map[string]any{line("1010", "DEBIT"), line("4010", "CREDIT")},
	}
}

// fromTransaction returns the booking of a transaction with all properties.
func fromTransaction(t *testing.T, n *apitest.Tenant) map[string]any {
	t.Helper()
	return map[string]any{
		"transaction_id": n.NewTransaction(t).ID, "transaction_type": "INVOICE",
		"ledger_account_id": n.AccountByCode(t, "1310").ID, "offset_ledger_account_id": n.AccountByCode(t, "1010").ID,
		"accounting_date": "2026-01-16", "memo": "Sample", "tag_ids": []string{n.NewTag(t).ID}, "vendor_name": "ACME", "auto_post": true,
	}
}

// withSplits returns a booking whose amount is split over two accounts.
func withSplits(t *testing.T, n *apitest.Tenant, body map[string]any) map[string]any {
	t.Helper()
	part := func(code string) map[string]any {
		return map[string]any{"ledger_account_id": n.AccountByCode(t, code).ID, "percent": "50", "memo": "half", "tag_ids": []string{n.NewTag(t).ID}}
	}
	delete(body, "ledger_account_id")
	body["splits"] = []map[string]any{part("4010"), part("4020")}
	return body
}

// rebooked returns the entry of a transaction, and what it should have been.
func rebooked(t *testing.T, n *apitest.Tenant) sample {
	t.Helper()
	e, err := n.Client.BookTransaction(t.Context(), client.BookTransaction{
		TransactionID: n.NewTransaction(t).ID, TransactionType: "INVOICE", LedgerAccountID: n.AccountByCode(t, "1310").ID, AutoPost: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return sample{path: map[string]string{"journal_entry_id": e.ID}, body: map[string]any{
		"transaction_type": "INCOME", "ledger_account_id": n.AccountByCode(t, "4010").ID, "offset_ledger_account_id": n.AccountByCode(t, "1010").ID,
		"memo": "not an invoice", "accounting_date": "2026-01-17", "tag_ids": []string{n.NewTag(t).ID},
	}}
}
