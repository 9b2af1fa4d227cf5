package receivables_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/stripe/stripetest"
)

// interrupt begins a report that is interrupted at a request to a path. If it arrives, Stripe does as it is told, and nobody
// gets the answer.
func (s *shop) interrupt(a client.CashApplication, path string, arrives bool) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	s.service.Stripe.Before(func(r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, path) {
			return
		}
		if cancel(); !arrives {
			panic(http.ErrAbortHandler)
		}
	})
	if err := s.service.App.Applications.Report(ctx, s.tenant.Organization.ID, a.ID); err == nil {
		s.Error("the report was not interrupted")
	}
	s.service.Stripe.Before(nil)
}

// during calls a function when a path is requested for the first time.
func (s *shop) during(path string, do func()) {
	done := false
	s.service.Stripe.Before(func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, path) && !done {
			done = true
			do()
		}
	})
}

// remain states what remains to be paid of an invoice at Stripe.
func (s *shop) remain(o stripetest.Object, amount int64) {
	status := "open"
	if amount == 0 {
		status = "paid"
	}
	s.service.Stripe.Change(o, "invoice.updated", stripetest.Object{"status": status, "amount_remaining": amount})
	s.service.Stripe.Touch("events", time.Now().Unix())
	s.read(o)
}

// wantStripe compares what Stripe knows of an application, and an invoice, with what a test expects.
func (s *shop) wantStripe(a client.CashApplication, status string, i client.Invoice, state string) {
	s.Helper()
	if a.StripeStatus != status || s.state(i) != state {
		s.Errorf("%s %s (%v), want %s %s", a.StripeStatus, s.state(i), a.Guidance.Warnings, status, state)
	}
}

func TestWhatIsReleasedOfAnInvoiceOfStripeIsDueAsStripeStatesIt(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		for _, undo := range []func(a client.CashApplication, i client.Invoice) client.CashApplication{
			func(a client.CashApplication, _ client.Invoice) client.CashApplication { return s.void(a) },
			func(a client.CashApplication, i client.Invoice) client.CashApplication {
				s.back(a, i, "100.00")
				return a
			},
		} {
			_, i := s.invoice(10000)
			a := s.pay(i, "100.00")
			service.Stripe.Refuse("sk_1", http.StatusForbidden)
			a = s.report(a)
			service.Stripe.Refuse("sk_1", 0)
			s.wantStripe(a, "failed", i, "paid 0.00")
			s.wantStripe(undo(a, i), "failed", i, "open 100.00")
		}
		o, i := s.invoice(10000)
		a := s.pay(i, "60.00")
		s.remain(o, 0) // the customer pays by card
		s.wantStripe(s.void(a), "not_applicable", i, "paid 0.00")
		o, i = s.invoice(10000)
		a = s.pay(i, "60.00")
		s.remain(o, 7000) // a part by card
		s.wantStripe(a, "pending", i, "open 10.00")
		s.wantStripe(s.void(a), "not_applicable", i, "open 70.00")
	})
}

func TestAPaymentThatAPersonRecordsAtStripeIsNotTakenOffTwice(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		get := func(a client.CashApplication) client.CashApplication {
			t.Helper()
			out, err := s.tenant.Client.CashApplication(t.Context(), a.ID)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		o, i := s.invoice(20000)
		refused := s.pay(i, "60.00")
		service.Stripe.Refuse("sk_1", http.StatusForbidden)
		s.report(refused)
		service.Stripe.Refuse("sk_1", 0)
		s.report(s.pay(i, "60.00")) // Stripe is told of another one with the same amount
		s.wantStripe(get(refused), "failed", i, "open 80.00")
		lost := s.pay(i, "60.00")
		s.interrupt(lost, "/attach_payment", true)
		s.changed(o)
		s.read(o)
		s.report(lost)
		s.wantStripe(get(refused), "failed", i, "open 20.00")
		service.Stripe.WithoutPaymentRecords()
		o, i = s.invoice(10000)
		a := s.report(s.pay(i, "60.00"))
		s.wantStripe(a, "not_applicable", i, "open 40.00")
		s.remain(o, 7000) // another payment
		s.wantStripe(get(a), "not_applicable", i, "open 10.00")
		s.remain(o, 1000) // this one
		s.wantStripe(get(a), "marked_paid", i, "open 10.00")
		if got := get(a); got.StripeMarkedPaidAt == nil || got.ErrorMessage != nil {
			t.Errorf("%+v", got)
		}
		s.wantStripe(s.void(a), "reversal_required", i, "open 10.00")
	})
}

func TestAVoidSaysThatStripeMayHaveAPaymentUntilThatIsKnown(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		for _, c := range []struct {
			path    string
			arrives bool
			status  string
			state   string
		}{{"/attach_payment", true, "reversal_required", "open 40.00"}, {"/attach_payment", false, "not_applicable", "open 100.00"},
			{"/report_payment", true, "not_applicable", "open 100.00"}} {
			o, i := s.invoice(10000)
			a := s.pay(i, "60.00")
			s.interrupt(a, c.path, c.arrives)
			a = s.void(a)
			if s.wantStripe(a, "reversal_required", i, "open 100.00"); !strings.Contains(strings.Join(a.Guidance.Warnings, "; "), "may know") {
				t.Errorf("%v", a.Guidance.Warnings)
			}
			s.wantStripe(s.report(a), c.status, i, c.state)
			s.changed(o)
			if s.read(o); s.state(i) != c.state {
				t.Errorf("%s", s.state(i))
			}
		}
		service.Stripe.WithoutPaymentRecords()
		_, i := s.invoice(10000)
		a := s.pay(i, "100.00")
		s.interrupt(a, "/pay", true)
		s.void(a)
		s.wantStripe(s.report(a), "reversal_required", i, "paid 0.00") // by whom cannot be known
	})
}

func TestASynchronizationThatReadAnInvoiceBeforeItsReportChangesNothing(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		var lines []stripetest.Object
		for range 11 { // the last one is read by a request of its own
			lines = append(lines, service.Stripe.Line("Seats", 1000, nil))
		}
		o := service.Stripe.Invoice(s.customer, lines, stripetest.Object{"created": time.Now().Unix()})
		i := s.read(o)
		a := s.pay(i, "60.00")
		s.during("/lines", func() {
			if err := service.App.Applications.Report(t.Context(), s.tenant.Organization.ID, a.ID); err != nil {
				t.Error(err)
			}
		})
		service.Stripe.Touch("invoices", time.Now().Unix()) // so that it is read, and only once
		s.read(o)
		service.Stripe.Before(nil)
		a, err := s.tenant.Client.CashApplication(t.Context(), a.ID)
		if s.wantStripe(a, "marked_paid", i, "open 50.00"); err != nil {
			t.Error(err)
		}
	})
}

func TestAReportThatIsRepeatedMakesNoSecondPaymentRecord(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		records := 0
		for _, path := range []string{"/report_payment", "/attach_payment"} {
			for _, arrives := range []bool{true, false} {
				o, i := s.invoice(10000)
				a := s.pay(i, "60.00")
				if s.interrupt(a, path, arrives); path == "/attach_payment" {
					service.Stripe.ForgetKeys()
				}
				s.wantStripe(s.report(a), "marked_paid", i, "open 40.00")
				if records++; service.Stripe.Count("payment_records") != records || o["amount_remaining"] != int64(4000) {
					t.Errorf("%s, %t: %d payment records, want %d; %v", path, arrives, service.Stripe.Count("payment_records"), records, o)
				}
			}
		}
		_, i := s.invoice(10000)
		a := s.pay(i, "60.00")
		s.interrupt(a, "/report_payment", true)
		err := service.App.DB.WriteAcross(t.Context(), "a test lets time pass", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE cash_application_allocations SET attempted_at = ? WHERE cash_application_id = ?",
				tx.Now().Add(-24*time.Hour), a.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		service.Stripe.ForgetKeys()
		s.wantStripe(s.report(a), "failed", i, "open 40.00")
		if records++; service.Stripe.Count("payment_records") != records {
			t.Errorf("%d payment records, want %d", service.Stripe.Count("payment_records"), records)
		}
		service.Stripe.WithoutPaymentRecords()
		_, i = s.invoice(10000)
		a = s.pay(i, "100.00")
		s.interrupt(a, "/pay", true)
		s.wantStripe(s.report(a), "marked_paid", i, "paid 0.00")
		_, i = s.invoice(10000)
		a = s.pay(i, "100.00")
		s.interrupt(a, "/pay", true)
		service.Stripe.ForgetKeys()
		s.wantStripe(s.report(a), "failed", i, "paid 0.00") // by this payment or by another one
		s.wantStripe(s.void(a), "reversal_required", i, "paid 0.00")
	})
}

func TestAReportWithAnUnknownOutcomeDoesNotEndBecauseStripeRefusesTheKey(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		_, i := s.invoice(10000)
		a := s.pay(i, "60.00")
		s.interrupt(a, "/attach_payment", true)
		service.Stripe.Refuse("sk_1", http.StatusUnauthorized)
		if err := service.App.Applications.Report(t.Context(), s.tenant.Organization.ID, a.ID); err == nil {
			t.Error("the report has ended")
		}
		a, err := s.tenant.Client.CashApplication(t.Context(), a.ID)
		if s.wantStripe(a, "pending", i, "open 40.00"); err != nil || len(a.Guidance.Warnings) != 1 ||
			!strings.Contains(a.Guidance.Warnings[0], "has not answered") {
			t.Errorf("%v %v", a.Guidance.Warnings, err)
		}
	})
}

func TestAReportIsTriedAgainAndFindsTheConnectionOfItsInvoice(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		s.tenant.NewConnection(t, client.CreateConnection{APIKey: "sk_2"})
		_, i := s.invoice(10000)
		a := s.pay(i, "60.00")
		for range 2 {
			s.interrupt(a, "/attach_payment", false)
		}
		err := service.App.DB.Read(t.Context(), s.tenant.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			tries, err := db.One[int64](ctx, tx, "report", "SELECT tries FROM cash_application_reports WHERE organization_id = @org AND "+
				"cash_application_id = ?", a.ID)
			if tries != 2 {
				t.Errorf("%d tries: the pause between them does not grow", tries)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		service.Stripe.Refuse("sk_1", http.StatusUnauthorized)
		time.Sleep(time.Second) // the pause after two tries
		s.wantStripe(s.report(a), "marked_paid", i, "open 40.00")
		service.Stripe.Refuse("sk_2", http.StatusUnauthorized)
		a = s.report(s.pay(i, "10.00"))
		if s.wantStripe(a, "failed", i, "open 30.00"); a.ErrorMessage == nil || !strings.Contains(*a.ErrorMessage, "refuses the API key") {
			t.Errorf("%+v", a)
		}
	})
}

func TestAReturnOfOneInvoiceDoesNotKeepStripeFromTheOthers(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		var invoices [3]client.Invoice
		var objects [3]stripetest.Object
		for n := range invoices {
			objects[n], invoices[n] = s.invoice(10000)
		}
		a := s.payAll("180.00", client.Allocation{TargetID: invoices[0].ID, Amount: "60.00"},
			client.Allocation{TargetID: invoices[1].ID, Amount: "60.00"}, client.Allocation{TargetID: invoices[2].ID, Amount: "60.00"})
		s.back(a, invoices[0], "60.00")
		part := s.back(a, invoices[1], "20.00")
		var late client.CashApplication
		s.during(objects[2]["id"].(string)+"/attach_payment", func() { late = s.back(a, invoices[2], "15.00") })
		a = s.report(a)
		service.Stripe.Before(nil)
		for n, remaining := range []int64{10000, 6000, 4000} {
			if objects[n]["amount_remaining"] != remaining {
				t.Errorf("%v of invoice %d remain, want %d", objects[n]["amount_remaining"], n, remaining)
			}
		}
		s.wantStripe(a, "not_applicable", invoices[0], "open 100.00") // a part of it
		s.wantStripe(part, "not_applicable", invoices[1], "open 60.00")
		s.wantStripe(late, "reversal_required", invoices[2], "open 40.00")
		if late, err := s.tenant.Client.CashApplication(t.Context(), late.ID); err != nil ||
			!strings.Contains(strings.Join(late.Guidance.Warnings, "; "), "Stripe knows of the payment") {
			t.Errorf("%+v %v", late, err)
		}
		s.void(part) // Stripe does not know of 20.00
		s.wantStripe(a, "not_applicable", invoices[1], "open 40.00")
		_, i := s.invoice(10000)
		a = s.pay(i, "60.00")
		s.interrupt(a, "/attach_payment", false)
		late = s.back(a, i, "60.00")
		s.wantStripe(late, "reversal_required", i, "open 100.00")
		s.report(a)
		late, _ = s.tenant.Client.CashApplication(t.Context(), late.ID)
		s.wantStripe(late, "not_applicable", i, "open 100.00")
	})
}

func TestVerifyFindsAnInvoiceOfStripeThatIsNotDueAsItFollows(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		_, i := s.invoice(10000)
		s.report(s.pay(i, "60.00"))
		s.pay(i, "30.00")
		change := func(to string) {
			err := service.App.DB.WriteAcross(t.Context(), "a test does damage", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, "UPDATE invoices SET stated_amount_due = ? WHERE invoice_id = ?", to, i.ID)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		change("41")
		found, err := service.App.Verify(t.Context(), nil)
		if err != nil || !strings.Contains(fmt.Sprint(found), "must be open with 11") {
			t.Errorf("verify found %v, %v", found, err)
		}
		change("40")
	})
}

// An answer that is none of Stripe, such as that of a proxy, or that does not show the payment, reports nothing.
func TestAPaymentIsReportedOnlyIfStripesAnswerShowsIt(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
		s := openShop(t, service)
		for status, want := range map[int]struct {
			later     bool
			status    string
			remaining int64
		}{http.StatusOK: {true, "pending", 10000}, http.StatusFound: {false, "marked_paid", 4000}} { // a redirect is tried again at once
			o, i := s.invoice(10000)
			a := s.pay(i, "60.00")
			service.Stripe.Fail(stripetest.Failure{Path: "/v1/invoices/" + o["id"].(string) + "/attach_payment", Status: status, Times: 1})
			err := service.App.Applications.Report(t.Context(), s.tenant.Organization.ID, a.ID)
			now, failed := s.tenant.Client.CashApplication(t.Context(), a.ID)
			if (err != nil) != want.later || want.later && fault.KindOf(err) != fault.Unavailable || failed != nil ||
				o["amount_remaining"] != want.remaining {
				t.Errorf("%d: %v %v %v", status, err, failed, o)
			}
			s.wantStripe(now, want.status, i, "open 40.00")
		}
	})
}
