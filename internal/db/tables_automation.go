package db

var automationTables = []Table{
	{Name: "classification_runs", Kind: Tenant, Owner: "automation/classification", ID: "run_id",
		Unaudited:  "how far a run is says what entries, which are audited, show; its beginning and its end are audited",
		References: []Link{{Column: "user_id", To: "users"}, {Column: "api_key_id", To: "api_keys", Where: "firm_id IS NULL"}},
		Unlinked:   map[string]string{"request_id": requestID, "firm_id": ofFirm}},
	{Name: "classification_results", Kind: Tenant, Owner: "automation/classification",
		Unaudited: "it says what a run decided; what came of that is audited",
		References: []Link{
			{Column: "run_id", To: "classification_runs"},
			{Column: "transaction_id", To: "transactions"},
			{Column: "rule_id", To: "memory_rules"},
		}},
	{Name: "precedents", Kind: Tenant, Owner: "automation/classification", Unaudited: "it restates what was booked, which is audited",
		References: []Link{{Column: "transaction_id", To: "transactions"}}},
	{Name: "precedent_features", Kind: Tenant, Owner: "automation/classification",
		Unaudited: "it restates what was booked, which is audited"},
	{Name: "precedent_marks", Kind: Tenant, Owner: "automation/classification", Unaudited: "it says how far was learned"},
	{Name: "memory_documents", Kind: Tenant, Owner: "automation/memory", ID: "document_id"},
	{Name: "memory_rules", Kind: Tenant, Owner: "automation/memory", ID: "rule_id", One: "rule", Many: "rules", Example: "rule_id",
		References: []Link{{Column: "ledger_account_id", To: "ledger_accounts"}, {Column: "tag_id", To: "tags"}}},
	{Name: "memory_rule_splits", Kind: Tenant, Owner: "automation/memory", One: "rule", Many: "rules", Example: "rule_id",
		Unaudited:  "it restates the last version of a rule, which is audited",
		References: []Link{{Column: "rule_id", To: "memory_rules"}, {Column: "ledger_account_id", To: "ledger_accounts"}}},
	{Name: "memory_versions", Kind: Tenant, Owner: "automation/memory",
		References: []Link{{Column: "user_id", To: "users"}, {Column: "api_key_id", To: "api_keys"}},
		Unlinked:   map[string]string{"item_id": "it is a document or a rule, and outlives it"}},
}
