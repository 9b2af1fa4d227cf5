package site_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/site"
	"github.com/bursarhq/bursar/internal/provider/plaid/plaidtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/provider/quickbooks/quickbookstest"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// connecting is a service whose accounts are connected on pages of providers.
type connecting struct {
	*service
	books *quickbookstest.Server
	bank  *plaidtest.Server
}

const appURL = "https://app.acme.example"

func eachConnecting(t *testing.T, test func(s *connecting)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) { test(startConnecting(t, c)) })
}

func startConnecting(t *testing.T, c db.Config) *connecting {
	t.Helper()
	s := &connecting{books: quickbookstest.New("USD", false), bank: plaidtest.New()}
	var now func() time.Time
	clock := func() time.Time { return now() }
	providertest.Start(t, s.books, clock)
	providertest.Start(t, s.bank, clock)
	s.service = start(t, c, func(_ *site.Config, a *app.Config) {
		a.ProviderURLs = map[string]string{"quickbooks": s.books.URL, "plaid": s.bank.URL}
		a.Registered = app.Registrations{"quickbooks": s.books.Tokens().Client, "plaid": plaidtest.Client}
		a.AllowPrivate, a.ReturnURLs = true, []string{appURL}
	})
	now = s.now.Now
	return s
}

// begin begins a setup, and returns the connection.
func (s *connecting) begin(provider, returnTo string) connection.Connection {
	s.Helper()
	p := connection.CreateParams{Provider: provider, ReturnTo: returnTo, LegalEntityIDs: []string{s.made.LegalEntity.ID}}
	in, err := s.app.Connections.Inspect(s.asOwner(), p)
	s.must(err)
	c, err := s.app.Connections.Create(s.asOwner(), p, in)
	s.must(err)
	return c
}

// status returns the state of a connection.
func (s *connecting) status(id string) connection.Status {
	s.Helper()
	c, err := s.app.Connections.Get(s.asOwner(), id)
	s.must(err)
	return c.Status
}

// consents opens the page of QuickBooks, and returns where it sends the browser back to.
func (s *connecting) consents(c connection.Connection) string {
	s.Helper()
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := browser.Get(c.Attempt.SetupURL)
	s.must(err)
	response.Body.Close()
	return s.back(response.Header.Get("Location"))
}

// back returns the path of an address of the service.
func (s *connecting) back(address string) string {
	s.Helper()
	path, ok := strings.CutPrefix(address, s.url)
	if !ok || !strings.HasPrefix(path, app.SetupPath+"?") {
		s.Fatalf("the browser is sent back to %q", address)
	}
	return path
}

// stateOf returns the state of a setup.
func stateOf(c connection.Connection) string {
	u, _ := url.Parse(c.Attempt.SetupURL)
	return u.Query().Get("state")
}

const nothing = "There is nothing to finish"

func TestTheSetupOfAConnectionEndsOnAPage(t *testing.T) {
	eachConnecting(t, func(s *connecting) {
		p := s.visitor()
		c := s.begin("quickbooks", "")
		path := s.consents(c)
		r, err := http.NewRequestWithContext(s.Context(), http.MethodHead, s.url+path, http.NoBody)
		s.must(err)
		head, err := p.Do(r)
		s.must(err)
		head.Body.Close()
		if head.StatusCode != http.StatusNotFound || s.status(c.ID) != connection.PendingSetup {
			s.Errorf("a look at the headers: %d %s", head.StatusCode, s.status(c.ID))
		}
		a := p.get(path).wants("finished", 200, app.SetupPath, "QuickBooks Online is connected", "Nothing is sent", "You can close this page.")
		a.wantsSecure("finished")
		if s.status(c.ID) != connection.Active || strings.Contains(a.text, stateOf(c)) {
			s.Errorf("%s: %s", s.status(c.ID), a.text)
		}
		p.get(path).wants("again", 200, app.SetupPath, "QuickBooks Online is connected")
		if s.status(c.ID) != connection.Active {
			s.Error("the page was opened twice, and the connection is gone")
		}
	})
}

func TestTheSetupOfAConnectionLeadsBackToTheAddressThatWasGiven(t *testing.T) {
	eachConnecting(t, func(s *connecting) {
		p := s.visitor()
		c := s.begin("quickbooks", appURL+"/connections?step=2")
		a := p.get(s.consents(c))
		if got := a.location().String(); got != appURL+"/connections?step=2" || s.status(c.ID) != connection.Active {
			s.Errorf("leads to %s: %s", got, s.status(c.ID))
		}
		a.wantsSecure("the redirect")

		// After a failure, the page leads back, too.
		c = s.begin("quickbooks", appURL+"/connections")
		a = p.get(app.SetupPath+"?error=access_denied&state="+stateOf(c)).wants("denied", 403, "", "Not connected",
			"The access was denied in QuickBooks", "Nothing was connected", "Go back")
		if !strings.Contains(a.text, `href="`+appURL+`/connections"`) {
			s.Errorf("%s", a.text)
		}
	})
}

func TestASetupThatFailedSaysWhy(t *testing.T) {
	eachConnecting(t, func(s *connecting) {
		p := s.visitor()
		for query, want := range map[string]struct {
			status int
			words  string
		}{
			"error=access_denied":                           {403, "The access was denied"},
			"error=%3Cscript%3Ealert(1)%3C/script%3E%ff":    {409, "ended the setup with the error"},
			"code=other&realmId=9130357992231":              {401, "The access to QuickBooks Online has ended"},
			"realmId=9130357992231":                         {409, "without a code"},
			"code=%00&realmId=../../x":                      {409, "without a company"},
			"error=server_error&error_description=whatever": {409, `with the error "server_error"`},
		} {
			c := s.begin("quickbooks", "")
			a := p.get(app.SetupPath+"?"+query+"&state="+stateOf(c)).wants(query, want.status, "", "Not connected", want.words,
				"start once more")
			a.wantsSecure(query)
			if strings.Contains(a.text, "<script>alert") || s.status(c.ID) != connection.PendingSetup {
				s.Errorf("%s: %s: %s", query, s.status(c.ID), a.text)
			}
			p.get(app.SetupPath+"?"+query+"&state="+stateOf(c)).wants("again", 404, "", nothing)
		}
	})
}

func TestAProviderThatIsDownWhenASetupEndsCanBeAskedAgain(t *testing.T) {
	eachConnecting(t, func(s *connecting) {
		p := s.visitor()
		c := s.begin("quickbooks", "")
		path := s.consents(c)
		s.books.FailAt(1, providertest.Status(http.StatusBadGateway, "", "", "a secret reason"))
		a := p.get(path).wants("down", 503, app.SetupPath, "Not available at present", "QuickBooks", "Nothing is lost", "Try again")
		a.wantsSecure("down")
		if strings.Contains(a.text, "secret reason") || s.status(c.ID) != connection.PendingSetup {
			s.Errorf("%s: %s", s.status(c.ID), a.text)
		}
		for n := range a.root.Descendants() {
			if to, ok := attribute(n, "href"); ok && n.Data == "a" {
				p.get(to).wants("up again", 200, app.SetupPath, "QuickBooks Online is connected")
			}
		}
		if s.status(c.ID) != connection.Active {
			s.Error(s.status(c.ID))
		}
		if strings.Contains(s.log.String(), stateOf(c)) || strings.Contains(s.log.String(), "code") {
			s.Errorf("%s", s.log.String())
		}
	})
}

func TestASetupWithoutConsentByRedirectEndsOnThePageToo(t *testing.T) {
	eachConnecting(t, func(s *connecting) {
		p := s.visitor()
		c := s.begin("plaid", "")
		sign := func(gives bool) string {
			s.bank.Mu.Lock()
			defer s.bank.Mu.Unlock()
			return s.bank.SignIn(gives)
		}
		a := p.get(s.back(sign(false))).wants("gave up", 409, app.SetupPath, "Not finished yet", "without having finished", "Go on at Plaid")
		a.wantsSecure("gave up")
		if !strings.Contains(a.text, `href="`+c.Attempt.SetupURL+`"`) || s.status(c.ID) != connection.PendingSetup {
			s.Errorf("%s: %s", s.status(c.ID), a.text)
		}
		p.get(s.back(sign(true))).wants("signed in", 200, app.SetupPath, "Plaid is connected", "reads the account by itself")
		if s.status(c.ID) != connection.Active {
			s.Error(s.status(c.ID))
		}
	})
}

func TestAStateThatNoSetupHasRevealsNothing(t *testing.T) {
	eachConnecting(t, func(s *connecting) {
		c := s.begin("quickbooks", appURL+"/connections")
		path := s.consents(c)
		s.now.Advance(25 * time.Hour)
		want := ""
		for name, p := range map[string]*person{"a visitor": s.visitor(), "another": s.visitor()} {
			for _, path := range []string{path, app.SetupPath, app.SetupPath + "?state=", app.SetupPath + "?state=x&code=y", app.SetupPath + "?%zz",
				app.SetupPath + "?state=%00%ff", app.SetupPath + "?state=" + strings.Repeat("x", 5000)} {
				a := p.get(path).wants(name+" "+path, 404, "", nothing, "has expired", "bursar connections list",
					"bursar connections reauthorize", "How accounts are connected")
				a.wantsSecure(path)
				if want == "" {
					want = a.text
				}
				if a.text != want {
					s.Errorf("%s differs: %s", path, a.text)
				}
			}
		}
		if !strings.Contains(want, `href="/docs/guides/connect-an-account"`) {
			s.Errorf("there is no link: %s", want)
		}
		if strings.Contains(want, "QuickBooks") || strings.Contains(want, appURL) {
			s.Errorf("%s", want)
		}
	})
}

// The ways to write an address that a browser, or somebody who reads it, may take for another one. app.acme.example is allowed.
var hostileAddresses = []string{
	"https://app.acme.example@evil.example/", "https://app.acme.example:pass@evil.example/", "https://evil.example@app.acme.example/",
	"//evil.example/", "///evil.example/", "/evil", "https:evil.example", "https:/evil.example", "https:///evil.example", "evil.example",
	`\\evil.example`, `https:\\evil.example`, `https://evil.example\@app.acme.example`, `https://app.acme.example\@evil.example`,
	`https://app.acme.example\.evil.example`, `https://evil.example\app.acme.example`,
	"HTTPS://evil.example", "HTTP://app.acme.example", "http://app.acme.example", "ftp://app.acme.example", "javascript:alert(1)",
	"JavaScript://app.acme.example/%0aalert(1)", "data:text/html,x", "https://APP.acme.example", "https://app.acme.example.",
	"https://app.acme.example.evil.example", "https://app.acme.example%2eevil.example", "https://app.acme.example%00.evil.example",
	"https://evil.example#@app.acme.example", "https://app.acme.example/#https://evil.example",
	"https://evil.example?https://app.acme.example",
	"https://evil.example/https://app.acme.example", "https://app.acme.example:443", "https://app.acme.example:8443",
	"https://app.acme.example:x",
	"https://app.acmé.example", "https://app\u3002acme\u3002example", "https://app.аcme.example",
	"https://app.acme.example\u2044.evil.example",
	"https://xn--app-acme-example.evil.example", "https://app.acme.example\t.evil.example", "https://app.acme.example\r\nLocation: x",
	" https://app.acme.example", "https://app.acme.example /", "http://127.0.0.1.evil.example", "http://127.0.0.1@evil.example",
	"http://[::1]@evil.example", "http://localhost.evil.example", "https://", "https://:443",
}

func TestABrowserIsNotSentToAnAddressThatIsNotAllowedWhenASetupBegins(t *testing.T) {
	eachConnecting(t, func(s *connecting) {
		c := s.begin("quickbooks", "")
		for _, to := range hostileAddresses {
			p := connection.CreateParams{Provider: "quickbooks", ReturnTo: to, LegalEntityIDs: []string{s.made.LegalEntity.ID}}
			_, creating := s.app.Connections.Inspect(s.asOwner(), p)
			_, again := s.app.Connections.InspectReauthorize(s.asOwner(), c.ID, to, "")
			for _, err := range []error{creating, again} {
				var f *fault.Error
				if !errors.As(err, &f) || f.Kind != fault.Invalid || len(f.Fields) != 1 || f.Fields[0].Name != "redirect_url" {
					s.Errorf("%q: %v", to, err)
				}
			}
		}
		for _, to := range []string{appURL, appURL + "/", "HTTPS" + strings.TrimPrefix(appURL, "https"), appURL + "/a?b=https://c.example",
			appURL + "/https://evil.example", appURL + `/\evil.example`, appURL + "//evil.example"} {
			if got := s.begin("quickbooks", to).Attempt.ReturnTo; got != to {
				s.Errorf("%q: %q", to, got)
			}
		}
	})
}

// What is stored may be from a time when the operator allowed other addresses.
func TestABrowserIsNotSentToAnAddressThatIsNotAllowedWhenASetupEnds(t *testing.T) {
	eachConnecting(t, func(s *connecting) {
		p := s.visitor()
		for _, to := range append(hostileAddresses, "https://formerly-allowed.example/connections") {
			if strings.ContainsAny(to, "\x00\t\r\n") {
				continue
			}
			c := s.begin("quickbooks", appURL+"/connections")
			s.must(s.app.DB.Write(s.asOwner(), s.made.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, `UPDATE authorization_attempts SET return_to = ? WHERE organization_id = @org AND authorization_attempt_id = ?`, to, c.Attempt.ID)
				return err
			}))
			denied := p.get(app.SetupPath+"?error=access_denied&state="+stateOf(c)).wants(to, 403, "", "Not connected")
			if strings.Contains(denied.text, "Go back") || strings.Contains(denied.text, "evil.example") {
				s.Errorf("%q: %s", to, denied.text)
			}
		}
		c := s.begin("quickbooks", appURL)
		path := s.consents(c)
		s.must(s.app.DB.Write(s.asOwner(), s.made.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE authorization_attempts SET return_to = ? WHERE organization_id = @org AND authorization_attempt_id = ?`, "https://evil.example",
				c.Attempt.ID)
			return err
		}))
		p.get(path).wants("finished", 200, app.SetupPath, "QuickBooks Online is connected", "You can close this page.")
	})
}
