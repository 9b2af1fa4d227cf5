package db

const (
	countsTransactions = "it restates transactions, which prevent the deletion themselves"

	providersID = "it is the provider's id"

	observed = "the import or the connection that stated it prevents the deletion itself"
)

var treasuryTables = []Table{
	{Name: "sources", Kind: Tenant, Owner: "treasury/source", ID: "source_id", One: "source", Many: "sources", Example: "source_id",
		Guarded: true,
		References: []Link{
			{Column: "legal_entity_id", To: "legal_entities"},
			{Column: "ledger_account_id", To: "ledger_accounts", Active: "deleted_at IS NULL"},
			{Column: "item_id", To: "aggregator_items"},
		},
		Unlinked: map[string]string{
			"account_id":  "it is a second id of the source itself",
			"external_id": providersID,
		}},
	{Name: "aggregator_items", Kind: Tenant, Owner: "treasury/source", ID: "item_id", One: "item", Many: "items",
		Unlinked: map[string]string{"external_id": providersID}},
	{Name: "transactions", Kind: Tenant, Owner: "treasury/transaction", ID: "transaction_id", One: "transaction", Many: "transactions",
		Example: "number", Shown: "OT-%s",
		References: []Link{
			// Visibility 2 marks deleted transactions.
			{Column: "source_id", To: "sources", Where: "visibility IN (0, 1)", Fixes: []string{"legal_entity_id", "chain", "address", "currency"}},
			{Column: "journal_entry_id", To: "journal_entries"},
			{Column: "tag_ids", To: "tags", List: true, Ignored: "transaction_tags has a row for each of them"},
		},
		Unlinked: map[string]string{
			"external_id": providersID,
			"group_id":    "it is the id of a group of transaction links, which has no row of its own",
		}},
	{Name: "transaction_counts", Kind: Tenant, Owner: "treasury/transaction", Unaudited: "it restates transactions, which are audited",
		References: []Link{{Column: "source_id", To: "sources", Ignored: countsTransactions}}},
	{Name: "transaction_quantities", Kind: Tenant, Owner: "treasury/transaction", Unaudited: "it restates transactions, which are audited",
		References: []Link{{Column: "source_id", To: "sources", Ignored: countsTransactions}}},
	{Name: "transaction_tags", Kind: Tenant, Owner: "treasury/transaction",
		Unaudited: "it restates the tags of a transaction, which is audited", One: "transaction", Many: "transactions",
		Example: "transaction_id", Shown: "OT-%s",
		References: []Link{
			{Column: "tag_id", To: "tags",
				Rows: `SELECT tagged.number AS example FROM transaction_tags tagging JOIN transactions tagged
					ON tagged.organization_id = tagging.organization_id AND tagged.transaction_id = tagging.transaction_id
					WHERE tagging.organization_id = @org AND tagging.tag_id = {id}`},
			{Column: "transaction_id", To: "transactions"},
		}},
	{Name: "transaction_originals", Kind: Tenant, Owner: "treasury/transaction",
		Unaudited:  "it is what a provider has sent about a transaction, which is audited",
		References: []Link{{Column: "transaction_id", To: "transactions"}}},
	{Name: "transaction_texts", Kind: Local, Owner: "treasury/transaction"}, // This and the next four are SQLite's index of texts.
	{Name: "transaction_texts_config", Kind: Local, Owner: "treasury/transaction"},
	{Name: "transaction_texts_data", Kind: Local, Owner: "treasury/transaction"},
	{Name: "transaction_texts_docsize", Kind: Local, Owner: "treasury/transaction"},
	{Name: "transaction_texts_idx", Kind: Local, Owner: "treasury/transaction"},
	{Name: "spam_listings", Kind: Tenant, Owner: "treasury/spam", ID: "listing_id"},
	{Name: "spam_dealings", Kind: Tenant, Owner: "treasury/spam", Unaudited: "it restates what arrived, which is audited",
		References: []Link{{Column: "source_id", To: "sources", Where: "source_id <> ''", Ignored: countsTransactions}}},
	{Name: "spam_sightings", Kind: Tenant, Owner: "treasury/spam", Unaudited: "it restates what arrived, which is audited",
		References: []Link{{Column: "source_id", To: "sources", Ignored: countsTransactions}}},
	{Name: "spam_bursts", Kind: Tenant, Owner: "treasury/spam", Unaudited: "it restates what arrived, which is audited",
		References: []Link{{Column: "source_id", To: "sources", Where: "source_id <> ''", Ignored: countsTransactions}}},
	{Name: "transaction_links", Kind: Tenant, Owner: "treasury/transfers", References: []Link{{Column: "transaction_id", To: "transactions"}},
		Unlinked: map[string]string{"group_id": "it is what the links of one group have in common"}},
	{Name: "transfer_ambiguities", Kind: Tenant, Owner: "treasury/transfers",
		Unaudited: "it says what could not be decided, so that nothing was",
		References: []Link{
			{Column: "transaction_id", To: "transactions"},
			{Column: "source_id", To: "sources", Ignored: countsTransactions},
		}},
	{Name: "transfer_refusals", Kind: Tenant, Owner: "treasury/transfers",
		References: []Link{{Column: "out_id", To: "transactions"}, {Column: "in_id", To: "transactions"}}},
	{Name: "transfer_marks", Kind: Tenant, Owner: "treasury/transfers", Unaudited: "it says how far new transactions were matched"},
	{Name: "imports", Kind: Tenant, Owner: "treasury/imports", ID: "import_id", One: "import", Many: "imports", Example: "import_id",
		Unaudited: "how far an import is says what transactions, which are audited, show; its beginning and its end are audited",
		References: []Link{
			// An upload that never became an import is removed by itself.
			{Column: "source_id", To: "sources", Blocks: "status <> 'uploading'"},
			{Column: "user_id", To: "users"},
			{Column: "api_key_id", To: "api_keys"},
		},
		Unlinked: map[string]string{"request_id": requestID}},
	{Name: "stated_balances", Kind: Tenant, Owner: "treasury/observation",
		References: []Link{{Column: "source_id", To: "sources", Ignored: observed}}},
	{Name: "observed_balances", Kind: Tenant, Owner: "treasury/observation", One: "observed balance", Many: "observed balances",
		Example:   "asset_type",
		Unaudited: "it repeats stated_balances, which are audited, as they were over time, and what people enter, which is audited then",
		References: []Link{
			// The import or the connection that stated a balance prevents the deletion itself.
			{Column: "source_id", To: "sources", Blocks: "import_id IS NULL AND connection_id IS NULL"},
			{Column: "connection_id", To: "connections"},
			{Column: "import_id", To: "imports"},
			{Column: "user_id", To: "users"},
			{Column: "api_key_id", To: "api_keys"},
		}},
	{Name: "import_chunks", Kind: Tenant, Owner: "treasury/imports", Unaudited: "it is a file on its way in",
		References: []Link{{Column: "import_id", To: "imports"}}},
	{Name: "import_faults", Kind: Tenant, Owner: "treasury/imports", Unaudited: "it says what could not be read and changed nothing",
		References: []Link{{Column: "import_id", To: "imports"}}},
	{Name: "connections", Kind: Tenant, Owner: "treasury/connection", ID: "connection_id", One: "connection", Many: "connections",
		Example: "name",
		References: []Link{
			{Column: "legal_entity_id", To: "legal_entities"},
			{Column: "source_id", To: "sources", Fixes: []string{"legal_entity_id"}},
			{Column: "item_id", To: "aggregator_items"},
		},
		Unlinked: map[string]string{"external_account_id": providersID}},
	{Name: "connection_credentials", Kind: Tenant, Owner: "treasury/connection",
		Unaudited:  "providers replace tokens by themselves; who connects an account or authorizes it again is audited",
		References: []Link{{Column: "connection_id", To: "connections"}}},
	{Name: "connection_syncs", Kind: Tenant, Owner: "treasury/connection",
		Unaudited: "it says how far a connection was read, which its transactions and invoices, which are audited, show",
		References: []Link{
			{Column: "connection_id", To: "connections"},
			{Column: "run_id", To: "connection_runs"},
		}},
	{Name: "connection_cursors", Kind: Tenant, Owner: "treasury/connection",
		Unaudited:  "it says how far a connection was read, which its transactions, which are audited, show",
		References: []Link{{Column: "connection_id", To: "connections"}}},
	{Name: "connection_runs", Kind: Tenant, Owner: "treasury/connection", ID: "connection_run_id", One: "run", Many: "runs",
		Unaudited:  "what a run has brought is audited with the transactions, and its end by itself",
		References: []Link{{Column: "connection_id", To: "connections"}}},
	{Name: "provider_setups", Kind: Tenant, Owner: "treasury/connection"},
	{Name: "connection_gaps", Kind: Tenant, Owner: "treasury/connection",
		Unaudited:  "it says what a provider does not tell and changed nothing",
		References: []Link{{Column: "connection_id", To: "connections"}}},
	{Name: "connection_withdrawals", Kind: Tenant, Owner: "treasury/connection",
		Unaudited: "it says what a person has to look at and changed nothing",
		References: []Link{
			{Column: "connection_id", To: "connections"},
			{Column: "transaction_id", To: "transactions"},
		}},
	{Name: "authorization_attempts", Kind: Tenant, Owner: "treasury/connection", ID: "authorization_attempt_id",
		Unaudited:  "that a setup begins, fails or ends is audited with its connection",
		References: []Link{{Column: "connection_id", To: "connections"}}},
	{Name: "connection_events", Kind: Tenant, Owner: "treasury/connection",
		Unaudited:  "it says what a provider has announced; what is then read from the provider is audited",
		References: []Link{{Column: "connection_id", To: "connections"}},
		Unlinked:   map[string]string{"event_id": providersID, "object_id": providersID}},
	{Name: "connection_omissions", Kind: Tenant, Owner: "treasury/connection",
		Unaudited:  "it says what could not be understood and changed nothing",
		References: []Link{{Column: "connection_id", To: "connections"}},
		Unlinked:   map[string]string{"record_id": providersID}},
}
