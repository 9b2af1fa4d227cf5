package arch

// readings lists which packages read tables of others in their own statements, and why. Before adding one, check whether the owner can
// offer a function: a plain read of one table never belongs here, a join that would otherwise be a query for each row does.
var readings = []reading{
	{"kernel/outbox", []string{"organization_state"}, "organizations with events that wait are found by comparing two counters"},
	{"kernel/outbox", []string{"audit_log"}, "verify looks for events without their change"},

	{"books/account", []string{"journal_entries", "journal_lines"},
		"drafts keep an account from being archived, and account cannot import journal, which imports it"},
	{"books/account", []string{"legal_entities", "account_balances"},
		"the balances that keep an account from being archived are named with their legal entities, and account cannot import " +
			"entity, which creates intercompany accounts"},
	{"books/balance", []string{"accounting_periods"}, "balances at the end of a period add up those of the periods before it"},
	{"books/period", []string{"organizations"}, "organizations whose next month is missing are found in one statement"},
	{"books/period", []string{"account_balances"}, "a close adds up balances by the order of periods"},
	{"books/period", []string{"journal_entries", "journal_lines"},
		"a close counts, adds up and hashes the entries of a period, and period cannot import journal, which imports it"},

	{"tenancy/identity", []string{"users", "members", "organizations"},
		"people are found with their credentials, and the organizations that they are members of with their names, in one statement each"},
	{"tenancy/firm", []string{"users", "members"},
		"who works for clients is found with their names and memberships across organizations, in one statement each"},

	{"tenancy/firmrequest", []string{"firm_clients"},
		"requests are listed to people who work for the clients, across organizations, and verified with the clients, in one statement each"},

	{"treasury/source", []string{"ledger_accounts"}, "verify compares sources with their accounts"},
	{"treasury/source", []string{"transactions", "journal_entries"},
		"the one statement that a page of sources needs also finds those with entries, by a join because a source may have millions of " +
			"transactions; source cannot import transaction, which imports it"},
	{"treasury/transfers", []string{"organization_state"}, "organizations with unmatched transactions are found by comparing two counters"},
	{"treasury/transfers", []string{"transactions"}, "links and ambiguities are listed and verified with the transactions they are of"},

	{"assets/lots", []string{"journal_entries", "transactions", "sources"},
		"disposals are ordered by the dates of their entries and transactions, and verified against them"},
	{"assets/lots", []string{"accounting_periods"}, "verify compares the dates of corrections with their periods"},
	{"assets/opening", []string{"transactions", "sources"},
		"an opening balance must lie before the first transaction of each source, which one statement finds for all sources"},
	{"assets/booking", []string{"journal_entries", "transactions", "lots", "lot_consumptions"},
		"verify compares bookings with entries, transactions and lots"},
	{"assets/holdings", []string{"lots", "lot_uses", "lot_positions", "lot_gains"},
		"reports add up lots and what was consumed from them in the database"},
	{"assets/holdings", []string{"accounting_periods"}, "totals are added up by the order of periods"},
	{"assets/holdings", []string{"account_balances", "account_units", "journal_lines", "legal_entities", "ledger_accounts"},
		"holdings of money are added up from balances and lines in the database"},
	{"assets/holdings", []string{"sources"}, "positions are added up by source and its account in the database"},
	{"assets/holdings", []string{"journal_entries"}, "movements are added up by the accounting dates of entries"},
	{"assets/revaluation", []string{"accounting_periods"},
		"what is measured is added up by the order of periods"},
	{"assets/revaluation", []string{"journal_entries"}, "verify and the list of stale runs compare runs with their entries"},

	{"assets/realized", []string{"revaluation_parts", "revaluation_items", "revaluation_rows", "revaluation_releases",
		"accounting_periods", "journal_entries"},
		"corrections of realized gains are those of revaluations whose entries are in force, in the order of periods; realized cannot import " +
			"revaluation, which imports holdings, which imports it"},

	{"receivables/invoice", []string{"journal_lines"},
		"the lines of the control account say when what is due changed, and verify adds them up"},

	{"receivables/application", []string{"journal_entries", "journal_lines"},
		"the lines of the account of unapplied cash say when what is unapplied of a deposit changed"},

	{"reporting/statements", []string{"journal_entries", "journal_lines"}, "the general ledger pages through lines with their entries"},
	{"reporting/explain", []string{"account_balances", "accounting_periods", "journal_entries", "journal_lines", "legal_entities"},
		"an explanation pages through the lines behind a figure and adds up the rest in the database"},
	{"reporting/readiness", []string{"lots", "lot_uses", "lot_pools", "lot_positions", "journal_entries", "account_units",
		"accounting_periods"},
		"inspections compare lots with the books at the end of a period, in one statement each"},

	{"reporting/clientfigures", []string{"firm_access", "firm_clients", "organization_state", "audit_log"},
		"a page of the overview needs a thousand clients of other organizations with their last changes, in one statement; figures that are " +
			"out of date are found by comparing two counters"},
	{"automation/firmjob", []string{"firms", "firm_access", "firm_clients"},
		"results of jobs are shown of the clients only for which somebody has a role, across organizations, in one statement"},

	{"integration/glsync", []string{"journal_entries", "journal_lines", "journal_shares"},
		"the entries of a period that were not sent are found in one statement"},
	{"integration/webhook", []string{"organization_state"},
		"endpoints that are behind the events of their organizations are found by comparing two counters"},
}

// computed are the packages whose statements take the name of a table from a variable, and why.
var computed = map[string]string{
	"kernel/audit":        "its statements follow from db.StatedTables",
	"kernel/reference":    "its statements follow from the references in db.Tables",
	"kernel/task":         "it runs background tasks of several packages, each of which passes its own table",
	"books/journal":       "verify counts the same in two of its tables",
	"receivables/invoice": "numbers follow each other alike in its tables of invoices and credit notes",
	"treasury/batchrun":   "it stores runs of several packages, each of which passes its own tables",
	"treasury/imports":    "verify looks for the same in two of its tables",
	"assets/lots":         "lots and disposals of an entry change alike in several of its tables",
}
