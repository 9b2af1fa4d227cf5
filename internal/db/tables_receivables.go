package db

var receivableTables = []Table{
	{Name: "customers", Kind: Tenant, Owner: "receivables/customer", ID: "customer_id", One: "customer", Many: "customers", Example: "name",
		Guarded: true},
	{Name: "customer_identifiers", Kind: Tenant, Owner: "receivables/customer",
		References: []Link{{Column: "customer_id", To: "customers", Ignored: "it is part of its customer", Cascades: true}}},
	{Name: "invoices", Kind: Tenant, Owner: "receivables/invoice", ID: "invoice_id", One: "invoice", Many: "invoices",
		Example: "invoice_number",
		References: []Link{
			{Column: "customer_id", To: "customers"},
			{Column: "legal_entity_id", To: "legal_entities", Fixes: []string{"base_currency"}},
			{Column: "transaction_id", To: "transactions"},
			{Column: "journal_entry_id", To: "journal_entries"},
			{Column: "write_off_entry_id", To: "journal_entries"},
		},
		Unlinked: map[string]string{"external_id": providersID}},
	{Name: "invoice_lines", Kind: Tenant, Owner: "receivables/invoice", One: "invoice line", Many: "invoice lines", Example: "invoice_id",
		Shown: "of %s",
		References: []Link{
			{Column: "invoice_id", To: "invoices"},
			{Column: "ledger_account_id", To: "ledger_accounts"},
			{Column: "tax_ledger_account_id", To: "ledger_accounts"},
		}},
	{Name: "credit_notes", Kind: Tenant, Owner: "receivables/invoice", ID: "credit_note_id", One: "credit note", Many: "credit notes",
		Example: "credit_note_number",
		References: []Link{
			{Column: "invoice_id", To: "invoices"},
			{Column: "customer_id", To: "customers"},
			{Column: "legal_entity_id", To: "legal_entities", Fixes: []string{"base_currency"}},
			{Column: "journal_entry_id", To: "journal_entries"},
		}},
	{Name: "credit_note_lines", Kind: Tenant, Owner: "receivables/invoice", One: "credit note line", Many: "credit note lines",
		Example: "credit_note_id", Shown: "of %s",
		References: []Link{
			{Column: "credit_note_id", To: "credit_notes"},
			{Column: "ledger_account_id", To: "ledger_accounts"},
			{Column: "tax_ledger_account_id", To: "ledger_accounts"},
		}},
	{Name: "receivable_movements", Kind: Tenant, Owner: "receivables/invoice", One: "movement of receivables",
		Many: "movements of receivables", Example: "document_id", Shown: "of %s",
		References: []Link{{Column: "journal_entry_id", To: "journal_entries"}},
		Unlinked:   map[string]string{"document_id": "it is that of an invoice or of a credit note"}},
}
