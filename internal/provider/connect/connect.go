// Package connect makes connectors available to package treasury/connection: it checks credentials, reads ledgers page by page, and stores
// what they return as transactions, balances and gaps.
package connect

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// Config says how a system is reached.
type Config struct {
	provider.Config
	// Registration is how the service is registered at the system; empty if it is not.
	Registration provider.Client
	// Callback is the address that pages of systems send the browser back to, and Guide the page that says how to register the service.
	Callback, Guide string
}

// system is a connector and the sessions at its system.
type system struct {
	provider.Connector
	provider.Description
	dialer *provider.Dialer
	db     *db.DB
}

// New returns a connector as a provider of connections.
func New(d *db.DB, c provider.Connector, config Config) connection.Provider {
	p, _ := NewLedger(d, c, config)
	return p
}

func newSystem(d *db.DB, c provider.Connector, config Config) *system {
	s := &system{Connector: c, Description: c.Describe(), db: d}
	config.Config.Client = config.Registration
	s.dialer = provider.NewDialer(s.Description, config.Config)
	return s
}

// connections returns the system as a provider of connections.
func (s *system) connections(config Config) connection.Provider {
	c := s.Connector
	p := connection.Provider{Name: s.Name, Title: s.Title, Kind: connection.Kind(s.Kind), Advice: s.Advice, Fields: fieldsOf(s.Description),
		Capabilities: capabilitiesOf(c), Currency: s.Requires, Check: s.check}
	if e, ok := c.(provider.Exchanger); ok {
		p.Enter = func(ctx context.Context, entered connection.Credentials) (connection.Credentials, error) {
			out, err := e.Exchange(ctx, s.session(entered, nil, false))
			return connection.Credentials(out), s.blame(err)
		}
	}
	if _, ok := c.(provider.Reader); ok {
		p.Read, p.Poll = s.read, s.poll
	}
	if h, ok := c.(provider.Hosted); ok {
		p.Begin, p.Finish = s.begin(h), s.finish(h)
	}
	if r, ok := c.(provider.Revoker); ok {
		p.Revoke = func(ctx context.Context, c connection.Credentials, k connection.Keeper) error {
			return r.Revoke(ctx, s.session(c, k, false))
		}
	}
	if s.RegisterAt != "" && config.Registration.ID == "" {
		s.withoutRegistration(&p, config)
	}
	return p
}

// withoutRegistration changes a provider at which the service is not registered: credentials can be entered if the provider gives its
// customers some of their own, and otherwise no account can be connected.
func (s *system) withoutRegistration(p *connection.Provider, config Config) {
	own := false
	for n, f := range p.Fields {
		if f.Name == provider.APIKey || f.Name == provider.APISecret {
			p.Fields[n].Optional, own = false, true
		}
	}
	if p.Begin, p.Finish = nil, nil; !own {
		p.Unavailable = fmt.Sprintf("%s needs a registration of this service first: its operator registers it at %s with the redirect "+
			"address %s, sets BURSAR_PROVIDER_%[4]s_CLIENT_ID and BURSAR_PROVIDER_%[4]s_CLIENT_SECRET, and restarts it. See %[5]s", s.Title,
			s.RegisterAt, config.Callback, strings.ToUpper(s.Name), config.Guide)
	}
}

// fieldsOf returns the fields of a description.
func fieldsOf(d provider.Description) []connection.Field {
	out := make([]connection.Field, len(d.Fields))
	for n, f := range d.Fields {
		out[n] = connection.Field{Name: f.Name, Title: f.Title, Help: f.Help, Secret: f.Secret, Open: f.Open, Optional: f.Optional,
			Setup: f.Setup,
			Fixed: f.Open && !f.Optional, Max: f.Max, Choices: f.Choices}
	}
	return out
}

// The capabilities of connections.
const (
	importsTransactions = "import_transactions"
	readsBalances       = "read_balances"
	pushesEntries       = "push_journal_entries"
)

// capabilitiesOf returns what connections of a connector are used for.
func capabilitiesOf(c provider.Connector) []string {
	out := []string{}
	if _, ok := c.(provider.Reader); ok {
		out = append(out, importsTransactions)
	}
	if _, ok := c.(provider.Balancer); ok {
		out = append(out, readsBalances)
	}
	if _, ok := c.(provider.Ledger); ok {
		out = append(out, pushesEntries)
	}
	return out
}

// keeper adapts the keeper of connections to sessions.
type keeper struct{ connection.Keeper }

// Renew renews the credentials of a session.
func (k keeper) Renew(ctx context.Context, stale provider.Credentials, renew func(context.Context, provider.Credentials) (
	provider.Credentials, error)) (provider.Credentials, error) {
	out, err := k.Keeper.Renew(ctx, connection.Credentials(stale), func(ctx context.Context, stored connection.Credentials) (
		connection.Credentials, error) {
		renewed, err := renew(ctx, provider.Credentials(stored))
		return connection.Credentials(renewed), err
	})
	return provider.Credentials(out), err
}

// session opens a session.
func (s *system) session(c connection.Credentials, k connection.Keeper, patient bool) *provider.Session {
	session := s.dialer.Open(provider.Credentials(c), patient)
	if k != nil {
		session.Keeper = keeper{k}
	}
	return session
}

// check asks for the account of credentials. Somebody waits for the answer. A key that can move money out of the account is refused.
func (s *system) check(ctx context.Context, c connection.Credentials, k connection.Keeper) (out connection.Account, err error) {
	session := s.session(c, k, false)
	account, err := s.Connector.Check(ctx, session)
	if err != nil {
		return out, s.blameAddress(session, s.blame(err))
	}
	if slices.Contains(account.Grants, provider.Withdraw) {
		return out, fault.Invalidf(s.firstField(), "can move money out of the account, which is not needed: create another key. %s", s.Advice)
	}
	out = connection.Account{ID: account.ID, Name: account.Name, Warnings: account.Warnings}
	switch {
	case slices.Contains(account.Grants, provider.Trade):
		out.Warnings = append(out.Warnings, "the credentials permit trading or other changes at "+s.Title+", which are not needed: "+
			"replace them by some that only read")
	case account.Grants == nil && s.Kind == provider.Exchange:
		out.Warnings = append(out.Warnings, s.Title+" does not tell what the credentials permit: make sure that they cannot trade or withdraw")
	}
	if d, ok := s.Connector.(provider.Divided); ok {
		parts, err := d.Parts(ctx, session)
		if err != nil {
			return out, s.blame(err)
		}
		out.Divided, out.Parts = true, partsOf(parts)
	}
	return out, nil
}

// partsOf returns parts as connections know them.
func partsOf(parts []provider.Part) []connection.Part {
	out := make([]connection.Part, len(parts))
	for n, p := range parts {
		out[n] = connection.Part{ID: p.ID, Name: p.Name, Card: p.Kind == provider.CardAccount, Currency: p.Currency, Last4: p.Last4}
	}
	return out
}

// firstField returns the field that an error about the credentials as a whole names.
func (s *system) firstField() string {
	for _, f := range s.Fields {
		if !f.Optional {
			return f.Name
		}
	}
	return provider.APIKey
}

// refusedField returns the field that an error names which says that the system refuses requests: the address of the system, if people
// enter it.
func (s *system) refusedField() string {
	for _, f := range s.Fields {
		if f.Name == provider.RPCURL {
			return f.Name
		}
	}
	return s.firstField()
}

// blame names the field of an error that is due to the credentials.
func (s *system) blame(err error) error {
	var f *fault.Error
	switch fault.KindOf(err) {
	case fault.Unauthorized, fault.Forbidden, fault.Conflict, fault.NotFound:
		if errors.As(err, &f) {
			return fault.Invalidf(s.refusedField(), "%s", f.Message)
		}
	}
	return err
}

// blameAddress names the field in which somebody has entered the address of a server, if that does not answer at present.
func (s *system) blameAddress(session *provider.Session, err error) error {
	var f *fault.Error
	if session.Text(provider.RPCURL) == "" || fault.KindOf(err) != fault.Unavailable || !errors.As(err, &f) {
		return err
	}
	out := *f
	out.Fields = []fault.Field{{Name: provider.RPCURL, Message: "is the address that was asked"}}
	return &out
}

// begin returns the function that starts a setup.
func (s *system) begin(h provider.Hosted) func(context.Context, connection.Credentials, connection.SetupRequest) (connection.Setup, error) {
	return func(ctx context.Context, c connection.Credentials, r connection.SetupRequest) (connection.Setup, error) {
		setup, err := h.Begin(ctx, s.session(c, nil, false), provider.SetupRequest(r))
		return connection.Setup{URL: setup.URL, Keep: connection.Credentials(setup.Keep), ExpiresAt: setup.ExpiresAt}, s.blame(err)
	}
}

// finish returns the function that ends a setup.
func (s *system) finish(h provider.Hosted) func(context.Context, connection.Credentials, connection.SetupRequest, url.Values) (
	connection.Credentials, error) {
	return func(ctx context.Context, c connection.Credentials, r connection.SetupRequest, query url.Values) (connection.Credentials, error) {
		out, err := h.Finish(ctx, s.session(c, nil, false), provider.SetupRequest(r), query)
		if errors.Is(err, provider.ErrUnfinished) {
			err = connection.ErrUnfinished
		}
		return connection.Credentials(out), err
	}
}
