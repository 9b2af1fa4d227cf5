// Package app constructs every service on a database (New), runs the background work (Work), reports metrics (Metrics)
// and verifies the stored data (Verify).
package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/reconciliation"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/automation/template"
	"github.com/bursarhq/bursar/internal/base/lifecycle"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/password"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/interchange"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/integration/feed"
	"github.com/bursarhq/bursar/internal/integration/glsync"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/idempotency"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
	"github.com/bursarhq/bursar/internal/provider/stripe"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/receivables/invoicefile"
	"github.com/bursarhq/bursar/internal/receivables/run"
	"github.com/bursarhq/bursar/internal/reporting/ageing"
	"github.com/bursarhq/bursar/internal/reporting/explain"
	"github.com/bursarhq/bursar/internal/reporting/insights"
	"github.com/bursarhq/bursar/internal/reporting/readiness"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/reporting/unapplied"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/tenancy/team"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/observation"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/spam"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

// App holds the services with all use cases, on one database.
type App struct {
	DB             *db.DB
	Org            *organization.Service
	Access         *access.Service
	Audit          *audit.Service
	Entities       *entity.Service
	Accounts       *account.Service
	Sources        *source.Service
	Tags           *tag.Service
	FX             *fx.Service
	Prices         *price.Service
	Revaluations   *revaluation.Service
	Transactions   *transaction.Service
	Spam           *spam.Service
	AssetPolicies  *assetpolicy.Service
	Transfers      *transfers.Service
	Journal        *journal.Service
	Bookings       *booking.Service
	Exchange       *interchange.Service
	Imports        *imports.Service
	Reports        *statements.Service
	Holdings       *holdings.Service
	Reconciliation *reconciliation.Service
	Observations   *observation.Service
	Explain        *explain.Service
	Insights       *insights.Service
	Ageing         *ageing.Service
	Unapplied      *unapplied.Service
	Periods        *period.Service
	Assets         *opening.Service
	Lots           *lots.Service
	Classification *classification.Service
	Memory         *memory.Service
	Customers      *customer.Service
	Invoices       *invoice.Service
	InvoiceFiles   *invoicefile.Service
	Applications   *application.Service
	Connections    *connection.Service
	GeneralLedger  *glsync.Service
	CashRuns       *run.Service
	Feed           *feed.Service
	Webhooks       *webhook.Service

	Identity *identity.Service
	Team     *team.Service
	OAuth    *oauth.Service
	Firms    *firm.Service

	Templates    *template.Service
	FirmRequests *firmrequest.Service

	log     *slog.Logger
	config  Config
	anchors string                     // the folder to which closes write anchors, or empty
	jobs    func() (*job.Queue, error) // stores jobs
}

// Config says how other systems are reached, and how people reach the service.
type Config struct {
	Secrets      *seal.Key          // encrypts credentials and secrets; without one, connections and webhook endpoints cannot be created
	ProviderURLs map[string]string  // addresses of providers that replace their own, by name
	Registered   Registrations      // how the service is registered at providers, by name
	ReturnURLs   []string           // beginnings of addresses that the browser may go to when an account was connected, besides PublicURL
	AllowPrivate bool               // allow providers and webhook endpoints on private networks
	Local        string             // name of a provider that may be on this machine even if AllowPrivate is false
	Proxy        *url.URL           // for requests to providers and webhook endpoints; nil means none
	Mail         *mail.Server       // for messages to people; nil means that they are written to files
	MailFrom     *mail.Sender       // who messages are from that are written to files; nil means an address of the public host
	MailFolder   string             // where messages are written to that cannot be sent
	Breached     *password.Breached // passwords that nobody may choose; nil means none
	PublicURL    string             // address of the service as people see it, without a slash at the end
	OpenID       identity.OpenID    // a provider at which people may sign in instead

	// Sleep waits for providers that allow no more requests; nil means for as long as it is told. Tests and benchmarks replace it.
	Sleep func(ctx context.Context, d time.Duration) error
}

// New builds the application on a database, which need not answer yet, without access to other systems.
func New(d *db.DB, log *slog.Logger) *App { return NewWith(d, log, Config{}) }

// NewWith builds the application on a database, which need not answer yet.
func NewWith(d *db.DB, log *slog.Logger, c Config) *App {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	entries, files := journal.NewService(d), imports.NewService(d)
	bookings := booking.NewService(d, entries)
	reports, held, measures := statements.NewService(d), holdings.NewService(d), revaluation.NewService(d, entries)
	invoices := invoice.NewService(d, entries).WithApplied(application.AppliedTo).WithReserved(application.ReservedBy)
	processor := stripe.New(d, stripe.Config{URL: c.ProviderURLs[stripe.Name], AllowPrivate: c.AllowPrivate, Proxy: c.Proxy},
		invoices)
	connections, ledgers := newConnections(d, c, processor, log)
	periods := period.NewService(d, append(readiness.Checks(), ledgers.InspectPeriod)...).WithTransit(holdings.InTransit).
		WithPrices(holdings.KeepPrices).WithAdjustments(holdings.KeepAdjustments)
	events := feed.NewService(d)
	hooks := webhook.NewService(d, c.Secrets, webhook.Config{AllowPrivate: c.AllowPrivate, Proxy: c.Proxy}).WithTypes(events.Types)
	applications := application.NewService(d, entries, bookings, applicationRules).WithProcessor(processor.Report(connections))
	a := &App{
		DB:            d,
		Org:           organization.NewService(d, lots.MovePeriods),
		Access:        access.NewService(d),
		Audit:         audit.NewService(d),
		Entities:      entity.NewService(d).WithDisposals(lots.LastDisposal).WithClosings(snapshot.ClosedThrough),
		Accounts:      account.NewService(d),
		Sources:       source.NewService(d, transfers.DeleteTransactionsOfSource, connections.Aggregators()),
		Tags:          tag.NewService(d),
		FX:            fx.NewService(d),
		Prices:        price.NewService(d),
		Revaluations:  measures,
		Transactions:  transaction.NewService(d),
		Spam:          spam.NewService(d),
		AssetPolicies: assetpolicy.NewService(d),
		Transfers:     transfers.NewService(d),
		Journal:       entries,
		Bookings:      bookings,
		Exchange:      interchange.NewService(d, entries),
		Imports:       files,
		Reports:       reports,
		Holdings:      held, Reconciliation: reconciliation.NewService(d), Observations: observation.NewService(d),
		Explain:        explain.NewService(d, reports, held, measures),
		Insights:       insights.NewService(d, reports, held),
		Ageing:         ageing.NewService(d),
		Unapplied:      unapplied.NewService(d),
		Periods:        periods,
		log:            log,
		Classification: classification.NewService(d, bookings),
		Lots:           lots.NewService(d),
		Assets:         opening.NewService(d, entries, bookings.Load, bookings.Rebook),
		Memory:         memory.NewService(d),
		Customers:      customer.NewService(d),
		Invoices:       invoices,
		InvoiceFiles:   invoicefile.NewService(d, invoices),
		Applications:   applications,
		Connections:    connections,
		GeneralLedger:  ledgers,
		CashRuns:       run.NewService(d, applications),
		Feed:           events,
		Webhooks:       hooks,
		Identity: identity.NewService(d, identity.Config{Secrets: c.Secrets, PublicURL: c.PublicURL, Breached: c.Breached,
			OpenID: c.OpenID}),
		OAuth:  oauth.NewService(d),
		config: c,
		jobs:   sync.OnceValues(func() (*job.Queue, error) { return job.NewInserter(d) }),
	}
	a.connectTeam()
	a.connectFirms()
	a.Templates = template.NewService(d)
	a.connectTransactions()
	return a
}

// connectTransactions decides what happens after transactions were imported, or read from a connection.
func (a *App) connectTransactions() {
	a.Imports.AfterImport = append(a.Imports.AfterImport, func(ctx context.Context, i imports.Import) error {
		a.updateStatistics(ctx, i.Counts.Created)
		return nil
	})
	a.Connections.AfterSync = append(a.Connections.AfterSync, a.matchNew, a.classifyNew,
		func(ctx context.Context, _ connection.Connection, r connection.Run) error {
			a.updateStatistics(ctx, r.Counts.Created)
			return nil
		})
}

// updateStatistics updates the statistics of the database's planner if there are many new transactions.
func (a *App) updateStatistics(ctx context.Context, created int64) {
	if created < analyzeMin {
		return
	}
	if err := a.DB.VacuumAnalyze(ctx, "transactions"); err != nil { // PostgreSQL does so itself some time later
		a.log.Warn("the planner statistics of transactions were not updated", "error", err)
	}
}

const (
	// analyzeMin is how many new transactions make it worthwhile to update the statistics of the database's planner.
	analyzeMin = 10_000

	sweepEvery   = time.Hour
	uploadsEvery = 5 * time.Minute
	connectEvery = time.Minute
	turnEvery    = time.Hour
	matchEvery   = 10 * time.Second
	webhookEvery = 10 * time.Second
	stopTimeout  = 5 * time.Second // jobs are short, and one that is interrupted runs again
)

// applicationRules returns the rules of the organization for cash applications.
func applicationRules(ctx context.Context, tx *db.Tx) ([]application.Rule, error) {
	rules, err := memory.CashApplicationRules(ctx, tx)
	out := make([]application.Rule, len(rules))
	for n, r := range rules {
		out[n] = application.Rule{ID: r.ID, Name: r.Name, Matcher: r.Matcher, Exact: r.MatchMode == memory.MatchExact,
			Review: r.Action == memory.RequireHumanReview, LedgerAccountID: r.LedgerAccountID}
	}
	return out, err
}

// Work runs the relay, the job queue and the background tasks until the context ends, and returns when they have
// stopped. The database must be prepared.
func (a *App) Work(ctx context.Context) error {
	ctx = db.Background(ctx) // requests do not wait for any of it
	workers, files, runs := job.NewWorkers(), imports.NewRunner(a.Imports, a.log), a.Classification.NewRunner(a.log)
	connections, reports := connection.NewRunner(a.Connections, a.log), application.NewReporter(a.Applications, a.log)
	schedule := connection.NewPoller(a.Connections, a.log, connections.Wake)
	cashRuns, ledgerRuns := a.CashRuns.NewRunner(a.log), a.GeneralLedger.NewRunner()
	job.Handle(workers, func(ctx context.Context, e outbox.Happened) error {
		for _, one := range e.Events {
			switch one.Type {
			case imports.EventCreated:
				files.Wake()
			case classification.EventCreated, classification.EventResumed:
				runs.Wake()
			case connection.EventCreated, connection.EventRequested, connection.EventActive:
				connections.Wake()
			case application.EventConfirmed:
				reports.Wake()
			case run.EventCreated, run.EventResumed:
				cashRuns.Wake()
			case glsync.EventCreated:
				ledgerRuns.Wake()
			}
			a.log.Debug("event", "type", one.Type, "event_id", one.ID, "organization_id", e.OrganizationID)
		}
		return nil
	})
	job.Handle(workers, func(ctx context.Context, _ idempotency.Sweep) error { return idempotency.DeleteExpired(ctx, a.DB) })
	job.Every(workers, sweepEvery, idempotency.Sweep{})
	job.Handle(workers, func(ctx context.Context, _ outbox.Sweep) error { return outbox.DeleteExpired(ctx, a.DB) })
	job.Every(workers, sweepEvery, outbox.Sweep{})
	job.Handle(workers, func(ctx context.Context, _ period.CreateNextMonthTask) error {
		return period.CreateNextMonths(ctx, a.DB)
	})
	job.Every(workers, turnEvery, period.CreateNextMonthTask{})
	// Matching a large import takes longer than a job may. The matches found before an interruption are kept.
	job.Handle(workers, func(ctx context.Context, _ transfers.Sweep) error {
		return a.Transfers.MatchNew(context.WithoutCancel(ctx))
	})
	job.Every(workers, matchEvery, transfers.Sweep{})
	job.Handle(workers, func(ctx context.Context, _ imports.Sweep) error { return a.Imports.DeleteLeftovers(ctx) })
	job.Every(workers, uploadsEvery, imports.Sweep{})
	job.Handle(workers, func(ctx context.Context, _ connection.Sweep) error { return a.Connections.Sweep(ctx) })
	job.Every(workers, connectEvery, connection.Sweep{})
	a.handleMail(workers)
	a.handlePeople(workers)
	a.handleFirms(workers)
	sender := a.webhookSender(workers)
	queue, err := job.NewQueue(a.DB, workers, a.log)
	if err != nil {
		return fmt.Errorf("create the job queue: %w", err)
	}
	sender.Jobs = queue
	// The queue gets a context of its own: canceling it would interrupt jobs, whereas Stop waits for them.
	if err := queue.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the job queue: %w", err)
	}
	services := []lifecycle.Service{outbox.NewRelay(a.DB, queue, a.log).WithRoute(webhook.Route), files, runs, cashRuns,
		ledgerRuns, connections, schedule, reports,
		a.Access.NewUseRecorder(a.log)}
	err = lifecycle.StartAll(ctx, services...)
	if err == nil {
		<-ctx.Done()
		lifecycle.StopAll(services...)
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := queue.Stop(stop); err != nil { // only logged, because the jobs run again
		a.log.Warn("stopped without waiting for the rest of the jobs; they run again later", "error", err)
	}
	return err
}
