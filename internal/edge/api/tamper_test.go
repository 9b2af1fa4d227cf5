package api_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

// unnoticed has the tables and columns whose change verification does not notice, with the reason. A column of all tables has
// an asterisk as its table.
var unnoticed = map[string]string{
	"organization_state.books_version": "it changes whenever the books do, for whoever keeps a copy of them in memory",
	"organization_state deleted":       "nothing can be read without it, so that verification fails",
	"organization_state copied":        oneRow,
	"organizations deleted":            "the database refuses",
	"organizations copied":             "another organization is not part of this one",
	"firms copied":                     oneRow,
	"users copied":                     "a user who is no member can do nothing",
	"events.event_id":                  "it is a random name, which nothing refers to",
	"events.data":                      "it restates a record whose changes are audited",
	"events.object_id":                 "it may be missing, because some events are about several records; another one is noticed",

	"credential_uses": "it says when a credential was used last",
	"preferences":     "it says how a person likes to see the books",
	"oauth_codes":     "what came of a code is audited",
	"oauth_tokens":    "it holds hashes, and the authorization that tokens are for is audited",

	"relays":                   "it says how far events were handed to the job queue",
	"idempotency_keys":         "it holds answers, not facts",
	"imports":                  progress,
	"import_chunks":            progress,
	"import_faults":            progress,
	"classification_runs":      progress,
	"client_figures":           "it restates the books, and is computed again",
	"firm_jobs":                progress,
	"firm_job_results":         progress,
	"classification_results":   progress,
	"precedents":               learned,
	"precedent_features":       learned,
	"precedent_marks":          learned,
	"spam_dealings":            learned,
	"spam_sightings":           learned,
	"spam_bursts":              learned,
	"transfer_ambiguities":     learned,
	"transfer_marks":           learned,
	"observed_balances":        "the newest balances are in stated_balances, and nothing is booked from older ones",
	"connection_syncs":         progress,
	"gl_mappings copied":       refused,
	"gl_tag_mappings copied":   refused,
	"gl_charts":                "it is a copy of what the general ledger has, which is read again",
	"gl_accounts":              "it is a copy of what the general ledger has, which is read again",
	"gl_dimension_values":      "it is a copy of what the general ledger has, which is read again",
	"gl_sync_runs":             progress,
	"gl_sync_attempts":         progress,
	"gl_journals":              "it says what another system has, which a check compares; that an entry was sent is audited with the entry",
	"connection_events":        progress,
	"connection_omissions":     progress,
	"connection_runs":          progress,
	"connection_cursors":       progress,
	"connection_gaps":          progress,
	"connection_withdrawals":   progress,
	"authorization_attempts":   progress,
	"transaction_originals":    "it is what a provider has sent about a transaction, which is audited; nothing is computed from it",
	"cash_application_reports": progress,
	"connections copied":       refused,
	"reconciliations copied":   refused,
	"invitations copied":       refused,
	"webhook_cursors":          progress,
	"webhook_replays":          progress,
	"webhook_deliveries":       delivered,
	"webhook_attempts":         delivered,

	"connection_credentials.sealed":     sealedSecret,
	"connection_credentials.stored_at":  written,
	"provider_setups.sealed":            sealedSecret,
	"provider_setups.updated_at":        written,
	"webhook_endpoints.secret":          sealedSecret,
	"webhook_endpoints.previous_secret": sealedSecret,
	"aggregator_items":                  "no provider is configured here, and it is stated like the other tables",
	"cash_application_runs":             progress,
	"cash_application_results":          progress,

	"accounting_periods.accounting_period_id": unusedMonth,
	"accounting_periods.end_date_utc":         "the period of opening balances is no month; the ends of months are verified",
	"memory_rule_splits":                      "it restates the splits in the content of a rule, which is stated",
	"accounting_periods.created_at":           written,
	"accounting_periods deleted":              unusedMonth,
	"accounting_periods copied":               refused,
	"period_closings copied":                  refused,
	"invoices copied":                         refused,
	"credit_notes copied":                     refused,
	"cash_applications copied":                refused,
	"cash_application_settings copied":        oneRow,
	"journal_entries.updated_at":              written,
	"transactions.updated_at":                 written,
	"transactions.suggested":                  "it proposes how to book the transaction, and nothing is booked from it",
	"lots.updated_at":                         written,
	"lots.last_used_at":                       "it bounds the uses of the lot from above, for an index",
	"lot_uses.use_id":                         "it is a random name, which nothing refers to",
}

const (
	delivered    = "it is the log of what was sent, which is deleted after some time"
	sealedSecret = "it is encrypted, so that a change is noticed when it is decrypted"
	learned      = "it says what was noticed or learned, from which nothing is booked"
	oneRow       = "there is one row at most"
	progress     = "it says how far a task came, and what it did is audited"
	refused      = "the database refuses"
	unusedMonth  = "nothing is in this month, and it follows from the calendar"
	written      = "it says when the row was written, and nothing is reported from it"
)

// tampered is a company with at least one row in every table that verification covers.
func tampered(t *testing.T, s *apitest.Service) *apitest.Tenant {
	t.Helper()
	n := s.Found(t, "tampered")
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	n.NewFirmClient(t) // one of which nothing is asked, so that its row can be deleted
	_, err := n.Client.CreateFirmRequest(t.Context(), client.CreateFirmRequest{ClientID: n.NewFirmClient(t).ID, Message: "Hello",
		Integrations: []client.AskIntegration{{Provider: "file", Name: "Statements"}}})
	must("ask a client", err)
	_, err = n.Client.CreateFirmTemplate(t.Context(), client.CreateFirmTemplate{Name: "Chart", Description: new("Nodes"), Kind: "chart",
		Accounts: []client.FirmTemplateAccount{{Code: "6599", Name: "Nodes", Type: "Expense"}}})
	must("offer a template", err)
	n.Hire(t, s.Found(t, "firm"))
	n.Hire(t, s.Found(t, "second-firm"))
	a, _ := n.ConnectApp(t, actor.ScopeRead)
	must("disconnect", n.Client.DisconnectApp(t.Context(), a.ID))
	n.ConnectApp(t, actor.ScopeAll, actor.ScopeMemory)
	for _, name := range []string{"One", "Two"} {
		_, err := n.Client.CreateOAuthClient(t.Context(), client.CreateOAuthClient{Name: name, HomepageURL: "https://app.example.com",
			RedirectURIs: []string{"https://app.example.com/" + name}})
		must("app", err)
	}
	l := n.OpenLedger(t)
	l.AddEntity(t, "DE", "EUR")
	l.AddTag(t, "#rent")
	_, err = n.Client.StoreFXRates(t.Context(), apitest.Rates("EUR USD 2026-01-01 1.08 ECB", "EUR USD 2026-01-11 1.08 ECB",
		"EUR USD 2026-02-28 1.09 ECB"))
	must("rates", err)
	_, err = n.Client.StoreFXRates(t.Context(), apitest.Rates("EUR USD 2026-02-28 1.10"))
	must("rates", err)
	l.PostTo(t, l.Names["DE"], "2026-01-10", "Dr 1010 100.00 EUR #rent; Cr 4010 100.00 EUR")
	l.PostTo(t, l.Names["US"], "2026-01-11", "Dr 1010 50.00 EUR #rent; Cr 4010 50.00 EUR")
	l.PostTo(t, l.Names["US"], "2026-01-11", "Dr 1010 10.00; Cr 4010 10.00; Dr 1010 20.00 EUR DE; Cr 4010 20.00 EUR DE")
	corrected := l.PostTo(t, l.Names["US"], "2026-02-11", "Dr 1010 70.00; Cr 4010 70.00")
	_, err = n.Client.CorrectJournalEntry(t.Context(), corrected.ID, client.UpdateJournalEntry{Memo: new("better")})
	must("correct", err)
	draft := l.Entry("2026-02-12", "draft", apitest.Sale)
	draft.LegalEntityID = l.Names["US"]
	l.Create(t, draft)
	must("delete", n.Client.DeleteJournalEntry(t.Context(), l.Create(t, draft).ID))

	_, err = n.Client.UpdateLegalEntity(t.Context(), n.LegalEntity.ID, client.UpdateLegalEntity{CostBasisMethod: new("specific_id"),
		Measurement: new("fair_value")})
	must("entity", err)
	wallet := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", Name: "Wallet"})
	second := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", Name: "Cold"})
	opening := n.NewAsset(t, client.CreateAsset{SourceID: wallet.ID, DateReceived: "2025-06-01"})
	n.NewAsset(t, client.CreateAsset{SourceID: second.ID, AssetType: "BTC", Quantity: "1", CostBasis: "100.00", DateReceived: "2025-06-01"})
	german := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", Name: "German", LegalEntityID: l.Names["DE"]})
	n.NewAsset(t, client.CreateAsset{SourceID: german.ID, LegalEntityID: l.Names["DE"], AssetType: "BTC", Quantity: "1", CostBasis: "100.00",
		DateReceived: "2025-06-01"})
	prices := []client.CreatePrice{}
	for _, day := range []string{"2026-01-31T23:59:59Z", "2026-02-28T23:59:59Z"} {
		prices = append(prices, client.CreatePrice{AssetType: "ETH", Currency: "USD", Timestamp: day, Price: "2500", Note: new("seen")},
			client.CreatePrice{AssetType: "BTC", Currency: "USD", Timestamp: day, Price: "90000"})
	}
	_, err = n.Client.CreatePrices(t.Context(), prices)
	must("prices", err)
	_, err = n.Client.PutAssetPolicy(t.Context(), "ETH", client.PutAssetPolicy{})
	must("policy", err)
	tamperedTransactions(t, n, wallet, second, opening)
	sold := tamperedSale(t, n, german)
	statement, err := n.Client.CreateImport(t.Context(), client.CreateImport{FileName: "bank.csv", SourceID: n.NewSource(t,
		client.CreateSource{SourceType: "bank", Currency: "USD"}).ID, File: strings.NewReader("Date,Description,Amount,Balance\n" +
		"2026-02-14,Sale,7.00,7.00\n2026-02-15,Fee,-1.00,6.00\n")})
	must("import", err)
	counted := n.NewSource(t, client.CreateSource{Name: "Counted"})
	_, err = n.Client.EnterObservedBalance(t.Context(), counted.ID, client.EnterObservedBalance{AssetType: "USD", Quantity: "5",
		ObservedAt: "2026-02-15", Memo: "seen"})
	must("observed balance", err)
	_, err = n.Client.CreateReconciliation(t.Context(), counted.ID, client.CreateReconciliation{At: "2026-02-15", AcceptDifference: true,
		Note: "petty cash"})
	must("reconciliation", err)
	_, err = s.App.Imports.Run(t.Context(), n.Organization.ID, statement.ID, nil)
	must("import", err)

	periods := map[string]string{}
	for _, p := range n.Periods(t) {
		periods[p.Key] = p.ID
	}
	for range 2 {
		_, err = n.Client.CreateRevaluation(t.Context(), client.CreateRevaluation{AccountingPeriodID: periods["2026-02"],
			LegalEntityIDs: []string{n.LegalEntity.ID}})
		must("revaluation", err)
	}
	for _, key := range slices.Sorted(maps.Keys(periods)) {
		if key <= "2026-02" {
			l.Close(t, "DE", key)
		}
	}
	tamperedReleases(t, n, l, periods)
	_, err = n.Client.CreateInvitation(t.Context(), client.CreateInvitation{Email: "ada@example.com", Role: "viewer",
		LegalEntityIDs: []string{n.LegalEntity.ID}})
	must("invite", err)
	_, err = n.Client.ReopenAccountingPeriod(t.Context(), periods["2026-02"], client.ReopenAccountingPeriod{Reason: "late",
		LegalEntityID: l.Names["DE"]})
	must("reopen", err)
	_, err = n.Client.ReverseJournalEntry(t.Context(), sold, client.ReverseJournalEntry{})
	must("reverse", err)

	lost := n.NewInvoice(t, client.CreateInvoice{Status: "open", Memo: "first"})
	_, err = n.Client.MarkInvoiceUncollectible(t.Context(), lost.ID, client.MarkInvoiceUncollectible{})
	must("uncollectible", err)
	_, err = n.Client.VoidInvoice(t.Context(), n.NewInvoice(t, client.CreateInvoice{Status: "open"}).ID, client.VoidInvoice{Reason: "wrong"})
	must("void", err)
	n.NewCreditNote(t, true)
	_, err = n.Client.VoidCreditNote(t.Context(), n.NewCreditNote(t, false).ID, client.VoidCreditNote{Reason: "wrong"})
	must("void", err)
	tamperedApplications(t, n)
	connected := n.NewConnection(t, client.CreateConnection{WebhookSecret: "whsec_1"})
	must("read a connection", s.App.Connections.Run(t.Context(), n.Organization.ID, connected.ID))
	setUpNetSuite(t, n)
	ended := n.NewConnection(t, client.CreateConnection{})
	_, err = n.Client.Disconnect(t.Context(), ended.ID)
	must("disconnect", err)
	ledger := generalLedger(t, n)
	_, err = n.Client.SetGLMapping(t.Context(), n.AccountByCode(t, "1010").ID, client.SetGLMapping{ConnectionID: ledger,
		GLAccountID: new(generalLedgerAccount(t, n, ledger))})
	must("map", err)
	value := generalLedgerValue(t, n, ledger)
	_, err = n.Client.SetGLTagMapping(t.Context(), n.NewTag(t).ID, client.SetGLTagMapping{ConnectionID: ledger,
		DimensionID: &value.DimensionID, ValueID: &value.ValueID})
	must("map a tag", err)
	aDelivery(t, n)
	_, err = n.Client.RotateWebhookSecret(t.Context(), anEndpoint(t, n).path["webhook_endpoint_id"], client.RotateWebhookSecret{})
	must("rotate", err)
	n.NewRule(t)
	n.NewTag(t)
	must("document", n.Client.PutMemory(t.Context(), "knowledge/notes.md", client.PutMemoryDocument{Rationale: "because",
		Content: strings.Repeat("Rent is paid late. ", 20)}))
	must("document", n.Client.DeleteMemory(t.Context(), newFile(t, n), "1"))
	n.PostJSON(t, "/v1/spam-listings", map[string]any{"verdict": "deny", "kind": "symbol", "value": "SCAM"}, nil)
	key, err := n.Client.CreateAPIKey(t.Context(), client.CreateAPIKey{Name: "Second", Scopes: []string{"apis.read"}})
	must("key", err)
	must("revoke", n.Client.RevokeAPIKey(t.Context(), key.ID))
	return n
}

// tamperedApplications adds cash applications: a confirmed one, one that uses its rest, and a voided one.
func tamperedApplications(t *testing.T, n *apitest.Tenant) {
	t.Helper()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	_, err := n.Client.UpdateSettings(t.Context(), client.UpdateSettings{WriteOffLimit: new("2.00")})
	must("settings", err)
	first := n.NewCashApplication(t)
	_, err = n.Client.IfMatch(first.ETag).ConfirmCashApplication(t.Context(), first.ID)
	must("confirm", err)
	_, err = n.Client.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: first.DepositTransactionID,
		Allocations: []client.Allocation{{TargetID: n.NewInvoice(t, client.CreateInvoice{Status: "open"}).ID, Amount: "30.00"}}})
	must("rest", err)
	_, err = n.Client.VoidCashApplication(t.Context(), n.NewCashApplication(t).ID, client.VoidCashApplication{Reason: "wrong"})
	must("void", err)
}

// tamperedTransactions adds transactions: booked, linked, with selected lots, spam and pending ones.
func tamperedTransactions(t *testing.T, n *apitest.Tenant, wallet, second client.Source, opening client.Asset) {
	t.Helper()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	at := time.Date(2026, 2, 10, 12, 0, 0, 0, time.UTC)
	quantity := "1"
	made, err := n.Client.CreateTransactions(t.Context(),
		client.CreateTransaction{SourceID: wallet.ID, ExternalID: "in", TagIDs: []string{n.NewTag(t).ID}, Vendor: "Customer",
			Memo: "first", ProviderCategory: "Sales",
			External: client.CreateTransactionExternal{Timestamp: at, Description: "Sale", Direction: "credit", Quantity: &quantity,
				Currency: "ETH", ValueFiat: &client.ValuedFiat{Gross: "2400.00", Fee: "0.00", Net: "2400.00", Currency: "USD"}},
			Crypto: &client.TransactionCrypto{}},
		client.CreateTransaction{SourceID: second.ID, ExternalID: "pending", External: client.CreateTransactionExternal{Timestamp: at,
			Description: "Something", Direction: "credit", Quantity: &quantity, Currency: "USDC"}},
		client.CreateTransaction{SourceID: second.ID, ExternalID: "spam", TransactionType: "SPAM", External: client.CreateTransactionExternal{
			Timestamp: at, Description: "Visit us", Direction: "credit", Quantity: &quantity, Currency: "SCAM"}})
	must("transactions", err)
	income, fees := n.AccountByCode(t, "4010"), n.NewExpenseAccount(t, "Services")
	_, err = n.Client.BookTransaction(t.Context(), client.BookTransaction{TransactionID: made.Data[0].ID, TransactionType: "INVOICE",
		LedgerAccountID: income.ID, AutoPost: true})
	must("book", err)
	out, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: wallet.ID, ExternalID: "out",
		External: client.CreateTransactionExternal{Timestamp: at.AddDate(0, 0, 2), Description: "Audit", Direction: "debit", Quantity: &quantity,
			Currency: "ETH", ValueFiat: &client.ValuedFiat{Gross: "2600.00", Fee: "0.00", Net: "2600.00", Currency: "USD"}}})
	must("transactions", err)
	_, err = n.Client.SelectLots(t.Context(), out.Data[0].ID, client.LotPicked{AssetID: opening.ID, Quantity: "1"})
	must("lots", err)
	_, err = n.Client.BookTransaction(t.Context(), client.BookTransaction{TransactionID: out.Data[0].ID, TransactionType: "EXPENSE",
		LedgerAccountID: fees.ID, AutoPost: true})
	must("book", err)
	_, err = n.Service().App.Transfers.Link(n.Context(t), transfers.LinkParams{TransactionIDs: n.NewTransfer(t)})
	must("link", err)
	refused := n.NewTransfer(t)
	_, err = n.Service().App.Transfers.Link(n.Context(t), transfers.LinkParams{TransactionIDs: refused})
	must("link", err)
	_, err = n.Service().App.Transfers.Unlink(n.Context(t), refused)
	must("unlink", err)
}

// tamperedSale books an inflow of January and returns its entry, to be reversed when January is closed.
func tamperedSale(t *testing.T, n *apitest.Tenant, to client.Source) (entryID string) {
	t.Helper()
	quantity := "0.5"
	in, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: to.ID, ExternalID: "in",
		External: client.CreateTransactionExternal{Timestamp: time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC), Description: "Sale",
			Direction: "credit", Quantity: &quantity, Currency: "BTC",
			ValueFiat: &client.ValuedFiat{Gross: "40000.00", Fee: "0.00", Net: "40000.00", Currency: "EUR"}}})
	if err != nil {
		t.Fatal(err)
	}
	booked, err := n.Client.BookTransaction(t.Context(), client.BookTransaction{TransactionID: in.Data[0].ID, TransactionType: "INVOICE",
		LedgerAccountID: n.AccountByCode(t, "4010").ID, AutoPost: true})
	if err != nil {
		t.Fatal(err)
	}
	return booked.ID
}

// tamperedReleases adds a legal entity that sells what it has impaired and moved since.
func tamperedReleases(t *testing.T, n *apitest.Tenant, l *apitest.Ledger, periods map[string]string) {
	t.Helper()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	l.AddEntity(t, "UK", "USD")
	entityID := l.Names["UK"]
	_, err := n.Client.UpdateLegalEntity(t.Context(), entityID, client.UpdateLegalEntity{Measurement: new("impairment")})
	must("entity", err)
	warm := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", Name: "Warm", LegalEntityID: entityID})
	hot := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", Name: "Hot", LegalEntityID: entityID})
	n.NewAsset(t, client.CreateAsset{SourceID: warm.ID, LegalEntityID: entityID, AssetType: "ETH", Quantity: "1", CostBasis: "4000.00",
		DateReceived: "2025-06-01"})
	measure := func(month string) {
		t.Helper()
		_, err := n.Client.CreateRevaluation(t.Context(), client.CreateRevaluation{AccountingPeriodID: periods[month],
			LegalEntityIDs: []string{entityID}})
		must("revaluation", err)
	}
	measure("2026-01")
	for _, key := range slices.Sorted(maps.Keys(periods)) {
		if key <= "2026-01" {
			l.Close(t, "UK", key)
		}
	}
	leave := func(sourceID, externalID, kind, accountID string, day int) {
		t.Helper()
		made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: sourceID, ExternalID: externalID,
			External: client.CreateTransactionExternal{Timestamp: time.Date(2026, 2, day, 12, 0, 0, 0, time.UTC), Description: externalID,
				Direction: "debit", Quantity: new("1"), Currency: "ETH",
				ValueFiat: &client.ValuedFiat{Gross: "2600.00", Fee: "0.00", Net: "2600.00", Currency: "USD"}}})
		must("transactions", err)
		_, err = n.Client.BookTransaction(t.Context(), client.BookTransaction{TransactionID: made.Data[0].ID, TransactionType: kind,
			LedgerAccountID: accountID, AutoPost: true})
		must("book", err)
	}
	leave(warm.ID, "moved", "WITHDRAWAL", hot.LedgerAccountID, 5)
	leave(hot.ID, "sold", "EXPENSE", n.NewExpenseAccount(t, "Repairs").ID, 6)
	measure("2026-02")
}

// errTampered rolls a change back.
var errTampered = errors.New("rolled back by the test")

// tamper makes a change outside Bursar, verifies, and rolls the change back. It returns what was found, or an error if the
// database does not accept the change.
func tamper(t *testing.T, n *apitest.Tenant, statement string, args ...any) (found []string, err error) {
	t.Helper()
	a := n.Service().App
	err = a.DB.WriteAlone(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		changed, err := tx.Exec(ctx, statement, args...)
		if err != nil {
			return err
		}
		if changed != 1 {
			return fmt.Errorf("%s changed %d rows", statement, changed)
		}
		// Most changes are noticed here, and the rest is verified only if this one is not.
		if found, err = audit.VerifySince(ctx, tx, 0, nil); err == nil && len(found) > 0 {
			return errTampered
		}
		findings, err := a.VerifyOrganization(ctx, n.Organization.ID)
		if err != nil {
			return err
		}
		for _, f := range findings {
			found = append(found, f.Text)
		}
		return errTampered
	})
	if errors.Is(err, errTampered) {
		err = nil
	}
	return found, err
}

// tamperedTable is a table as the test sees it.
type tamperedTable struct {
	db.Table
	columns []string
	key     []string
	rows    []db.TextRow
}

func (x tamperedTable) where(row db.TextRow) (condition string, args []any) {
	condition = x.owned()
	for _, column := range x.key {
		condition += " AND " + column + " = ?"
		args = append(args, *row[column].Value)
	}
	return condition, args
}

// owned returns the condition of the rows of the organization.
func (x tamperedTable) owned() string {
	switch x.Name {
	case "users":
		return "user_id IN (SELECT m.user_id FROM members m WHERE m.organization_id = @org)"
	case "oauth_clients":
		return "registered_for = @org"
	}
	return "organization_id = @org"
}

func TestSoakEveryChangePastTheProgramIsNamed(t *testing.T) {
	t.Parallel()
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		s := apitest.Start(t, dbtest.Open(t, c), api.Config{})
		n := tampered(t, s)
		for _, table := range db.Tables {
			audited := slices.Contains([]string{"api_keys", "users", "oauth_clients"}, table.Name)
			if table.Kind == db.Local || table.Kind == db.Reference && !audited ||
				unnoticed[table.Name] != "" {
				continue
			}
			x := readTampered(t, n, table)
			if len(x.rows) == 0 {
				t.Errorf("%s has no rows: let tampered create one, or say in unnoticed why nobody needs to notice", table.Name)
				continue
			}
			for _, column := range x.columns {
				if column == "organization_id" || unnoticed["*."+column] != "" || unnoticed[table.Name+"."+column] != "" {
					continue
				}
				if !dbtest.InSample(table.Name+column, 4) {
					continue
				}
				for _, row := range x.samples(column) {
					changeColumn(t, n, x, row, column)
				}
			}
			deleteRow(t, n, x)
			copyRow(t, n, x)
		}
	})
}

// readTampered reads a table.
func readTampered(t *testing.T, n *apitest.Tenant, table db.Table) (x tamperedTable) {
	t.Helper()
	x.Table = table
	err := n.Service().App.DB.Read(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
		if x.columns, err = db.ColumnsOf(ctx, tx, table.Name); err != nil {
			return err
		}
		x.key = slices.DeleteFunc(keyOf(t, ctx, tx, table.Name), func(c string) bool { return c == "organization_id" || c == "row_key" })
		if len(x.key) == 0 && table.ID != "" {
			x.key = []string{table.ID}
		}
		x.rows, err = db.Texts(ctx, tx, "SELECT * FROM "+table.Name+" WHERE "+x.owned())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// keyOf returns the columns of the primary key of a table.
func keyOf(t *testing.T, ctx context.Context, tx *db.Tx, table string) []string {
	t.Helper()
	query := "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk"
	if tx.DB().Engine() == db.Postgres {
		query = "SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) " +
			"WHERE i.indrelid = to_regclass(?) AND i.indisprimary"
	}
	key, err := db.All[string](ctx, tx, query, table)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// otherValues returns expressions for values of a column that differ from that of a row: a value of another row first.
func (x tamperedTable) otherValues(row db.TextRow, column string) (out []string) {
	if x.Name == "lots" && column == "created_at" { // it must agree with the time in the id, but not exactly
		return []string{"'2020-01-01T00:00:00.000Z'"}
	}
	value := row[column].Value
	for _, other := range x.rows {
		if v := other[column].Value; v != nil && (value == nil || *v != *value) {
			out = append(out, "'"+strings.ReplaceAll(*v, "'", "''")+"'")
			break
		}
	}
	if value == nil {
		return append(out, "'x'", "'7'", "'2026-01-01T00:00:00.000Z'", "true", "1")
	}
	return append(out, column+" || 'x'", column+" + 1", "NOT "+column, "1 - "+column, column+" + interval '1 hour'",
		"'2026-01-01T00:00:00.000Z'", "'7'")
}

// varieties are the tables whose rows are verified in different ways, such as opening balances and other lots, with the column
// that tells them apart.
var varieties = map[string]string{"bookings": "transaction_type", "lot_uses": "kind", "lots": "origin", "revaluation_parts": "status"}

// samples returns the rows of which a column is changed: for each variety one, which has a value there if possible.
func (x tamperedTable) samples(column string) []db.TextRow {
	found := map[string]db.TextRow{}
	for _, r := range x.rows {
		variety := db.OrEmpty(r[varieties[x.Name]].Value)
		if was, there := found[variety]; !there || was[column].Empty && !r[column].Empty {
			found[variety] = r
		}
	}
	return slices.Collect(maps.Values(found))
}

// changeColumn changes one column of a row.
func changeColumn(t *testing.T, n *apitest.Tenant, x tamperedTable, row db.TextRow, column string) {
	t.Helper()
	condition, args := x.where(row)
	var last error
	for _, value := range x.otherValues(row, column) {
		found, err := tamper(t, n, "UPDATE "+x.Name+" SET "+column+" = "+value+" WHERE "+condition, args...)
		if err != nil {
			last = err
			continue
		}
		switch {
		case len(found) == 0:
			t.Errorf("nothing names that %s.%s was set to %s", x.Name, column, value)
		case !x.names(row, column, found):
			t.Errorf("%s.%s was set to %s, but nothing names the row: %s", x.Name, column, value, strings.Join(found, "\n"))
		}
		return
	}
	t.Errorf("%s.%s cannot be changed: %v", x.Name, column, last)
}

// names reports whether a finding about a column that records state names the resource of a row.
func (x tamperedTable) names(row db.TextRow, changed string, found []string) bool {
	stated := slices.IndexFunc(db.StatedTables, func(s db.StatedTable) bool { return s.Table == x.Name })
	if stated < 0 || db.StatedTables[stated].Where != "" || db.StatedTables[stated].LeaveOut(changed) {
		return true
	}
	for column, text := range row {
		if strings.Contains(db.StatedTables[stated].Key, column) && strings.Contains(strings.Join(found, " "), *text.Value) {
			return true
		}
	}
	return false
}

func deleteRow(t *testing.T, n *apitest.Tenant, x tamperedTable) {
	t.Helper()
	if unnoticed[x.Name+" deleted"] != "" {
		return
	}
	condition, args := x.where(x.rows[0])
	found, err := tamper(t, n, "DELETE FROM "+x.Name+" WHERE "+condition, args...)
	if err != nil || len(found) == 0 {
		t.Errorf("nothing names that a row of %s was deleted: %v", x.Name, err)
	}
}

// copyRow inserts a row again under another key.
func copyRow(t *testing.T, n *apitest.Tenant, x tamperedTable) {
	t.Helper()
	if unnoticed[x.Name+" copied"] != "" {
		return
	}
	condition, args := x.where(x.rows[0])
	last := error(nil)
	for _, changed := range slices.Backward(x.key) {
		for _, value := range []string{changed + " || 'x'", changed + " + 1000"} {
			owner, _, _ := strings.Cut(x.owned(), " ")
			columns := slices.DeleteFunc(slices.Clone(x.columns), func(c string) bool { return c == owner })
			values := slices.Clone(columns)
			for i, c := range columns {
				switch {
				case c == changed:
					values[i] = value
				case slices.Contains([]string{"number", "sequence_number", "row_key", "revision"}, c):
					values[i] = c + " + 1000"
				case c == x.ID || slices.Contains([]string{"name", "external_id", "key_hash", "account_id", "path", "address", "code", "value_key"}, c):
					values[i] = c + " || 'x'"
				case c == "priced_at" && x.Name == "prices":
					values[i] = "created_at"
				}
			}
			found, err := tamper(t, n, "INSERT INTO "+x.Name+" ("+owner+", "+strings.Join(columns, ", ")+") SELECT @org, "+
				strings.Join(values, ", ")+" FROM "+x.Name+
				" WHERE "+condition, args...)
			if err != nil {
				last = err
				continue
			}
			if len(found) == 0 {
				t.Errorf("nothing names that a row of %s was inserted", x.Name)
			}
			return
		}
	}
	t.Errorf("a row of %s cannot be copied: %v", x.Name, last)
}
