package books

import (
	"slices"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// handlers holds the handlers of the group.
type handlers struct{ app *app.App }

// Routes returns the operations of the group.
func Routes(a *app.App) []wire.Route {
	h := handlers{a}
	return slices.Concat(h.legalEntities(), h.ledgerAccounts(), h.tags(), h.journalEntries(), h.accountingPeriods(), h.fxRates())
}

func (h handlers) legalEntities() []wire.Route {
	return wire.Tag{Name: "Legal entities", Description: "Companies with books of their own. Each has one base currency."}.Routes(
		wire.Get("/v1/legal-entities", h.listLegalEntities, "List legal entities").
			Describe("Returns the legal entities that the API key has access to."),
		wire.Get("/v1/legal-entities/{legal_entity_id}", h.getLegalEntity, "Get a legal entity").
			Describe("Includes every cost basis election of the legal entity."),
		wire.Post("/v1/legal-entities", h.createLegalEntity, "Create a legal entity").WholeOrganization().Creates(),
		wire.Patch("/v1/legal-entities/{legal_entity_id}", h.updateLegalEntity, "Update a legal entity"),
		wire.Delete("/v1/legal-entities/{legal_entity_id}", h.deleteLegalEntity, "Delete a legal entity that nothing refers to"),
	)
}

func (h handlers) ledgerAccounts() []wire.Route {
	return wire.Tag{Name: "Ledger accounts", Description: "The chart of accounts."}.Routes(
		wire.Get("/v1/ledger-accounts", h.listLedgerAccounts, "List the chart of accounts by sequence number"),
		wire.Post("/v1/ledger-accounts", h.createLedgerAccount, "Create a ledger account").WholeOrganization().Creates(),
		wire.Get("/v1/ledger-accounts/{ledger_account_id}", h.getLedgerAccount, "Get a ledger account"),
		wire.Patch("/v1/ledger-accounts/{ledger_account_id}", h.updateLedgerAccount, "Update a ledger account").WholeOrganization().
			Describe("Type and normal balance can change only while nothing uses the account."),
		wire.Delete("/v1/ledger-accounts/{ledger_account_id}", h.deleteLedgerAccount, "Delete an unused ledger account").WholeOrganization().
			Describe("Deletes the accounts below it too. Fails if anything refers to one of them."),
		wire.Post("/v1/ledger-accounts/{ledger_account_id}/archive", h.archiveLedgerAccount, "Archive a ledger account").WholeOrganization().
			Describe("Nothing can be posted to an archived account. Fails if the account has a balance, a draft or an active account below it."),
		wire.Post("/v1/ledger-accounts/{ledger_account_id}/unarchive", h.unarchiveLedgerAccount, "Restore an archived ledger account").
			WholeOrganization(),
		wire.Get("/v1/ledger-accounts/{ledger_account_id}/lines", h.listLedgerAccountLines, "List the posted lines of a ledger account").
			Describe("The latest accounting date comes first."),
	)
}

func (h handlers) tags() []wire.Route {
	return wire.Tag{Name: "Tags", Description: "Labels for transactions, journal entries and lines, such as suppliers or projects."}.Routes(
		wire.Get("/v1/tags", h.listTags, "List tags"),
		wire.Get("/v1/tags/{tag_id}", h.getTag, "Get a tag"),
		wire.Post("/v1/tags", h.createTag, "Create a tag").WholeOrganization().Creates(),
		wire.Patch("/v1/tags/{tag_id}", h.updateTag, "Update a tag").WholeOrganization(),
		wire.Delete("/v1/tags/{tag_id}", h.deleteTag, "Delete a tag that nothing uses").WholeOrganization(),
	)
}

func (h handlers) journalEntries() []wire.Route {
	return wire.Tag{Name: "Journal entries", Description: "Balanced sets of debit and credit lines."}.Routes(
		wire.Get("/v1/journal-entries", h.listJournalEntries, "List journal entries, latest accounting date first"),
		wire.Post("/v1/journal-entries", h.createJournalEntry, "Create a journal entry as a draft or posted").Creates().GroupCommit(),
		wire.Post("/v1/journal-entries/batch", h.createJournalEntries, "Create up to 1,000 journal entries, all or none").
			Creates().GroupCommit(),
		wire.Get("/v1/journal-entries/{journal_entry_id}", h.getJournalEntry, "Get a journal entry"),
		wire.Patch("/v1/journal-entries/{journal_entry_id}", h.updateJournalEntry, "Update a draft"),
		wire.Delete("/v1/journal-entries/{journal_entry_id}", h.deleteJournalEntry, "Delete a draft").
			Describe("Its sequence number is not used again."),
		wire.Post("/v1/journal-entries/{journal_entry_id}/post", h.postJournalEntry, "Post a draft"),
		wire.Post("/v1/journal-entries/{journal_entry_id}/unpost", h.unpostJournalEntry, "Turn a posted entry back into a draft").
			Describe("Possible while its accounting period is open and nothing depends on the entry."),
		wire.Post("/v1/journal-entries/{journal_entry_id}/reverse", h.reverseJournalEntry,
			"Reverse a posted entry").
			Describe("Returns the reversal."),
		wire.Post("/v1/journal-entries/{journal_entry_id}/correct", h.correctJournalEntry,
			"Reverse a posted entry and post a replacement").
			Describe("Returns the replacement."),
	)
}

func (h handlers) accountingPeriods() []wire.Route {
	return wire.Tag{Name: "Accounting periods", Description: "Calendar months of the books, and closing them."}.Routes(
		wire.Get("/v1/accounting-periods", h.listAccountingPeriods, "List accounting periods, latest first"),
		wire.Get("/v1/accounting-periods/{accounting_period_id}", h.getAccountingPeriod, "Get an accounting period"),
		wire.Get("/v1/accounting-periods/{accounting_period_id}/readiness", h.getAccountingPeriodReadiness,
			"List the readiness checks of an accounting period").
			Describe("A check with the status `fail` prevents the close of the period, one with `warn` does not. A period with failing "+
				"`unposted_transactions` can be closed with an `override_reason`.").LargeRead(),
		wire.Post("/v1/accounting-periods/{accounting_period_id}/close", h.closeAccountingPeriod, "Close an accounting period").
			Describe("No readiness check may fail, except `unposted_transactions` if an `override_reason` is sent. The balances of the "+
				"period are frozen in a close package.").Privileged().OrFirm(actor.Reviewer).LargeWrite(),
		wire.Post("/v1/accounting-periods/{accounting_period_id}/reopen", h.reopenAccountingPeriod, "Reopen a closed accounting period").
			Sensitive().Describe("Only the latest closed period can be reopened. Its close package is kept as history.").Privileged().
			OrFirm(actor.Reviewer).LargeWrite(),
		wire.Get("/v1/accounting-periods/{accounting_period_id}/close-package", h.getAccountingPeriodClosePackage,
			"Get the close package of an accounting period").
			Describe("Returns what was frozen at the last close, and every earlier close."),
	)
}

func (h handlers) fxRates() []wire.Route {
	return wire.Tag{Name: "FX rates", Description: "Exchange rates that amounts and statements are translated with."}.Routes(
		wire.Get("/v1/fx-rates", h.listFXRates, "List exchange rates, latest date first"),
		wire.Post("/v1/fx-rates", h.storeFXRates, "Store exchange rates, all or none").WholeOrganization().
			Describe("A rate for the same date and pair of currencies replaces the earlier one.").Creates(),
	)
}
