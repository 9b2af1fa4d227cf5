package cli_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/provider/stripe/stripetest"
)

const killedRecords = 450 // invoices, and balance transactions: five pages of each

// The service is killed again and again while it reads an account at Stripe. It continues without a gap and without a duplicate.
func TestSoakASynchronizationSurvivesKill9(t *testing.T) {
	t.Parallel()
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		if c.Dir == "" {
			c.Dir = t.TempDir() // the key for secrets is there
		}
		server := stripetest.New(t)
		northwind := server.Customer("Northwind", nil)
		for range killedRecords {
			server.Invoice(northwind, []stripetest.Object{server.Line("Seats", 1000, nil)}, nil)
			server.BalanceTransaction("charge", 1000, 59, nil)
		}
		f := found(t, c)
		run := func() (*process, *client.Client) {
			p := serve(t, c, "--allow-private-networks", "--provider-url", "stripe="+server.URL)
			return p, once(p.ready(t), f.APIKey)
		}
		p, service := run()
		made, err := service.CreateConnection(t.Context(), client.CreateConnection{Provider: "stripe", Name: "Stripe", APIKey: "rk_test_1",
			LegalEntityIDs: []string{f.LegalEntityID}})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/v1/invoices", "/v1/invoices", "/v1/balance_transactions", "/v1/balance_transactions"} {
			var kill sync.Once
			served := 0
			server.Before(func(r *http.Request) {
				if strings.HasPrefix(r.URL.Path, path) {
					if served++; served == 2 { // after a page of this stage was committed
						kill.Do(p.kill)
					}
				}
			})
			<-p.done
			server.Before(nil)
			p, service = run()
		}
		eventually(t, "the account is read", func(ctx context.Context) error {
			got, err := service.Connection(ctx, made.ID)
			if err == nil && got.Status != "active" {
				err = errors.New(got.Status)
			}
			return err
		})
		numbers, transactions := map[string]bool{}, map[string]bool{}
		for i, err := range service.Invoices(t.Context(), nil) {
			if err != nil || numbers[i.InvoiceNumber] {
				t.Fatalf("%+v %v", i, err)
			}
			numbers[i.InvoiceNumber] = true
		}
		for x, err := range service.Transactions(t.Context(), nil) {
			if err != nil || transactions[x.ExternalID] {
				t.Fatalf("%+v %v", x, err)
			}
			transactions[x.ExternalID] = true
		}
		if len(numbers) != killedRecords || len(transactions) != killedRecords {
			t.Errorf("%d invoices and %d transactions, want %d", len(numbers), len(transactions), killedRecords)
		}
		info, err := os.Stat(filepath.Join(c.Dir, seal.File))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the key for secrets: %v", err)
		}
		verifyWhole(t, c, service)
	})
}

func TestTheAddressOfAProviderIsChecked(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"stripe", "stripe=", "stripe=ftp://x", "paypal=https://x.example", "=https://x.example",
		"stripe=https://user:hidden@x.example", "stripe=https://user:hidden@x.example:x", "stripe=https://x.example:99999",
		"stripe=https://:80"} {
		r := inside("serve", "--data", t.TempDir(), "--database-url", "", "--provider-url", text)
		r.mustFail(t, 2, "--provider-url must be")
		if strings.Contains(r.out+r.err, "hidden") {
			t.Errorf("a password is shown: %s", r.err)
		}
	}
}
