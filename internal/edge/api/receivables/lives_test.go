package receivables_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// lives are random lives of invoices, deposits, credit notes and applications, with a model of what is due and what is available.
type lives struct {
	*ledger
	t        *testing.T
	random   *rand.Rand
	wallet   string
	invoices []client.Invoice
	deposits []client.Transaction
	applied  []client.CashApplication
	pending  map[string]bool   // applications that wait for their review
	freed    []string          // payments whose returns were voided
	returns  map[string]string // by application of a payment that went back: the deposit that it came from
	notes    []client.CreditNote
	due      map[string]money.Decimal // by invoice
	rest     map[string]money.Decimal // by deposit: what can be applied
	done     map[string]int           // operations that were not refused

	freedAmount map[string]money.Decimal // by payment whose return was voided: what went back
}

func (w *lives) amount() money.Decimal {
	return money.FromInt(int64(1 + w.random.IntN(40))).Mul(money.MustParse("2.55"))
}

func pick[T any](w *lives, all []T) (one T, ok bool) {
	if len(all) == 0 {
		return one, false
	}
	return all[w.random.IntN(len(all))], true
}

// step does something, and reports what.
func (w *lives) step() string {
	choices := []struct {
		name string
		do   func() error
	}{{"invoice", w.newInvoice}, {"deposit", w.newDeposit}, {"apply", w.applySome}, {"apply", w.applySome}, {"apply", w.applySome},
		{"void", w.voidOne}, {"confirm", w.confirmOne}, {"credit", w.creditOne}, {"void credit", w.voidCredit}, {"write off", w.writeOff},
		{"reopen", w.reopen}, {"void invoice", w.voidInvoice}, {"return", w.returnSome}, {"return", w.returnSome}}
	c := choices[w.random.IntN(len(choices))]
	err := c.do()
	if err == nil {
		w.done[c.name]++
		return c.name
	}
	if e := (*client.Error)(nil); !asRefusal(err, &e) {
		w.t.Fatalf("%s: %v", c.name, err)
	}
	return c.name + ": " + err.Error()
}

// asRefusal reports whether an error is a refusal for the state of the books.
func asRefusal(err error, to **client.Error) bool {
	e, ok := err.(*client.Error)
	*to = e
	return ok && (e.Status == 409 || e.Status == 400)
}

func (w *lives) newInvoice() error {
	lines := fmt.Sprintf("4010 %s 20%% 2050; 4020 %s", w.amount(), w.amount())
	p := w.params("open", fmt.Sprintf("2026-01-%02d", 1+w.random.IntN(28)), lines)
	if w.random.IntN(4) == 0 {
		p.Lines[0].Description = "To be reviewed"
	}
	i := w.NewInvoice(w.t, p)
	w.invoices, w.due[i.ID] = append(w.invoices, i), money.MustParse(i.AmountDue)
	return nil
}

func (w *lives) newDeposit() error {
	gross := w.amount().Add(w.amount())
	var d client.Transaction
	if w.random.IntN(4) == 0 {
		made, err := w.Client.CreateTransactions(w.t.Context(), client.CreateTransaction{SourceID: w.wallet,
			ExternalID: client.NewIdempotencyKey(), External: client.CreateTransactionExternal{Timestamp: time.Date(2026, 2,
				1+w.random.IntN(28), 12, 0, 0, 0, time.UTC), Description: "Payment", Direction: "credit", Quantity: new("1.5"), Currency: "ETH",
				ValueFiat: &client.ValuedFiat{Gross: gross.String(), Fee: "0", Net: gross.String(), Currency: "USD"}}})
		if err != nil {
			return err
		}
		d = made.Data[0]
	} else {
		d = w.deposit(w.t, fmt.Sprintf("2026-02-%02d Northwind %s-1.05", 1+w.random.IntN(28), gross))
	}
	w.deposits, w.rest[d.ID] = append(w.deposits, d), gross
	return nil
}

func (w *lives) applySome() error {
	d, ok := pick(w, w.deposits)
	if !ok {
		return nil
	}
	c := client.CreateCashApplication{DepositTransactionID: d.ID, DryRun: w.random.IntN(5) == 0}
	rest := w.rest[d.ID]
	for range w.random.IntN(4) {
		i, ok := pick(w, w.invoices)
		amount := w.due[i.ID]
		if amount.Cmp(rest) > 0 {
			amount = rest
		}
		if w.random.IntN(4) == 0 { // a part of it, or too much
			amount = w.amount()
		}
		if ok && amount.Sign() > 0 {
			c.Allocations, rest = append(c.Allocations, client.Allocation{TargetID: i.ID, Amount: amount.String()}), rest.Sub(amount)
		}
		if rest.Sign() <= 0 {
			break
		}
	}
	a, err := w.Client.CreateCashApplication(w.t.Context(), c)
	if err != nil || c.DryRun {
		return err
	}
	w.applied = append(w.applied, a)
	if w.pending[a.ID] = a.Status == "pending"; !w.pending[a.ID] {
		w.pay(a, 1)
	}
	if !w.pending[a.ID] || a.SourceApplicationID != nil {
		w.use(a, 1)
	}
	return nil
}

// pay changes what is due by an application, or undoes that if the sign is negative.
func (w *lives) pay(a client.CashApplication, sign int64) {
	for _, l := range a.Allocations {
		w.due[l.TargetID] = w.due[l.TargetID].Sub(money.MustParse(l.Amount).Mul(money.FromInt(sign)))
	}
}

// use changes what is left of the deposit by an application, or undoes that if the sign is negative.
func (w *lives) use(a client.CashApplication, sign int64) {
	used := money.MustParse(a.AppliedAmount).Sub(money.MustParse(a.WrittenOffAmount)).Mul(money.FromInt(sign))
	w.rest[a.DepositTransactionID] = w.rest[a.DepositTransactionID].Sub(used)
}

// returnSome books a payment that went back to the customer: of an application, or of what it left over.
func (w *lives) returnSome() error {
	a, ok := pick(w, w.applied)
	if !ok {
		return nil
	}
	r := client.ReturnCashApplication{ReturnType: []string{"", "refund", "chargeback"}[w.random.IntN(3)], DryRun: w.random.IntN(5) == 0}
	var sum money.Decimal
	for _, l := range a.Allocations {
		amount := money.MustParse(l.Amount).Abs()
		if w.random.IntN(3) == 0 {
			amount = w.amount()
		}
		if w.random.IntN(3) > 0 {
			r.Allocations, sum = append(r.Allocations, client.Allocation{TargetID: l.TargetID, Amount: amount.String()}), sum.Add(amount)
		}
	}
	if rest := w.rest[a.DepositTransactionID]; a.SourceApplicationID == nil && rest.Sign() > 0 && w.random.IntN(2) == 0 {
		sum = sum.Add(rest)
	}
	if sum.IsZero() {
		return nil
	}
	fee := money.MustParse("0.95")
	if n := len(w.freed); n > 0 && a.SourceApplicationID == nil && w.random.IntN(2) == 0 { // a payment that was booked for another deposit
		r.TransactionID, r.Allocations = w.freed[n-1], nil
		if due := w.freedAmount[r.TransactionID].Sub(w.rest[a.DepositTransactionID]); due.Sign() > 0 && len(a.Allocations) > 0 {
			r.Allocations = []client.Allocation{{TargetID: a.Allocations[0].TargetID, Amount: due.String()}}
		}
	} else {
		r.TransactionID = w.payOut(w.t, fmt.Sprintf("2026-02-%02d Northwind %s-%s", 1+w.random.IntN(28), sum.Add(fee), fee)).ID
	}
	back, err := w.Client.ReturnCashApplication(w.t.Context(), a.ID, r)
	if err != nil || r.DryRun {
		return err
	}
	if n := len(w.freed); n > 0 && w.freed[n-1] == r.TransactionID {
		w.freed = w.freed[:n-1]
		w.done["rebooked"]++
	}
	w.applied, w.returns[back.ID] = append(w.applied, back), a.DepositTransactionID
	w.giveBack(back, 1)
	return nil
}

// giveBack changes what is due and what is left of the deposit by a payment that went back, or undoes that if the sign is negative.
func (w *lives) giveBack(back client.CashApplication, sign int64) {
	w.pay(back, sign) // its amounts are negative
	deposit := w.returns[back.ID]
	w.rest[deposit] = w.rest[deposit].Add(money.MustParse(back.UnappliedAmount).Mul(money.FromInt(sign)))
}

func (w *lives) voidOne() error {
	a, ok := pick(w, w.applied)
	if !ok {
		return nil
	}
	void, err := w.Client.VoidCashApplication(w.t.Context(), a.ID, client.VoidCashApplication{Reason: "Because"})
	if err != nil {
		return err
	}
	if w.returns[a.ID] != "" {
		w.giveBack(void, -1)
		w.freed, w.freedAmount[a.DepositTransactionID] = append(w.freed, a.DepositTransactionID), money.MustParse(a.TotalAmount).Neg()
		w.done["void return"]++
		return nil
	}
	if !w.pending[a.ID] {
		w.pay(void, -1)
	}
	if !w.pending[a.ID] || a.SourceApplicationID != nil {
		w.use(void, -1)
	}
	delete(w.pending, a.ID)
	return nil
}

func (w *lives) confirmOne() error {
	a, ok := pick(w, w.applied)
	if !ok {
		return nil
	}
	done, err := w.Client.ConfirmCashApplication(w.t.Context(), a.ID)
	if err != nil {
		return err
	}
	if w.pending[a.ID] {
		w.done["review"]++
		if w.pay(done, 1); a.SourceApplicationID == nil {
			w.use(done, 1)
		}
	}
	delete(w.pending, a.ID)
	return nil
}

func (w *lives) creditOne() error {
	i, ok := pick(w, w.invoices)
	if !ok {
		return nil
	}
	c, err := w.Client.CreateCreditNote(w.t.Context(), client.CreateCreditNote{LegalEntityID: w.LegalEntity.ID, CustomerID: i.CustomerID,
		InvoiceID: i.ID, CreditNoteDate: "2026-02-01", Lines: w.lines("4010 " + w.amount().String())})
	if err == nil {
		w.notes = append(w.notes, c)
		w.due[i.ID] = w.due[i.ID].Sub(money.MustParse(c.TotalAmount))
	}
	return err
}

func (w *lives) voidCredit() error {
	c, ok := pick(w, w.notes)
	if !ok {
		return nil
	}
	_, err := w.Client.VoidCreditNote(w.t.Context(), c.ID, client.VoidCreditNote{})
	if err == nil {
		w.due[*c.InvoiceID] = w.due[*c.InvoiceID].Add(money.MustParse(c.TotalAmount))
	}
	return err
}

func (w *lives) writeOff() error {
	i, ok := pick(w, w.invoices)
	if !ok {
		return nil
	}
	_, err := w.Client.MarkInvoiceUncollectible(w.t.Context(), i.ID, client.MarkInvoiceUncollectible{AccountingDate: "2026-02-28"})
	return err
}

func (w *lives) reopen() error {
	i, ok := pick(w, w.invoices)
	if !ok {
		return nil
	}
	_, err := w.Client.ReopenInvoice(w.t.Context(), i.ID)
	return err
}

func (w *lives) voidInvoice() error {
	i, ok := pick(w, w.invoices)
	if !ok || w.random.IntN(3) > 0 {
		return nil
	}
	_, err := w.Client.VoidInvoice(w.t.Context(), i.ID, client.VoidInvoice{})
	if err == nil {
		w.due[i.ID] = money.Decimal{}
	}
	return err
}

// compare compares the invoices with the model.
func (w *lives) compare() {
	for _, i := range w.invoices {
		if got := w.state(w.t, i); !money.MustParse(got[strings.LastIndex(got, " ")+1:]).Equal(w.due[i.ID]) {
			w.t.Errorf("%s is %s, want %s", i.InvoiceNumber, got, w.due[i.ID])
		}
	}
	for a, err := range w.Client.CashApplications(w.t.Context(), nil) {
		if err != nil {
			w.t.Fatal(err)
		}
		if rest := w.rest[a.DepositTransactionID]; a.Status != "voided" && !w.pending[a.ID] && a.SourceApplicationID == nil &&
			!money.MustParse(a.AvailableAmount).Equal(rest) {
			w.t.Errorf("%s of the deposit %s is available, want %s", a.AvailableAmount, a.DepositTransactionID, rest)
		}
	}
	for _, query := range []string{"", "as_of=2026-02-14", "as_of=2026-02-28"} {
		_, _, totals := w.unapplied(w.t, query)
		for _, total := range totals {
			if !strings.HasSuffix(total, " 0.00") {
				w.t.Errorf("unapplied cash, %s: %s", query, total)
			}
		}
	}
}

func TestSoakInvoicesDepositsAndApplicationsAgreeWhateverHappens(t *testing.T) {
	t.Parallel()
	// What has happened is verified after each step, so that one long life would take much longer than several.
	seed, count, steps := dbtest.Seed(t), dbtest.Repeats(1, 5), 60
	for n := range uint64(count) {
		apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) { live(t, s, seed+n, steps) })
	}
}

// live takes random steps, and verifies the books and the model after each.
func live(t *testing.T, s *apitest.Service, seed uint64, steps int) {
	t.Helper()
	w := &lives{ledger: openLedger(t, s), t: t, random: rand.New(rand.NewPCG(seed, 1)), due: map[string]money.Decimal{},
		rest: map[string]money.Decimal{}, done: map[string]int{}, pending: map[string]bool{}, returns: map[string]string{},
		freedAmount: map[string]money.Decimal{}}
	w.rule(t, "require_human_review", "To be reviewed", "exact", "")
	w.wallet = w.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", Name: "Wallet", Address: "0x1"}).ID
	if _, err := w.Client.UpdateSettings(t.Context(), client.UpdateSettings{WriteOffLimit: new("3.00")}); err != nil {
		t.Fatal(err)
	}
	for n := range steps {
		what := w.step()
		if apitest.Verify(t, s.App); n%10 == 0 || n == steps-1 {
			w.compare()
		}
		if t.Failed() {
			t.Fatalf("BURSAR_SEED=%d, step %d: %s", seed, n, what)
		}
	}
	if w.done["apply"] == 0 || w.done["void"] == 0 {
		t.Errorf("BURSAR_SEED=%d did too little: %v", seed, w.done)
	}
}
