package app

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/integration/glsync"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/catalog"
	"github.com/bursarhq/bursar/internal/provider/connect"
	"github.com/bursarhq/bursar/internal/provider/stripe"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

// Registrations says how the service is registered at providers, by their names.
type Registrations map[string]provider.Client

// SetupPath is where pages of providers send the browser back to.
const SetupPath = "/connect/callback"

// registerGuide is the guide that says how to register the service at a provider.
const registerGuide = "/docs/guides/register-at-a-provider"

// ProviderNames returns the names of the providers that accounts can be connected at.
func ProviderNames() []string {
	names := []string{stripe.Name}
	for _, c := range catalog.All() {
		names = append(names, c.Describe().Name)
	}
	slices.Sort(names)
	return names
}

// newConnections returns the service for connections, with all providers, and the one for those that are general ledgers.
func newConnections(d *db.DB, c Config, processor *stripe.Provider, log *slog.Logger) (*connection.Service,
	*glsync.Service) {
	pages := connection.Pages{Callback: strings.TrimSuffix(c.PublicURL, "/") + SetupPath,
		Return: append([]string{c.PublicURL}, c.ReturnURLs...)}
	s := connection.NewService(d, c.Secrets, pages, transfers.Withdraw).WithProvider(processor.Connections())
	ledgers := glsync.NewService(d, s).WithLog(log)
	for _, one := range catalog.All() {
		name := one.Describe().Name
		p, ledger := connect.NewLedger(d, one, connect.Config{
			Config: provider.Config{URL: c.ProviderURLs[name], AllowPrivate: c.AllowPrivate || c.Local == name, Proxy: c.Proxy,
				Clock: d.Clock(), Sleep: c.Sleep},
			Registration: c.Registered[name], Callback: pages.Callback, Guide: strings.TrimSuffix(c.PublicURL, "/") + registerGuide,
		})
		s.WithProvider(p)
		ledgers.WithProvider(ledger)
	}
	return s, ledgers
}

// matchNew finds out which of the new transactions of a synchronization belong together, such as the two sides of a trade, so that nobody
// books one without the other.
func (a *App) matchNew(ctx context.Context, _ connection.Connection, _ connection.Run) error {
	return a.Transfers.MatchNewOf(ctx, actor.From(ctx).OrganizationID)
}

// classifyNew has the new transactions of a synchronization classified, if the connection asks for that.
func (a *App) classifyNew(ctx context.Context, c connection.Connection, r connection.Run) error {
	if c.Classify == "" {
		return nil
	}
	for _, sourceID := range slices.Sorted(slices.Values(c.Sources)) {
		filter := transaction.Filter{SourceID: sourceID, Status: string(transaction.Pending), UpdatedSince: clock.Format(r.StartedAt)}
		if _, err := a.Classification.Create(ctx, classification.CreateParams{Filter: &filter,
			Action: classification.Action(c.Classify)}); err != nil {
			return err
		}
	}
	return nil
}
