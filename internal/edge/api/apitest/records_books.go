package apitest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
)

// Rates parses the notation "EUR USD 2026-01-31 1.08 ECB".
func Rates(lines ...string) (out []client.StoreFXRate) {
	for _, line := range lines {
		f := strings.Fields(line)
		r := client.StoreFXRate{BaseCurrency: f[0], QuoteCurrency: f[1], Date: f[2], Rate: f[3]}
		if len(f) > 4 {
			r.Source = &f[4]
		}
		out = append(out, r)
	}
	return out
}

// NewAccount creates an account, by default an asset named Test.
func (n *Tenant) NewAccount(t *testing.T, a client.CreateLedgerAccount) client.LedgerAccount {
	t.Helper()
	if a.Name == "" {
		a.Name = "Test"
	}
	if a.Type == "" {
		a.Type = "Asset"
	}
	made, err := n.Client.CreateLedgerAccount(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// AccountByCode returns the account of the default chart with a code. The database finds it: the whole chart is long, and tests ask often.
func (n *Tenant) AccountByCode(t *testing.T, code string) (found client.LedgerAccount) {
	t.Helper()
	n.read(t, func(ctx context.Context, tx *db.Tx) error {
		a, err := account.ByCode(ctx, tx, code)
		found.ID = a.ID
		return err
	})
	found, err := n.Client.LedgerAccount(t.Context(), found.ID)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// read runs a function in a read transaction of the organization.
func (n *Tenant) read(t *testing.T, fn db.Func) {
	t.Helper()
	if err := n.service.App.DB.Read(t.Context(), n.Organization.ID, fn); err != nil {
		t.Fatal(err)
	}
}

// NewLegalEntity creates a legal entity, by default named Test with books in dollars.
func (n *Tenant) NewLegalEntity(t *testing.T, e client.CreateLegalEntity) client.LegalEntity {
	t.Helper()
	if e.Name == "" {
		e.Name = "Test"
	}
	if e.BaseCurrency == "" {
		e.BaseCurrency = "USD"
	}
	made, err := n.Client.CreateLegalEntity(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// NewExpenseAccount creates an expense account with a name.
func (n *Tenant) NewExpenseAccount(t *testing.T, name string) client.LedgerAccount {
	t.Helper()
	a, err := n.Client.CreateLedgerAccount(t.Context(), client.CreateLedgerAccount{Name: name, Type: "Expense"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Periods returns the accounting periods, latest first.
func (n *Tenant) Periods(t *testing.T) (out []client.AccountingPeriod) {
	t.Helper()
	for p, err := range n.Client.AccountingPeriods(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// ClosablePeriod returns the next period to close. It first creates two years of periods for a new organization.
func (n *Tenant) ClosablePeriod(t *testing.T) client.AccountingPeriod {
	t.Helper()
	all := n.Periods(t)
	if len(all) == 1 {
		n.OpenLedger(t).PostTo(t, n.LegalEntity.ID, time.Now().AddDate(-2, 0, 0).Format(time.DateOnly), "Dr 1010 100.00; Cr 4010 100.00")
		all = n.Periods(t)
	}
	for _, p := range slices.Backward(all) {
		if p.Status != "closed" {
			return p
		}
	}
	t.Fatal("every month is closed")
	return client.AccountingPeriod{}
}

// NewTag creates a project with a unique name.
func (n *Tenant) NewTag(t *testing.T) client.Tag {
	t.Helper()
	made, err := n.Client.CreateTag(t.Context(), client.CreateTag{Name: client.NewIdempotencyKey(), Kind: "project"})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
