package receivables_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// checked returns the status, the count, the samples and the message of a readiness check.
func (l *ledger) checked(t *testing.T, key, code string) client.ReadinessCheck {
	t.Helper()
	r, err := l.Client.AccountingPeriodReadiness(t.Context(), l.Period(t, key).ID, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Checks {
		if c.Code == code && c.LegalEntityID != nil && *c.LegalEntityID == l.LegalEntity.ID {
			return c
		}
	}
	t.Fatalf("%s is not checked", code)
	return client.ReadinessCheck{}
}

func TestReadinessWarnsOfUnappliedCashAtTheEndOfTheMonth(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-05", "4010 100.00")
		d := l.deposit(t, "2026-02-10 Northwind 150.00")
		l.Post(t, "2026-03-01", "Dr 1010 1.00; Cr 4010 1.00") // there is a March
		a := l.apply(t, d, []client.Invoice{i}, "100.00")
		if c := l.checked(t, "2026-01", "unapplied_cash"); c.Status != "pass" || c.Count != 0 {
			t.Errorf("January: %+v", c)
		}
		for _, key := range []string{"2026-02", "2026-03"} {
			if c := l.checked(t, key, "unapplied_cash"); c.Status != "warn" || c.Count != 1 || len(c.SampleIDs) != 1 || c.SampleIDs[0] != d.ID ||
				!strings.Contains(c.Message, "50.00 USD of "+d.SequenceNumber) {
				t.Errorf("%s: %+v", key, c)
			}
		}
		l.Close(t, "", "2026-01", "2026-02") // a warning does not prevent it
		if _, err := l.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestReadinessWarnsOfApplicationsThatWaitForTheirReview(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		l.rule(t, "require_human_review", "Special deal", "exact", "")
		p := l.params("open", "2026-01-11", "4010 10.00")
		p.Lines[0].Description = "Special deal"
		i := l.NewInvoice(t, p)
		wait := l.apply(t, l.deposit(t, "2026-02-01 Northwind 10.00"), []client.Invoice{i}, "10.00")
		if c := l.checked(t, "2026-01", "pending_cash_applications"); c.Status != "pass" || c.Count != 0 {
			t.Errorf("January: %+v", c)
		}
		if c := l.checked(t, "2026-02", "pending_cash_applications"); c.Status != "warn" || c.Count != 1 || len(c.SampleIDs) != 1 ||
			c.SampleIDs[0] != wait.ID {
			t.Errorf("February: %+v", c)
		}
		if c := l.checked(t, "2026-02", "unposted_transactions"); c.Status != "fail" {
			t.Errorf("the deposit is not booked: %+v", c)
		}
		if _, err := l.Client.ConfirmCashApplication(t.Context(), wait.ID); err != nil {
			t.Fatal(err)
		}
		for _, code := range []string{"pending_cash_applications", "unapplied_cash", "unposted_transactions"} {
			if c := l.checked(t, "2026-02", code); c.Status != "pass" {
				t.Errorf("confirmed: %+v", c)
			}
		}
	})
}
