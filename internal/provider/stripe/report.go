package stripe

import (
	"context"

	api "github.com/stripe/stripe-go/v85"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// Report returns how Stripe is told of payments: with the connections of the legal entity of an invoice. A payment that is reported as a
// payment record may be a part of what is due. Where the account cannot have payment records, the invoice is marked as paid, which is
// possible only if all of it is. Both are final at Stripe.
func (p *Provider) Report(connections *connection.Service) application.Processor {
	return func(ctx context.Context, pay application.Payment) (application.Outcome, error) {
		opened, err := connections.Open(ctx, Name, pay.LegalEntityID)
		if err != nil {
			return application.Outcome{}, err
		}
		for _, o := range opened {
			r := &report{pay, p, p.client(o.APIKey)}
			i, err := r.client.invoice(ctx, pay.ExternalID)
			if fault.KindOf(err) == fault.NotFound {
				continue // it is an invoice of another account
			}
			if err != nil {
				return refuse(err)
			}
			return r.send(ctx, i)
		}
		return application.Outcome{Status: application.NotApplicable, Message: "no connection to the account of the invoice at Stripe can be " +
			"used: mark it as paid there"}, nil
	}
}

// report is a payment that Stripe is told of.
type report struct {
	application.Payment
	provider *Provider
	client   *client
}

// refuse returns the outcome of a payment that Stripe does not take, or the error if it may pass.
func refuse(err error) (application.Outcome, error) {
	switch fault.KindOf(err) {
	case fault.Unauthorized, fault.Forbidden, fault.Conflict, fault.NotFound:
		return application.Outcome{Status: application.NotReported, Message: err.Error()}, nil
	default:
		return application.Outcome{}, err
	}
}

// send tells Stripe of the payment of an invoice.
func (r *report) send(ctx context.Context, i *api.Invoice) (application.Outcome, error) {
	amount, ok := minorUnits(r.Amount, r.Currency)
	if !ok || currencyOf(i.Currency) != r.Currency {
		return application.Outcome{Status: application.NotReported, Message: "the amount cannot be stated at Stripe"}, nil
	}
	record, err := r.record(ctx, amount)
	switch fault.KindOf(err) {
	case fault.Forbidden, fault.Conflict, fault.NotFound: // the account or the key cannot have payment records
		return r.markPaid(ctx, i, amount)
	}
	if err != nil {
		return refuse(err)
	}
	return r.attach(ctx, i, record, amount)
}

// record reports the payment, and returns Stripe's id of it. Stripe returns the same one if it is reported again.
func (r *report) record(ctx context.Context, amount int64) (id string, err error) {
	at := r.PaidAt.Unix()
	params := &api.PaymentRecordReportPaymentParams{
		AmountRequested: &api.PaymentRecordReportPaymentAmountRequestedParams{Currency: api.String(lower(r.Currency)), Value: api.Int64(amount)},
		InitiatedAt:     api.Int64(at),
		Outcome:         api.String("guaranteed"),
		Guaranteed:      &api.PaymentRecordReportPaymentGuaranteedParams{GuaranteedAt: api.Int64(at)},
		PaymentMethodDetails: &api.PaymentRecordReportPaymentPaymentMethodDetailsParams{Type: api.String("custom"),
			Custom: &api.PaymentRecordReportPaymentPaymentMethodDetailsCustomParams{DisplayName: api.String("Paid outside of Stripe")}},
		ProcessorDetails: &api.PaymentRecordReportPaymentProcessorDetailsParams{Type: api.String("custom"),
			Custom: &api.PaymentRecordReportPaymentProcessorDetailsCustomParams{PaymentReference: api.String(r.ApplicationID)}},
	}
	params.SetIdempotencyKey(r.Key() + "-record")
	err = r.client.do(ctx, func() error {
		made, err := r.client.V1PaymentRecords.ReportPayment(ctx, params)
		if err == nil {
			id = made.ID
		}
		return err
	})
	return id, err
}

// attach attaches the payment record to the invoice, unless an earlier try has done so.
func (r *report) attach(ctx context.Context, i *api.Invoice, record string, amount int64) (application.Outcome, error) {
	attached, err := r.client.isAttached(ctx, i.ID, record)
	switch {
	case err != nil:
		return refuse(err)
	case attached:
		return r.paid(ctx, i)
	case !payable(i, amount):
		return r.notPayable(ctx, i)
	}
	params := &api.InvoiceAttachPaymentParams{PaymentRecord: api.String(record)}
	params.SetIdempotencyKey(r.Key() + "-attach")
	err = r.client.do(ctx, func() error {
		i, err = r.client.V1Invoices.AttachPayment(ctx, r.ExternalID, params)
		return err
	})
	if err != nil {
		return r.afterRefusal(ctx, err)
	}
	return r.paid(ctx, i)
}

// isAttached reports whether a payment record is attached to an invoice.
func (c *client) isAttached(ctx context.Context, invoiceID, record string) (bool, error) {
	for after := ""; ; {
		params, _ := window(after, nil)
		got, err := list(ctx, c, func() *api.V1List[*api.InvoicePayment] {
			return c.V1InvoicePayments.List(ctx, &api.InvoicePaymentListParams{ListParams: params, Invoice: api.String(invoiceID)})
		})
		if err != nil {
			return false, err
		}
		for _, p := range got.data {
			if after = p.ID; p.Payment != nil && p.Payment.PaymentRecord != nil && p.Payment.PaymentRecord.ID == record {
				return true, nil
			}
		}
		if !got.more || len(got.data) == 0 {
			return false, nil
		}
	}
}

// payable reports whether an amount can be paid of an invoice.
func payable(i *api.Invoice, amount int64) bool {
	return (i.Status == api.InvoiceStatusOpen || i.Status == api.InvoiceStatusUncollectible) && amount <= i.AmountRemaining
}

// markPaid marks the invoice as paid outside of Stripe, if the payment is all that remains. Stripe answers as before if it is told again.
func (r *report) markPaid(ctx context.Context, i *api.Invoice, amount int64) (application.Outcome, error) {
	if payable(i, amount) && amount < i.AmountRemaining {
		return application.Outcome{Status: application.NotApplicable, Message: "Stripe cannot be told of a part of an invoice in this account, " +
			"which stays open there"}, nil
	}
	if i.Status != api.InvoiceStatusPaid && !payable(i, amount) {
		return r.notPayable(ctx, i)
	}
	params := &api.InvoicePayParams{PaidOutOfBand: api.Bool(true)}
	params.SetIdempotencyKey(r.Key() + "-pay")
	var err error
	err = r.client.do(ctx, func() error {
		i, err = r.client.V1Invoices.Pay(ctx, r.ExternalID, params)
		return err
	})
	if err != nil {
		return r.afterRefusal(ctx, err)
	}
	return r.paid(ctx, i)
}

// afterRefusal reads the invoice again after Stripe has refused a payment of it, which may be because it was paid meanwhile.
func (r *report) afterRefusal(ctx context.Context, refused error) (application.Outcome, error) {
	if fault.KindOf(refused) != fault.Conflict {
		return refuse(refused)
	}
	i, err := r.client.invoice(ctx, r.ExternalID)
	if err != nil {
		return refuse(err)
	}
	if i.Status == api.InvoiceStatusPaid {
		return r.notPayable(ctx, i)
	}
	return refuse(refused)
}

// notPayable returns the outcome for an invoice that cannot take the payment, with what Stripe states about it.
func (r *report) notPayable(ctx context.Context, i *api.Invoice) (application.Outcome, error) {
	o := application.Outcome{Status: application.NotReported, Message: "it is " + string(i.Status) + " at Stripe"}
	switch i.Status {
	case api.InvoiceStatusPaid:
		o.Message = "it is paid at Stripe by another payment: the customer may have paid twice"
	case api.InvoiceStatusOpen, api.InvoiceStatusUncollectible:
		o.Message = "less remains to be paid at Stripe than this payment: the customer may have paid twice"
	}
	var err error
	o.Store, err = r.store(ctx, i)
	return o, err
}

// paid returns the outcome of a payment that Stripe has taken.
func (r *report) paid(ctx context.Context, i *api.Invoice) (o application.Outcome, err error) {
	o.Status = application.MarkedPaid
	o.Store, err = r.store(ctx, i)
	return o, err
}

// store returns a function that mirrors an invoice.
func (r *report) store(ctx context.Context, i *api.Invoice) (func(context.Context, *db.Tx) error, error) {
	if err := r.client.complete(ctx, i); err != nil {
		return nil, err
	}
	p, ok := mirrorOf(i, r.LegalEntityID)
	if !ok {
		return nil, nil
	}
	return func(ctx context.Context, _ *db.Tx) error {
		_, err := r.provider.invoices.Mirror(ctx, p)
		return err
	}, nil
}
