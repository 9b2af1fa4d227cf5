package api_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// plantDerived stores texts of the first legal entity that are not in the samples, and that the service derives from others: what it says
// about faulty rows of a file, and what the spam filter remembers.
func (x *isolation) plantDerived(t *testing.T) {
	t.Helper()
	n, mark := x.tenant, x.planter.text
	day := mark()
	_, err := n.Client.CreateImport(t.Context(), client.CreateImport{FileName: mark() + ".csv",
		SourceID: n.NewSource(t, client.CreateSource{}).ID,
		Format:   "csv",
		Mapping: map[string]any{"date_layouts": []string{"YYYY-MM-DD"}, "columns": map[string]any{"id": "Transaction ID", "timestamp": day,
			"amount": "Amount", "currency": "Currency"}},
		File: strings.NewReader("Transaction ID," + day + ",Description,Amount,Currency\n1,2026-01-31,Rent,-1200.50,USD\n" +
			"2,2026-02-01,Rent,-1200.50,USD\n3," + mark() + ",Rent,-1200.50,USD\n")})
	if err != nil {
		t.Fatal(err)
	}
	wallet := n.NewSource(t, client.CreateSource{SourceType: "wallet", Name: mark(), Chain: "ethereum",
		Address: "0x3fA9c41b7e02D56a8F1c0B94E7d26358aC1be07D"}).ID
	at := time.Date(2026, 1, 12, 12, 0, 0, 0, time.UTC)
	pay := func(source string, change func(*client.CreateTransaction)) string {
		c := client.CreateTransaction{SourceID: source, ExternalID: mark(), External: client.CreateTransactionExternal{Timestamp: at,
			Description: mark(), Direction: "debit", Quantity: new("10"), Currency: "USD"}}
		change(&c)
		made, err := n.Client.CreateTransactions(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return made.Data[0].ID
	}
	body := map[string]any{"filter": map[string]any{"search": mark()}, "action": "suggest"}
	if a := n.PostJSON(t, "/v1/classification-runs", body, nil); a.Status >= 300 {
		t.Fatalf("%s", a.Body)
	}
	invoice := n.NewInvoice(t, client.CreateInvoice{Status: "open", InvoiceNumber: mark()})
	paid := pay(n.NewSource(t, client.CreateSource{Name: mark()}).ID, func(c *client.CreateTransaction) {
		c.External.Direction, c.External.Quantity, c.External.Description = "credit", &invoice.AmountDue, "invoice "+invoice.InvoiceNumber
	})
	for _, selected := range []map[string]any{{"filter": map[string]any{"search": mark()}}, {"transaction_ids": []string{paid}}} {
		if a := n.PostJSON(t, "/v1/cash-application-runs", selected, nil); a.Status >= 300 {
			t.Fatalf("%s", a.Body)
		}
	}
	customer, token, hash := mark(), mark(), mark()
	arrive := func(from, contract, symbol, quantity string) {
		pay(wallet, func(c *client.CreateTransaction) {
			c.External.Direction, c.External.Currency, c.External.Quantity = "credit", symbol, &quantity
			if symbol == "USDC" {
				c.External.ValueFiat = &client.ValuedFiat{Gross: quantity, Fee: "0", Net: quantity, Currency: "USD"}
			}
			c.Crypto = &client.TransactionCrypto{Chain: new("ethereum"), FromAddress: &from, ContractAddress: &contract, TransactionHash: &hash}
		})
	}
	arrive(customer, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "USDC", "5000")
	for range 5 {
		arrive("0x7c2E91aF04d83b56C7e0A19f2bD458630eC7f1B3", token, "NEWT", "9")
	}
	arrive(customer[:5]+"0000"+customer[len(customer)-5:], token, "USDC", "1")
}

// serviceText matches columns with texts that the service chooses or computes: ids, keys, codes, values of a list and the like.
var serviceText = regexp.MustCompile(`(^|_)(ids?|by|status|type|kind|currency|country|key|hash|digest|method|scope|scopes|role|action|` +
	`outcome|claim|pool|origin|before|after|from|provider|framework|treatment|unit|chain|direction|measurement|timezone|format|version)$`)

const (
	ofOrganization = "it belongs to the whole organization"
	fixedValue     = "one of some values"
	encrypted      = "it is encrypted"
	sent           = "runs that send entries are tested with their area: who does not see all of their legal entities does not see them"
	figures        = "ids, amounts or times"
	ownWords       = "the words of the service, which quote nobody"
	ruled          = "the rule of a sample matches every mark; what is said of earlier bookings is tested with the suggestions"
)

// unmarked says why a column that holds text has no mark of the first legal entity.
var unmarked = map[string]string{
	"organizations.name": ofOrganization, "organizations.web_address": ofOrganization, "organizations.logo_url": ofOrganization,
	"tags.name": ofOrganization, "tags.search": ofOrganization, "ledger_accounts.code": ofOrganization, "fx_rates.source": ofOrganization,
	"spam_listings.value": ofOrganization, "spam_listings.note": ofOrganization, "prices.note": ofOrganization,
	"memory_documents.path": ofOrganization, "memory_versions.content": ofOrganization, "memory_versions.frontmatter": ofOrganization,
	"memory_versions.rationale": ofOrganization, "customers.name": ofOrganization, "customers.email": ofOrganization,
	"customers.search": ofOrganization, "customer_identifiers.value": ofOrganization,
	"webhook_endpoints.url": ofOrganization, "webhook_endpoints.description": ofOrganization, "webhook_endpoints.types": ofOrganization,
	"webhook_attempts.url": ofOrganization, "webhook_attempts.request_headers": ofOrganization,
	"webhook_attempts.response_headers": ofOrganization, "webhook_attempts.response_body": ofOrganization,
	"webhook_endpoints.secret": encrypted, "webhook_endpoints.previous_secret": encrypted,

	"firms.firm_name": ofOrganization, "firms.web_address": ofOrganization, "firm_clients.name": ofOrganization,
	"firm_clients.email": ofOrganization, "firm_requests.email": ofOrganization, "firm_requests.message": ofOrganization,
	"firm_requests.integrations": ofOrganization, "firm_templates.name": ofOrganization, "firm_templates.description": ofOrganization,
	"firm_templates.content": ofOrganization,

	"invitations.email": ofOrganization, "preferences.name": ofOrganization, "preferences.value": ofOrganization,
	"credential_uses.address": ofOrganization, "oauth_authorizations.end_reason": fixedValue, "oauth_codes.redirect_uri": ofOrganization,
	"oauth_codes.code_challenge": "a hash", "oauth_tokens.salt": "it is random",

	"idempotency_keys.rights": fixedValue, "legal_entities.short_disposal": fixedValue, "legal_entities.intercompany_basis": fixedValue,
	"legal_entities.loans_out": fixedValue, "ledger_accounts.normal_balance": fixedValue, "period_closing_rates.applies_to": fixedValue,
	"journal_entries.classification": fixedValue, "journal_lines.credit_or_debit": fixedValue, "transactions.type_before_spam": fixedValue,
	"transaction_counts.facet": fixedValue, "transaction_quantities.day": figures, "spam_listings.verdict": fixedValue, "transaction_links.side": fixedValue,
	"connection_syncs.stage": fixedValue, "connections.mode": fixedValue, "imports.preset": fixedValue, "lot_uses.term": fixedValue,

	"period_closing_prices.rate_date": figures, "fx_rates.date": figures, "journal_lines.rates": figures, "imports.limited_to": figures,
	"transfer_ambiguities.candidates": figures, "lots.opened_in": figures, "lot_consumptions.picks": figures,
	"revaluation_items.lines": figures, "classification_runs.limited_to": figures, "cash_application_runs.limited_to": figures,
	"cash_application_runs.counts": figures, "classification_runs.counts": figures,
	"invoices.number_digits": figures, "precedents.booked_to": figures, "precedent_features.latest": figures,
	"cash_application_allocations.credits": figures, "invoices.number_prefix": "the letters of a number, which is marked as a whole",

	"cash_applications.review_reason": ownWords, "cash_applications.error_message": ownWords,
	"cash_applications.payer_address": "no sample applies a deposit of a digital asset",
	"connection_credentials.sealed":   encrypted, "provider_setups.sealed": encrypted, "authorization_attempts.sealed": encrypted,
	"connections.error_message": ownWords, "connections.warnings": ownWords, "connections.revocation_error": ownWords,
	"connections.classify": fixedValue, "connection_syncs.cause": fixedValue, "connection_runs.cause": fixedValue,
	"connection_cursors.ledger": fixedValue, "connection_gaps.ledger": fixedValue, "connection_gaps.reason": ownWords,
	"connection_cursors.position": "made of ids and times of the provider", "connection_runs.error_message": ownWords,
	"connections.settings":             "no sample connects a wallet",
	"transaction_originals.content":    "it is shown with the transaction that it is about only",
	"authorization_attempts.return_to": "no sample has an address to return to", "authorization_attempts.error_message": ownWords,
	"gl_charts.locked_through": figures, "gl_accounts.code": ofOrganization,
	"gl_accounts.name": ofOrganization, "gl_accounts.refusal": ownWords, "gl_accounts.search": ofOrganization,
	"gl_dimension_values.dimension_name": ofOrganization, "gl_dimension_values.name": ofOrganization,
	"gl_dimension_values.search": ofOrganization,
	"gl_sync_runs.book":          sent, "gl_sync_runs.stage": fixedValue, "gl_sync_runs.counts": figures, "gl_sync_runs.totals": figures,
	"gl_sync_runs.warnings": ownWords, "gl_sync_runs.error_message": ownWords,
	"gl_sync_attempts.part": sent, "gl_sync_attempts.changes": sent,
	"gl_journals.book": sent, "gl_journals.part": sent, "gl_journals.state": fixedValue, "gl_journals.external_number": sent,
	"gl_journals.url": sent, "gl_journals.content": sent, "gl_journals.next": sent, "gl_journals.strays": sent,
	"gl_journals.entry_date": figures, "gl_journals.drift": sent, "gl_sync_attempts.error_code": fixedValue,
	"connection_syncs.cursor": "an id of the provider", "cash_application_allocations.report_reference": "an id of the provider",
	"connection_omissions.reason": ownWords, "webhook_endpoints.status_reason": ownWords, "webhook_deliveries.error": ownWords,
	"webhook_attempts.error":   ownWords,
	"transfer_ambiguities.why": ownWords, "classification_runs.error_message": ownWords,
	"client_figures.period_key": figures, "client_figures.readiness": fixedValue, "firm_jobs.parameters": figures,
	"firm_jobs.scheduled_for": figures, "firm_jobs.counts": figures, "firm_jobs.error_message": ownWords,
	"firm_job_results.error_message": ownWords,
	"firm_job_results.body":          "it is shown to people of the firm only, who see the whole client",
	"transactions.suggested":         ruled, "classification_results.body": ruled,
	"cash_application_runs.error_message": ownWords,
	"spam_dealings.shown":                 "the ends of an address, which is marked as a whole in name",
	"stated_balances.account":             "no sample has a file with balances",
	"imports.error_message":               "no import of a sample fails", "imports.warnings": "no import of a sample has warnings",
}

// Whatever text of a legal entity is stored must be marked, or the search for marks in the answers to others would miss a field.
func TestEveryTextOfALegalEntityIsMarked(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, dbtest.Open(t, dbtest.Postgres(t)), api.Config{}) // its catalog tells texts from amounts and times
	x := isolated(t, s)
	rows, err := s.App.DB.Jobs().QueryContext(t.Context(), "SELECT table_name || '.' || column_name FROM information_schema.columns "+
		"WHERE table_schema = 'public' AND data_type = 'text'")
	if err != nil {
		t.Fatal(err)
	}
	var texts, missing []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, name)
	}
	if err := rows.Err(); err != nil || len(texts) < 200 {
		t.Fatalf("%d columns, %v", len(texts), err)
	}
	for _, table := range db.Tables {
		if table.Kind != db.Tenant {
			continue
		}
		read := readTampered(t, x.tenant, table)
		for _, column := range read.columns {
			name := table.Name + "." + column
			marked := slices.ContainsFunc(read.rows, func(row db.TextRow) bool {
				return row[column].Value != nil && canary.MatchString(*row[column].Value)
			})
			switch {
			case marked && unmarked[name] != "":
				t.Errorf("%s is marked: remove it from the list", name)
			case !marked && unmarked[name] == "" && slices.Contains(texts, name) && !serviceText.MatchString(column):
				missing = append(missing, name)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("no text of the first legal entity is marked in these columns:\n%s", strings.Join(missing, "\n"))
	}
}
