package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/password"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// Timeouts of the server. Request bodies and responses have deadlines of their own, set where they are read and written.
const (
	headerTimeout   = 10 * time.Second
	idleTimeout     = 2 * time.Minute
	shutdownTimeout = 30 * time.Second
	prepareTimeout  = 30 * time.Second
	retryPause      = time.Second
	headerMax       = 64 << 10
)

// server holds the flags of a command that runs the service.
type server struct {
	addr      string
	tlsCert   string
	tlsKey    string
	rateLimit int
	memory    int                  // MiB
	announce  func(address string) // called when the service is ready
	slow      string
	anchors   string

	allowPrivate bool
	providerURLs []string
	returnURLs   []string
	proxy        string
	smtp         string
	mailFrom     string
	publicURL    string
	proxies      string
	breached     string
	openID       identity.OpenID
	registration bool
	local        string // name of a provider that may be on this machine
	kms          string
}

func (s *settings) serve() *cobra.Command {
	srv := &server{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Long: "Run the service: the HTTP API, its documentation at /docs, and background tasks.\n" +
			"It migrates the database first if necessary, and waits for a database that is not reachable yet.",
		Example: "  bursar serve\n  bursar serve --addr 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem\n" +
			"  BURSAR_DATABASE_URL=postgres://bursar@db/bursar bursar serve",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.run(c.Context(), srv) },
	}
	srv.flags(c)
	return c
}

func (srv *server) flags(c *cobra.Command) {
	text(c.Flags(), &srv.addr, "addr", "BURSAR_ADDR", "127.0.0.1:8080", "address to listen on")
	text(c.Flags(), &srv.tlsCert, "tls-cert", "BURSAR_TLS_CERT", "", "certificate file; enables HTTPS")
	text(c.Flags(), &srv.tlsKey, "tls-key", "BURSAR_TLS_KEY", "", "private key file of the certificate")
	c.Flags().IntVar(&srv.rateLimit, "rate-limit", 500, "requests per second that each API key may send; 0 means no limit")
	c.Flags().IntVar(&srv.memory, "memory", memoryDefault,
		"MiB of memory to stay below: limits the bodies of concurrent requests, what is built from them, and answers, and when garbage is "+
			"collected")
	text(c.Flags(), &srv.anchors, "anchors", "BURSAR_ANCHORS", "",
		"folder to which every close writes an anchor of the audit log; by default, anchors in the data folder")
	c.Flags().BoolVar(&srv.allowPrivate, "allow-private-networks", false,
		"let connections and webhook endpoints reach addresses on private networks, and this machine")
	text(c.Flags(), &srv.proxy, "outbound-proxy", "BURSAR_OUTBOUND_PROXY", "",
		"proxy for requests to providers and webhook endpoints, such as http://proxy.example.com:3128")
	text(c.Flags(), &srv.smtp, "smtp", "BURSAR_SMTP", "",
		"server for mail to people, as smtps://user:password@host:465 or, with STARTTLS, smtp://host:587; without one, messages are "+
			"written to the folder mail in the data folder")
	text(c.Flags(), &srv.mailFrom, "mail-from", "BURSAR_MAIL_FROM", "", "address that mail is sent from; required with --smtp")
	text(c.Flags(), &srv.publicURL, "public-url", "BURSAR_PUBLIC_URL", "",
		"address of the service as people and apps see it, such as https://books.example.com; by default that of --addr")
	text(c.Flags(), &srv.proxies, "trusted-proxies", "BURSAR_TRUSTED_PROXIES", "",
		"addresses or networks of the proxies in front of the service, with commas between them, such as 10.0.0.0/8; who calls is then the "+
			"last other address in X-Forwarded-For")
	text(c.Flags(), &srv.openID.Issuer, "oidc-issuer", "BURSAR_OIDC_ISSUER", "",
		"address of an OpenID provider at which people may sign in too, such as https://accounts.google.com")
	text(c.Flags(), &srv.openID.ClientID, "oidc-client-id", "BURSAR_OIDC_CLIENT_ID", "",
		"id of this service at the OpenID provider; the secret is read from BURSAR_OIDC_CLIENT_SECRET")
	text(c.Flags(), &srv.openID.Label, "oidc-label", "BURSAR_OIDC_LABEL", "", "what the OpenID provider is called on the sign-in page")
	text(c.Flags(), &srv.breached, "breached-passwords", "BURSAR_BREACHED_PASSWORDS", "",
		"file with SHA-1 hashes of passwords that nobody may choose, as Have I Been Pwned gives them out, in order")
	c.Flags().BoolVar(&srv.registration, "oauth-registration", false,
		"let apps that want to act for people register themselves; without it, owners register them, and the command oauth-clients create does")
	c.Flags().StringArrayVar(&srv.providerURLs, "provider-url", nil,
		"use another address for a provider, as name=URL; BURSAR_PROVIDER_<NAME>_URL does the same")
	c.Flags().StringArrayVar(&srv.returnURLs, "return-url", nil,
		"scheme and host of other pages that the browser may go to after an account was connected, such as https://dashboard.example.com")
	text(c.Flags(), &srv.kms, "kms-uri", "BURSAR_KMS_URI", "", kmsUsage)
	text(c.Flags(), &srv.slow, "slow-statement", "BURSAR_SLOW_STATEMENT", "200ms",
		"log database statements that take this long or longer; 0 turns the log off")
}

// slowStatement returns the threshold of the log of slow statements; 0 means that there is none. Only a service has one: the
// output of other commands is for the person who runs them.
func (srv *server) slowStatement() (time.Duration, error) {
	d, err := time.ParseDuration(srv.slow)
	if err != nil || d < 0 {
		return 0, &usageError{fmt.Errorf("--slow-statement must be a duration such as 200ms, or 0, but is %q", srv.slow), "bursar serve"}
	}
	return d, nil
}

// checkLimits returns an error for a limit that is too low.
func (srv *server) checkLimits() error {
	if srv.rateLimit < 0 {
		return &usageError{fmt.Errorf("--rate-limit must be 0 or more, but is %d", srv.rateLimit), "bursar serve"}
	}
	if srv.memory < memoryMin {
		return &usageError{fmt.Errorf("--memory must be at least %d, but is %d", memoryMin, srv.memory), "bursar serve"}
	}
	return nil
}

// access returns how other systems are reached, and with which key their credentials are encrypted.
func (srv *server) access(data string) (app.Config, error) {
	key, err := keyWith(data, srv.kms)
	if err != nil {
		return app.Config{}, &usageError{err, "bursar serve"}
	}
	out := app.Config{Secrets: key, AllowPrivate: srv.allowPrivate, Local: srv.local, Registered: registrations(), ReturnURLs: srv.returnURLs,
		MailFolder: filepath.Join(data, app.MailFolder)}
	if err := checkProviderVariables(); err != nil {
		return out, &usageError{err, "bursar serve"}
	}
	if out.ProviderURLs, err = srv.providerURLsByName(); err != nil {
		return out, &usageError{err, "bursar serve"}
	}
	for _, address := range srv.returnURLs {
		if err := checkReturnURL(address); err != nil {
			return out, &usageError{err, "bursar serve"}
		}
	}
	if srv.breached != "" {
		var err error
		if out.Breached, err = password.OpenBreached(srv.breached); err != nil {
			return out, &usageError{fmt.Errorf("--breached-passwords: %w", err), "bursar serve"}
		}
	}
	return out, srv.reach(&out)
}

// reach adds the proxy and the mail server. Errors do not repeat their addresses, which may contain passwords.
func (srv *server) reach(c *app.Config) error {
	if srv.proxy != "" {
		parsed, err := url.Parse(srv.proxy)
		if err != nil || parsed.Host == "" || !slices.Contains([]string{"http", "https"}, parsed.Scheme) {
			return &usageError{errors.New("--outbound-proxy must be a URL such as http://proxy.example.com:3128"), "bursar serve"}
		}
		c.Proxy = parsed
	}
	if err := srv.provider(c); err != nil {
		return err
	}
	if srv.smtp == "" {
		return srv.senderOfFiles(c)
	}
	var err error
	if c.Mail, err = mail.Parse(srv.smtp, srv.mailFrom); err != nil {
		return &usageError{fmt.Errorf("--smtp and --mail-from: %w", err), "bursar serve"}
	}
	return nil
}

// senderOfFiles sets who messages are from that are written to files, if an address is configured although there is no server.
func (srv *server) senderOfFiles(c *app.Config) error {
	if srv.mailFrom == "" {
		return nil
	}
	from, err := mail.ParseSender(srv.mailFrom)
	if err != nil {
		return &usageError{fmt.Errorf("--mail-from: %w", err), "bursar serve"}
	}
	c.MailFrom = &from
	return nil
}

// Limits of --memory, in MiB. Three eighths of it are for the bodies of requests, what is built from them, and answers.
const (
	memoryDefault = 512
	memoryMin     = 128
)

// gcPercent lets the heap grow to several times the live data, which is so small that it would be collected all the time.
const gcPercent = 400

// limitMemory sets when garbage is collected, unless the environment does.
func (srv *server) limitMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(srv.memory) << 20 / 2) // SQLite has its caches outside of the heap, and peaks are above the limit
	}
}

// run listens before it connects to the database, so that health checks are answered from the start.
func (s *settings) run(ctx context.Context, srv *server) error {
	log, err := s.logger(slog.LevelInfo)
	if err != nil {
		return err
	}
	protocol, err := srv.protocol()
	if err != nil {
		return err
	}
	stopTracing, err := startTracing(ctx)
	if err != nil {
		return err
	}
	defer stopTracing()
	if s.slowStatement, err = srv.slowStatement(); err != nil {
		return err
	}
	if err := srv.checkLimits(); err != nil {
		return err
	}
	srv.limitMemory()
	access, err := srv.access(s.data)
	if err != nil {
		return err
	}
	listener, reached, err := srv.listen()
	if err != nil {
		return err
	}
	defer listener.Close()
	access.PublicURL = reached.PublicURL
	d, err := s.open(log)
	if err != nil {
		return err
	}
	defer d.Close()
	a := app.NewWith(d, log, access)
	a.KeepAnchors(cmp.Or(srv.anchors, filepath.Join(s.data, db.AnchorsFolder)))
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	handler := api.New(a, api.Config{RateLimit: srv.rateLimit, Memory: srv.memory << 20 / 8 * 3, Log: log, Metrics: metrics, Version: version,
		Browser: reached, Registration: srv.registration})
	routeStandardLog(log)
	h := &http.Server{Handler: traced(handler), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerMax,
		DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	h.RegisterOnShutdown(handler.EndStreams)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := h.Serve(protocol(handler, h, listener)); !errors.Is(err, http.ErrServerClosed) {
			cancel(fmt.Errorf("serve: %w", err))
		}
	})
	wg.Go(func() {
		if err := s.work(ctx, a, log, func() { s.warnOfLostKey(ctx, a, access.Secrets, log); srv.ready(listener, log) }); err != nil {
			cancel(err)
		}
	})
	<-ctx.Done()
	log.Info("stopping after the requests in progress")
	stop, stopped := context.WithTimeout(context.Background(), shutdownTimeout)
	defer stopped()
	err = h.Shutdown(stop)
	wg.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// work waits for the database, then runs background tasks until the service stops.
func (s *settings) work(ctx context.Context, a *app.App, log *slog.Logger, ready func()) error {
	for {
		try, cancel := context.WithTimeout(ctx, prepareTimeout)
		err := a.DB.Prepare(try)
		cancel()
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return nil // stopped while it waited
		}
		if fault.KindOf(err) != fault.Unavailable {
			return err // waiting would not help
		}
		log.Warn("the database is not reachable; retrying", "error", explain(err), "in", retryPause)
		pause(ctx)
	}
	if n, err := wire.DeleteLeftoverUploads(os.TempDir()); err != nil || n > 0 {
		log.Warn("an earlier process left uploads behind in the folder for temporary files", "deleted", n, "error", err)
	}
	if err := a.WriteMissingAnchors(ctx); err != nil {
		log.Error("missing anchors were not written; the next start tries again", "error", err)
	}
	if found, err := a.Org.Exists(ctx); err == nil && !found {
		log.Warn(fmt.Sprintf("there is no organization yet: create one with `bursar init%s --organization NAME --email EMAIL`", s.flags()))
	}
	ready()
	for {
		err := a.Work(ctx)
		if ctx.Err() != nil {
			return err
		}
		// Requests are still served, and events wait in the outbox.
		log.Warn("background tasks stopped; restarting them", "error", err, "in", retryPause)
		pause(ctx)
	}
}

// pause waits before the next attempt, or until the service stops.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(retryPause):
	}
}

// protocol returns the listener of the server: for HTTPS with the certificate, which is read before anything else starts, or for HTTP.
func (srv *server) protocol() (func(*api.API, *http.Server, net.Listener) net.Listener, error) {
	if (srv.tlsCert == "") != (srv.tlsKey == "") {
		return nil, &usageError{errors.New("--tls-cert and --tls-key must be set together"), "bursar serve"}
	}
	if srv.tlsCert == "" {
		return func(a *api.API, _ *http.Server, l net.Listener) net.Listener { return a.Listener(l) }, nil
	}
	pair, err := tls.LoadX509KeyPair(srv.tlsCert, srv.tlsKey)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w; check --tls-cert and --tls-key", err)
	}
	return func(a *api.API, h *http.Server, l net.Listener) net.Listener {
		h.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
		return a.TLSListener(l, h.TLSConfig)
	}, nil
}

func (srv *server) ready(l net.Listener, log *slog.Logger) {
	address := srv.address(l)
	log.Info("ready", "address", address, "docs", address+"/docs", "version", version)
	if srv.announce != nil {
		srv.announce(address)
	}
}

// address returns the URL at which a browser on this machine reaches the service.
func (srv *server) address(l net.Listener) string {
	scheme := "http"
	if srv.tlsCert != "" {
		scheme = "https"
	}
	host, _, _ := net.SplitHostPort(srv.addr)
	tcp := l.Addr().(*net.TCPAddr)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(tcp.Port))
}

// routeStandardLog has what libraries print about connections to other systems logged like everything else.
func routeStandardLog(log *slog.Logger) {
	slog.SetDefault(log)
	slog.SetLogLoggerLevel(slog.LevelDebug)
}
