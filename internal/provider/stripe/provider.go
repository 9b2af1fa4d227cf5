package stripe

import (
	"context"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// Provider connects to Stripe.
type Provider struct {
	db       *db.DB
	backends *api.Backends
	invoices *invoice.Service
}

// New returns the provider. It stores invoices through their service.
func New(d *db.DB, c Config, invoices *invoice.Service) *Provider {
	return &Provider{db: d, backends: backend(c), invoices: invoices}
}

// The names of the fields of a connection.
const (
	apiKey        = "api_key"
	webhookSecret = "webhook_secret"
	// fieldMax bounds a field, in characters.
	fieldMax = 500
)

// Connections describes Stripe as a provider of connections.
func (p *Provider) Connections() connection.Provider {
	return connection.Provider{
		Name: Name, Title: "Stripe", Kind: connection.Processor,
		Advice: "In the dashboard of Stripe, under Developers, API keys, create a restricted key (rk_) that may read accounts, " +
			"balances, balance transactions with their sources, customers, invoices and events, and that may write invoices and " +
			"payment records if payments are to be reported.",
		Fields: []connection.Field{
			{Name: apiKey, Title: "API key", Secret: true, Max: fieldMax},
			{Name: webhookSecret, Title: "Webhook secret", Help: "Without it, webhooks of Stripe are not accepted.", Secret: true, Optional: true,
				Max: fieldMax},
		},
		Capabilities: []string{"import_transactions", "import_invoices", "mark_invoices_paid"},
		Check:        p.Check, Read: p.Read,
	}
}

func (p *Provider) now() time.Time { return p.db.Clock().Now() }

// Check asks Stripe for the account of an API key, and for a record of each kind that is read. A key that may not read the account is
// refused: without its id, nobody could tell that it is connected already, and what it has would be counted twice.
func (p *Provider) Check(ctx context.Context, credentials connection.Credentials, _ connection.Keeper) (out connection.Account, err error) {
	c := p.client(credentials[apiKey])
	c.tries = 1 // somebody waits for the answer
	err = c.do(ctx, func() error {
		account, err := c.V1Accounts.Retrieve(ctx, nil)
		if err == nil {
			out = connection.Account{ID: account.ID, Currency: currencyOf(account.DefaultCurrency)}
		}
		return err
	})
	switch {
	case fault.KindOf(err) == fault.Forbidden:
		return out, fault.Invalidf("api_key", "must be allowed to read the account, so that no account is connected twice: give the restricted "+
			"key the permission Accounts (Read), which Stripe lists under Connect, or use a secret key (sk_). %v", err)
	case err == nil && !isID(out.ID):
		return out, fault.Conflictf("Stripe does not tell the id of the account")
	case err != nil:
		return out, blame(err)
	}
	err = c.do(ctx, func() error {
		balance, err := c.V1Balance.Retrieve(ctx, nil)
		if err != nil {
			return err
		}
		if out.Mode = connection.Test; balance.Livemode {
			out.Mode = connection.Live
		}
		if available := present(balance.Available); out.Currency == "" && len(available) > 0 {
			out.Currency = currencyOf(available[0].Currency)
		}
		return nil
	})
	if err != nil {
		return out, blame(err)
	}
	return out, blame(c.probe(ctx))
}

// probe reads a record of each kind, as a synchronization does.
func (c *client) probe(ctx context.Context) error {
	one := api.ListParams{Limit: api.Int64(1)}
	withSource := one
	withSource.AddExpand("data.source")
	_, err := list(ctx, c, func() *api.V1List[*api.BalanceTransaction] {
		return c.V1BalanceTransactions.List(ctx, &api.BalanceTransactionListParams{ListParams: withSource})
	})
	if err == nil {
		_, err = list(ctx, c, func() *api.V1List[*api.Invoice] {
			return c.V1Invoices.List(ctx, &api.InvoiceListParams{ListParams: one})
		})
	}
	if err == nil {
		_, err = list(ctx, c, func() *api.V1List[*api.Customer] {
			return c.V1Customers.List(ctx, &api.CustomerListParams{ListParams: one})
		})
	}
	if err == nil {
		_, err = list(ctx, c, func() *api.V1List[*api.Event] { return c.V1Events.List(ctx, &api.EventListParams{ListParams: one}) })
	}
	return err
}

// blame names the API key in an error that is due to it.
func blame(err error) error {
	switch fault.KindOf(err) {
	case fault.Unauthorized:
		return fault.Invalidf("api_key", "is not known to Stripe: copy a secret key (sk_) or a restricted key (rk_) from the dashboard of Stripe")
	case fault.Forbidden:
		return fault.Invalidf("api_key", "must be allowed to read balances, balance transactions with their sources, customers, invoices and "+
			"events: %v", err)
	case fault.Conflict, fault.NotFound:
		return fault.Invalidf("api_key", "cannot be used: %v", err)
	default:
		return err
	}
}
