package db

const (
	// fewBalances is the reason why totals by accounting period may be looked through.
	fewBalances = "there is one row for each account, period and tag, however many lines there are"

	// notZero is the condition on balances that are not the remains of entries that were undone.
	notZero = "(debits <> 0 OR credits <> 0)"

	remains = "a total of zero is what remains of entries that were undone"
)

var booksTables = []Table{
	{Name: "legal_entities", Kind: Tenant, Owner: "books/entity", ID: "legal_entity_id", One: "legal entity", Many: "legal entities",
		Example: "name", Guarded: true,
		References: []Link{{Column: "parent_legal_entity_id", To: "legal_entities",
			Ignored: "books/entity names the legal entities below one only to those who may see them"}}},
	{Name: "cost_basis_elections", Kind: Tenant, Owner: "books/entity",
		References: []Link{{Column: "legal_entity_id", To: "legal_entities", Ignored: "it is part of its legal entity", Cascades: true}}},
	{Name: "measurement_elections", Kind: Tenant, Owner: "books/entity",
		References: []Link{{Column: "legal_entity_id", To: "legal_entities", Ignored: "it is part of its legal entity", Cascades: true}}},
	{Name: "tags", Kind: Tenant, Owner: "books/tag", ID: "tag_id", One: "tag", Many: "tags", Guarded: true},
	{Name: "ledger_accounts", Kind: Tenant, Owner: "books/account", ID: "ledger_account_id", One: "ledger account",
		Many: "ledger accounts", Example: "name", Guarded: true,
		References: []Link{{Column: "parent_account_id", To: "ledger_accounts", Ignored: "the accounts below an account are deleted with it"}}},
	{Name: "accounting_periods", Kind: Tenant, Owner: "books/period", ID: "accounting_period_id", One: "accounting period",
		Many:      "accounting periods",
		Unaudited: "months follow from the calendar and the time zone, and a change of that is audited"},
	{Name: "period_closings", Kind: Tenant, Owner: "books/period", ID: "period_closing_id", One: "period closing", Many: "period closings",
		Example: "period_closing_id",
		References: []Link{
			{Column: "accounting_period_id", To: "accounting_periods"},
			{Column: "legal_entity_id", To: "legal_entities", Unindexed: "there is one row for each month that was closed"},
		}},
	{Name: "period_closing_balances", Kind: Tenant, Owner: "books/period", One: "balance of a closed period",
		Many: "balances of closed periods", Example: "period_closing_id", Shown: "of %s",
		References: []Link{
			{Column: "period_closing_id", To: "period_closings"},
			{Column: "ledger_account_id", To: "ledger_accounts",
				Rows: `SELECT closed.period_closing_id AS example FROM period_closings closing JOIN period_closing_balances closed
					ON closed.organization_id = closing.organization_id AND closed.period_closing_id = closing.period_closing_id
					AND closed.ledger_account_id = {id} WHERE closing.organization_id = @org`},
		}},
	{Name: "period_closing_rates", Kind: Tenant, Owner: "books/period", One: "exchange rate of a closed period",
		Many: "exchange rates of closed periods", Example: "period_closing_id", Shown: "of %s",
		References: []Link{{Column: "period_closing_id", To: "period_closings"}}},
	{Name: "period_closing_prices", Kind: Tenant, Owner: "books/period", One: "price of a closed period",
		Many: "prices of closed periods", Example: "period_closing_id", Shown: "of %s",
		References: []Link{
			{Column: "period_closing_id", To: "period_closings"},
			{Column: "price_id", To: "prices", Unindexed: "there is one row for each asset that was held at the end of a month"},
		}},
	{Name: "period_closing_adjustments", Kind: Tenant, Owner: "books/period", One: "adjustment of a closed period",
		Many: "adjustments of closed periods", Example: "period_closing_id", Shown: "of %s",
		References: []Link{
			{Column: "period_closing_id", To: "period_closings"},
			{Column: "source_id", To: "sources", Ignored: "what a source holds comes from its transactions"},
			{Column: "ledger_account_id", To: "ledger_accounts", Where: "ledger_account_id <> ''",
				Ignored: "what is held on an account comes from its journal lines"},
		},
		Unlinked: map[string]string{"token_id": tokenID}},
	{Name: "fx_rates", Kind: Tenant, Owner: "books/fx"},
	{Name: "journal_entries", Kind: Tenant, Owner: "books/journal", ID: "journal_entry_id", One: "journal entry", Many: "journal entries",
		Example: "number", Shown: "JE-%s",
		References: []Link{
			{Column: "legal_entity_id", To: "legal_entities", Where: "status <> 'deleted'", Order: "accounting_date, number"},
			{Column: "accounting_period_id", To: "accounting_periods"},
			{Column: "transaction_id", To: "transactions"},
			{Column: "previous_entry_id", To: "journal_entries"},
			{Column: "next_entry_id", To: "journal_entries"},
			{Column: "tag_ids", To: "tags", List: true, Ignored: "journal_tags has a row for each of them"},
		}},
	{Name: "journal_lines", Kind: Tenant, Owner: "books/journal", ID: "journal_line_id", One: "journal line", Many: "journal lines",
		Example: "number", Shown: "of JE-%s",
		References: []Link{
			{Column: "journal_entry_id", To: "journal_entries"},
			{Column: "ledger_account_id", To: "ledger_accounts", Order: "accounting_date, number"},
			{Column: "legal_entity_id", To: "legal_entities", Rows: linesOfEntity, Fixes: []string{"base_currency"}},
			{Column: "tag_ids", To: "tags", List: true, Ignored: "journal_tags has a row for each of them"},
		}},
	{Name: "journal_tags", Kind: Tenant, Owner: "books/journal", Unaudited: "it restates the tags of an entry, which is audited",
		One: "journal entry", Many: "journal entries", Example: "number", Shown: "JE-%s",
		References: []Link{{Column: "tag_id", To: "tags"}, {Column: "journal_entry_id", To: "journal_entries"}}},
	{Name: "journal_shares", Kind: Tenant, Owner: "books/journal", Unaudited: "it restates the legal entities of lines, which are audited",
		One: "journal entry", Many: "journal entries", Example: "number", Shown: "JE-%s",
		References: []Link{{Column: "journal_entry_id", To: "journal_entries"},
			{Column: "legal_entity_id", To: "legal_entities", Ignored: "journal_lines has a row for each of them"}}},
	{Name: "account_balances", Kind: Tenant, Owner: "books/balance", Unaudited: "it restates lines, which are audited",
		One: "balance of an accounting period", Many: "balances of accounting periods", Example: "accounting_period_id", Shown: "of %s",
		References: []Link{
			// An empty tag stands for the total over all tags.
			{Column: "tag_id", To: "tags", Where: "tag_id <> ''", Blocks: notZero, Cascades: true},
			{Column: "legal_entity_id", To: "legal_entities", Blocks: notZero, Cascades: true, Unindexed: fewBalances},
			// The primary key begins with the legal entity.
			{Column: "ledger_account_id", To: "ledger_accounts",
				Rows: `SELECT total.accounting_period_id AS example FROM legal_entities holder JOIN account_balances total
					ON total.organization_id = holder.organization_id AND total.tag_id = '' AND total.legal_entity_id = holder.legal_entity_id
					AND total.ledger_account_id = {id} WHERE holder.organization_id = @org`},
			{Column: "accounting_period_id", To: "accounting_periods"},
		}},
	{Name: "account_units", Kind: Tenant, Owner: "books/balance", Unaudited: "it restates lines, which are audited",
		One: "quantity of an accounting period", Many: "quantities of accounting periods", Example: "accounting_period_id", Shown: "of %s",
		References: []Link{
			{Column: "legal_entity_id", To: "legal_entities", Ignored: remains, Cascades: true},
			{Column: "ledger_account_id", To: "ledger_accounts",
				Rows: `SELECT units.accounting_period_id AS example FROM legal_entities unit_holder JOIN account_units units
					ON units.organization_id = unit_holder.organization_id AND units.legal_entity_id = unit_holder.legal_entity_id
					AND units.ledger_account_id = {id} WHERE unit_holder.organization_id = @org`},
			{Column: "accounting_period_id", To: "accounting_periods"},
		}},
}

// linesOfEntity finds lines without an index of their own, which every line would pay for: what is posted is on an account of which the
// legal entity has balances, and the rest is in drafts.
const linesOfEntity = `SELECT posted.number AS example FROM
		(SELECT held.ledger_account_id FROM account_balances held WHERE held.organization_id = @org AND held.tag_id = ''
			AND held.legal_entity_id = {id} GROUP BY held.ledger_account_id) AS used
		JOIN journal_lines posted ON posted.organization_id = @org AND posted.ledger_account_id = used.ledger_account_id
		AND posted.legal_entity_id = {id} AND posted.is_posted
	UNION ALL SELECT drafted.number FROM journal_entries draft JOIN journal_lines drafted
		ON drafted.organization_id = draft.organization_id AND drafted.journal_entry_id = draft.journal_entry_id
		WHERE draft.organization_id = @org AND draft.status = 'draft' AND drafted.legal_entity_id = {id}`
