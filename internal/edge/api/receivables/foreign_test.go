package receivables_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// carried returns what is on the account of a role, in euros and in the currency of the books.
func (l *ledger) carried(t *testing.T, s *apitest.Service, role string) (euros, carrying money.Decimal) {
	t.Helper()
	err := s.App.DB.Read(t.Context(), l.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Read(ctx, tx)
		if err != nil {
			return err
		}
		q := journal.UnitQuery{LegalEntityID: l.LegalEntity.ID, LedgerAccountID: b.Roles()[role], Unit: "EUR", At: tx.Now().AddDate(0, 1, 0)}
		u, err := journal.UnitBalance(ctx, tx, b, q)
		if err != nil {
			return err
		}
		q.Unit = ""
		all, err := journal.UnitBalance(ctx, tx, b, q)
		euros, carrying = u.Quantity, all.Amount
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return euros, carrying
}

// Whatever the rates, when no euro is left on receivables or on unapplied cash, nothing is left of their carrying amounts.
func TestNothingIsLeftOfAForeignBalanceThatIsUsedInParts(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		random := rand.New(rand.NewPCG(1, 2))
		var rates []string
		for day := range 28 {
			rates = append(rates, fmt.Sprintf("EUR USD 2026-01-%02d 1.%04d", day+1, random.IntN(4000)),
				fmt.Sprintf("EUR USD 2026-02-%02d 1.%04d", day+1, random.IntN(4000)))
		}
		today := s.App.DB.Clock().Now()
		for day := range 3 {
			rates = append(rates, fmt.Sprintf("EUR USD %s 1.%04d", today.AddDate(0, 0, day-1).Format(time.DateOnly), random.IntN(4000)))
		}
		if _, err := l.Client.StoreFXRates(t.Context(), apitest.Rates(rates...)); err != nil {
			t.Fatal(err)
		}
		cents := func(from, to int) money.Decimal {
			return money.FromInt(int64(from+random.IntN(to-from))).Quo(money.FromInt(100), 2)
		}
		for round := range 4 {
			left := cents(5000, 20000)
			p := l.params("open", fmt.Sprintf("2026-01-%02d", 1+random.IntN(28)), "4010 "+left.String())
			p.Currency = "EUR"
			i := []client.Invoice{l.NewInvoice(t, p)}
			d := l.deposit(t, fmt.Sprintf("2026-02-%02d Northwind %s EUR", 1+random.IntN(14), left))
			first := cents(100, 3000)
			a := l.apply(t, d, i, first.String())
			var rests []client.CashApplication
			left = left.Sub(first)
			for part := cents(100, 3000); part.Cmp(left) < 0; part = cents(100, 3000) {
				rests = append(rests, l.apply(t, d, i, part.String()))
				left = left.Sub(part)
				if len(rests) == 2 { // one of them is taken back and applied again
					if _, err := l.Client.VoidCashApplication(t.Context(), rests[0].ID, client.VoidCashApplication{}); err != nil {
						t.Fatal(err)
					}
					rests[0] = l.apply(t, d, i, rests[0].AppliedAmount)
				}
			}
			back := left.Mul(money.MustParse("0.3")).Round(2)
			if back.Sign() > 0 { // a part of what is unapplied goes back, and another deposit pays for it
				out := l.payOut(t, fmt.Sprintf("2026-02-%02d Northwind %s EUR", 15+random.IntN(14), back))
				if _, err := l.giveBack(t, a, "", out, nil); err != nil {
					t.Fatal(err)
				}
			}
			l.apply(t, d, i, left.Sub(back).String())
			parts := []string{"0.33", "0.33", first.Sub(money.MustParse("0.66")).String()}
			for _, part := range parts[:1+random.IntN(3)] { // parts of the first payment go back
				out := l.payOut(t, fmt.Sprintf("2026-02-%02d Northwind %s EUR", 15+random.IntN(14), part))
				if _, err := l.giveBack(t, a, "", out, i, part); err != nil {
					t.Fatal(err)
				}
			}
			now, err := l.Client.Invoice(t.Context(), i[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			l.apply(t, l.deposit(t, fmt.Sprintf("%s Northwind %s EUR", today.Format(time.DateOnly), now.AmountDue)), i, now.AmountDue)
			for _, role := range []string{account.RoleTradeReceivable, account.RoleUnappliedCash} {
				if euros, carrying := l.carried(t, s, role); !euros.IsZero() || !carrying.IsZero() {
					t.Errorf("round %d: %s EUR carried at %s USD are left on %s", round, euros, carrying, role)
				}
			}
		}
		apitest.Verify(t, s.App)
	})
}
