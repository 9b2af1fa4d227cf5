package receivables

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
	return slices.Concat(h.customers(), h.invoices(), h.creditNotes(), h.cashApplications(), h.cashApplicationRuns(), h.settings())
}

func (h handlers) customers() []wire.Route {
	return wire.Tag{Name: "Customers", Description: "Whom you invoice, and what their payments are recognized by."}.Routes(
		wire.Get("/v1/customers", h.listCustomers, "List customers in the order in which they were created"),
		wire.Post("/v1/customers", h.createCustomer, "Create a customer").WholeOrganization().Creates(),
		wire.Get("/v1/customers/{customer_id}", h.getCustomer, "Get a customer"),
		wire.Patch("/v1/customers/{customer_id}", h.updateCustomer, "Update a customer").WholeOrganization().
			Describe("A list that is sent replaces the one before."),
		wire.Delete("/v1/customers/{customer_id}", h.deleteCustomer, "Delete a customer without invoices").WholeOrganization().
			Describe("A customer with invoices can be archived instead."),
		wire.Post("/v1/customers/{customer_id}/archive", h.archiveCustomer, "Archive a customer").WholeOrganization().
			Describe("An archived customer gets no new invoices. Its invoices stay as they are."),
		wire.Post("/v1/customers/{customer_id}/unarchive", h.unarchiveCustomer, "Unarchive a customer").WholeOrganization(),
	)
}

func (h handlers) invoices() []wire.Route {
	return wire.Tag{Name: "Invoices", Description: "What customers were asked to pay, and how much of it is due."}.Routes(
		wire.Get("/v1/invoices", h.listInvoices, "List invoices, latest date first"),
		wire.Post("/v1/invoices", h.createInvoice, "Create an invoice as a draft or open").
			Describe("An open invoice is booked in the same request: trade receivables are debited with the total, and the ledger accounts of "+
				"its lines and taxes are credited. If the period of its date is closed, the entry moves to the first open one. Another "+
				"currency than that of the legal entity is translated at the stored rate of the date.").Creates(),
		wire.Post("/v1/invoices/import", h.importInvoices, "Import a CSV file of invoices").LargeWrite().OwnTransactions().
			Describe("Rows with the same invoice number are the lines of one invoice. The columns of the exports of Stripe, QuickBooks and "+
				"Xero, and other usual names, are recognized; a mapping names others. An invoice with a faulty row is left out and the others "+
				"are created. An invoice that exists with the same content is not created again, so the file can be sent again after its "+
				"errors are corrected or the request failed; one that exists with other content, as void, or as a draft if it is to be open, "+
				"is an error. Invoices that are paid, void or uncollectible according to the file, or without a status and with nothing due, are "+
				"skipped; one that is partly paid is an error. A row without a number is a line of the invoice directly above it if it has a "+
				"description, a product or a quantity; one that is called a sum, such as Total, and is the sum of the lines above is left out."),
		wire.Get("/v1/invoices/{invoice_id}", h.getInvoice, "Get an invoice"),
		wire.Patch("/v1/invoices/{invoice_id}", h.updateInvoice, "Update an invoice").
			Describe("Once an invoice is open, only its due date and memo can change. Once it is void, only its number can, unless Bursar chose "+
				"it: so the number of an invoice that was imported wrongly becomes free to import it anew."),
		wire.Delete("/v1/invoices/{invoice_id}", h.deleteInvoice, "Void an invoice").
			Describe("Does what POST /v1/invoices/{invoice_id}/void does: the number of an invoice is not used again, so the invoice stays, as "+
				"void."),
		wire.Post("/v1/invoices/{invoice_id}/open", h.openInvoice, "Open a draft and book it"),
		wire.Post("/v1/invoices/{invoice_id}/void", h.voidInvoice, "Void an invoice").
			Describe("Reverses its entries. This is final. An invoice of which something is settled cannot become void."),
		wire.Post("/v1/invoices/{invoice_id}/mark-uncollectible", h.markInvoiceUncollectible, "Write off what is due on an invoice").
			Describe("Debits bad debts, or the ledger account that you name, and credits trade receivables."),
		wire.Post("/v1/invoices/{invoice_id}/reopen", h.reopenInvoice, "Open an uncollectible invoice again").
			Describe("Reverses the entry that wrote it off."),
	)
}

func (h handlers) creditNotes() []wire.Route {
	return wire.Tag{Name: "Credit notes", Description: "What customers are credited, of an invoice or in general."}.Routes(
		wire.Get("/v1/credit-notes", h.listCreditNotes, "List credit notes, latest date first"),
		wire.Post("/v1/credit-notes", h.createCreditNote, "Issue a credit note").
			Describe("Debits the ledger accounts of its lines and taxes, and credits trade receivables. A credit note of an invoice reduces what "+
				"is due on it and cannot be larger. One of a customer stays as an amount that remains to be used.").Creates(),
		wire.Get("/v1/credit-notes/{credit_note_id}", h.getCreditNote, "Get a credit note"),
		wire.Post("/v1/credit-notes/{credit_note_id}/void", h.voidCreditNote, "Void a credit note").
			Describe("Reverses its entry, and what it took off its invoice is due again. This is final."),
	)
}

func (h handlers) cashApplications() []wire.Route {
	return wire.Tag{Name: "Cash application", Description: "Applying deposits to the invoices that they pay."}.Routes(
		wire.Get("/v1/cash-applications/invoices", h.listEligibleInvoices, "List invoices to which a deposit can be applied").
			Describe("Latest date first. Each invoice says whether it is eligible, and why not."),
		wire.Post("/v1/cash-applications/preview", h.previewCashApplication, "Find the invoices that a deposit may pay").ReadOnly().
			MayConflict().
			Describe("Writes nothing and reserves nothing. Each suggestion has its reasons, and its allocations can be sent to "+
				"POST /v1/cash-applications as they are. A digital asset is matched by its value; an invoice in another currency is no candidate. "+
				"An API key that is limited to legal entities is offered the invoices that it sees: none that belong to no legal entity."),
		wire.Get("/v1/cash-applications", h.listCashApplications, "List cash applications, latest first"),
		wire.Post("/v1/cash-applications", h.createCashApplication, "Apply a deposit to invoices").
			Describe("Books the deposit in the same request: its source is debited with what arrived and fees with what was withheld, "+
				"receivables are credited for each invoice, and the rest is unapplied cash. Applying the same deposit again uses that rest. What "+
				"falls short by no more than the write_off_limit of the settings is written off. If a rule demands a review, the status is "+
				"pending, and nothing is booked until it is confirmed.").Creates(),
		wire.Get("/v1/cash-applications/{application_id}", h.getCashApplication, "Get a cash application"),
		wire.Post("/v1/cash-applications/{application_id}/confirm", h.confirmCashApplication, "Confirm a cash application").
			Describe("One that waits for its review is booked. Later deposits of the same payer are recognized by confirmed ones."),
		wire.Post("/v1/cash-applications/{application_id}/void", h.voidCashApplication, "Void a cash application").
			Describe("Reverses its entry, or posts the reversal today if the period is closed. What it paid is due again, and the deposit can be "+
				"applied again. If the entry cannot be removed from the ledger provider, error_message says why. This is final."),
		wire.Post("/v1/cash-applications/{application_id}/return", h.returnCashApplication, "Book a refund or a chargeback").
			Describe("Books a payment that went back to the customer: its source is credited, receivables are debited for each invoice, which is "+
				"due again, and unapplied cash is debited with the rest. The ledger accounts are those that the cash application has credited. "+
				"Answers with a new cash application with negative amounts; voiding it undoes the return.").Creates(),
	)
}

func (h handlers) cashApplicationRuns() []wire.Route {
	const one = "/v1/cash-application-runs/{cash_application_run_id}"
	create := wire.Post("/v1/cash-application-runs", h.createCashApplicationRun, "Start a cash application run").
		Describe("Matches deposits with invoices in the background, applies those that are certain, and lists what the others may pay. A " +
			"deposit is certain if its first suggestion has at least the confidence of min_confidence and no doubts. An organization can have " +
			"20 runs that are not finished.").Creates().LargeWrite()
	return wire.Tag{Name: "Cash application runs", Description: "Background runs that apply many deposits."}.Routes(
		wire.Get("/v1/cash-application-runs", h.listCashApplicationRuns, "List cash application runs, newest first"),
		wire.Prepared(create, h.prepareCashApplicationRun),
		wire.Get(one, h.getCashApplicationRun, "Get the progress and the counts of a cash application run"),
		wire.Get(one+"/results", h.listCashApplicationResults, "List the results of a cash application run").
			Describe("One result per deposit, in the order of the deposits. What is not certain has suggestions, whose allocations can be sent to "+
				"POST /v1/cash-applications as they are."),
		wire.Post(one+"/cancel", h.cancelCashApplicationRun, "Cancel a cash application run").Describe("Keeps what the run has done so far."),
		wire.Post(one+"/resume", h.resumeCashApplicationRun, "Resume a cancelled or failed cash application run").
			Describe("The run continues where it stopped. A run that was undone cannot be resumed."),
		wire.Post(one+"/undo", h.undoCashApplicationRun, "Undo a cash application run").
			Describe("Starts another run, which voids what this one applied. Cash applications that were confirmed or changed since, or that "+
				"cannot be voided, are kept, and the results of that run say why. Undoing a run again tries the ones that were kept once more.").
			Creates(),
	)
}

func (h handlers) settings() []wire.Route {
	return wire.Tag{Name: "Settings", Description: "What applies to the whole organization."}.Routes(
		wire.Get("/v1/settings", h.getSettings, "Get the settings"),
		wire.Patch("/v1/settings", h.updateSettings, "Update the settings").WholeOrganization(),
	)
}
