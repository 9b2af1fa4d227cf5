package db

import (
	"fmt"
	"strings"
)

// ArchivedTable says what of a table is in the archive of an organization, which moves it to another database with all that it is.
type ArchivedTable struct {
	Name string

	// LeftOut is the reason why the archive has nothing of the table; empty means that it has every row of the organization.
	LeftOut string

	// Where selects the rows of a table whose rows do not belong to one organization. Those that a database has already are not replaced
	// by what an archive has of them.
	Where string

	// Redacted has the reason for each column whose values are replaced by RedactedText, unless they are null.
	Redacted map[string]string

	// OrganizationColumn is a column that must have the organization, or be null.
	OrganizationColumn string
}

// RedactedText is in an archive instead of a value that another installation could not use, or must not have. It is none that could be
// decrypted.
const RedactedText = "left out of the archive"

const (
	sealedElsewhere = "it is encrypted with the key of the installation"
	credential      = "it is a credential, and people sign in anew at another installation"
	notMoved        = "it belongs to the process that runs on the database"
	searchIndex     = "SQLite fills its index of texts by itself"
	ofQueue         = "background work that waits is found again from the tables that it is about"
)

// archived lists what the archive of an organization has of each table, in the order in which rows are stored: a row that refers to
// another by a foreign key comes after it.
var archived = []ArchivedTable{
	{Name: "organizations"},
	{Name: "users"}, // Where follows from the references
	{Name: "oauth_clients", OrganizationColumn: "registered_for", Where: "registered_for = @org OR oauth_client_id IN " +
		"(SELECT g.oauth_client_id FROM oauth_authorizations g WHERE g.organization_id = @org)"},
	{Name: "connection_credentials", Redacted: map[string]string{"sealed": sealedElsewhere}},
	{Name: "provider_setups", Redacted: map[string]string{"sealed": sealedElsewhere}},
	{Name: "webhook_endpoints", Redacted: map[string]string{"secret": sealedElsewhere, "previous_secret": sealedElsewhere}},
	{Name: "firm_clients"},
	{Name: "firm_requests"},
	{Name: "firm_access"},
	{Name: "firm_people"},

	{Name: "client_figures", LeftOut: "it restates the books, and is computed again"},
	{Name: "rate_leases", LeftOut: notMoved},
	{Name: "idempotency_keys", LeftOut: "it keeps the answers to requests for a day, and the client repeats them where it sent them"},
	{Name: "user_credentials", LeftOut: "a password and an authenticator app belong to the person, who sets them anew"},
	{Name: "user_identities", LeftOut: credential},
	{Name: "passkeys", LeftOut: "a passkey works at the address that it was made for only"},
	{Name: "sessions", LeftOut: credential},
	{Name: "mailed_links", LeftOut: credential},
	{Name: "used_challenges", LeftOut: notMoved},
	{Name: "sign_in_failures", LeftOut: notMoved},
	{Name: "oauth_codes", LeftOut: credential},
	{Name: "oauth_tokens", LeftOut: credential},
	{Name: "authorization_attempts", LeftOut: "a setup that nobody has finished is at a page of the provider that leads back to " +
		"the other installation"},
	{Name: "transaction_texts", LeftOut: searchIndex},
	{Name: "transaction_texts_config", LeftOut: searchIndex},
	{Name: "transaction_texts_data", LeftOut: searchIndex},
	{Name: "transaction_texts_docsize", LeftOut: searchIndex},
	{Name: "transaction_texts_idx", LeftOut: searchIndex},
	{Name: "goose_db_version", LeftOut: notMoved},
	{Name: "river_client", LeftOut: ofQueue},
	{Name: "river_client_queue", LeftOut: ofQueue},
	{Name: "river_job", LeftOut: ofQueue},
	{Name: "river_leader", LeftOut: ofQueue},
	{Name: "river_migration", LeftOut: ofQueue},
	{Name: "river_notification", LeftOut: ofQueue},
	{Name: "river_queue", LeftOut: ofQueue},
}

// whole names the tables of which the archive has every row of the organization, as it is.
var whole = strings.Fields(`
	organization_state audit_log events relays
	members invitations api_keys credential_uses preferences oauth_authorizations firms firm_jobs firm_job_results firm_templates
	legal_entities cost_basis_elections measurement_elections tags ledger_accounts accounting_periods
	period_closings period_closing_balances period_closing_rates period_closing_prices period_closing_adjustments fx_rates
	journal_entries journal_lines journal_tags journal_shares account_balances account_units
	sources aggregator_items transactions transaction_counts transaction_quantities transaction_tags transaction_originals
	spam_listings spam_dealings spam_sightings spam_bursts transaction_links transfer_ambiguities transfer_refusals transfer_marks
	imports import_chunks import_faults stated_balances observed_balances
	connections connection_syncs connection_cursors connection_runs connection_gaps connection_withdrawals connection_events
	connection_omissions
	prices asset_policies reconciliations reconciliation_figures bookings
	lot_pools lots lot_consumptions lot_uses lot_positions lot_corrections lot_gains lot_selections
	revaluations revaluation_parts revaluation_items revaluation_rows revaluation_releases
	customers customer_identifiers invoices invoice_lines credit_notes credit_note_lines
	cash_applications cash_application_allocations cash_application_reports cash_application_runs cash_application_results
	cash_application_settings receivable_movements
	webhook_cursors webhook_deliveries webhook_attempts webhook_replays
	gl_charts gl_accounts gl_dimension_values gl_mappings gl_tag_mappings gl_sync_runs gl_sync_attempts gl_journals
	classification_runs classification_results precedents precedent_features precedent_marks
	memory_documents memory_rules memory_rule_splits memory_versions`)

// ArchivedTables returns what the archive of an organization has of each table, in the order in which rows are stored.
func ArchivedTables() []ArchivedTable {
	out := append([]ArchivedTable{}, archived...)
	for _, name := range whole {
		out = append(out, ArchivedTable{Name: name})
	}
	for n := range out {
		if out[n].Name == "users" {
			out[n].Where = usersOf(out)
		}
	}
	return out
}

// usersOf returns the condition of the users that rows of an organization refer to: its members, and whoever has ever done something in
// it.
func usersOf(all []ArchivedTable) string {
	var of []string
	for _, a := range all {
		t := TableNamed(a.Name)
		if a.LeftOut != "" || !t.scoped() {
			continue
		}
		for _, l := range t.References {
			if l.To == "users" {
				of = append(of, fmt.Sprintf("SELECT %[1]s.%[2]s FROM %[1]s WHERE %[1]s.organization_id = @org AND %[1]s.%[2]s IS NOT NULL",
					t.Name, l.Column))
			}
		}
	}
	return "user_id IN (" + strings.Join(of, " UNION ") + ")"
}

// condition returns the SQL condition of the rows of the organization.
func (a ArchivedTable) condition() string {
	if a.Where != "" {
		return "(" + a.Where + ")"
	}
	return "organization_id = @org"
}

// Merged reports whether rows that a database has already stay as they are there.
func (a ArchivedTable) Merged() bool { return a.Where != "" }

// Layout returns the columns of the table in an archive: all but the organization that all rows are of.
func (a ArchivedTable) Layout() (Layout, error) {
	l, err := LayoutOf(a.Name)
	if err != nil || !TableNamed(a.Name).scoped() {
		return l, err
	}
	out := Layout{}
	for _, c := range l.Columns {
		if c.Name != "organization_id" {
			out.Columns = append(out.Columns, c)
		}
	}
	for _, k := range l.Key {
		if k != "organization_id" {
			out.Key = append(out.Key, k)
		}
	}
	return out, nil
}
