package books_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

const needsUnlimited = "use a key that is not limited to legal entities"

func eachLedger(t *testing.T, test func(t *testing.T, l *ledger)) {
	t.Helper()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) { test(t, openLedger(t, s.Found(t, "mine"))) })
}

// shared posts or drafts an entry of US that has lines of DE too.
func (l *ledger) shared(t *testing.T, status string) client.JournalEntry {
	t.Helper()
	e := l.Entry("2026-01-08", status, "Dr 1010 5.00 US #us; Cr 4010 5.00 US; Dr 6020 7.00 DE #de; Cr 4010 7.00 DE")
	e.LegalEntityID, e.Memo = l.LegalEntity.ID, "secret"
	return l.Create(t, e)
}

func TestAKeyForOneLegalEntityOfAnEntrySeesItsPartAndChangesNothing(t *testing.T) {
	t.Parallel()
	eachLedger(t, func(t *testing.T, l *ledger) {
		l.AddEntity(t, "DE", "USD")
		l.AddTag(t, "#us")
		l.AddTag(t, "#de")
		posted, draft := l.shared(t, "posted"), l.shared(t, "draft")
		foreign := l.PostTo(t, l.LegalEntity.ID, "2026-01-08", apitest.Sale)
		key := l.Limited(t, l.Names["DE"])
		limited := client.New(l.Service().URL, key)
		before := l.AuditCount(t)
		for _, e := range []client.JournalEntry{posted, draft} {
			got, err := limited.JournalEntry(t.Context(), e.ID)
			if err != nil || got.Memo != nil || got.LegalEntityID != "" || len(got.Lines) != 2 ||
				got.Lines[0].LegalEntityID != l.Names["DE"] || got.Lines[0].Amount != "7.00" || got.SequenceNumber != e.SequenceNumber {
				t.Errorf("%s: %+v %v", e.Status, got, err)
			}
			if len(got.Guidance.AllowedActions) != 0 || len(got.Guidance.Warnings) != 1 ||
				!strings.Contains(got.Guidance.Warnings[0], needsUnlimited) {
				t.Errorf("%s: %+v", e.Status, got.Guidance)
			}
			for _, r := range []apitest.Request{
				{Method: "PATCH", Body: `{"memo":"mine"}`}, {Method: "DELETE"}, {Method: "POST", Path: "/post"}, {Method: "POST", Path: "/unpost"},
				{Method: "POST", Path: "/reverse"}, {Method: "POST", Path: "/correct", Body: `{"memo":"mine"}`},
				{Method: "POST", Path: "/correct", Body: `{"transaction_type":"FEE","ledger_account_id":"` + l.Accounts["6020"] + `"}`},
			} {
				what := r.Method + r.Path
				r.Key, r.Path = key, "/v1/journal-entries/"+e.ID+r.Path
				if a := l.Service().Send(t, r); a.Status != http.StatusForbidden || !strings.Contains(a.Error(t).Message, needsUnlimited) {
					t.Errorf("%s of a %s: %d %s", what, e.Status, a.Status, a.Body)
				}
			}
		}
		if _, err := limited.JournalEntry(t.Context(), foreign.ID); !client.IsNotFound(err) {
			t.Errorf("an entry of another legal entity: %v", err)
		}
		if whole := l.Find(t, posted.ID); len(whole.Lines) != 4 || *whole.Memo != "secret" || whole.LegalEntityID != l.LegalEntity.ID {
			t.Errorf("the owner sees %+v", whole)
		}
		if after := l.AuditCount(t); after != before {
			t.Errorf("%d changes were made", after-before)
		}
	})
}

func TestAListForOneLegalEntityFindsEntriesByTheirVisiblePartOnly(t *testing.T) {
	t.Parallel()
	eachLedger(t, func(t *testing.T, l *ledger) {
		l.AddEntity(t, "DE", "USD")
		us, de := l.AddTag(t, "#us"), l.AddTag(t, "#de")
		e := l.shared(t, "posted")
		l.PostTo(t, l.LegalEntity.ID, "2026-01-08", apitest.Sale)
		key := l.Limited(t, l.Names["DE"])
		for query, want := range map[string]bool{
			"": true, "?ledger_account_id=" + l.Accounts["6020"]: true, "?ledger_account_id=" + l.Accounts["4010"]: true,
			"?ledger_account_id=" + l.Accounts["1010"]: false, "?tag_id=" + de: true, "?tag_id=" + us: false, "?search=secret": false,
			"?search=" + e.SequenceNumber: true, "?legal_entity_ids=" + l.Names["DE"]: true,
			"?legal_entity_ids=" + l.Names["DE"] + "&search=secret":      false,
			"?tag_id=" + us + "&ledger_account_id=" + l.Accounts["6020"]: false,
		} {
			a := l.Service().Send(t, apitest.Request{Method: "GET", Path: "/v1/journal-entries" + query, Key: key})
			if found := strings.Count(string(a.Body), `"je_`); a.Status != http.StatusOK || (found == 1) != want ||
				want != strings.Contains(string(a.Body), e.ID) || strings.Contains(string(a.Body), l.LegalEntity.ID) {
				t.Errorf("%s: %d %s", query, a.Status, a.Body)
			}
		}
	})
}

// The texts of an entry that a key may not see must not find it, and must not take the place of an entry that a text finds.
func TestASearchFindsEntriesOfSeveralLegalEntitiesByTheirNumberAndTheVisibleTexts(t *testing.T) {
	t.Parallel()
	eachLedger(t, func(t *testing.T, l *ledger) {
		l.AddEntity(t, "DE", "USD")
		for i := range 6 {
			e := l.Entry("2026-01-08", []string{"posted", "draft"}[i%2], "Dr 1010 5.00 US; Cr 4010 5.00 US; Dr 6020 7.00 DE; Cr 4010 7.00 DE")
			e.LegalEntityID, e.Memo = l.Names[[]string{"US", "DE"}[i%2]], "Office"
			e.Lines[0].Memo, e.Lines[2].Memo = "Office of US", "MÜLLER"
			l.Create(t, e)
		}
		e := l.Entry("2026-01-07", "posted", "Dr 6020 7.00; Cr 4010 7.00")
		e.LegalEntityID, e.Memo = l.Names["DE"], "Office of Müller"
		l.Create(t, e)
		limited := client.New(l.Service().URL, l.Limited(t, l.Names["DE"]))
		for search, want := range map[string][2]string{ // to the owner and to a key for DE
			"je-3": {"3", "3"}, "je-": {"6 5 4 3 2 1 7", "6 5 4 3 2 1 7"}, "müller": {"6 5 4 3 2 1 7", "6 5 4 3 2 1 7"},
			"office": {"6 5 4 3 2 1 7", "7"}, "OFFICE of us": {"6 5 4 3 2 1", ""}, "office of m": {"7", "7"}, "je-7": {"7", "7"},
		} {
			for i, c := range []*client.Client{l.Client, limited} {
				for _, limit := range []string{"1", "2", "100"} {
					if got := numbers(t, c, url.Values{"search": {search}, "limit": {limit}}); got != want[i] {
						t.Errorf("%q finds %s in pages of %s, want %s", search, got, limit, want[i])
					}
				}
			}
		}
	})
}

func TestEntriesOfAnOlderDatabaseAreFoundByEachOfTheirLegalEntities(t *testing.T) {
	t.Parallel()
	eachLedger(t, func(t *testing.T, l *ledger) {
		l.AddEntity(t, "DE", "USD")
		l.AddTag(t, "#us")
		l.AddTag(t, "#de")
		l.shared(t, "posted")
		l.PostTo(t, l.LegalEntity.ID, "2026-01-08", apitest.Sale)
		l.shared(t, "draft")
		dbtest.MigrateDown(t.Context(), t, l.Service().App.DB, sharesMigration, func(context.Context, *db.Tx) error { return nil })
		if err := l.Service().App.DB.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		for entity, want := range map[string]string{"US": "3 2 1", "DE": "3 1"} {
			if got := numbers(t, l.Client, url.Values{"legal_entity_ids": {l.Names[entity]}}); got != want {
				t.Errorf("%s has %s, want %s", entity, got, want)
			}
		}
	})
}

// sharesMigration is the migration that creates the table of shares.
const sharesMigration = 41

func TestAKeyForOneSideOfATransferBetweenLegalEntitiesIsToldWhoCanBookIt(t *testing.T) {
	t.Parallel()
	eachLedger(t, func(t *testing.T, l *ledger) {
		l.AddEntity(t, "DE", "USD")
		l.PostTo(t, l.LegalEntity.ID, "2026-01-08", apitest.Sale)
		at := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
		var ids []string
		for i, entity := range []string{l.LegalEntity.ID, l.Names["DE"]} {
			s := l.NewSource(t, client.CreateSource{SourceType: "bank", Name: "Bank of " + entity, LegalEntityID: entity})
			made, err := l.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: s.ID, ExternalID: "1",
				External: client.CreateTransactionExternal{Timestamp: at, Description: "Loan", Direction: []string{"debit", "credit"}[i],
					Quantity: new("100"), Currency: "USD"}})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, made.Data[0].ID)
		}
		link := map[string]any{"transaction_ids": ids}
		if a := l.PostJSON(t, "/v1/transactions/link", link, nil); a.Status != http.StatusOK {
			t.Fatalf("%s", a.Body)
		}
		key := l.Limited(t, l.Names["DE"])
		limited := &apitest.Ledger{Tenant: l.At(l.Service())}
		limited.Key, limited.Client = key, client.New(l.Service().URL, key)

		x, err := limited.Client.Transaction(t.Context(), ids[1])
		if err != nil || slices.Contains(x.Guidance.AllowedActions, "unlink") || len(x.Guidance.Warnings) != 1 ||
			!strings.Contains(x.Guidance.Warnings[0], needsUnlimited) {
			t.Errorf("%+v %v", x.Guidance, err)
		}
		book := map[string]any{"transaction_id": ids[1], "transaction_type": "INTERCOMPANY TRANSFER"}
		for path, body := range map[string]any{"unlink": map[string]any{"transaction_ids": ids[1:]}, "../journal-entries": book} {
			path = strings.ReplaceAll("/v1/transactions/"+path, "transactions/../", "")
			if a := limited.PostJSON(t, path, body, nil); a.Status != http.StatusForbidden ||
				!strings.Contains(a.Error(t).Message, needsUnlimited) {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
		l.wantHint(t, key, "unposted_transactions", "1 of them also concerns a legal entity that this key has no access to: post it")

		var made struct{ Data client.JournalEntry }
		if a := l.PostJSON(t, "/v1/journal-entries", book, &made); a.Status != http.StatusCreated {
			t.Fatalf("%s", a.Body)
		}
		l.wantHint(t, key, "drafts", "1 of them also concerns a legal entity that this key has no access to: post or delete it")
		if _, err := l.Client.PostJournalEntry(t.Context(), made.Data.ID); err != nil {
			t.Fatal(err)
		}
		got, err := limited.Client.JournalEntry(t.Context(), made.Data.ID)
		if err != nil || got.TransactionID != nil || len(got.Lines) != 2 || got.Lines[0].LegalEntityID != l.Names["DE"] {
			t.Errorf("%+v %v", got, err)
		}
		if x, err = limited.Client.Transaction(t.Context(), ids[1]); err != nil || *x.Internal.JournalEntryID != made.Data.ID {
			t.Errorf("%+v %v", x, err)
		}
		if _, err := limited.Client.Transaction(t.Context(), ids[0]); !client.IsNotFound(err) {
			t.Errorf("the transaction of the other legal entity: %v", err)
		}
	})
}

// wantHint expects a readiness check of January to say something to a key, and nothing of others to the owner.
func (l *ledger) wantHint(t *testing.T, key, code, says string) {
	t.Helper()
	path := "/v1/accounting-periods/" + l.Period(t, "2026-01").ID + "/readiness"
	a := l.Service().Send(t, apitest.Request{Method: "GET", Path: path, Key: key})
	if text := string(a.Body); a.Status != http.StatusOK || !strings.Contains(text, code) || !strings.Contains(text, says) {
		t.Errorf("%s: %d %s", code, a.Status, a.Body)
	}
	if a := l.Service().Send(t, apitest.Request{Method: "GET", Path: path, Key: l.Key}); strings.Contains(string(a.Body), "no access to") {
		t.Errorf("the owner is told that %s", a.Body)
	}
}

// An account of a source of another legal entity must be answered as one that does not exist, wherever it is booked to.
func TestAKeyForOneLegalEntityCannotBookToAccountsOfSourcesOfAnother(t *testing.T) {
	t.Parallel()
	eachLedger(t, func(t *testing.T, l *ledger) {
		l.AddEntity(t, "DE", "USD")
		shared := l.AddAccount(t, "1999")
		l.NewSource(t, client.CreateSource{SourceType: "exchange", Name: "Kraken US", LedgerAccountID: shared})
		named := l.NewSource(t, client.CreateSource{SourceType: "exchange", Name: "Named US"}).LedgerAccountID
		own := l.NewSource(t, client.CreateSource{SourceType: "exchange", Name: "Kraken DE", LegalEntityID: l.Names["DE"]})
		draft := l.Entry("2026-01-08", "draft", apitest.Sale)
		draft.LegalEntityID = l.Names["DE"]
		edited := l.Create(t, draft)
		posted := l.PostTo(t, l.Names["DE"], "2026-01-08", apitest.Sale)
		booked := l.NewCrypto(t, own.ID, "credit", "ETH", "1", time.Date(2026, 1, 8, 0, 0, 0, 0, time.UTC))
		key := l.Limited(t, l.Names["DE"])
		before := l.AuditCount(t)
		lines := `"lines":[{"ledger_account_id":"ACCOUNT","credit_or_debit":"DEBIT","amount":"1"},` +
			`{"ledger_account_id":"` + l.Accounts["4010"] + `","credit_or_debit":"CREDIT","amount":"1"}]`
		entry := `{"accounting_date":"2026-01-08","legal_entity_id":"` + l.Names["DE"] + `",` + lines + `}`
		from := `"transaction_id":"` + booked.ID + `","transaction_type":"INTERNAL TRANSFER"`
		for _, r := range []apitest.Request{
			{Method: "POST", Path: "journal-entries", Body: entry},
			{Method: "POST", Path: "journal-entries/batch", Body: `{"journal_entries":[` + entry + `]}`},
			{Method: "PATCH", Path: "journal-entries/" + edited.ID, Body: "{" + lines + "}"},
			{Method: "POST", Path: "journal-entries/" + posted.ID + "/correct", Body: "{" + lines + "}"},
			{Method: "POST", Path: "journal-entries", Body: `{` + from + `,"ledger_account_id":"ACCOUNT"}`},
			{Method: "POST", Path: "journal-entries", Body: `{` + from + `,"offset_ledger_account_id":"ACCOUNT"}`},
			{Method: "POST", Path: "sources", Body: `{"source_type":"exchange","name":"Mine","legal_entity_id":"` + l.Names["DE"] +
				`","ledger_account_id":"ACCOUNT"}`},
			{Method: "PATCH", Path: "sources/" + own.ID, Body: `{"ledger_account_id":"ACCOUNT"}`},
			{Method: "POST", Path: "assets", Body: `{"legal_entity_id":"` + l.Names["DE"] + `","asset_type":"ETH","quantity":"1","source_id":"` + own.ID + `",` +
				`"cost_basis":"1","date_received":"2026-01-01","ledger_account_id":"ACCOUNT"}`},
		} {
			r.Key, r.Path = key, "/v1/"+r.Path
			answer := func(account string) (int, string) {
				as := r
				as.Body = strings.ReplaceAll(r.Body, "ACCOUNT", account)
				a := l.Service().Send(t, as)
				e := a.Error(t)
				e.RequestID = ""
				return a.Status, strings.ReplaceAll(apitest.JSON(t, e), account, "")
			}
			status, want := answer(apitest.UnknownID(shared))
			if status != http.StatusNotFound {
				t.Errorf("%s %s with an unknown account: %d %s", r.Method, r.Path, status, want)
			}
			for _, account := range []string{shared, named} {
				if status, got := answer(account); status != http.StatusNotFound || got != want {
					t.Errorf("%s %s: %d %s, want %s", r.Method, r.Path, status, got, want)
				}
			}
		}
		if after := l.AuditCount(t); after != before {
			t.Errorf("%d changes were made", after-before)
		}
		l.NewSource(t, client.CreateSource{SourceType: "exchange", Name: "Also on it", LegalEntityID: l.Names["DE"], LedgerAccountID: shared})
		a := l.Service().Send(t, apitest.Request{Method: "POST", Path: "/v1/journal-entries", Key: key,
			Body: strings.ReplaceAll(entry, "ACCOUNT", shared)})
		if a.Status != http.StatusCreated {
			t.Errorf("an account of a source of its own: %d %s", a.Status, a.Body)
		}
	})
}

func TestAChainDoesNotNameAnEntryThatTheKeySeesNothingOf(t *testing.T) {
	t.Parallel()
	eachLedger(t, func(t *testing.T, l *ledger) {
		l.AddEntity(t, "DE", "USD")
		l.AddTag(t, "#us")
		l.AddTag(t, "#de")
		e := l.shared(t, "posted")
		lines := l.Lines("Dr 1010 5.00 US; Cr 4010 5.00 US")
		corrected, err := l.Client.CorrectJournalEntry(t.Context(), e.ID, client.UpdateJournalEntry{Lines: &lines})
		if err != nil {
			t.Fatal(err)
		}
		reversal := *l.Find(t, corrected.ID).ReversalChain.PreviousEntryID
		key := l.Limited(t, l.Names["DE"])
		limited := client.New(l.Service().URL, key)
		first, err := limited.JournalEntry(t.Context(), e.ID)
		if err != nil || first.ReversalChain.NextEntryID == nil || *first.ReversalChain.NextEntryID != reversal {
			t.Errorf("%+v %v", first, err)
		}
		for _, path := range []string{"", "/" + reversal} {
			a := l.Service().Send(t, apitest.Request{Method: "GET", Path: "/v1/journal-entries" + path, Key: key})
			if a.Status != http.StatusOK || strings.Contains(string(a.Body), corrected.ID) || !strings.Contains(string(a.Body), reversal) {
				t.Errorf("%q: %d %s", path, a.Status, a.Body)
			}
		}
	})
}

func TestALimitedKeyFindsSuppliersAndCreatesNone(t *testing.T) {
	t.Parallel()
	eachLedger(t, func(t *testing.T, l *ledger) {
		x := l.NewTransaction(t)
		key := l.Limited(t, l.LegalEntity.ID)
		book := func(key string) apitest.Answer {
			return l.Service().Send(t, apitest.Request{Method: "POST", Path: "/v1/journal-entries", Key: key, Body: `{"transaction_id":"` + x.ID +
				`","transaction_type":"INVOICE","ledger_account_id":"` + l.Accounts["4010"] + `","vendor_name":"ACME"}`})
		}
		if a := book(key); a.Status != http.StatusForbidden || !strings.Contains(a.Error(t).Message, "concerns the whole organization") {
			t.Errorf("a new supplier: %d %s", a.Status, a.Body)
		}
		if a := l.PostJSON(t, "/v1/tags", map[string]any{"name": "ACME", "kind": "supplier"}, nil); a.Status != http.StatusCreated {
			t.Fatalf("%s", a.Body)
		}
		if a := book(key); a.Status >= 300 {
			t.Errorf("a supplier that exists: %d %s", a.Status, a.Body)
		}
	})
}
