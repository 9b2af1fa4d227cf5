package api

import (
	"slices"

	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// What a line asks for: a class and a scope.
const (
	read, write, privileged = actor.Read, actor.Write, actor.Privileged
	reads, all              = actor.ScopeRead, actor.ScopeAll
)

// routes is every operation of the service. A line gives method, path, class, scope, whether it takes an Idempotency-Key, and its handler;
// all that routes share follows from it.
func (a *API) routes() []Route {
	return slices.Concat(a.ofTheHouse(), a.ofTheBooks(), a.ofTheReports(),
		a.ofTheTransactions(), a.ofTheAssets(), a.ofTheMoney(), a.ofTheMemory())
}

// ofTheBooks are the operations on what is booked and reported.
func (a *API) ofTheBooks() []Route {
	return []Route{
		on("GET", "/v1/legal-entities", read, reads, plain, a.listLegalEntities, "Legal entities", "The legal entities the key is for"),
		on("GET", "/v1/legal-entities/{legal_entity_id}", read, reads, plain, a.getLegalEntity, "Legal entities",
			"A legal entity and all it elected about cost basis"),
		on("POST", "/v1/legal-entities", write, all, IDEM, a.createLegalEntity, "Legal entities", "Make a legal entity").creates(),
		on("PATCH", "/v1/legal-entities/{legal_entity_id}", write, all, plain, a.updateLegalEntity, "Legal entities", "Change a legal entity"),
		on("DELETE", "/v1/legal-entities/{legal_entity_id}", write, all, plain, a.deleteLegalEntity, "Legal entities",
			"Delete a legal entity that nothing refers to"),

		on("GET", "/v1/ledger-accounts", read, reads, plain, a.listLedgerAccounts, "Ledger accounts",
			"The chart of accounts, by sequence number"),
		on("POST", "/v1/ledger-accounts", write, all, IDEM, a.createLedgerAccount, "Ledger accounts", "Make a ledger account").creates(),
		on("GET", "/v1/ledger-accounts/{ledger_account_id}", read, reads, plain, a.getLedgerAccount, "Ledger accounts", "One ledger account"),
		on("PATCH", "/v1/ledger-accounts/{ledger_account_id}", write, all, plain, a.updateLedgerAccount, "Ledger accounts",
			"Change a ledger account; its type and normal balance only while nothing uses it"),
		on("DELETE", "/v1/ledger-accounts/{ledger_account_id}", write, all, plain, a.deleteLedgerAccount, "Ledger accounts",
			"Delete an unused ledger account and all below it; anything that refers to one of them prevents it"),
		on("POST", "/v1/ledger-accounts/{ledger_account_id}/archive", write, all, IDEM, a.archiveLedgerAccount, "Ledger accounts",
			"Put a ledger account away: it takes no new lines; a balance, a draft or an account below it prevents it"),
		on("POST", "/v1/ledger-accounts/{ledger_account_id}/unarchive", write, all, IDEM, a.unarchiveLedgerAccount, "Ledger accounts",
			"Take an archived ledger account up again"),
		on("GET", "/v1/ledger-accounts/{ledger_account_id}/lines", read, reads, plain, a.listLedgerAccountLines, "Ledger accounts",
			"The posted lines of an account, the latest first"),

		on("GET", "/v1/tags", read, reads, plain, a.listTags, "Tags", "The organization's tags"),
		on("GET", "/v1/tags/{tag_id}", read, reads, plain, a.getTag, "Tags", "A tag"),
		on("POST", "/v1/tags", write, all, IDEM, a.createTag, "Tags", "Make a tag").creates(),
		on("PATCH", "/v1/tags/{tag_id}", write, all, plain, a.updateTag, "Tags", "Change a tag"),
		on("DELETE", "/v1/tags/{tag_id}", write, all, plain, a.deleteTag, "Tags", "Delete a tag that nothing is marked with"),

		on("GET", "/v1/journal-entries", read, reads, plain, a.listJournalEntries, "Journal entries",
			"Journal entries, the latest accounting date first"),
		on("POST", "/v1/journal-entries", write, all, IDEM, a.createJournalEntry, "Journal entries",
			"Make a journal entry, as a draft or posted at once").creates().together(),
		on("POST", "/v1/journal-entries/batch", write, all, IDEM, a.createJournalEntries, "Journal entries",
			"Make up to 1,000 journal entries, all or none").creates().together(),
		on("GET", "/v1/journal-entries/{journal_entry_id}", read, reads, plain, a.getJournalEntry, "Journal entries", "One journal entry"),
		on("PATCH", "/v1/journal-entries/{journal_entry_id}", write, all, plain, a.updateJournalEntry, "Journal entries", "Edit a draft"),
		on("DELETE", "/v1/journal-entries/{journal_entry_id}", write, all, plain, a.deleteJournalEntry, "Journal entries",
			"Delete a draft; its number stays used"),
		on("POST", "/v1/journal-entries/{journal_entry_id}/post", write, all, IDEM, a.postJournalEntry, "Journal entries", "Post a draft"),
		on("POST", "/v1/journal-entries/{journal_entry_id}/unpost", write, all, IDEM, a.unpostJournalEntry, "Journal entries",
			"Make a posted entry a draft again, while its month is open and nothing rests on it"),
		on("POST", "/v1/journal-entries/{journal_entry_id}/reverse", write, all, IDEM, a.reverseJournalEntry, "Journal entries",
			"Undo a posted entry by a reversal, which is the answer"),
		on("POST", "/v1/journal-entries/{journal_entry_id}/correct", write, all, IDEM, a.correctJournalEntry, "Journal entries",
			"Undo a posted entry and post it as it should have been; the answer is the new one"),

		on("GET", "/v1/accounting-periods", read, reads, plain, a.listAccountingPeriods, "Accounting periods",
			"The months of the books, the latest first"),
		on("GET", "/v1/accounting-periods/{accounting_period_id}", read, reads, plain, a.getAccountingPeriod, "Accounting periods",
			"One accounting period"),
		on("GET", "/v1/accounting-periods/{accounting_period_id}/readiness", read, reads, plain, a.getAccountingPeriodReadiness,
			"Accounting periods", "What stands between a period and its close"),
		on("POST", "/v1/accounting-periods/{accounting_period_id}/close", privileged, all, IDEM, a.closeAccountingPeriod,
			"Accounting periods", "Close a period: every check must pass, and what stands in it is frozen"),
		on("POST", "/v1/accounting-periods/{accounting_period_id}/reopen", privileged, all, IDEM, a.reopenAccountingPeriod,
			"Accounting periods", "Open a closed period again, the latest first; what was frozen is kept as history"),
		on("GET", "/v1/accounting-periods/{accounting_period_id}/close-package", read, reads, plain, a.getAccountingPeriodClosePackage,
			"Accounting periods", "What was frozen when a period was closed, and every earlier close"),
	}
}

// ofTheReports are the financial statements and the rates they are translated with.
func (a *API) ofTheReports() []Route {
	return []Route{
		on("GET", "/v1/reports/balance-sheet", read, reads, plain, a.getBalanceSheet, "Reports",
			"Assets, liabilities and equity at the end of each period").conflicts(),
		on("GET", "/v1/reports/trial-balance", read, reads, plain, a.getTrialBalance, "Reports",
			"Every account's balance and movement by side, with totals that agree").conflicts(),
		on("GET", "/v1/reports/income-statement", read, reads, plain, a.getIncomeStatement, "Reports",
			"What was earned in each period, section by section").conflicts(),
		on("GET", "/v1/reports/general-ledger", read, reads, plain, a.listGeneralLedger, "Reports",
			"Posted lines account by account, with the balance before and after each"),

		on("GET", "/v1/fx-rates", read, reads, plain, a.listFXRates, "FX rates", "Rates between currencies, the newest day first"),
		on("POST", "/v1/fx-rates", write, all, IDEM, a.storeFXRates, "FX rates",
			"Store rates of a day, all or none; the same day and pair again replaces").creates(),
	}
}

// ofTheTransactions are the operations on what happened, how it comes in and what it is taken for.
func (a *API) ofTheTransactions() []Route {
	return []Route{
		on("GET", "/v1/transactions", read, reads, plain, a.listTransactions, "Transactions",
			"Transactions, the latest first unless sorted otherwise"),
		on("POST", "/v1/transactions", write, all, IDEM, a.createTransactions, "Transactions",
			"Bring in up to 1,000 transactions, all or none; what a source has told of before adds nothing").creates(),
		on("GET", "/v1/transactions/{transaction_id}", read, reads, plain, a.getTransaction, "Transactions", "One transaction"),
		on("PATCH", "/v1/transactions/{transaction_id}", write, all, plain, a.updateTransaction, "Transactions",
			"Change what people make of a transaction; what its source said stays"),
		on("POST", "/v1/transactions/bulk-update", write, all, IDEM, a.bulkUpdateTransactions, "Transactions",
			"Change many transactions, all or none"),
		on("POST", "/v1/transactions/link", write, all, IDEM, a.linkTransactions, "Transactions",
			"Link two transactions that are one event: a transfer, a bridge or a swap"),
		on("POST", "/v1/transactions/unlink", write, all, IDEM, a.unlinkTransactions, "Transactions",
			"Undo links; the two are not linked again but by hand"),
		on("POST", "/v1/transactions/match", write, all, IDEM, a.matchTransactions, "Transactions",
			"Find and link the transactions of some days that belong together"),
		on("GET", "/v1/transactions/ambiguous", read, reads, plain, a.listAmbiguousTransactions, "Transactions",
			"Transactions that have a partner which cannot be told, by sequence number"),

		on("GET", "/v1/spam-listings", read, reads, plain, a.listSpamListings, "Spam listings", "What is always let into the wallets, or never"),
		on("POST", "/v1/spam-listings", write, all, IDEM, a.createSpamListing, "Spam listings",
			"Always let a contract, address or symbol through, or never; what arrived before stays as it was judged").creates(),
		on("DELETE", "/v1/spam-listings/{spam_listing_id}", write, all, plain, a.deleteSpamListing, "Spam listings",
			"Delete a listing; what arrived before stays as it was judged"),

		on("GET", "/v1/imports", read, reads, plain, a.listImports, "Imports", "Files of transactions that were brought, the newest first"),
		first(on("POST", "/v1/imports", write, all, IDEM, a.createImport, "Imports",
			"Bring a file of transactions; it is read in the background, and what the source has already is left out").creates(), a.receiveImport),
		on("GET", "/v1/imports/{import_id}", read, reads, plain, a.getImport, "Imports",
			"How far an import is, and the first rows that could not be read"),
		on("GET", "/v1/imports/{import_id}/errors", read, reads, plain, a.listImportErrors, "Imports",
			"What was wrong with rows of an import, in the order of the file"),

		on("GET", "/v1/classification-runs", read, reads, plain, a.listClassificationRuns, "Classification",
			"Classification runs, the newest first"),
		on("POST", "/v1/classification-runs", write, all, IDEM, a.createClassificationRun, "Classification",
			"Let the rules decide what transactions are, in the background, and propose from what was booked before where none does").creates(),
		on("GET", "/v1/classification-runs/{classification_run_id}", read, reads, plain, a.getClassificationRun, "Classification",
			"How far a classification run is and what it came to"),
		on("GET", "/v1/classification-runs/{classification_run_id}/results", read, reads, plain, a.listClassificationResults,
			"Classification", "What a run came to about each transaction and why, in the order in which things happened"),
		on("POST", "/v1/classification-runs/{classification_run_id}/cancel", write, all, IDEM, a.cancelClassificationRun,
			"Classification", "Stop a run; what it did stays"),
		on("POST", "/v1/classification-runs/{classification_run_id}/resume", write, all, IDEM, a.resumeClassificationRun,
			"Classification", "Let a run that was cancelled or failed go on where it stopped, with the rules it began with"),
	}
}

// ofTheAssets are the operations on what assets are and what they are worth.
func (a *API) ofTheAssets() []Route {
	return []Route{
		on("GET", "/v1/asset-policies", read, reads, plain, a.listAssetPolicies, "Asset policies",
			"What the organization says of assets, by symbol; of others the usual holds"),
		on("GET", "/v1/asset-policies/{asset_type}", read, reads, plain, a.getAssetPolicy, "Asset policies",
			"What holds of an asset: what the organization says, or the usual"),
		on("PUT", "/v1/asset-policies/{asset_type}", write, all, plain, a.putAssetPolicy, "Asset policies",
			"Say what holds of an asset, in place of what was said before"),
		on("DELETE", "/v1/asset-policies/{asset_type}", write, all, plain, a.deleteAssetPolicy, "Asset policies",
			"Take back what was said of an asset: the usual holds again"),

		on("GET", "/v1/prices", read, reads, plain, a.listPrices, "Prices", "What assets were worth, the latest instant first"),
		on("POST", "/v1/prices", write, all, IDEM, a.createPrice, "Prices",
			"Store the price of an asset at an instant, or at the close of a day").creates(),
		on("POST", "/v1/prices/batch", write, all, IDEM, a.createPrices, "Prices", "Store up to 1,000 prices, all or none").creates(),
		first(on("POST", "/v1/prices/import", write, all, IDEM, a.importPrices, "Prices",
			"Bring a CSV file of prices, all or none; what is there already adds nothing").creates(), a.receivePrices),
		on("GET", "/v1/prices/{price_id}", read, reads, plain, a.getPrice, "Prices", "One price"),
		on("PATCH", "/v1/prices/{price_id}", write, all, plain, a.updatePrice, "Prices", "Change what a price says"),
		on("DELETE", "/v1/prices/{price_id}", write, all, plain, a.deletePrice, "Prices", "Delete a price that nothing rests on"),

		on("GET", "/v1/reports/closing-positions", read, reads, plain, a.listClosingPositions, "Reports",
			"What is held at the end of a period, at cost and at fair value"),
		on("GET", "/v1/reports/treasury-balances", read, reads, plain, a.listTreasuryBalances, "Reports", "How much of what is where, money too"),
		on("GET", "/v1/reports/realized-gains-losses", read, reads, plain, a.listRealizedGains, "Reports",
			"Gains and losses by period and asset"),
		on("GET", "/v1/reports/asset-tax-lots", read, reads, plain, a.listAssetTaxLots, "Reports",
			"Lots of which something is left, with what they cost and are worth"),
		on("GET", "/v1/reports/schedule-of-dispositions", read, reads, plain, a.listDispositions, "Reports",
			"What was disposed of, lot by lot, by accounting date"),
		on("GET", "/v1/reports/roll-forward", read, reads, plain, a.listRollForward, "Reports",
			"How the fair value of each asset came from the beginning of a year to its end, as ASC 350-60 asks"),
		on("GET", "/v1/reports/explain", read, reads, plain, a.explainFigure, "Reports",
			"What a figure of a report is made up of, down to lines, lots, prices and transactions").conflicts(),
		on("GET", "/v1/revaluations", read, reads, plain, a.listRevaluations, "Revaluations", "Revaluations, the newest first"),
		on("POST", "/v1/revaluations", write, all, IDEM, a.createRevaluation, "Revaluations",
			"Measure what is held at the end of a period by the rules of each legal entity, and book what is lacking; again, it replaces "+
				"what changed").creates(),
		on("GET", "/v1/revaluations/{revaluation_id}", read, reads, plain, a.getRevaluation, "Revaluations",
			"A revaluation and what it measured"),
		on("GET", "/v1/revaluations/{revaluation_id}/rows", read, reads, plain, a.listRevaluationRows, "Revaluations",
			"The lots and accounts that a revaluation measured"),
		on("POST", "/v1/revaluations/{revaluation_id}/reverse", write, all, IDEM, a.reverseRevaluation, "Revaluations",
			"Undo the last revaluation of an open period: its entries are reversed"),
	}
}

// ofTheMoney are the operations on where money is and what happened to it.
func (a *API) ofTheMoney() []Route {
	return []Route{
		on("GET", "/v1/sources", read, reads, plain, a.listSources, "Sources",
			"Wallets, exchange accounts, bank and card accounts, in the order they were made"),
		on("POST", "/v1/sources", write, all, IDEM, a.createSource, "Sources",
			"Make a source by hand, with a ledger account of its own unless one is named").creates(),
		on("GET", "/v1/sources/{source_id}", read, reads, plain, a.getSource, "Sources", "A source, by its id or that of its account"),
		on("PATCH", "/v1/sources/{source_id}", write, all, plain, a.updateSource, "Sources",
			"Change a source; once it has transactions, only its name and its ledger account"),
		on("DELETE", "/v1/sources/{source_id}", write, all, plain, a.deleteSource, "Sources",
			"Delete a source made by hand that nothing uses, or a bank aggregator's account with its transactions; if it fails half-way, "+
				"send it again").apart(),

		on("GET", "/v1/assets", read, reads, plain, a.listAssets, "Assets",
			"Lots of assets: what was acquired at one time and cost, and what is left of it, the newest first"),
		on("POST", "/v1/assets", write, all, IDEM, a.createAsset, "Assets",
			"Enter an asset that was there before the books began, and post what it cost as an opening balance").creates(),
		on("GET", "/v1/assets/{asset_id}", read, reads, plain, a.getAsset, "Assets", "One asset"),
		on("PATCH", "/v1/assets/{asset_id}", write, all, plain, a.updateAsset, "Assets",
			"Change an asset that was entered by hand; its entry is corrected, and what was taken from it is reckoned again"),
		on("DELETE", "/v1/assets/{asset_id}", write, all, plain, a.deleteAsset, "Assets",
			"Delete an asset that was entered by hand and of which nothing was taken; its entry is reversed"),
		on("GET", "/v1/assets/{asset_id}/dispositions", read, reads, plain, a.listAssetDispositions, "Assets",
			"What was taken from an asset, the latest first"),
		on("GET", "/v1/assets/lot-selections", read, reads, plain, a.getLotSelection, "Assets", "The lots that were chosen for a transaction"),
		on("POST", "/v1/assets/lot-selections", write, all, IDEM, a.storeLotSelection, "Assets",
			"Choose the lots a transaction will take, where the cost basis method is specific_id; an earlier choice is replaced, and an "+
				"empty one takes it back"),
	}
}

// ofTheMemory are the operations on documents and rules.
func (a *API) ofTheMemory() []Route {
	return []Route{
		on("GET", "/v1/memory/file", read, reads, plain, a.getMemory, "Memory",
			"The file at a path, or all below one that ends in a slash, the organization's own and those of its accounting firm").provides(),
		on("PUT", "/v1/memory/file", write, actor.ScopeMemory, plain, a.putMemory, "Memory",
			"Write a file whole, new or in place of the version last read").provides(),
		on("DELETE", "/v1/memory/file", write, actor.ScopeMemory, plain, a.deleteMemory, "Memory", "Delete a file; its versions stay").provides(),
		on("GET", "/v1/memory/history", read, reads, plain, a.listMemoryHistory, "Memory",
			"Every version of a file, the newest first, with what changed, who did it and why").provides(),

		on("GET", "/v1/memory/file", read, reads, plain, a.getMemoryRules, "Memory", "The organization's rules").when("kind", "rule").provides(),
		on("PUT", "/v1/memory/file", write, actor.ScopeRules, plain, a.putMemoryRule, "Memory",
			"Make a rule or replace one; later runs follow it, and nothing happens now").when("kind", "rule").only(actor.Owner).provides(),
		on("DELETE", "/v1/memory/file", write, actor.ScopeRules, plain, a.deleteMemoryRule, "Memory",
			"Delete a rule; its versions stay").when("kind", "rule").only(actor.Owner).provides(),
		on("GET", "/v1/memory/history", read, reads, plain, a.listMemoryRuleHistory, "Memory",
			"Every version of a rule, the newest first, with what changed, who did it and why").when("kind", "rule").provides(),
		on("POST", "/v1/memory/rules/test", read, reads, plain, a.testMemoryRule, "Memory",
			"Try a rule, saved or not, on history: what it matches, what it would change and which rules it meets").provides(),
	}
}

// ofTheHouse are the operations on the organization, its people and keys, and its log.
func (a *API) ofTheHouse() []Route {
	return []Route{
		on("GET", "/v1/organization", read, reads, plain, a.getOrganization, "Organization", "The organization of the key"),
		on("PATCH", "/v1/organization", privileged, all, plain, a.updateOrganization, "Organization", "Change the organization's profile"),
		on("GET", "/v1/organization/members", read, reads, plain, a.listMembers, "Organization", "The people of the organization"),

		on("GET", "/v1/api-keys", privileged, all, plain, a.listAPIKeys, "API keys", "The organization's API keys, newest first"),
		on("POST", "/v1/api-keys", privileged, all, IDEM, a.createAPIKey, "API keys", "Make an API key; its text is shown only here").creates(),
		on("DELETE", "/v1/api-keys/{api_key_id}", privileged, all, plain, a.revokeAPIKey, "API keys",
			"Revoke an API key, on every node within a second"),

		on("GET", "/v1/audit-log", read, reads, plain, a.listAuditLog, "Audit log", "Who changed what, newest first").only(actor.Owner,
			actor.Admin, actor.Auditor),
		on("GET", "/v1/audit-log/verify", read, reads, plain, a.verifyAuditLog, "Audit log",
			"Recompute the chain of hashes over the log").only(actor.Owner, actor.Admin, actor.Auditor),
	}
}
