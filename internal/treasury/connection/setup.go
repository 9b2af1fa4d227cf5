package connection

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// ErrUnfinished means that a person has not finished a setup yet.
var ErrUnfinished = errors.New("connection: the setup is not finished")

const (
	// setupLasts is for how long a page can be used whose provider does not say so.
	setupLasts = time.Hour
	// setupMax is for how long at most.
	setupMax = 24 * time.Hour
	// stateSize is the number of random bytes of a state.
	stateSize = 32
	// returnMax bounds an address that the browser goes to.
	returnMax = 2048
	// setupURLKey is the name under which the page is kept among what is encrypted.
	setupURLKey = "setup_url"
	// stateKey is the name under which the state is kept there.
	stateKey = "state"
)

// AttemptStatus is the state of a setup on a page of a provider.
type AttemptStatus string

// The states.
const (
	AttemptPending   AttemptStatus = "pending"
	AttemptCompleted AttemptStatus = "completed"
	AttemptExpired   AttemptStatus = "expired"
	AttemptFailed    AttemptStatus = "failed"
)

// Attempt is a setup on a page of a provider.
type Attempt struct {
	ID           string
	ConnectionID string
	Status       AttemptStatus
	SetupURL     string // the page to open; empty once it is over
	ReturnTo     string // where the browser goes afterwards; empty if it stays
	Error        string
	ExpiresAt    time.Time
	CreatedAt    time.Time

	sealed       string
	exchanged    bool // the provider has given credentials for it, which are sealed
	claimedUntil time.Time
}

// begun is a setup that its provider has begun, and that is not stored yet.
type begun struct {
	state   string
	setup   Setup
	entered Credentials
}

// validateReturn collects the faults of the address that the browser goes to when a setup is finished.
func (s *Service) validateReturn(faults *fault.List, r resolved) {
	to := r.ReturnTo
	switch {
	case to == "":
	case r.provider.Begin == nil:
		faults.Addf("redirect_url", "must be omitted: no page of %s has to be opened", r.provider.Title)
	default:
		s.validateAddress(faults, to)
	}
}

// validateAddress collects the faults of an address that the browser goes to.
func (s *Service) validateAddress(faults *fault.List, to string) {
	parsed, err := url.Parse(to)
	switch {
	case len(to) > returnMax:
		faults.Addf("redirect_url", "must have at most %d characters", returnMax)
	case err != nil || parsed.Hostname() == "" || parsed.User != nil || parsed.Fragment != "",
		parsed.Scheme != "https" && !isLoopback(parsed):
		faults.Addf("redirect_url", "must be an HTTPS address such as https://books.example.com/connections")
	case !s.mayReturnTo(parsed):
		faults.Addf("redirect_url", "is not registered: the operator of the service has to allow %s://%s with --return-url", parsed.Scheme,
			parsed.Host)
	}
}

// isLoopback reports whether an address without encryption is that of the machine itself.
func isLoopback(to *url.URL) bool {
	address, err := netip.ParseAddr(to.Hostname())
	return to.Scheme == "http" && (to.Hostname() == "localhost" || err == nil && address.IsLoopback())
}

// mayReturnTo reports whether the operator allows that the browser goes to an address. Scheme, host and port are compared to the letter, so
// that another way to write an allowed host is refused rather than understood in another way than by the browser.
func (s *Service) mayReturnTo(to *url.URL) bool {
	return slices.ContainsFunc(s.pages.Return, func(allowed string) bool {
		base, err := url.Parse(allowed)
		return err == nil && base.Host != "" && base.Scheme == to.Scheme && base.Host == to.Host
	})
}

// returnTo returns the address that the browser goes to after a setup. It is empty if there is none, and if the operator does not allow it
// any more.
func (s *Service) returnTo(a Attempt) string {
	var faults fault.List
	if s.validateAddress(&faults, a.ReturnTo); faults.Err() != nil {
		return ""
	}
	return a.ReturnTo
}

// begin asks a provider for the page of a setup.
func (s *Service) begin(ctx context.Context, p Provider, c Credentials, renews bool) (*begun, error) {
	random := make([]byte, stateSize)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	b := &begun{state: base64.RawURLEncoding.EncodeToString(random), entered: c}
	var err error
	b.setup, err = p.Begin(ctx, c, SetupRequest{State: b.state, ReturnTo: s.pages.Callback, Renews: renews})
	return b, err
}

// inspectAgain begins another setup of a connection.
func (s *Service) inspectAgain(ctx context.Context, c Connection, entered Credentials) (out Inspected, err error) {
	known, err := s.open(actor.From(ctx).OrganizationID, c)
	if err != nil { // there are none yet, or they cannot be decrypted, which the new ones mend
		known = c.settings()
	}
	maps.Copy(known, entered)
	known, err = s.withSetup(ctx, s.providers[c.Provider], known)
	if err != nil {
		return out, err
	}
	return s.beginOrFinish(ctx, s.providers[c.Provider], known, c.credentials != "")
}

// beginOrFinish asks a provider for the page of a setup. If nobody has to consent, it finishes the setup at once.
func (s *Service) beginOrFinish(ctx context.Context, p Provider, c Credentials, renews bool) (out Inspected, err error) {
	out.begun, err = s.begin(ctx, p, c, renews)
	if err != nil || out.begun.setup.URL != "" {
		return out, err
	}
	known := c.clone()
	maps.Copy(known, out.begun.setup.Keep)
	credentials, err := p.Finish(ctx, known, SetupRequest{State: out.begun.state, ReturnTo: s.pages.Callback, Renews: renews}, nil)
	if err != nil {
		return Inspected{}, err
	}
	return s.inspect(ctx, p, credentials)
}

// CheckReauthorize returns an error if a connection cannot be set up again on a page of its provider.
func (s *Service) CheckReauthorize(ctx context.Context, connectionID, returnTo, etag string) (c Connection, err error) {
	if c, err = s.Get(ctx, connectionID); err != nil {
		return c, err
	}
	return c, s.requireReauthorizable(ctx, c, returnTo, etag)
}

func (s *Service) requireReauthorizable(ctx context.Context, c Connection, returnTo, etag string) error {
	var faults fault.List
	if returnTo != "" {
		s.validateAddress(&faults, returnTo)
	}
	for _, err := range []error{faults.Err(), c.requireChangeable(ctx), c.requireVersion(etag), c.requireConnected()} {
		if err != nil {
			return err
		}
	}
	if s.providers[c.Provider].Begin == nil || c.AuthMethod != byOAuth {
		return fault.Conflictf("the connection %s has no page of %s to open: send new credentials with PATCH", c.ID, c.title)
	}
	return nil
}

// InspectReauthorize begins another setup of a connection. It must not run inside a database transaction.
func (s *Service) InspectReauthorize(ctx context.Context, connectionID, returnTo, etag string) (out Inspected, err error) {
	c, err := s.CheckReauthorize(ctx, connectionID, returnTo, etag)
	if err != nil {
		return out, err
	}
	return s.inspectAgain(ctx, c, nil)
}

// Reauthorize stores the setup that InspectReauthorize has begun. Until it is finished, the connection goes on with its credentials.
func (s *Service) Reauthorize(ctx context.Context, connectionID, returnTo, etag string, in Inspected) (c Connection, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		before, err := s.findToChange(ctx, tx, connectionID, etag)
		if err != nil {
			return err
		}
		if err := s.requireReauthorizable(ctx, before, returnTo, ""); err != nil {
			return err
		}
		if in.begun == nil && in.credentials != nil { // nobody had to consent
			c, err = s.useCredentials(ctx, tx, before, in)
			return err
		}
		c, err = s.storeBegun(ctx, tx, before, in.begun, returnTo)
		return err
	})
	return c, err
}

// storeBegun stores a setup of a connection that exists. Earlier ones can no longer be finished.
func (s *Service) storeBegun(ctx context.Context, tx *db.Tx, c Connection, b *begun, returnTo string) (Connection, error) {
	if b == nil {
		return c, nil // only the faults of a request are looked for
	}
	if err := s.endAttempts(ctx, tx, c.ID, "another setup was begun"); err != nil {
		return c, err
	}
	if err := s.insertAttempt(ctx, tx, &c, b, returnTo); err != nil {
		return c, err
	}
	audit.Record(ctx, tx, audit.Change{Action: eventSetup, ResourceType: noun, ResourceID: c.ID, Before: c.facts(), After: c.facts()})
	return c, nil
}

// insertAttempt stores a setup.
func (s *Service) insertAttempt(ctx context.Context, tx *db.Tx, c *Connection, b *begun, returnTo string) error {
	now := tx.Now()
	a := Attempt{ID: tx.NewID(id.AuthorizationAttempt), ConnectionID: c.ID, Status: AttemptPending, SetupURL: b.setup.URL, ReturnTo: returnTo,
		ExpiresAt: b.setup.ExpiresAt, CreatedAt: now}
	if a.ExpiresAt.IsZero() {
		a.ExpiresAt = now.Add(setupLasts)
	}
	if latest := now.Add(setupMax); a.ExpiresAt.After(latest) {
		a.ExpiresAt = latest
	}
	keep := b.entered.clone()
	for name, text := range b.setup.Keep {
		keep[name] = text
	}
	keep[setupURLKey], keep[stateKey] = secret.New(b.setup.URL), secret.New(b.state)
	sealed, err := s.seal(tx.Organization(), a.ID, keep)
	if err != nil {
		return err
	}
	c.Attempt = &a
	return insertAttempt(ctx, tx, a, hashOf(b.state), sealed)
}

// hashOf returns the hash of a state.
func hashOf(state string) string {
	sum := sha256.Sum256([]byte(state))
	return hex.EncodeToString(sum[:])
}

// endAttempts ends the setups of a connection that are not finished.
func (s *Service) endAttempts(ctx context.Context, tx *db.Tx, connectionID, why string) error {
	return failAttempts(ctx, tx, connectionID, why)
}

// withAttempt adds the latest setup of a connection, with its page if it can still be opened.
func (s *Service) withAttempt(ctx context.Context, tx *db.Tx, c *Connection) error {
	a, err := selectAttempt(ctx, tx, c.ID)
	if err != nil || a == nil {
		return err
	}
	if a.Status == AttemptPending && !a.ExpiresAt.After(tx.Now()) {
		a.Status = AttemptExpired
	}
	if a.Status == AttemptPending {
		if kept, err := s.unseal(tx.Organization(), a.ID, a.sealed); err == nil {
			a.SetupURL = kept[setupURLKey].Reveal()
		}
	}
	c.Attempt = a
	return nil
}
