package receivables_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/stripe/stripetest"
)

// shopLives are random lives of an invoice of Stripe: payments here and there, reports that fail, voids and returns.
type shopLives struct {
	*shop
	random  *rand.Rand
	object  stripetest.Object
	invoice client.Invoice
	applied []client.CashApplication
	told    map[string]bool // applications whose report is not over
	lost    map[string]bool // applications whose report was interrupted
}

// step does something, and reports what.
func (w *shopLives) step() string {
	a, ok := client.CashApplication{}, len(w.applied) > 0
	if ok {
		a = w.applied[w.random.IntN(len(w.applied))]
	}
	amount := fmt.Sprintf("%d.00", 1+w.random.IntN(9))
	switch what := w.random.IntN(8); {
	case what < 2 || !ok:
		if due, err := w.tenant.Client.Invoice(w.Context(), w.invoice.ID); err != nil || money.MustParse(due.AmountDue).Cmp(
			money.MustParse(amount)) < 0 {
			return "nothing is due"
		}
		a = w.pay(w.invoice, amount)
		w.applied, w.told[a.ID] = append(w.applied, a), true
		return "pay " + amount
	case what == 2:
		return "void " + refusal(w.tenant.Client.VoidCashApplication(w.Context(), a.ID, client.VoidCashApplication{}))
	case what == 3:
		return "return " + refusal(w.giveBack(a, amount))
	case what == 4 && w.object["amount_remaining"].(int64) > 501: // by card
		w.service.Stripe.Change(w.object, "invoice.updated", stripetest.Object{"amount_remaining": w.object["amount_remaining"].(int64) - 501})
		return "card"
	case what == 5:
		w.changed(w.object)
		w.read(w.object)
		return "sync"
	case !w.told[a.ID]:
		return "told already"
	case what == 6:
		path := []string{"/report_payment", "/attach_payment"}[w.random.IntN(2)]
		arrives := w.random.IntN(2) == 0
		ctx, cancel := context.WithCancel(w.Context())
		defer cancel()
		w.service.Stripe.Before(func(r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, path) {
				return
			}
			if cancel(); !arrives {
				panic(http.ErrAbortHandler)
			}
		})
		err := w.service.App.Applications.Report(ctx, w.tenant.Organization.ID, a.ID)
		w.service.Stripe.Before(nil)
		w.told[a.ID], w.lost[a.ID] = err != nil, true
		return fmt.Sprintf("interrupt %s, %t: %v", path, arrives, err)
	}
	return w.tell(a.ID)
}

// tell reports an application. Stripe may refuse that.
func (w *shopLives) tell(id string) string {
	if !w.lost[id] && w.random.IntN(4) == 0 { // otherwise it would be told again some time later
		w.service.Stripe.Refuse("sk_1", http.StatusForbidden)
	}
	err := w.service.App.Applications.Report(w.Context(), w.tenant.Organization.ID, id)
	w.service.Stripe.Refuse("sk_1", 0)
	w.told[id] = err != nil
	return fmt.Sprintf("report: %v", err)
}

func (w *shopLives) giveBack(a client.CashApplication, amount string) (client.CashApplication, error) {
	d, err := w.tenant.Client.CreateTransactions(w.Context(), client.CreateTransaction{ExternalID: client.NewIdempotencyKey(),
		SourceID: w.tenant.NewSource(w.T, client.CreateSource{}).ID, External: client.CreateTransactionExternal{Timestamp: time.Now(),
			Description: "Refund", Direction: "debit", Quantity: &amount, Currency: "USD"}})
	if err != nil {
		return a, err
	}
	back, err := w.tenant.Client.ReturnCashApplication(w.Context(), a.ID, client.ReturnCashApplication{TransactionID: d.Data[0].ID,
		Allocations: []client.Allocation{{TargetID: w.invoice.ID, Amount: amount}}})
	if err == nil {
		w.applied = append(w.applied, back)
	}
	return back, err
}

// refusal describes the result of a request.
func refusal(_ client.CashApplication, err error) string { return fmt.Sprint(err) }

func TestSoakAnInvoiceOfStripeIsDueAsItFollowsWhateverHappens(t *testing.T) {
	t.Parallel()
	seed, count, steps := dbtest.Seed(t), dbtest.Repeats(1, 5), 25
	for n := range uint64(count) {
		apitest.EachSampled(t, func(t *testing.T, service *apitest.Service) {
			w := &shopLives{shop: openShop(t, service), random: rand.New(rand.NewPCG(seed+n, 2)), told: map[string]bool{}, lost: map[string]bool{}}
			w.object, w.invoice = w.shop.invoice(10000)
			var all []string
			for range steps {
				all = append(all, w.step())
				if apitest.Verify(t, service.App); t.Failed() {
					t.Fatalf("BURSAR_SEED=%d: %s", seed+n, strings.Join(all, "\n"))
				}
			}
			if w.compare(); t.Failed() {
				t.Fatalf("BURSAR_SEED=%d: %s", seed+n, strings.Join(all, "\n"))
			}
		})
	}
}

// compare ends all reports, and compares what is due with what remains at Stripe, less what applications pay of which no payment record is
// attached there.
func (w *shopLives) compare() {
	for id := range w.told {
		for deadline := time.Now().Add(10 * time.Second); w.told[id] && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			err := w.service.App.Applications.Report(w.Context(), w.tenant.Organization.ID, id)
			w.told[id] = err != nil
		}
	}
	w.changed(w.object)
	w.read(w.object)
	cents := money.MustParse("0.01")
	want, attached := money.FromInt(w.object["amount_remaining"].(int64)).Mul(cents), w.service.Stripe.Attached()
	for a, err := range w.tenant.Client.CashApplications(w.Context(), nil) {
		if err != nil {
			w.Fatal(err)
		}
		if a.StripeStatus == "pending" && a.Status == "confirmed" {
			w.Errorf("%s is not reported", a.ID)
		}
		known := money.FromInt(attached[a.ID]).Mul(cents)
		if unknown := money.MustParse(a.AppliedAmount).Sub(money.MustParse(a.ReturnedAmount)).Sub(known); a.Status == "confirmed" &&
			unknown.Sign() > 0 {
			want = want.Sub(unknown)
		}
		if (a.StripeStatus == "reversal_required") != (known.Sign() > 0) && a.Status == "voided" && a.SourceApplicationID == nil {
			w.Errorf("%s is voided, %s of it is paid at Stripe, but its status is %s", a.ID, known, a.StripeStatus)
		}
	}
	if want.Sign() < 0 {
		want = money.Decimal{}
	}
	if got := w.state(w.invoice); !strings.HasSuffix(got, " "+want.Fixed("USD")) {
		w.Errorf("it is %s, want %s", got, want.Fixed("USD"))
	}
}
