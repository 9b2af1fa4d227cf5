package treasury

import (
	"slices"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// handlers holds the handlers of the group.
type handlers struct{ app *app.App }

// Routes returns the operations of the group.
func Routes(a *app.App) []wire.Route {
	h := handlers{a}
	return slices.Concat(h.sources(), h.reconciliation(), h.transactions(), h.imports(), h.spamListings(), h.connections())
}

func (h handlers) sources() []wire.Route {
	return wire.Tag{Name: "Sources", Description: "Wallets, exchange accounts, bank accounts and cards that transactions come from."}.Routes(
		wire.Get("/v1/sources", h.listSources, "List sources in the order in which they were created"),
		wire.Post("/v1/sources", h.createSource, "Create a source").
			Describe("Creates a ledger account for it unless the request names one.").Creates(),
		wire.Get("/v1/sources/{source_id}", h.getSource, "Get a source by its identifier or by that of its account"),
		wire.Get("/v1/sources/{source_id}/balances", h.listSourceBalances, "List what a source holds, in the books and as observed").
			Describe("One row for each asset and currency. What no file states is not known to be zero: observed and difference are then "+
				"null."),
		wire.Post("/v1/sources/{source_id}/sync", h.syncSource, "Read what has changed at the provider of a source").
			Describe("Has the connection of the source read in the background, and returns the connection.").Privileged(),
		wire.Patch("/v1/sources/{source_id}", h.updateSource, "Update a source").
			Describe("Once the source has transactions, only its name and ledger account can change. The legal entity of a source that has "+
				"assets cannot change either: move the assets by an INTERCOMPANY TRANSFER."),
		wire.Delete("/v1/sources/{source_id}", h.deleteSource, "Delete a source").
			Describe("Deletes an unused source that was created by hand, or an account of a bank aggregator with its transactions. "+
				"If the request fails, send it again.").OwnTransactions(),
	)
}

func (h handlers) reconciliation() []wire.Route {
	return wire.Tag{Name: "Reconciliation", Description: "Whether the books of a source have what the source itself says it holds."}.Routes(
		wire.Get("/v1/sources/{source_id}/reconciliation", h.reconcileSource, "Compare the books of a source with its observed balances").
			Describe("One row for each asset, compared at its latest observed balance, with what may explain a difference.").LargeRead(),
		wire.Get("/v1/sources/{source_id}/observed-balances", h.listObservedBalances, "List what a source held over time, the latest first").
			Describe("What files and connections state, and what was entered."),
		wire.Post("/v1/sources/{source_id}/observed-balances", h.enterObservedBalance, "Enter an observed balance of a source").
			Describe("Such as the closing balance of a bank statement. Replaces what was entered for the same asset and time.").Creates(),
		wire.Get("/v1/sources/{source_id}/reconciliations", h.listReconciliations, "List the reconciliations of a source, the latest first").
			Describe("With the figures as they were, and whether they have changed since.").LargeRead(),
		wire.Post("/v1/sources/{source_id}/reconciliations", h.createReconciliation, "Mark a source as reconciled up to an instant").
			Describe("Fails if the books differ from what was observed, unless the difference is accepted.").Creates(),
		wire.Delete("/v1/sources/{source_id}/reconciliations/{reconciliation_id}", h.deleteReconciliation,
			"Undo the latest reconciliation of a source"),
	)
}

func (h handlers) transactions() []wire.Route {
	return wire.Tag{Name: "Transactions", Description: "What happened at the sources: deposits, withdrawals, trades, fees."}.Routes(
		wire.Get("/v1/transactions", h.listTransactions, "List transactions").
			Describe("The latest comes first unless sorted otherwise."),
		wire.Post("/v1/transactions", h.createTransactions, "Create up to 1,000 transactions, all or none").
			Describe("Transactions that the source already has are not added again.").Creates(),
		wire.Get("/v1/transactions/{transaction_id}", h.getTransaction, "Get a transaction"),
		wire.Patch("/v1/transactions/{transaction_id}", h.updateTransaction, "Update a transaction").
			Describe("Only what people add to a transaction can change. What its source reported stays as it is."),
		wire.Post("/v1/transactions/bulk-update", h.bulkUpdateTransactions, "Update many transactions, all or none"),
		wire.Post("/v1/transactions/link", h.linkTransactions, "Link two transactions that are one transfer, bridge or swap"),
		wire.Post("/v1/transactions/unlink", h.unlinkTransactions, "Unlink transactions").
			Describe("Automatic matching does not link them to each other again."),
		wire.Post("/v1/transactions/match", h.matchTransactions, "Find and link matching transactions within a range of dates").LargeWrite(),
		wire.Get("/v1/transactions/ambiguous", h.listAmbiguousTransactions, "List transactions with several possible matches").
			Describe("Sorted by sequence number."),
	)
}

func (h handlers) imports() []wire.Route {
	create := wire.Post("/v1/imports", h.createImport, "Import a file of transactions").
		Describe("The file is read in the background. Transactions that the source already has are skipped.").Creates().LargeWrite()
	return wire.Tag{Name: "Imports", Description: "Files of transactions, read in the background."}.Routes(
		wire.Get("/v1/imports", h.listImports, "List imports, newest first"),
		wire.First(create, h.receiveImport, h.checkImport),
		wire.Get("/v1/imports/{import_id}", h.getImport, "Get the progress of an import and its first errors"),
		wire.Get("/v1/imports/{import_id}/errors", h.listImportErrors, "List the errors of an import in file order"),
	)
}

func (h handlers) spamListings() []wire.Route {
	return wire.Tag{Name: "Spam listings", Description: "Contracts, addresses and symbols that are always spam, or never."}.Routes(
		wire.Get("/v1/spam-listings", h.listSpamListings, "List spam listings"),
		wire.Post("/v1/spam-listings", h.createSpamListing, "Always allow or always block a contract, address or symbol").WholeOrganization().
			Describe("Transactions that arrived earlier keep their status.").Creates(),
		wire.Delete("/v1/spam-listings/{spam_listing_id}", h.deleteSpamListing, "Delete a spam listing").WholeOrganization().
			Describe("Transactions that arrived earlier keep their status."),
	)
}
