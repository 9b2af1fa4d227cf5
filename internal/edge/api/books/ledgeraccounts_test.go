package books_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// ledgerAccountFields are the contract's, and code, role and updated_at.
var ledgerAccountFields = []string{
	"archived_at", "asset_type", "code", "created_at", "id", "is_archived", "is_clearing_account", "is_monetary", "is_postable", "name",
	"normal_balance", "parent_account_id",
	"role", "sequence_number", "type", "updated_at",
}

// account returns an account as decoded JSON.
func account(t *testing.T, a apitest.Answer) map[string]any {
	t.Helper()
	var body struct{ Data map[string]any }
	if err := json.Unmarshal(a.Body, &body); err != nil || a.Status >= 300 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return body.Data
}

func TestALedgerAccountOnTheWire(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		parent := n.AccountByCode(t, "1200")
		send := func(method, path, body string) apitest.Answer {
			return s.Send(t, apitest.Request{Method: method, Path: "/v1/ledger-accounts" + path, Key: n.Key, Body: body})
		}
		made := send("POST", "", `{"name":"Bitcoin","type":"Asset","code":null,"asset_type":null,"parent_account_id":null}`)
		plain := account(t, made)
		if got := slices.Sorted(maps.Keys(plain)); made.Status != 201 || !slices.Equal(got, ledgerAccountFields) {
			t.Errorf("%d with the fields %v", made.Status, got)
		}
		for field, want := range map[string]any{
			"name": "Bitcoin", "type": "Asset", "normal_balance": "debit", "is_postable": true, "is_clearing_account": false, "is_archived": false,
			"is_monetary": true, "code": nil, "parent_account_id": nil, "asset_type": nil, "role": nil, "archived_at": nil, "updated_at": nil,
		} {
			if plain[field] != want {
				t.Errorf("%s is %v, want %v", field, plain[field], want)
			}
		}
		path := "/" + plain["id"].(string)
		full := account(t, send("PATCH", path, `{"name":"BTC","code":"1211","normal_balance":"credit","parent_account_id":"`+parent.ID+
			`","is_postable":false,"is_clearing_account":true,"is_monetary":false,"asset_type":"BTC"}`))
		for field, want := range map[string]any{
			"id": plain["id"], "sequence_number": plain["sequence_number"], "name": "BTC", "type": "Asset", "normal_balance": "credit",
			"is_postable":         false,
			"is_clearing_account": true, "is_monetary": false, "is_archived": false, "code": "1211", "parent_account_id": parent.ID, "asset_type": "BTC",
			"created_at": plain["created_at"],
		} {
			if full[field] != want || full["updated_at"] == nil {
				t.Errorf("%s is %v, want %v", field, full[field], want)
			}
		}
		if got := account(t, send("GET", path, "")); !maps.Equal(got, full) {
			t.Errorf("%v differs from %v", got, full)
		}
		for _, nothing := range []string{"null", `""`} {
			cleared := account(t, send("PATCH", path, `{"code":`+nothing+`,"parent_account_id":`+nothing+`,"asset_type":`+nothing+`}`))
			if cleared["code"] != nil || cleared["parent_account_id"] != nil || cleared["asset_type"] != nil || cleared["name"] != "BTC" {
				t.Errorf("%s leaves %v", nothing, cleared)
			}
			send("PATCH", path, `{"code":"1211","parent_account_id":"`+parent.ID+`","asset_type":"BTC"}`)
		}
		archived := account(t, send("POST", path+"/archive", ""))
		if archived["is_archived"] != true || archived["archived_at"] == nil {
			t.Errorf("%v", archived)
		}
		if back := account(t, send("POST", path+"/unarchive", "{}")); back["is_archived"] != false || back["archived_at"] != nil {
			t.Errorf("%v", back)
		}
		if gone := send("DELETE", path, ""); gone.Status != 204 || len(gone.Body) != 0 {
			t.Errorf("%d %q", gone.Status, gone.Body)
		}
		for _, again := range []apitest.Answer{send("DELETE", path, ""), send("GET", path, ""), send("PATCH", path, `{"name":"x"}`),
			send("POST", path+"/archive", "")} {
			if again.Status != 404 {
				t.Errorf("%d %s", again.Status, again.Body)
			}
		}
	})
}

func TestEveryFaultOfALedgerAccountIsNamedAtOnceAndNoNumberIsLost(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		first := n.NewAccount(t, client.CreateLedgerAccount{})
		before := n.AuditCount(t)
		bad := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/ledger-accounts", Key: n.Key, Body: `{"name":"","code":"` +
			strings.Repeat("1", 33) +
			`","type":"asset","normal_balance":"up","is_postable":"yes","is_clearing_account":null,"asset_type":1,"parent_account_id":[],"role":"rounding"}`})
		for _, field := range []string{"name", "code", "type", "normal_balance", "is_postable", "is_clearing_account", "asset_type",
			"parent_account_id", "role"} {
			if bad.Status != 400 || !bad.Blames(t, field) {
				t.Errorf("%s is not blamed: %d %s", field, bad.Status, bad.Body)
			}
		}
		blank := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/ledger-accounts", Key: n.Key,
			Body: `{"name":" ","code":" 1","type":"Asset","parent_account_id":"` + n.AccountByCode(t, "4010").ID + `"}`})
		for _, field := range []string{"name", "code", "parent_account_id"} {
			if blank.Status != 400 || !blank.Blames(t, field) {
				t.Errorf("%s is not blamed: %d %s", field, blank.Status, blank.Body)
			}
		}
		if a := s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/ledger-accounts/" + first.ID, Key: n.Key, Body: `{}`}); a.Status != 400 {
			t.Errorf("a change of nothing: %d %s", a.Status, a.Body)
		}
		if after := n.AuditCount(t); after != before {
			t.Errorf("%d changes", after-before)
		}
		if second := n.NewAccount(t, client.CreateLedgerAccount{}); second.SequenceNumber != first.SequenceNumber+1 {
			t.Errorf("after %d comes %d", first.SequenceNumber, second.SequenceNumber)
		}
	})
}

func TestAChangeOfALedgerAccountThatIsNotPossibleIsAConflictThatSaysWhy(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		suspense := n.AccountByCode(t, "1910")
		for _, c := range []struct{ method, path, body, says string }{
			{"POST", "", `{"name":"x","type":"Asset","code":"1910"}`, "Suspense"},
			{"PATCH", "/" + suspense.ID, `{"is_postable":false}`, "uses it as suspense"},
			{"PATCH", "/" + suspense.ID, `{"type":"Liability","parent_account_id":null}`, "type"},
			{"POST", "/" + suspense.ID + "/archive", "", "uses it as suspense"},
			{"DELETE", "/" + suspense.ID, "", "1910 Suspense is a system account"},
			{"DELETE", "/" + n.AccountByCode(t, "1900").ID, "", "1910 Suspense is a system account"},
			{"POST", "/" + n.AccountByCode(t, "1000").ID + "/archive", "", "1010 Bank accounts"},
		} {
			a := s.Send(t, apitest.Request{Method: c.method, Path: "/v1/ledger-accounts" + c.path, Key: n.Key, Body: c.body})
			said := a.Error(t).Message
			if a.Status != 409 || a.Error(t).Code != "CONFLICT" || !strings.Contains(said, c.says) {
				t.Errorf("%s %s: %d %s, want %q", c.method, c.body, a.Status, a.Body, c.says)
			}
		}
		renamed := "Unexplained"
		if got, err := n.Client.UpdateLedgerAccount(t.Context(), suspense.ID, client.UpdateLedgerAccount{Name: &renamed}); err != nil ||
			got.Name != renamed || *got.Role != "suspense" {
			t.Errorf("%+v %v", got, err)
		}
	})
}

func TestTheChartIsListedByFiltersAndACursorIsBoundToThem(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		put := n.NewAccount(t, client.CreateLedgerAccount{Name: "Put away"})
		if _, err := n.Client.ArchiveLedgerAccount(t.Context(), put.ID); err != nil {
			t.Fatal(err)
		}
		for query, want := range map[string]string{
			"is_archived=true": "Put away",
			"search=6210":      "Network fees",
			"search=NETWORK":   "Network fees",
			"parent_account_id=" + n.AccountByCode(t, "6200").ID: "Network fees, Bank fees, Trading fees",
			"type=Equity&is_postable=false":                      "Contributed capital, Retained earnings, Current earnings, Translation adjustment",
			"type=Equity&is_postable=false&search=earnings":      "Retained earnings, Current earnings",
			"is_archived=false&search=put":                       "",
		} {
			filters, err := url.ParseQuery(query + "&limit=1")
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for a, err := range n.Client.LedgerAccounts(t.Context(), filters) {
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, a.Name)
			}
			if got := strings.Join(found, ", "); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		var page client.Page[client.LedgerAccount]
		if err := n.Client.Do(t.Context(), client.Call{Method: "GET", Path: "/v1/ledger-accounts", Query: url.Values{"limit": {"1"},
			"type": {"Asset"}}}, &page); err != nil || page.NextCursor == nil {
			t.Fatal(page, err)
		}
		for _, other := range []string{"type=Equity", "type=Asset&is_postable=true", "type=Asset&search=x", "limit=5"} {
			if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/ledger-accounts?" + other + "&cursor=" + *page.NextCursor,
				Key: n.Key}); a.Status != 400 || !a.Blames(t, "cursor") {
				t.Errorf("%s: %d %s", other, a.Status, a.Body)
			}
		}
	})
}

func TestAnAccountWithEntriesIsNotDeletedAndNothingIsPostedToAnArchivedOneOrAGroup(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		vault, sales := n.NewAccount(t, client.CreateLedgerAccount{Name: "Vault", Code: "V"}), n.AccountByCode(t, "4010")
		post := func(status, from, to, amount string) (client.JournalEntry, error) {
			return n.Client.CreateJournalEntry(t.Context(), client.CreateJournalEntry{
				LegalEntityID: n.LegalEntity.ID, AccountingDate: "2026-01-15", Status: status,
				Lines: []client.CreateJournalLine{{LedgerAccountID: to, CreditOrDebit: "DEBIT", Amount: amount, Currency: "USD"},
					{LedgerAccountID: from, CreditOrDebit: "CREDIT", Amount: amount, Currency: "USD"}},
			})
		}
		refused := func(what string, err error, says string) {
			t.Helper()
			var e *client.Error
			if !errors.As(err, &e) || e.Status != 409 || !strings.Contains(e.Message, says) {
				t.Errorf("%s: %v, want 409 and %q", what, err, says)
			}
		}
		draft, err := post("draft", sales.ID, vault.ID, "100")
		if err != nil {
			t.Fatal(err)
		}
		_, err = n.Client.ArchiveLedgerAccount(t.Context(), vault.ID)
		refused("archiving with a draft", err, "1 draft has lines on it, for example "+draft.SequenceNumber)
		refused("deleting with a draft", n.Client.DeleteLedgerAccount(t.Context(), vault.ID),
			"V Vault is used by 1 journal line, for example of "+draft.SequenceNumber)
		if _, err := n.Client.PostJournalEntry(t.Context(), draft.ID); err != nil {
			t.Fatal(err)
		}
		_, err = n.Client.ArchiveLedgerAccount(t.Context(), vault.ID)
		refused("archiving with a balance", err, "it has a balance of 100.00 USD in mine")
		refused("deleting with a balance", n.Client.DeleteLedgerAccount(t.Context(), vault.ID), "1 balance of an accounting period")
		if _, err := post("posted", vault.ID, sales.ID, "100"); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Client.ArchiveLedgerAccount(t.Context(), vault.ID); err != nil {
			t.Error(err)
		}
		refused("deleting what was used", n.Client.DeleteLedgerAccount(t.Context(), vault.ID), "2 journal lines")
		if _, err := post("posted", sales.ID, vault.ID, "1"); err == nil {
			t.Error("an archived account took a line")
		}
		if _, err := post("posted", sales.ID, n.AccountByCode(t, "1000").ID, "1"); err == nil {
			t.Error("a group took a line")
		}
	})
}
