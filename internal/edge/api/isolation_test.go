package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// isolation is an organization with two legal entities: every text of the first is marked, and a key is limited to the second.
type isolation struct {
	service *apitest.Service
	planter *planter
	name    string          // of the first legal entity
	tenant  *apitest.Tenant // its legal entity is the first
	other   *apitest.Tenant // the same organization; its legal entity is the second
	key     string          // limited to the second

	shared map[string][]string // ids of records that concern both legal entities, by the name of a path parameter
	hidden map[string]bool     // ids of records that concern only the first
	run    string              // sends lines of both legal entities to a general ledger; it is hidden as well

	// requests has for each route the requests about the first legal entity, as they were sent with the owner's key.
	requests map[string][]apitest.Request
}

// isolated creates the organization and sends the sample of every route for the first legal entity.
func isolated(t *testing.T, s *apitest.Service) *isolation {
	t.Helper()
	p := &planter{service: s, planted: map[string]bool{}}
	x := &isolation{service: s, planter: p, name: p.text(), requests: map[string][]apitest.Request{}}
	x.tenant = s.FoundWith(t, organization.CreateParams{Name: x.name, Email: "owner@example.com", Currency: "USD", Timezone: "UTC"})
	if _, err := x.tenant.Client.UpdateOrganization(t.Context(), client.UpdateOrganization{Name: new("Group")}); err != nil {
		t.Fatal(err)
	}
	x.tenant.ClosablePeriod(t) // two years of periods, of which the samples close the first ones
	x.tenant.Client.HTTP.Transport = p
	for _, r := range s.API.Routes() {
		_, own := request(t, r, x.tenant)
		for i, form := range append([]sample{own}, own.also...) {
			if form.path == nil {
				form.path = own.path
			}
			req := form.request(r, x.tenant.Key)
			if r.Idempotent {
				req.Header = http.Header{"Idempotency-Key": {fmt.Sprint(r, i)}}
			}
			if r.Need.WholeOrganization || r.Method == http.MethodDelete { // the records stay
				x.requests[r.String()] = append(x.requests[r.String()], req)
				continue
			}
			sent, a := p.send(t, req)
			if a.Status >= 500 {
				t.Errorf("%s: %d %s", r, a.Status, a.Body)
			}
			x.requests[r.String()] = append(x.requests[r.String()], sent)
		}
	}
	x.tenant.Client.HTTP.Transport = nil
	x.plantDerived(t)
	x.runAll(t)

	second := x.tenant.NewLegalEntity(t, client.CreateLegalEntity{Name: "Second"})
	other := *x.tenant
	other.LegalEntity.ID, other.LegalEntity.Name = second.ID, second.Name
	x.other, x.key = &other, x.tenant.Limited(t, second.ID)
	x.useHiddenAccounts(t)
	x.shared = map[string][]string{"journal_entry_id": {x.shareEntry(t, "posted"), x.shareEntry(t, "draft")}}
	x.shareTransfer(t)
	x.moveEntry(t)
	x.shareRun(t)
	x.findHidden(t)
	return x
}

// shareRun plans to send the entries of the second legal entity, and with them lines of the first, to a general ledger for all of them. No
// limited key sees such a run. The general ledger is then disconnected.
func (x *isolation) shareRun(t *testing.T) {
	t.Helper()
	ctx, owner := t.Context(), x.tenant.Client
	_, err := owner.Disconnect(ctx, generalLedger(t, x.tenant))
	if err != nil {
		t.Fatal(err)
	}
	connection := x.tenant.ConnectRillet(t, client.CreateConnection{})
	run, err := owner.CreateGLSyncRun(ctx, client.CreateGLSyncRun{ConnectionID: connection.ID, DryRun: true,
		LegalEntityIDs: []string{x.other.LegalEntity.ID}})
	if err == nil {
		err = x.service.App.GeneralLedger.Run(ctx, x.tenant.Organization.ID, run.ID)
	}
	if err == nil {
		_, err = owner.Disconnect(ctx, connection.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	x.run = run.ID
}

// sendRun sends the requests of a route about runs of a general ledger for the one that is about both legal entities.
func (x *isolation) sendRun(t *testing.T, r wire.Route) {
	t.Helper()
	for _, req := range x.requests[r.String()] {
		about := aboutID(r, req, "gl_sync_run_id", x.run)
		if about.Path == req.Path {
			continue
		}
		about.Header = nil // its idempotency key was used
		if a := x.send(t, about); a.Status != http.StatusNotFound {
			t.Errorf("%s %s: %d %s", r.Method, about.Path, a.Status, a.Body)
		}
	}
}

// moveEntry corrects an entry of the second legal entity so that it belongs to the first. The entry and its reversal can no longer be
// changed, and the replacement is hidden.
func (x *isolation) moveEntry(t *testing.T) {
	t.Helper()
	entry := x.other.OpenLedger(t).PostTo(t, x.other.LegalEntity.ID, "2026-01-08", apitest.Sale)
	moved, err := x.tenant.Client.CorrectJournalEntry(t.Context(), entry.ID, client.UpdateJournalEntry{
		LegalEntityID: &x.tenant.LegalEntity.ID, Memo: new(x.planter.text())})
	if err != nil || moved.LegalEntityID != x.tenant.LegalEntity.ID || moved.ReversalChain.PreviousEntryID == nil {
		t.Fatalf("%+v %v", moved, err)
	}
	x.shared["journal_entry_id"] = append(x.shared["journal_entry_id"], entry.ID, *moved.ReversalChain.PreviousEntryID)
}

// findHidden finds the records that concern only the first legal entity.
func (x *isolation) findHidden(t *testing.T) {
	t.Helper()
	x.hidden = map[string]bool{}
	first := x.tenant.LegalEntity.ID
	for _, find := range []struct{ table, id, by string }{
		{"sources", "source_id", "legal_entity_id"}, {"transactions", "transaction_id", "source_id"}, {"lots", "asset_id", "legal_entity_id"},
		{"imports", "import_id", "source_id"}, {"journal_entries", "journal_entry_id", "legal_entity_id"},
	} {
		at := slices.IndexFunc(db.Tables, func(one db.Table) bool { return one.Name == find.table })
		for _, row := range readTampered(t, x.tenant, db.Tables[at]).rows {
			if by := row[find.by].Value; by != nil && (*by == first || x.hidden[*by]) {
				x.hidden[*row[find.id].Value] = true
			}
		}
	}
	for _, id := range x.shared["journal_entry_id"] {
		delete(x.hidden, id)
	}
	x.hidden[x.run] = true
	if len(x.hidden) < 20 {
		t.Errorf("only %d records are hidden", len(x.hidden))
	}
}

// shareTransfer links transactions of both legal entities and books one such pair.
func (x *isolation) shareTransfer(t *testing.T) {
	t.Helper()
	for i := range 2 {
		var ids []string
		for n, tenant := range []*apitest.Tenant{x.tenant, x.other} {
			c := client.CreateTransaction{ExternalID: client.NewIdempotencyKey(), Memo: "Mine",
				SourceID: tenant.NewSource(t, client.CreateSource{SourceType: "bank", Name: fmt.Sprint("Bank ", n, i)}).ID,
				External: client.CreateTransactionExternal{Timestamp: time.Date(2026, 1, 9, 12, 0, 0, 0, time.UTC), Description: "Loan",
					Direction: []string{"debit", "credit"}[n], Quantity: new("100"), Currency: "USD"}}
			if n == 0 {
				c.ExternalID, c.Memo, c.External.Description = x.planter.text(), x.planter.text(), x.planter.text()
				c.Vendor = x.planter.text()
			}
			made, err := x.tenant.Client.CreateTransactions(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, made.Data[0].ID)
		}
		if a := x.tenant.PostJSON(t, "/v1/transactions/link", map[string]any{"transaction_ids": ids}, nil); a.Status != http.StatusOK {
			t.Fatalf("%s", a.Body)
		}
		x.shared["transaction_id"] = append(x.shared["transaction_id"], ids[1])
		if i == 1 {
			continue
		}
		var made struct{ Data client.JournalEntry }
		body := map[string]any{"transaction_id": ids[0], "transaction_type": "INTERCOMPANY TRANSFER", "auto_post": true,
			"memo": x.planter.text()}
		if a := x.tenant.PostJSON(t, "/v1/journal-entries", body, &made); a.Status != http.StatusCreated {
			t.Fatalf("%s", a.Body)
		}
		x.shared["journal_entry_id"] = append(x.shared["journal_entry_id"], made.Data.ID)
	}
}

// sendShared sends the requests of a route about records of the first legal entity for the records that concern both. They are shown in
// part, and entries are not changed.
func (x *isolation) sendShared(t *testing.T, r wire.Route, name string) {
	t.Helper()
	for _, req := range x.requests[r.String()] {
		for _, id := range x.shared[name] {
			about := aboutID(r, req, name, id)
			if about.Path == req.Path && about.Body == req.Body {
				continue
			}
			a := x.send(t, about)
			if r.Method == http.MethodGet && strings.HasSuffix(r.Path, "/{"+name+"}") && a.Status != http.StatusOK {
				t.Errorf("GET %s: %d %s", about.Path, a.Status, a.Body)
			}
			if name == "journal_entry_id" && r.Method != http.MethodGet && a.Status < 400 {
				t.Errorf("%s %s: %d %s", r.Method, about.Path, a.Status, a.Body)
			}
		}
	}
}

// aboutID returns a request with another id in a parameter of its path, in its query and in its body.
func aboutID(r wire.Route, req apitest.Request, name, id string) apitest.Request {
	path, query, _ := strings.Cut(req.Path, "?")
	parts := strings.Split(path, "/")
	for i, part := range strings.Split(r.Path, "/") {
		if part == "{"+name+"}" {
			parts[i] = id
		}
	}
	prefix := id[:strings.Index(id, "_")+1]
	other := regexp.MustCompile(`\b` + prefix + `[0-9a-z]{26}\b`)
	req.Path = strings.Join(parts, "/")
	if query != "" {
		req.Path += "?" + other.ReplaceAllString(query, id)
	}
	req.Body = other.ReplaceAllString(req.Body, id)
	return req
}

// shareEntry creates an entry of the first legal entity, with a marked memo, that has lines of the second too, and returns its id.
func (x *isolation) shareEntry(t *testing.T, status string) string {
	t.Helper()
	accounts := map[string]string{}
	for a, err := range x.tenant.Client.LedgerAccounts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if a.Code != nil {
			accounts[*a.Code] = a.ID
		}
	}
	e := client.CreateJournalEntry{AccountingDate: "2026-01-08", LegalEntityID: x.tenant.LegalEntity.ID, Status: status,
		Memo: x.planter.text()}
	for _, entity := range []string{x.tenant.LegalEntity.ID, x.other.LegalEntity.ID} {
		e.Lines = append(e.Lines,
			client.CreateJournalLine{LedgerAccountID: accounts["6020"], CreditOrDebit: "DEBIT", Amount: "5.00", LegalEntityID: entity},
			client.CreateJournalLine{LedgerAccountID: accounts["4010"], CreditOrDebit: "CREDIT", Amount: "5.00", LegalEntityID: entity})
	}
	e.Lines[0].Memo = x.planter.text()
	made, err := x.tenant.Client.CreateJournalEntry(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// runAll executes the imports and runs.
func (x *isolation) runAll(t *testing.T) {
	t.Helper()
	for i, err := range x.tenant.Client.Imports(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		_, _ = x.service.App.Imports.Run(t.Context(), x.tenant.Organization.ID, i.ID, nil) // some have ended
	}
	for r, err := range x.tenant.Client.ClassificationRuns(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		_, _ = x.service.App.Classification.Run(t.Context(), x.tenant.Organization.ID, r.ID, nil)
	}
	for r, err := range x.tenant.Client.CashApplicationRuns(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		_, _ = x.service.App.CashRuns.Run(t.Context(), x.tenant.Organization.ID, r.ID, nil)
	}
}

// useHiddenAccounts posts to every account with a marked name in the books of the second legal entity, so that reports on it have rows of
// them.
func (x *isolation) useHiddenAccounts(t *testing.T) {
	t.Helper()
	l, used := x.other.OpenLedger(t), 0
	for a, err := range x.other.Client.LedgerAccounts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if used < 6 && a.IsPostable && a.AssetType == nil && canary.MatchString(a.Name) {
			used++
			l.PostTo(t, x.other.LegalEntity.ID, "2026-01-08", "Dr "+a.ID+" 10.00; Cr 4010 10.00")
		}
	}
	if used < 3 {
		t.Errorf("only %d accounts are named after the first legal entity or a source of it", used)
	}
}

var anyID = regexp.MustCompile(`\b[a-z]+_[0-9a-z]{26}\b`)

// send sends a request with the limited key. The answer must not contain a marked text or the id of the first legal entity, other than
// the request itself did.
func (x *isolation) send(t *testing.T, r apitest.Request) apitest.Answer {
	t.Helper()
	r.Key = x.key
	a := x.service.Send(t, r)
	if a.Status >= 500 {
		t.Errorf("%s %s: %d %s", r.Method, r.Path, a.Status, a.Body)
	}
	text := string(a.Body) + fmt.Sprint(a.Header)
	asked := r.Path + r.Body
	for _, known := range slices.Concat(canary.FindAllString(asked, -1), anyID.FindAllString(asked, -1)) {
		text = strings.ReplaceAll(text, known, "")
	}
	if seen := canary.FindString(text); seen != "" || strings.Contains(text, x.tenant.LegalEntity.ID) {
		t.Errorf("%s %s %s shows the first legal entity (%s): %d %.2000s", r.Method, r.Path, r.Body, seen, a.Status, a.Body)
	}
	for _, id := range anyID.FindAllString(text, -1) {
		if x.hidden[id] {
			t.Errorf("%s %s %s shows %s, a record of the first legal entity: %d %.2000s", r.Method, r.Path, r.Body, id, a.Status, a.Body)
		}
	}
	if a.Header.Get("Idempotency-Replayed") != "" && strings.Contains(asked, x.tenant.LegalEntity.ID) {
		t.Errorf("%s %s was given another caller's answer: %s", r.Method, r.Path, a.Body)
	}
	return a
}

// sendAll sends a request without its query, apart from the choice of the route, and reads all pages of a list.
func (x *isolation) sendAll(t *testing.T, r wire.Route, req apitest.Request) {
	t.Helper()
	path, _, _ := strings.Cut(req.Path, "?")
	query := url.Values{}
	if name, value, ok := strings.Cut(r.Choice, "="); ok {
		query.Set(name, value)
	}
	takes := func(name string) bool {
		return slices.ContainsFunc(r.Operation.Parameters, func(p *huma.Param) bool { return p.Name == name })
	}
	if takes("limit") {
		query.Set("limit", "100")
	}
	for page := 0; page < 20; page++ {
		req.Path = path + "?" + query.Encode()
		var next struct {
			Cursor *string `json:"next_cursor"`
		}
		if a := x.send(t, req); json.Unmarshal(a.Body, &next) != nil || next.Cursor == nil {
			break
		}
		query.Set("cursor", *next.Cursor)
	}
	if !takes("search") {
		return
	}
	query.Del("cursor")
	var found []string // with a text of the first legal entity, and with one that nothing has
	for _, text := range []string{x.name, "zqcanary0x"} {
		query.Set("search", text)
		req.Path = path + "?" + query.Encode()
		found = append(found, canary.ReplaceAllString(strip(t, x.send(t, req)), ""))
	}
	if found[0] != found[1] {
		t.Errorf("%s finds %s, but %s without a legal entity of the name", req.Path, found[0], found[1])
	}
}

// tenantRows returns the rows of all tables of an organization, by table, as text.
func tenantRows(t *testing.T, n *apitest.Tenant) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, table := range db.Tables {
		if table.Name == "preferences" { // of the user, who has both keys
			continue
		}
		if table.Kind == db.Tenant || table.Name == "api_keys" {
			for _, row := range readTampered(t, n, table).rows {
				out[table.Name] = append(out[table.Name], rowText(row))
			}
			slices.Sort(out[table.Name])
		}
	}
	return out
}

func rowText(row db.TextRow) string {
	var b strings.Builder
	for _, column := range slices.Sorted(maps.Keys(row)) {
		if v := row[column].Value; v != nil {
			fmt.Fprintf(&b, "%s=%s ", column, *v)
		}
	}
	return b.String()
}

// expectUnchanged compares the tables with what they were. Rows of the second legal entity may have changed, and the counters.
func (x *isolation) expectUnchanged(t *testing.T, before map[string][]string) {
	t.Helper()
	after := tenantRows(t, x.tenant)
	for table, rows := range before {
		if table == "organization_state" || table == "relays" {
			continue
		}
		now := map[string]bool{}
		for _, row := range after[table] {
			now[row] = true
		}
		for _, row := range rows {
			if !now[row] && !strings.Contains(row, x.other.LegalEntity.ID) {
				t.Errorf("a row of %s has changed or is gone: %s", table, row)
			}
		}
	}
}

// A key for one legal entity must neither show nor change anything of another, whatever is sent with it.
func TestNothingOfALegalEntityIsShownToOrChangedByAKeyForAnother(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		x := isolated(t, s)
		for _, field := range []string{
			"PATCH /v1/legal-entities/{legal_entity_id} name", "POST /v1/sources name", "POST /v1/sources address", "POST /v1/api-keys name",
			"POST /v1/transactions external_id", "POST /v1/transactions description", "POST /v1/transactions memo",
			"POST /v1/transactions vendor", "POST /v1/transactions counterparty_name", "POST /v1/transactions from_address",
			"POST /v1/journal-entries memo", "POST /v1/imports No such day",
			"POST /v1/accounting-periods/{accounting_period_id}/reopen reason",
		} {
			if !x.planter.planted[field] {
				t.Errorf("no marked text was stored in %s", field)
			}
		}
		before := tenantRows(t, x.tenant)
		for _, r := range s.API.Routes() {
			t.Run("of the first "+r.String(), func(t *testing.T) {
				for _, req := range x.requests[r.String()] {
					x.send(t, req)
					x.sendAll(t, r, req)
				}
			})
			t.Run("of both "+r.String(), func(t *testing.T) {
				x.sendShared(t, r, "journal_entry_id")
				x.sendRun(t, r)
			})
		}
		x.expectUnchanged(t, before)
		for _, r := range s.API.Routes() {
			t.Run("of the second "+r.String(), func(t *testing.T) {
				x.sendShared(t, r, "transaction_id")
				x.sendOwn(t, r)
			})
		}
		x.expectNoRecords(t)
	})
}

// sendOwn sends requests of a route about the second legal entity: as the owner would, and with the texts of the first in them.
func (x *isolation) sendOwn(t *testing.T, r wire.Route) {
	t.Helper()
	_, own := request(t, r, x.other)
	for _, form := range append([]sample{own}, own.also...) {
		if form.path == nil {
			form.path = own.path
		}
		x.sendAll(t, r, form.request(r, x.key))
		for _, theirs := range x.requests[r.String()] {
			marks := canary.FindAllString(theirs.Body, -1)
			if len(marks) == 0 || isForm(r) {
				continue
			}
			same := form
			for i, steps := range textPlaces(x.service, r, apitest.Decoded(form.body)) {
				same = same.with(steps, marks[i%len(marks)])
			}
			x.send(t, same.request(r, x.key))
		}
		x.send(t, form.request(r, x.key))
	}
}

// expectNoRecords looks into the audit log for changes of the first legal entity that were made with the limited key.
func (x *isolation) expectNoRecords(t *testing.T) {
	t.Helper()
	type record struct {
		Action string  `db:"action"`
		ID     string  `db:"resource_id"`
		Before *string `db:"before"`
		After  *string `db:"after"`
	}
	err := x.service.App.DB.Read(t.Context(), x.tenant.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.All[record](ctx, tx, "SELECT a.action, a.resource_id, a.before, a.after FROM audit_log a JOIN api_keys k ON "+
			"k.api_key_id = a.api_key_id WHERE a.organization_id = @org AND k.organization_id = @org AND k.last_four = ?", x.key[len(x.key)-4:])
		if len(rows) == 0 {
			t.Error("the limited key changed nothing at all, so that nothing was tested")
		}
		for _, r := range rows {
			if text := r.ID + db.OrEmpty(r.Before) + db.OrEmpty(r.After); strings.Contains(text, x.tenant.LegalEntity.ID) {
				t.Errorf("%s of %s: %s", r.Action, r.ID, text)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
