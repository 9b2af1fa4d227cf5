package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func TestAChangeThatIsConsistentOverSeveralTablesIsNamedWithWhatIsStoredAndStated(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := s.Found(t, "consistent").OpenLedger(t)
		entry := l.Post(t, "2026-01-10", "Dr 1010 123.00; Cr 4010 123.00")
		l.Close(t, "", "2026-01")
		l.Post(t, "2026-02-10", "Dr 1010 77.00; Cr 4010 77.00")
		open := l.Post(t, "2026-02-11", "Dr 1020 45.00; Cr 4020 45.00")
		moved := l.NewTransaction(t)
		account := l.NewAccount(t, client.CreateLedgerAccount{Name: "Petty cash"})
		price, err := l.Client.CreatePrice(t.Context(), client.CreatePrice{AssetType: "ETH", Currency: "USD",
			Timestamp: "2026-01-31T00:00:00Z", Price: "2500"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Client.StoreFXRates(t.Context(), apitest.Rates("EUR USD 2026-01-31 1.08")); err != nil {
			t.Fatal(err)
		}
		for name, x := range map[string]struct {
			statements []string
			says       []string
		}{
			"an entry of an open month with its totals": {[]string{
				"UPDATE journal_lines SET amount = '145', base_amount = '145' WHERE organization_id = @org AND journal_entry_id = '" + open.ID + "'",
				"UPDATE account_balances SET debits = '145' WHERE organization_id = @org AND debits = '45'",
				"UPDATE account_balances SET credits = '145' WHERE organization_id = @org AND credits = '45'",
			}, []string{"journal entry " + open.ID + `: amount of journal_lines is "145", but the audit record`, `states "45.00"`}},
			"the closings of a month": {[]string{
				"DELETE FROM period_closing_balances WHERE organization_id = @org",
				"DELETE FROM period_closings WHERE organization_id = @org",
			}, []string{"period closing apc_", "does not exist, but the audit record"}},
			"an entry of a closed month": {[]string{
				"UPDATE journal_entries SET memo = 'other' WHERE organization_id = @org AND journal_entry_id = '" + entry.ID + "'",
			}, []string{"journal entry " + entry.ID + `: memo of journal_entries is "other"`, `states "test"`}},
			"the value of a transaction": {[]string{
				"UPDATE transactions SET value_gross = '12000' WHERE organization_id = @org AND transaction_id = '" + moved.ID + "'",
			}, []string{"transaction " + moved.ID + " was changed outside Bursar"}},
			"the date of a transaction": {[]string{
				"UPDATE transactions SET transaction_date = '2026-02-15T12:00:00.000Z' WHERE organization_id = @org AND transaction_id = '" +
					moved.ID + "'",
			}, []string{"transaction " + moved.ID + " was changed outside Bursar"}},
			"the type of an account": {[]string{
				"UPDATE ledger_accounts SET type = 'Expense' WHERE organization_id = @org AND ledger_account_id = '" + account.ID + "'",
			}, []string{"ledger account " + account.ID + `: type of ledger_accounts is "Expense"`, `states "Asset"`}},
			"a price": {[]string{
				"UPDATE prices SET price = '2600' WHERE organization_id = @org",
			}, []string{"price " + price.ID + `: price of prices is "2600"`, `states "2500"`}},
			"a rate": {[]string{
				"UPDATE fx_rates SET rate = '1.18' WHERE organization_id = @org",
			}, []string{`fx rate EUR/USD 2026-01-31: rate of fx_rates is "1.18"`, `states "1.08"`}},
		} {
			found := strings.Join(tamperAll(t, l.Tenant, x.statements), "\n")
			for _, says := range x.says {
				if !strings.Contains(found, says) {
					t.Errorf("%s: want %q in:\n%s", name, says, found)
				}
			}
		}
	})
}

// tamperAll runs statements outside Bursar, verifies and rolls back.
func tamperAll(t *testing.T, n *apitest.Tenant, statements []string) (out []string) {
	t.Helper()
	a := n.Service().App
	err := a.DB.WriteAlone(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		for _, s := range statements {
			if changed, err := tx.Exec(ctx, s); err != nil || changed == 0 {
				t.Fatalf("%s: %d rows, %v", s, changed, err)
			}
		}
		found, err := a.VerifyOrganization(ctx, n.Organization.ID)
		for _, f := range found {
			out = append(out, f.Text)
		}
		return errors.Join(errTampered, err)
	})
	if !errors.Is(err, errTampered) {
		t.Fatal(err)
	}
	return out
}
