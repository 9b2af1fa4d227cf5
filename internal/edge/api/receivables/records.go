package receivables

import (
	"context"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/receivables/run"
)

// Records says what events contain of the resources of the group.
func Records() []wire.Record {
	return []wire.Record{
		wire.Viewed(wire.RecordAt("customer", "/v1/customers/{customer_id}", "customer.created", "customer.updated", "customer.archived",
			"customer.unarchived", "customer.deleted"),
			func(ctx context.Context, c customer.Customer) Customer { return viewCustomer(ctx, c) }),
		wire.Viewed(wire.RecordAt("invoice", "/v1/invoices/{invoice_id}", "invoice.created", "invoice.updated", "invoice.opened",
			"invoice.settled", "invoice.reopened", "invoice.marked_uncollectible", "invoice.voided"),
			func(_ context.Context, i invoice.Invoice) Invoice { return viewInvoice(i) }),
		wire.Viewed(wire.RecordAt("credit_note", "/v1/credit-notes/{credit_note_id}", "credit_note.created", "credit_note.voided"),
			func(_ context.Context, c invoice.CreditNote) CreditNote { return viewCreditNote(c) }),
		wire.Viewed(wire.RecordAt("cash_application", "/v1/cash-applications/{application_id}", "cash_application.pending",
			"cash_application.applied", application.EventConfirmed, "cash_application.updated", "cash_application.returned",
			"cash_application.voided"),
			func(ctx context.Context, a application.Application) CashApplication {
				return viewApplication(actor.From(ctx).OrganizationID, a)
			}),
		wire.RecordAt("cash_application_run", "/v1/cash-application-runs/{cash_application_run_id}", run.EventCreated, run.EventResumed,
			"cash_application_run.completed", "cash_application_run.failed", "cash_application_run.cancelled"),
		wire.RecordAt("settings", "/v1/settings", "settings.updated"),
	}
}
