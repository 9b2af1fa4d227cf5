package receivables_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/stripe/stripetest"
)

// shop is an organization with a connection to Stripe.
type shop struct {
	*testing.T
	service    *apitest.Service
	tenant     *apitest.Tenant
	connection client.Connection
	customer   stripetest.Object
}

func openShop(t *testing.T, s *apitest.Service) *shop {
	t.Helper()
	n := s.Found(t, "shop")
	return &shop{T: t, service: s, tenant: n, connection: n.NewConnection(t, client.CreateConnection{APIKey: "sk_1"}),
		customer: s.Stripe.Customer("Northwind", nil)}
}

// invoice adds an open invoice of an amount at Stripe, and reads it.
func (s *shop) invoice(amount int64) (stripetest.Object, client.Invoice) {
	s.Helper()
	o := s.service.Stripe.Invoice(s.customer, []stripetest.Object{s.service.Stripe.Line("Seats", amount, nil)},
		stripetest.Object{"created": time.Now().Unix()})
	return o, s.read(o)
}

// read synchronizes, and returns an invoice.
func (s *shop) read(o stripetest.Object) client.Invoice {
	s.Helper()
	if _, err := s.tenant.Client.SyncConnection(s.Context(), s.connection.ID); err != nil {
		s.Fatal(err)
	}
	if err := s.service.App.Connections.Run(s.Context(), s.tenant.Organization.ID, s.connection.ID); err != nil {
		s.Fatal(err)
	}
	for i, err := range s.tenant.Client.Invoices(s.Context(), nil) {
		if err != nil {
			s.Fatal(err)
		}
		if i.ExternalID != nil && *i.ExternalID == o["id"] {
			return i
		}
	}
	s.Fatalf("%v was not read", o["id"])
	return client.Invoice{}
}

// pay applies a deposit to an invoice and confirms that.
func (s *shop) pay(i client.Invoice, amount string) client.CashApplication {
	s.Helper()
	return s.payAll(amount, client.Allocation{TargetID: i.ID, Amount: amount})
}

// payAll applies a deposit and confirms that.
func (s *shop) payAll(amount string, all ...client.Allocation) client.CashApplication {
	s.Helper()
	d, err := s.tenant.Client.CreateTransactions(s.Context(), client.CreateTransaction{ExternalID: client.NewIdempotencyKey(),
		SourceID: s.tenant.NewSource(s.T, client.CreateSource{}).ID, External: client.CreateTransactionExternal{Timestamp: time.Now(),
			Description: "Payment", Direction: "credit", Quantity: &amount, Currency: "USD"}})
	if err != nil {
		s.Fatal(err)
	}
	a, err := s.tenant.Client.CreateCashApplication(s.Context(), client.CreateCashApplication{DepositTransactionID: d.Data[0].ID,
		Allocations: all})
	if err != nil {
		s.Fatal(err)
	}
	if a, err = s.tenant.Client.ConfirmCashApplication(s.Context(), a.ID); err != nil || a.StripeStatus != "pending" {
		s.Fatalf("%+v %v", a, err)
	}
	return a
}

// report tells Stripe of an application, and returns it.
func (s *shop) report(a client.CashApplication) client.CashApplication {
	s.Helper()
	if err := s.service.App.Applications.Report(s.Context(), s.tenant.Organization.ID, a.ID); err != nil {
		s.Fatal(err)
	}
	out, err := s.tenant.Client.CashApplication(s.Context(), a.ID)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// back books that a part of what an application pays of an invoice went back.
func (s *shop) back(a client.CashApplication, i client.Invoice, amount string) client.CashApplication {
	s.Helper()
	d, err := s.tenant.Client.CreateTransactions(s.Context(), client.CreateTransaction{ExternalID: client.NewIdempotencyKey(),
		SourceID: s.tenant.NewSource(s.T, client.CreateSource{}).ID, External: client.CreateTransactionExternal{Timestamp: time.Now(),
			Description: "Refund", Direction: "debit", Quantity: &amount, Currency: "USD"}})
	if err != nil {
		s.Fatal(err)
	}
	out, err := s.tenant.Client.ReturnCashApplication(s.Context(), a.ID, client.ReturnCashApplication{TransactionID: d.Data[0].ID,
		Allocations: []client.Allocation{{TargetID: i.ID, Amount: amount}}})
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// void voids an application.
func (s *shop) void(a client.CashApplication) client.CashApplication {
	s.Helper()
	out, err := s.tenant.Client.VoidCashApplication(s.Context(), a.ID, client.VoidCashApplication{})
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// state returns status and amount due of an invoice.
func (s *shop) state(i client.Invoice) string {
	s.Helper()
	now, err := s.tenant.Client.Invoice(s.Context(), i.ID)
	if err != nil {
		s.Fatal(err)
	}
	return now.Status + " " + now.AmountDue
}

// changed adds the event that Stripe would have sent about an invoice that the service has changed.
func (s *shop) changed(o stripetest.Object) {
	s.service.Stripe.Change(o, "invoice.updated", nil)
	s.service.Stripe.Touch("events", time.Now().Unix())
}

func TestStripeIsToldOfPartsOfAnInvoiceWithPaymentRecords(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		o, i := s.invoice(10000)
		first := s.report(s.pay(i, "60.00"))
		if first.StripeStatus != "marked_paid" || first.StripeMarkedPaidAt == nil || first.ErrorMessage != nil || s.state(i) != "open 40.00" {
			t.Errorf("%+v, %s", first, s.state(i))
		}
		s.changed(o)
		if s.read(o); s.state(i) != "open 40.00" { // what Stripe knows is not taken off again
			t.Errorf("%s", s.state(i))
		}
		second := s.report(s.pay(i, "40.00"))
		if s.changed(o); second.StripeStatus != "marked_paid" || s.read(o).Status != "paid" || o["status"] != "paid" {
			t.Errorf("%+v, %s, %v", second, s.state(i), o)
		}
		for _, r := range service.Stripe.Requests("/v1/payment_records") {
			if !strings.HasPrefix(r.IdempotencyKey, "ca_") || !strings.Contains(r.IdempotencyKey, o["id"].(string)) {
				t.Errorf("%+v", r)
			}
		}
		voided, err := s.tenant.Client.VoidCashApplication(t.Context(), second.ID, client.VoidCashApplication{})
		if err != nil || voided.StripeStatus != "reversal_required" || len(voided.Guidance.Warnings) != 2 || s.state(i) != "paid 0.00" {
			t.Errorf("%+v %v, %s", voided, err, s.state(i))
		}
	})
}

func TestWithoutPaymentRecordsOnlyFullPaymentsAreReported(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		service.Stripe.WithoutPaymentRecords()
		o, i := s.invoice(10000)
		part := s.report(s.pay(i, "60.00"))
		if part.StripeStatus != "not_applicable" || part.ErrorMessage == nil || o["status"] != "open" {
			t.Errorf("%+v %v", part, o)
		}
		s.changed(o)
		if s.read(o); s.state(i) != "open 40.00" { // Stripe does not know
			t.Errorf("%s", s.state(i))
		}
		o, i = s.invoice(5000)
		whole := s.report(s.pay(i, "50.00"))
		if whole.StripeStatus != "marked_paid" || o["status"] != "paid" || s.state(i) != "paid 0.00" {
			t.Errorf("%+v %v %s", whole, o, s.state(i))
		}
		if pays := service.Stripe.Requests("/v1/invoices/" + o["id"].(string) + "/pay"); len(pays) != 1 ||
			pays[0].Form["paid_out_of_band"] != "true" || pays[0].IdempotencyKey != whole.ID+"-"+o["id"].(string)+"-pay" {
			t.Errorf("%+v", pays)
		}
	})
}

func TestAnInvoiceThatOtherMoneyHasPaidAtStripeFailsTheReportOnly(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		o, i := s.invoice(10000)
		a := s.pay(i, "100.00")
		service.Stripe.Change(o, "invoice.paid", stripetest.Object{"status": "paid", "amount_remaining": int64(0)})
		a = s.report(a)
		if a.StripeStatus != "failed" || a.Status != "confirmed" || a.ErrorMessage == nil || !strings.Contains(*a.ErrorMessage, "twice") ||
			s.state(i) != "paid 0.00" || service.Stripe.Count("payment_records") != 0 {
			t.Errorf("%+v %s", a, s.state(i))
		}
		voided, err := s.tenant.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{})
		if err != nil || voided.StripeStatus != "failed" || s.state(i) != "paid 0.00" {
			t.Errorf("%+v %v %s", voided, err, s.state(i))
		}
		o, i = s.invoice(7000) // voided before it is reported
		a = s.pay(i, "70.00")
		if voided, err = s.tenant.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{}); err != nil ||
			voided.StripeStatus != "not_applicable" {
			t.Errorf("%+v %v", voided, err)
		}
		if a = s.report(a); a.StripeStatus != "not_applicable" || o["status"] != "open" || s.state(i) != "open 70.00" {
			t.Errorf("%+v %v", a, o)
		}
	})
}

func TestAReportIsRepeatedUntilStripeAnswersAndTakesEffectOnce(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		o, i := s.invoice(10000)
		a := s.pay(i, "60.00")
		report := func() error {
			return service.App.Applications.Report(t.Context(), s.tenant.Organization.ID, a.ID)
		}
		service.Stripe.Fail(stripetest.Failure{Path: "/v1/invoices", Status: http.StatusTooManyRequests, RetryAfter: "3600", Times: 1})
		if err := report(); err == nil {
			t.Error("a failure of Stripe is no error")
		}
		if got, err := s.tenant.Client.CashApplication(t.Context(), a.ID); err != nil || got.StripeStatus != "pending" {
			t.Errorf("%+v %v", got, err)
		}
		if err := report(); err == nil || !strings.Contains(err.Error(), "claimed") {
			t.Errorf("it does not wait as long as Stripe asks for: %v", err)
		}
		if o["status"] != "open" {
			t.Errorf("%v", o)
		}
	})
}

func TestAPaymentThatGoesBackAfterStripeWasToldOfItMustBeReversedThere(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		o, i := s.invoice(10000)
		a := s.report(s.pay(i, "60.00"))
		returned := s.back(a, i, "60.00")
		s.changed(o)
		if s.read(o); returned.StripeStatus != "reversal_required" || s.state(i) != "open 40.00" { // as Stripe states it
			t.Errorf("%+v %s", returned, s.state(i))
		}
		voided, err := s.tenant.Client.VoidCashApplication(t.Context(), returned.ID, client.VoidCashApplication{})
		if err != nil || voided.StripeStatus != "not_applicable" || s.state(i) != "open 40.00" {
			t.Errorf("%+v %v %s", voided, err, s.state(i))
		}
		o, i = s.invoice(5000) // it goes back before Stripe is told
		a = s.pay(i, "50.00")
		if s.back(a, i, "50.00"); s.report(a).StripeStatus != "not_applicable" || o["status"] != "open" {
			t.Errorf("%v", o)
		}
		s.changed(o)
		if s.read(o); s.state(i) != "open 50.00" {
			t.Errorf("%s", s.state(i))
		}
	})
}

func TestAReportThatIsInterruptedAfterStripeHasTakenThePaymentTakesEffectOnce(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		for _, path := range []string{"/v1/payment_records", "/attach_payment"} {
			o, i := s.invoice(10000)
			a := s.pay(i, "60.00")
			ctx, cancel := context.WithCancel(t.Context())
			service.Stripe.Before(func(r *http.Request) {
				if strings.Contains(r.URL.Path, path) {
					cancel() // nobody waits for the answer, but Stripe does as it is told
				}
			})
			if err := service.App.Applications.Report(ctx, s.tenant.Organization.ID, a.ID); err == nil {
				t.Error("it was not interrupted")
			}
			service.Stripe.Before(nil)
			if a = s.report(a); a.StripeStatus != "marked_paid" || s.state(i) != "open 40.00" || o["amount_remaining"] != int64(4000) {
				t.Errorf("%s: %+v %s %v", path, a, s.state(i), o)
			}
		}
	})
}

func TestStripeIsNotToldOfWhatIsLeftOfAnApplicationThatIsVoidedMeanwhile(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		_, i := s.invoice(10000)
		o, j := s.invoice(5000)
		a := s.payAll("150.00", client.Allocation{TargetID: i.ID, Amount: "100.00"}, client.Allocation{TargetID: j.ID, Amount: "50.00"})
		voided := false
		service.Stripe.Before(func(r *http.Request) {
			if strings.Contains(r.URL.Path, "/attach_payment") && !voided {
				voided = true
				if _, err := s.tenant.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{}); err != nil {
					t.Error(err)
				}
			}
		})
		a = s.report(a)
		service.Stripe.Before(nil)
		if a.Status != "voided" || a.StripeStatus != "reversal_required" || o["status"] != "open" || o["amount_remaining"] != int64(5000) {
			t.Errorf("%s %s, the second invoice is %v with %v due", a.Status, a.StripeStatus, o["status"], o["amount_remaining"])
		}
	})
}
