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
	for text, says := range map[string]string{
		"stripe":                                "stripe= and a URL such as",
		"stripe=":                               "stripe= and a URL such as",
		"stripe=ftp://x":                        "stripe= and a URL such as",
		"stripe=https://:80":                    "stripe= and a URL such as",
		"paypal=https://x.example":              "the name of a provider and its URL",
		"=https://x.example":                    "the name of a provider and its URL",
		"http://user:hidden@x.example":          "the name of a provider and its URL",
		"http://user:hidden=@x.example":         "the name of a provider and its URL",
		"user:hidden":                           "the name of a provider and its URL",
		"stripe=https://user:hidden@x.example":  "without a user name and a password",
		"stripe=https://user:hidden@x.example:": "without a user name and a password",
		"stripe=https://user:hidden@x:x":        "stripe= and a URL such as",
		"stripe=user:hidden":                    "stripe= and a URL such as",
		"stripe=https://x.example:99999":        "a port from 1 to 65535",
		"kraken=http://x.example/?key=hidden":   "kraken= and a URL without a query and a fragment",
		"kraken=http://x.example/#hidden":       "kraken= and a URL without a query and a fragment",
		"kraken=http://x.example?":              "kraken= and a URL without a query and a fragment",
	} {
		r := inside("serve", "--data", t.TempDir(), "--database-url", "", "--provider-url", text)
		r.mustFail(t, 2, "--provider-url must be", says)
		if strings.Contains(r.out+r.err, "hidden") {
			t.Errorf("a secret is shown: %s", r.err)
		}
	}
}

func TestVariablesOfProvidersAreChecked(t *testing.T) {
	t.Parallel()
	fails := func(variable string, says ...string) {
		t.Helper()
		p := start(t, []string{variable}, "serve", "--data", t.TempDir(), "--database-url", "", "--addr", "127.0.0.1:0")
		p.logged(t, says[0])
		p.wait(t)
		for _, text := range says {
			if !strings.Contains(p.log.text(), text) {
				t.Errorf("%s: it does not say %q: %s", variable, text, p.log.text())
			}
		}
		if strings.Contains(p.log.text(), "hidden") || p.cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%s: exit %d: %s", variable, p.cmd.ProcessState.ExitCode(), p.log.text())
		}
	}
	for _, name := range []string{"BURSAR_PROVIDER_NOPE_URL", "BURSAR_PROVIDER_NOPE_CLIENT_ID", "BURSAR_PROVIDER_NOPE_CLIENT_SECRET",
		"BURSAR_PROVIDER_XERO_CLIENTID", "BURSAR_PROVIDER_xero_CLIENT_ID"} {
		fails(name+"=hidden", "unknown in the environment: "+name+".", "XERO")
	}
	fails("BURSAR_PROVIDER_KRAKEN_URL=https://x.example/?key=hidden", "BURSAR_PROVIDER_KRAKEN_URL must be a URL without a query")
	p := start(t, []string{"BURSAR_PROVIDER_NOPE_URL="}, on(db.Config{Dir: t.TempDir()}, "serve", "--addr", "127.0.0.1:0")...)
	p.ready(t) // what is empty is like what is missing
}

func TestTheAddressesThatTheBrowserMayGoToAreChecked(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"dashboard.example.com":                  "a scheme, a host and perhaps a port",
		"ftp://dashboard.example.com":            "a scheme, a host and perhaps a port",
		"https://:443":                           "a scheme, a host and perhaps a port",
		"https://dashboard.example.com:99999":    "a scheme, a host and perhaps a port",
		"https://user:hidden@dashboard.example":  "a scheme, a host and perhaps a port",
		"https://dashboard.example.com/app":      "without a path, a query and a fragment",
		"https://dashboard.example.com:8443/a/b": "use https://dashboard.example.com:8443\n",
		"https://dashboard.example.com/?a=b":     "without a path, a query and a fragment",
		"https://dashboard.example.com#":         "without a path, a query and a fragment",
		"http://plain.example.com":               "must begin with https, unless it is on this machine",
	} {
		r := inside("serve", "--data", t.TempDir(), "--database-url", "", "--return-url", text)
		r.mustFail(t, 2, "--return-url must be", says)
		if strings.Contains(r.out+r.err, "hidden") {
			t.Errorf("a password is shown: %s", r.err)
		}
	}
	p := serve(t, db.Config{Dir: t.TempDir()}, "--return-url", "https://dashboard.example.com/", "--return-url", "http://localhost:3000",
		"--return-url", "http://127.0.0.1:3000", "--return-url", "http://[::1]")
	p.ready(t)
}
