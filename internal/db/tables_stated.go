package db

// StatedTable says that audit records state the rows of a table: with each change of a resource, the audit log keeps what is
// stored of it, and verification compares that with what is stored later. See the package kernel/audit.
type StatedTable struct {
	Table string

	// Resource is the type of the resource that a row belongs to, and Key the expression of that resource's id.
	Resource, Key string

	// Order lists the columns by which the rows of one resource sort; empty where there is one row at most.
	Order string

	// With is the type of another resource with the same id, whose records state this one too; empty where it has records of its own.
	With string

	// Shared means that the rows belong to no organization; then Where selects those that concern one.
	Shared bool

	// RecordedBy is the kind of the job that records a change of a shared row in the audit log of each organization that it concerns; the
	// job has the key of the row as an argument of that name. While such a job waits, records do not state the row as it is.
	RecordedBy string

	// Where is a condition on the rows; empty means all.
	Where string

	// Digest means that records state a digest of the rows instead of the rows, because there are too many.
	Digest bool

	// Facts is the list in the facts of the resource that has an item for each row; empty where the facts themselves describe the row.
	Facts string

	// Unstated has the reason for each column that records do not state.
	Unstated map[string]string
}

const (
	searchText = "it is derived from other columns, which verification computes again"
	derived    = "verification computes it again"
	written    = "it only says when the row was written last"
	sealedText = "it is encrypted, so that a change is noticed when it is opened, and is not to be kept"

	// sinceStated selects rows that are not older than the first record with a state: earlier versions recorded no such rows.
	sinceStated = "created_at >= (SELECT a.created_at FROM audit_log a WHERE a.organization_id = @org AND a.state IS NOT NULL " +
		"ORDER BY a.sequence LIMIT 1)"
)

// StatedTables lists the tables whose rows audit records state.
var StatedTables = []StatedTable{
	{Table: "organizations", Resource: "organization", Key: "organization_id"},
	{Table: "members", Resource: "member", Key: "user_id"},
	{Table: "users", Resource: "member", Key: "user_id", Shared: true, RecordedBy: "identity_event",
		Where: "user_id IN (SELECT m.user_id FROM members m WHERE m.organization_id = @org)"},
	{Table: "api_keys", Resource: "api_key", Key: "api_key_id"},
	{Table: "oauth_clients", Resource: "oauth_client", Key: "oauth_client_id", Shared: true, Where: "registered_for = @org"},
	{Table: "oauth_authorizations", Resource: "oauth_authorization", Key: "oauth_authorization_id"},
	{Table: "invitations", Resource: "invitation", Key: "invitation_id"},

	{Table: "firms", Resource: "firm", Key: "firm_id"},
	{Table: "firm_clients", Resource: "firm_client", Key: "firm_client_id"},
	{Table: "firm_requests", Resource: "firm_request", Key: "firm_request_id"},
	{Table: "firm_access", Resource: "firm_access", Key: "firm_client_id"},
	{Table: "firm_people", Resource: "firm_access", Key: "firm_client_id", Order: "user_id"},

	{Table: "legal_entities", Resource: "legal_entity", Key: "legal_entity_id"},
	{Table: "cost_basis_elections", Resource: "legal_entity", Key: "legal_entity_id", Order: "sequence"},
	{Table: "measurement_elections", Resource: "legal_entity", Key: "legal_entity_id", Order: "sequence"},
	{Table: "tags", Resource: "tag", Key: "tag_id"},
	{Table: "ledger_accounts", Resource: "ledger_account", Key: "ledger_account_id"},
	{Table: "period_closings", Resource: "period_closing", Key: "period_closing_id"},
	{Table: "period_closing_balances", Resource: "period_closing", Key: "period_closing_id", Order: "ledger_account_id"},
	{Table: "period_closing_rates", Resource: "period_closing", Key: "period_closing_id", Order: "quote_currency, applies_to",
		Digest: true},
	{Table: "period_closing_prices", Resource: "period_closing", Key: "period_closing_id", Order: "asset_type", Digest: true},
	{Table: "period_closing_adjustments", Resource: "period_closing", Key: "period_closing_id",
		Order: "asset_type, source_id, ledger_account_id, chain, token_id", Digest: true},
	{Table: "fx_rates", Resource: "fx_rate", Key: "base_currency || '/' || quote_currency || ' ' || date"},
	{Table: "journal_entries", Resource: "journal_entry", Key: "journal_entry_id", Digest: true,
		Unstated: map[string]string{
			"accounting_period_id": "it follows from the date and the time zone, and a change of that moves entries",
			"next_entry_id":        "it repeats previous_entry_id of the next entry",
			"search":               searchText,
			"updated_at":           "an entry that follows in a chain and a change of the time zone set it",
		}},
	{Table: "journal_lines", Resource: "journal_entry", Key: "journal_entry_id", Order: "position", Digest: true, Facts: "lines",
		Unstated: map[string]string{
			"accounting_date": "it repeats that of the entry",
			"number":          "it repeats that of the entry",
			"is_posted":       "it repeats the status of the entry",
		}},

	{Table: "sources", Resource: "source", Key: "source_id"},
	{Table: "stated_balances", Resource: "stated_balance", Key: "source_id", Order: "asset_type, account"},
	{Table: "aggregator_items", Resource: "aggregator_item", Key: "item_id"},
	{Table: "transactions", Resource: "transaction", Key: "transaction_id", Digest: true,
		Unstated: map[string]string{
			"row_key":          "it identifies the row in the full-text index",
			"visibility":       "it follows from the status and from the source",
			"suggested":        "nothing is booked from a suggestion",
			"updated_at":       "deleting the source sets it",
			"asset_type":       derived,
			"chain":            derived,
			"from_key":         derived,
			"to_key":           derived,
			"category_key":     derived,
			"gross_amount_key": derived,
			"net_amount_key":   derived,
			"gross_price_key":  derived,
			"search":           searchText,
		}},
	{Table: "transaction_links", Resource: "transaction", Key: "transaction_id", Order: "group_id", Digest: true},
	{Table: "transfer_refusals", Resource: "transfer_refusal", Key: "out_id || '/' || in_id", Where: sinceStated},
	{Table: "spam_listings", Resource: "spam_listing", Key: "listing_id"},

	{Table: "prices", Resource: "price", Key: "price_id"},
	{Table: "reconciliations", Resource: "reconciliation", Key: "reconciliation_id"},
	{Table: "reconciliation_figures", Resource: "reconciliation", Key: "reconciliation_id", Order: "asset_type"},
	{Table: "asset_policies", Resource: "asset_policy", Key: "asset_type"},
	{Table: "bookings", Resource: "booking", With: "journal_entry", Key: "journal_entry_id", Digest: true},
	{Table: "lots", Resource: "asset", Key: "asset_id", Where: "origin = 'manual'",
		Unstated: map[string]string{
			"pool":               derived,
			"order_key":          derived,
			"seq":                derived,
			"remaining_quantity": derived,
			"remaining_basis":    derived,
			"unit_key":           derived,
			"is_open":            derived,
			"opened_in":          derived,
			"provisional":        derived,
			"basis_pending":      derived,
			"emptied_at":         derived,
			"interval_node":      derived,
			"entered_at":         derived,
			"last_used_at":       derived,
			"updated_at":         written,
		}},
	{Table: "lot_selections", Resource: "lot_selection", Key: "transaction_id", Order: "position"},
	{Table: "revaluations", Resource: "revaluation", Key: "revaluation_id"},
	{Table: "revaluation_parts", Resource: "revaluation", Key: "revaluation_id", Order: "legal_entity_id, kind",
		Unstated: map[string]string{"status": "later runs replace earlier ones, which verification computes again"}},
	{Table: "revaluation_items", Resource: "revaluation", Key: "revaluation_id", Order: "legal_entity_id, kind, unit"},
	{Table: "revaluation_rows", Resource: "revaluation", Key: "revaluation_id", Order: "legal_entity_id, kind, unit, subject_id",
		Digest: true},
	{Table: "revaluation_releases", Resource: "revaluation", Key: "revaluation_id",
		Order: "legal_entity_id, kind, unit, subject_id, order_key", Digest: true},

	{Table: "connections", Resource: "connection", Key: "connection_id"},
	{Table: "provider_setups", Resource: "provider_setup", Key: "provider",
		Unstated: map[string]string{"sealed": sealedText, "updated_at": written}},

	{Table: "gl_mappings", Resource: "gl_mapping", Key: "gl_mapping_id"},
	{Table: "gl_tag_mappings", Resource: "gl_tag_mapping", Key: "gl_tag_mapping_id"},

	{Table: "customers", Resource: "customer", Key: "customer_id", Unstated: map[string]string{"search": searchText}},
	{Table: "customer_identifiers", Resource: "customer", Key: "customer_id", Order: "kind, position",
		Unstated: map[string]string{"match_key": derived}},
	{Table: "invoices", Resource: "invoice", Key: "invoice_id", Digest: true,
		Unstated: map[string]string{"number_key": derived, "number_digits": derived, "number_prefix": derived,
			"amount_due_key": derived, "total_key": derived}},
	{Table: "invoice_lines", Resource: "invoice", Key: "invoice_id", Order: "position", Digest: true, Facts: "lines"},
	{Table: "credit_notes", Resource: "credit_note", Key: "credit_note_id"},
	{Table: "credit_note_lines", Resource: "credit_note", Key: "credit_note_id", Order: "position", Facts: "lines"},
	{Table: "cash_applications", Resource: "cash_application", Key: "cash_application_id", Digest: true},
	{Table: "cash_application_allocations", Resource: "cash_application", Key: "cash_application_id", Order: "position",
		Digest: true, Facts: "allocations"},
	{Table: "cash_application_settings", Resource: "settings", Key: "organization_id"},

	{Table: "webhook_endpoints", Resource: "webhook_endpoint", Key: "webhook_endpoint_id",
		Unstated: map[string]string{"secret": sealedText, "previous_secret": sealedText}},

	{Table: "firm_templates", Resource: "firm_template", Key: "firm_template_id"},
	{Table: "memory_documents", Resource: "memory", Key: "path"},
	{Table: "memory_rules", Resource: "rule", Key: "rule_id"},
	{Table: "memory_versions", Resource: "memory_version", Key: "item_id || '/' || version"},
}

// statedByResource has the stated tables of each type of resource.
var statedByResource = func() map[string][]*StatedTable {
	m := map[string][]*StatedTable{}
	for i, t := range StatedTables {
		TableNamed(t.Table)
		m[t.Resource] = append(m[t.Resource], &StatedTables[i])
	}
	return m
}()

// StatedTablesOf returns the tables whose rows the audit records of a type of resource state.
func StatedTablesOf(resource string) []*StatedTable { return statedByResource[resource] }

// statedWith has the types of resources that the records of another type state too.
var statedWith = func() map[string][]string {
	m := map[string][]string{}
	for _, t := range StatedTables {
		if t.With != "" {
			m[t.With] = append(m[t.With], t.Resource)
		}
	}
	return m
}()

// StatedWith returns the types of resources that the audit records of a type of resource state too.
func StatedWith(resource string) []string { return statedWith[resource] }

// Condition returns the SQL condition of the rows of an organization that records state.
func (t *StatedTable) Condition() string {
	switch {
	case t.Shared:
		return t.Where
	case t.Where != "":
		return "organization_id = @org AND " + t.Where
	}
	return "organization_id = @org"
}

// LeaveOut reports whether records do not state a column.
func (t *StatedTable) LeaveOut(column string) bool {
	return column == "organization_id" || column == "resource_id" || t.Unstated[column] != ""
}
