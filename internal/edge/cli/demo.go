package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/demo"
	"github.com/bursarhq/bursar/internal/app/demo/exchange"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/totp"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func (s *settings) demo() *cobra.Command {
	srv, invoices, firm := &server{}, 0, false
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run the service with a demo company",
		Long: "Run the service with a demo company: two legal entities, two years of transactions from eight sources, the books\n" +
			"made from them, customers with invoices and deposits, and an account at an exchange that is part of the demo, in the place of\n" +
			"Kraken, where something happens every minute. Prints an API key and commands to try.\n\n" +
			"The data lives in a temporary folder and is deleted at the end, unless --data names a folder to keep.",
		Example: "  bursar demo\n  bursar demo --firm\n  bursar demo --addr 127.0.0.1:9000 --data ./demo",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("data") && s.databaseURL == "" {
				dir, err := os.MkdirTemp("", "bursar-demo-")
				if err != nil {
					return err
				}
				defer os.RemoveAll(dir)
				s.data = dir
			}
			return s.runDemo(c.Context(), srv, invoices, firm)
		},
	}
	srv.flags(c)
	c.Flags().IntVar(&invoices, "invoices", demo.Invoices, "how many invoices the company has sent")
	c.Flags().BoolVar(&firm, "firm", false, "also create an accounting firm that works for the company and for two more clients")
	return c
}

// demoPasswordBytes is how much randomness the password of the demo company's owner has.
const demoPasswordBytes = 10

func (s *settings) runDemo(ctx context.Context, srv *server, invoices int, firm bool) error {
	if invoices < demo.InvoicesMin {
		return &usageError{fmt.Errorf("--invoices must be at least %d, and not %d", demo.InvoicesMin, invoices), "bursar demo"}
	}
	closeExchange, err := srv.openExchange()
	if err != nil {
		return err
	}
	defer closeExchange()
	var m madeDemo
	if err := s.creating(ctx, func(a *app.App) (err error) {
		if m, err = s.makeDemo(ctx, srv, a, invoices); err == nil && firm {
			err = s.addFirm(ctx, a, &m)
		}
		return err
	}); err != nil {
		return err
	}
	srv.announce = func(address string) {
		fmt.Fprintf(s.out, `
Bursar is running with the demo company %[1]q: two legal entities, 5,000 transactions from eight sources over two years.
Nearly all of them are booked and all periods but the last few are closed. Some recent transactions and drafts wait for your review,
and %[5]d deposits of customers wait to be applied to %[6]d invoices.

%[4]s
  Address  %[2]s
  API key  %[3]s
  Docs     %[2]s/docs
  Sign in  %[2]s/sign-in as %[8]s with the password %[9]s

For the guides, in another terminal:
  export BURSAR_URL=%[2]s BURSAR_API_KEY=%[3]s

Try:
  curl -H 'X-API-Key: %[3]s' '%[2]s/v1/reports/balance-sheet?presentation_currency=USD&shape=compact'
  curl -H 'X-API-Key: %[3]s' '%[2]s/v1/reports/income-statement?presentation_currency=USD&shape=compact'
  curl -H 'X-API-Key: %[3]s' '%[2]s/v1/reports/closing-positions'
  curl -H 'X-API-Key: %[3]s' '%[2]s/v1/reports/realized-gains-losses'
  curl -H 'X-API-Key: %[3]s' '%[2]s/v1/reports/schedule-of-dispositions?limit=5'
  curl -H 'X-API-Key: %[3]s' '%[2]s/v1/journal-entries?search=true-up'
  curl -H 'X-API-Key: %[3]s' '%[2]s/v1/transactions?status=pending&limit=5'
  curl -H 'X-API-Key: %[3]s' '%[2]s/v1/memory/file?kind=rule'
  curl -H 'X-API-Key: %[3]s' '%[2]s/v1/classification-runs'
  curl -H 'X-API-Key: %[3]s' '%[2]s/v1/transactions?search=rent&include_count=true&limit=5'
  curl -H 'X-API-Key: %[3]s' '%[2]s/v1/transactions?status=spam&limit=5'
  curl -H 'X-API-Key: %[3]s' '%[2]s/v1/reports/receivables-ageing'

An account at an exchange of the demo is connected as %[10]q: something happens there every minute, and it is read every %[11]d minutes,
or now: bursar connections sync %[10]q --wait

Which invoices does a deposit pay? This only looks, and changes nothing:
  curl -H 'X-API-Key: %[3]s' -H 'Content-Type: application/json' -d '{"deposit_transaction_id": "%[7]s"}' %[2]s/v1/cash-applications/preview
%[12]s
Press Ctrl-C to stop.
`, m.Organization.Name, address, m.KeyText.Reveal(), m.sheet, len(m.owed.Deposits), invoices,
			m.owed.Deposits[0], m.Owner.Email, m.password.Reveal(), demo.Connection, demo.ConnectionMinutes, m.firm)
	}
	return s.run(ctx, srv)
}

// madeDemo is the demo company, and what is printed about it.
type madeDemo struct {
	organization.Created
	owed     demo.Receivables
	password secret.Text
	sheet    string
	firm     string // what is printed about the accounting firm; empty without one
}

// addFirm creates the accounting firm, whose owner has the password of the owner of the company.
func (s *settings) addFirm(ctx context.Context, a *app.App, m *madeDemo) error {
	f, err := demo.AddFirm(ctx, a, m.Created, func(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) })
	if err != nil {
		return err
	}
	m.firm = fmt.Sprintf("\nThe accounting firm %q works for the company and two more clients. To sign in as %s, use the same password.\n"+
		"  export BURSAR_API_KEY=%s\n"+
		"  bursar firm overview\n"+
		"  bursar firm jobs start readiness\n"+
		"  bursar firm requests create \"Northwind Labs\" --ask kraken --ask \"file=Bank statements\"\n",
		f.Organization.Name, f.Owner.Email, f.KeyText.Reveal())
	return a.Identity.SetPassword(ctx, f.Owner.UserID, m.password, identity.Origin{})
}

// makeDemo creates the demo company.
func (s *settings) makeDemo(ctx context.Context, srv *server, a *app.App, invoices int) (m madeDemo, err error) {
	progress := func(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }
	if m.Created, err = demo.Found(ctx, a, progress); err != nil {
		return m, err
	}
	if m.password, err = totp.NewCode(a.DB.Random(), demoPasswordBytes); err != nil {
		return m, err
	}
	if err := a.Identity.SetPassword(ctx, m.Owner.UserID, m.password, identity.Origin{}); err != nil {
		return m, err
	}
	if m.owed, err = demo.AddReceivables(ctx, a, m.Created, invoices, progress); err != nil {
		return m, err
	}
	if err := srv.connectExchange(ctx, s.data, a, m.Created); err != nil {
		return m, err
	}
	ctx = actor.With(ctx, actor.Actor{OrganizationID: m.Organization.ID})
	var sheet strings.Builder
	err = printSheet(ctx, &sheet, a, m.LegalEntity.BaseCurrency)
	m.sheet = sheet.String()
	return m, err
}

// openExchange starts the exchange of the demo on this machine, where the service then looks for the provider in whose place it is.
func (srv *server) openExchange() (stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the exchange of the demo: %w", err)
	}
	h := &http.Server{Handler: exchange.New(clock.System{}), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout}
	go func() { _ = h.Serve(listener) }() // it returns when it is closed
	srv.local = exchange.Provider
	srv.providerURLs = append(srv.providerURLs, exchange.Provider+"=http://"+listener.Addr().String())
	return func() { _ = h.Close() }, nil // the process ends
}

// connectExchange connects the account at the exchange of the demo.
func (srv *server) connectExchange(ctx context.Context, data string, a *app.App, f organization.Created) error {
	access, err := srv.access(data)
	if err != nil {
		return err
	}
	access.PublicURL = localURL
	return demo.Connect(ctx, app.NewWith(a.DB, nil, access), f)
}
