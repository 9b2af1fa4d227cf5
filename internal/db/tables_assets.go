package db

const (
	countsLots = "it restates lots, which prevent the deletion themselves"

	emptyPool = "a pool that nothing is in, nor was, and its totals are what remains of entries that were undone"

	lotScan = "an account is rarely deleted, and an index would cost every disposal"

	tokenID = "it is the number of a token in its contract"
)

var assetTables = []Table{
	{Name: "prices", Kind: Tenant, Owner: "assets/price", ID: "price_id", One: "price", Many: "prices", Guarded: true},
	{Name: "asset_policies", Kind: Tenant, Owner: "assets/assetpolicy"},
	{Name: "reconciliations", Kind: Tenant, Owner: "assets/reconciliation", ID: "reconciliation_id", One: "reconciliation",
		Many: "reconciliations", Example: "reconciliation_id",
		References: []Link{
			{Column: "source_id", To: "sources", Fixes: []string{"legal_entity_id"}},
			{Column: "user_id", To: "users"},
			{Column: "api_key_id", To: "api_keys"},
		}},
	{Name: "reconciliation_figures", Kind: Tenant, Owner: "assets/reconciliation",
		References: []Link{{Column: "reconciliation_id", To: "reconciliations"}}},
	{Name: "bookings", Kind: Tenant, Owner: "assets/booking",
		One: "entry of a transaction", Many: "entries of transactions", Example: "journal_entry_id",
		References: []Link{
			{Column: "journal_entry_id", To: "journal_entries"},
			{Column: "transaction_id", To: "transactions"},
			{Column: "partner_id", To: "transactions"},
			{Column: "ledger_account_id", To: "ledger_accounts"},
			{Column: "offset_ledger_account_id", To: "ledger_accounts"},
			{Column: "rule_id", To: "memory_rules"},
		}},
	{Name: "lot_pools", Kind: Tenant, Owner: "assets/lots", Unaudited: "it restates lots", One: "pool of assets", Many: "pools of assets",
		Example: "pool",
		References: []Link{
			{Column: "legal_entity_id", To: "legal_entities", Ignored: emptyPool, Cascades: true},
			{Column: "source_id", To: "sources", Ignored: countsLots},
			{Column: "ledger_account_id", To: "ledger_accounts", Unindexed: "there is one row for each asset of a source"},
		},
		Unlinked: map[string]string{"token_id": tokenID}},
	{Name: "lots", Kind: Tenant, Owner: "assets/lots", Unaudited: "lots follow from entries, which are audited", ID: "asset_id",
		One: "asset", Many: "assets", Example: "asset_id",
		References: []Link{
			{Column: "legal_entity_id", To: "legal_entities", Fixes: []string{"base_currency", "cost_basis_scope", "measurement"}},
			// Somebody entered it, or a transaction brought it. Lots are indexed by legal entity.
			{Column: "source_id", To: "sources", Fixes: []string{"legal_entity_id"},
				Rows: `SELECT lot.asset_id AS example FROM sources source JOIN lots lot ON lot.organization_id = source.organization_id
					AND lot.legal_entity_id = source.legal_entity_id AND lot.source_id = source.source_id
					WHERE source.organization_id = @org AND source.source_id = {id}`},
			{Column: "ledger_account_id", To: "ledger_accounts"},
			{Column: "parent_asset_id", To: "lots"},
			{Column: "transaction_id", To: "transactions"},
			{Column: "journal_entry_id", To: "journal_entries"},
		},
		Unlinked: map[string]string{"token_id": tokenID}},
	{Name: "lot_consumptions", Kind: Tenant, Owner: "assets/lots", Unaudited: "it restates what entries, which are audited, consume from lots",
		One: "entry that consumes assets", Many: "entries that consume assets", Example: "journal_entry_id",
		References: []Link{
			{Column: "journal_entry_id", To: "journal_entries"},
			{Column: "transaction_id", To: "transactions"},
			{Column: "source_id", To: "sources", Ignored: countsLots},
			{Column: "ledger_account_id", To: "ledger_accounts", Unindexed: lotScan},
		}},
	{Name: "lot_uses", Kind: Tenant, Owner: "assets/lots", Unaudited: "it restates what entries, which are audited, consume from lots",
		ID: "use_id", One: "use of assets", Many: "uses of assets", Example: "use_id",
		References: []Link{
			{Column: "asset_id", To: "lots"},
			{Column: "journal_entry_id", To: "journal_entries"},
			{Column: "transaction_id", To: "transactions"},
			{Column: "legal_entity_id", To: "legal_entities", Fixes: []string{"cost_basis_scope"},
				Rows: `SELECT used.use_id AS example FROM lot_pools pool JOIN lot_uses used
					ON used.organization_id = pool.organization_id AND used.pool = pool.pool
					WHERE pool.organization_id = @org AND pool.legal_entity_id = {id}`},
			{Column: "source_id", To: "sources", Ignored: countsLots},
			{Column: "ledger_account_id", To: "ledger_accounts", Unindexed: lotScan},
			{Column: "accounting_period_id", To: "accounting_periods"},
		},
		Unlinked: map[string]string{"token_id": tokenID}},
	{Name: "lot_positions", Kind: Tenant, Owner: "assets/lots", Unaudited: "it restates lots and what was consumed from them",
		One: "position of an accounting period", Many: "positions of accounting periods", Example: "accounting_period_id", Shown: "of %s",
		References: []Link{
			{Column: "legal_entity_id", To: "legal_entities", Ignored: emptyPool, Cascades: true},
			{Column: "source_id", To: "sources", Ignored: countsLots},
			{Column: "ledger_account_id", To: "ledger_accounts", Unindexed: fewBalances},
			{Column: "accounting_period_id", To: "accounting_periods"},
		},
		Unlinked: map[string]string{"token_id": tokenID}},
	{Name: "lot_corrections", Kind: Tenant, Owner: "assets/lots", Unaudited: "it restates when entries, which are audited, changed lots",
		One: "correction of an accounting period", Many: "corrections of accounting periods", Example: "accounting_period_id", Shown: "of %s",
		References: []Link{
			{Column: "legal_entity_id", To: "legal_entities", Ignored: emptyPool, Cascades: true},
			{Column: "source_id", To: "sources", Ignored: countsLots},
			{Column: "ledger_account_id", To: "ledger_accounts", Unindexed: "few lots are ever corrected"},
			{Column: "accounting_period_id", To: "accounting_periods"},
		},
		Unlinked: map[string]string{"token_id": tokenID}},
	{Name: "lot_gains", Kind: Tenant, Owner: "assets/lots", Unaudited: "it restates what was consumed from lots",
		References: []Link{
			{Column: "legal_entity_id", To: "legal_entities", Ignored: emptyPool, Cascades: true},
			{Column: "source_id", To: "sources", Ignored: countsLots},
			{Column: "accounting_period_id", To: "accounting_periods"},
		}},
	{Name: "lot_selections", Kind: Tenant, Owner: "assets/lots",
		References: []Link{{Column: "transaction_id", To: "transactions"}, {Column: "asset_id", To: "lots"}}},
	{Name: "revaluations", Kind: Tenant, Owner: "assets/revaluation", ID: "revaluation_id", One: "revaluation", Many: "revaluations",
		References: []Link{{Column: "accounting_period_id", To: "accounting_periods"}}},
	{Name: "revaluation_parts", Kind: Tenant, Owner: "assets/revaluation", Unaudited: "it restates a revaluation, which is audited",
		One: "revaluation", Many: "revaluations", Example: "revaluation_id",
		References: []Link{
			{Column: "legal_entity_id", To: "legal_entities"},
			{Column: "accounting_period_id", To: "accounting_periods"},
			{Column: "revaluation_id", To: "revaluations"},
		}},
	{Name: "revaluation_items", Kind: Tenant, Owner: "assets/revaluation", Unaudited: "it restates a revaluation, which is audited",
		One: "revaluation", Many: "revaluations", Example: "revaluation_id",
		References: []Link{
			{Column: "revaluation_id", To: "revaluations"},
			{Column: "legal_entity_id", To: "legal_entities", Ignored: "it belongs to a part of a revaluation, which prevents the deletion"},
			{Column: "price_id", To: "prices"},
			{Column: "journal_entry_id", To: "journal_entries"},
			{Column: "replaced_entry_id", To: "journal_entries"},
		}},
	{Name: "revaluation_rows", Kind: Tenant, Owner: "assets/revaluation", Unaudited: "it restates a revaluation, which is audited",
		One: "asset of a revaluation", Many: "assets of revaluations", Example: "subject_id",
		References: []Link{
			{Column: "revaluation_id", To: "revaluations"},
			{Column: "legal_entity_id", To: "legal_entities", Ignored: "it belongs to a part of a revaluation, which prevents the deletion"},
			{Column: "price_id", To: "prices"},
		},
		Unlinked: map[string]string{"subject_id": "it is a lot or a ledger account, which lines on that account keep"}},
	{Name: "revaluation_releases", Kind: Tenant, Owner: "assets/revaluation", Unaudited: "it restates a revaluation, which is audited",
		One: "asset of a revaluation", Many: "assets of revaluations", Example: "subject_id",
		References: []Link{
			{Column: "revaluation_id", To: "revaluations"},
			{Column: "legal_entity_id", To: "legal_entities", Ignored: "it belongs to a part of a revaluation, which prevents the deletion"},
		},
		Unlinked: map[string]string{"subject_id": "it is a lot, which a replay may delete"}},
}
