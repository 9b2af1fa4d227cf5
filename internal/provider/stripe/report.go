package stripe

import (
	"context"
	"errors"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// paidOutOfBand is the reference of a payment that is reported by marking its invoice as paid. Otherwise it is the id of a payment record.
const paidOutOfBand = "paid_out_of_band"

// keysKept is for how long Stripe answers a request with the same idempotency key as before, with an hour to spare.
const keysKept = 23 * time.Hour

// askedFor is for how long Stripe is asked whether it has a payment of which it was told.
const askedFor = 30 * 24 * time.Hour

// Report returns how Stripe is told of payments: with the connections of the legal entity of an invoice. A payment that is reported as a
// payment record may be a part of what is due. Where the account cannot have payment records, the invoice is marked as paid, which is
// possible only if all of it is. Both are final at Stripe.
func (p *Provider) Report(connections *connection.Service) application.Processor {
	return func(ctx context.Context, pay application.Payment) (application.Outcome, error) {
		opened, err := connections.Open(ctx, Name, pay.LegalEntityID)
		if err != nil {
			return application.Outcome{}, err
		}
		var refused, passing error
		for _, o := range opened {
			r := &report{Payment: pay, provider: p, client: p.client(o.Credentials[apiKey])}
			i, err := r.read(ctx)
			switch fault.KindOf(err) {
			case fault.NotFound: // it is an invoice of another account
			case fault.Unauthorized, fault.Forbidden, fault.Conflict: // the invoice may be one of another account
				refused = err
			default:
				if err == nil {
					return r.send(ctx, i)
				}
				passing = err
			}
		}
		switch {
		case passing != nil:
			return application.Outcome{}, passing
		case refused != nil:
			return p.unknown(pay, application.Outcome{Status: application.NotReported, Message: refused.Error()})
		}
		return p.unknown(pay, application.Outcome{Status: application.NotApplicable, Message: "no connection to the account of the invoice " +
			"at Stripe can be used: mark it as paid there"})
	}
}

// unknown returns the outcome of a payment of which Stripe cannot be asked. If Stripe may have it from an earlier try, it is asked again
// later, as the connection may be usable again then.
func (p *Provider) unknown(pay application.Payment, o application.Outcome) (application.Outcome, error) {
	if pay.AttemptedAt != nil && p.now().Sub(*pay.AttemptedAt) < askedFor {
		return o, fault.UnavailableBecause(errors.New(o.Message), "Stripe cannot be asked whether it has the payment")
	}
	o.Unknown = true
	return o, nil
}

// report is a payment that Stripe is told of.
type report struct {
	application.Payment
	provider *Provider
	client   *client
	readAt   time.Time // when the invoice was read
	remains  int64     // what remained on it then
	amount   int64
}

// read reads the invoice.
func (r *report) read(ctx context.Context) (*api.Invoice, error) {
	r.readAt = r.provider.now()
	return r.client.invoice(ctx, r.ExternalID)
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

// send tells Stripe of the payment of an invoice, unless an earlier try has done so. Each step is safe to repeat: the reference of the
// payment is stored before Stripe is asked to take it, and a payment record is made only for an invoice that can be paid.
func (r *report) send(ctx context.Context, i *api.Invoice) (application.Outcome, error) {
	var ok bool
	if r.amount, ok = minorUnits(r.Amount, r.Currency); !ok || currencyOf(i.Currency) != r.Currency {
		return application.Outcome{Status: application.NotReported, Message: "the amount cannot be stated at Stripe"}, nil
	}
	r.remains = i.AmountRemaining
	if r.Reference == paidOutOfBand {
		return r.markPaid(ctx, i)
	}
	if r.Reference != "" {
		attached, err := r.client.isAttached(ctx, i.ID, r.Reference)
		if err != nil {
			o, err := refuse(err)
			if err != nil {
				return o, err
			}
			return r.provider.unknown(r.Payment, o)
		}
		if attached {
			return r.paid(ctx, i)
		}
	}
	switch {
	case r.Undone:
		return undone, nil
	case !r.payable(i):
		return r.notPayable(ctx, i)
	case r.Reference != "":
		return r.attach(ctx, r.Reference)
	case r.AttemptedAt != nil && r.provider.now().Sub(*r.AttemptedAt) > keysKept:
		return application.Outcome{Status: application.NotReported, Unknown: true, Message: "Stripe was told of the payment more than " +
			"a day ago and has not answered: look there whether it has the payment"}, nil
	}
	if err := r.Attempt(ctx, ""); err != nil {
		return application.Outcome{}, err
	}
	record, err := r.record(ctx)
	switch fault.KindOf(err) {
	case fault.Forbidden, fault.Conflict, fault.NotFound: // the account or the key cannot have payment records
		return r.markPaid(ctx, i)
	}
	if err != nil {
		return refuse(err)
	}
	return r.attach(ctx, record)
}

// undone is the outcome of a payment that was undone before Stripe has taken it.
var undone = application.Outcome{Status: application.NotApplicable, Message: "the payment was undone before Stripe has taken it"}

// record reports the payment, and returns Stripe's id of it. Stripe returns the same one if it is reported again.
func (r *report) record(ctx context.Context) (id string, err error) {
	at := r.PaidAt.Unix()
	params := &api.PaymentRecordReportPaymentParams{
		AmountRequested: &api.PaymentRecordReportPaymentAmountRequestedParams{Currency: api.String(lower(r.Currency)),
			Value: api.Int64(r.amount)},
		InitiatedAt: api.Int64(at),
		Outcome:     api.String("guaranteed"),
		Guaranteed:  &api.PaymentRecordReportPaymentGuaranteedParams{GuaranteedAt: api.Int64(at)},
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

// attach attaches the payment record to the invoice.
func (r *report) attach(ctx context.Context, record string) (application.Outcome, error) {
	if err := r.Attempt(ctx, record); err != nil {
		return application.Outcome{}, err
	}
	params := &api.InvoiceAttachPaymentParams{PaymentRecord: api.String(record)}
	params.SetIdempotencyKey(r.Key() + "-attach")
	return r.change(ctx, func() (*api.Invoice, error) { return r.client.V1Invoices.AttachPayment(ctx, r.ExternalID, params) })
}

// change pays the invoice at Stripe.
func (r *report) change(ctx context.Context, pay func() (*api.Invoice, error)) (application.Outcome, error) {
	var i *api.Invoice
	err := r.client.do(ctx, func() (err error) {
		i, err = pay()
		return err
	})
	if err != nil {
		return r.afterRefusal(ctx, err)
	}
	if i.ID != r.ExternalID || i.Status != api.InvoiceStatusPaid && i.AmountRemaining > r.remains-r.amount {
		return application.Outcome{}, fault.UnavailableBecause(errors.New("stripe: the answer is not the invoice less the payment"),
			"Stripe has not taken the payment yet")
	}
	r.readAt = r.provider.now() // whatever was asked for earlier may not have the payment yet
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

// payable reports whether the payment can be taken off an invoice.
func (r *report) payable(i *api.Invoice) bool {
	return (i.Status == api.InvoiceStatusOpen || i.Status == api.InvoiceStatusUncollectible) && r.amount <= i.AmountRemaining
}

// markPaid marks the invoice as paid outside of Stripe, if the payment is all that remains. Stripe answers as before if it is told again.
func (r *report) markPaid(ctx context.Context, i *api.Invoice) (application.Outcome, error) {
	again := r.Reference == paidOutOfBand && i.Status == api.InvoiceStatusPaid
	switch {
	case r.Undone && again:
		return r.paidBySome(ctx, i)
	case r.Undone:
		return undone, nil
	case again:
	case !r.payable(i):
		return r.notPayable(ctx, i)
	case r.amount < i.AmountRemaining:
		return application.Outcome{Status: application.NotApplicable, Message: "Stripe cannot be told of a part of an invoice in this account, " +
			"which stays open there"}, nil
	}
	if err := r.Attempt(ctx, paidOutOfBand); err != nil {
		return application.Outcome{}, err
	}
	params := &api.InvoicePayParams{PaidOutOfBand: api.Bool(true)}
	params.SetIdempotencyKey(r.Key() + "-pay")
	return r.change(ctx, func() (*api.Invoice, error) { return r.client.V1Invoices.Pay(ctx, r.ExternalID, params) })
}

// afterRefusal reads the invoice again after Stripe has refused a payment of it, which may be because it was paid meanwhile.
func (r *report) afterRefusal(ctx context.Context, refused error) (application.Outcome, error) {
	if fault.KindOf(refused) != fault.Conflict {
		return refuse(refused)
	}
	i, err := r.read(ctx)
	if err != nil {
		return refuse(err)
	}
	switch {
	case i.Status == api.InvoiceStatusPaid && r.Reference == paidOutOfBand:
		return r.paidBySome(ctx, i)
	case !r.payable(i):
		return r.notPayable(ctx, i)
	}
	return refuse(refused)
}

// paidBySome returns the outcome for an invoice that is paid at Stripe, by an earlier try or by other money.
func (r *report) paidBySome(ctx context.Context, i *api.Invoice) (o application.Outcome, err error) {
	o = application.Outcome{Status: application.NotReported, Unknown: true, Message: "it is paid at Stripe, by this payment or by another " +
		"one: look there whether the customer has paid twice"}
	o.Store, err = r.store(ctx, i)
	return o, err
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
	p, ok := mirrorOf(i, r.LegalEntityID, r.readAt)
	if !ok {
		return nil, nil
	}
	p.Answered = true
	return func(ctx context.Context, _ *db.Tx) error {
		_, err := r.provider.invoices.Mirror(ctx, p)
		return err
	}, nil
}
