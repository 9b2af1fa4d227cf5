package site_test

import (
	"bytes"
	"context"
	"errors"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/site"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/provider/kraken/krakentest"
	"github.com/bursarhq/bursar/internal/provider/plaid/plaidtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/provider/quickbooks/quickbookstest"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/tenancy/team"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

const finance = "finance@northwind.example"

// asking is a service with an accounting firm, and fakes of providers.
type asking struct {
	*connecting
	exchange *krakentest.Server
	firm     organization.Created
	mu       sync.Mutex
}

func eachAsking(t *testing.T, test func(s *asking)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) { test(startAsking(t, c)) })
}

func startAsking(t *testing.T, c db.Config) *asking {
	t.Helper()
	s := &asking{connecting: &connecting{books: quickbookstest.New("USD", false), bank: plaidtest.New()}, exchange: krakentest.New()}
	var now func() time.Time
	clock := func() time.Time { return now() }
	providertest.Start(t, s.books, clock)
	providertest.Start(t, s.bank, clock)
	providertest.Start(t, s.exchange, clock)
	s.service = start(t, c, func(_ *site.Config, a *app.Config) {
		a.ProviderURLs = map[string]string{"quickbooks": s.books.URL, "plaid": s.bank.URL, "kraken": s.exchange.URL}
		a.Registered = app.Registrations{"quickbooks": s.books.Tokens().Client, "plaid": plaidtest.Client}
		a.AllowPrivate = true
	})
	now = s.now.Now
	s.app.FirmRequests.Deliver = func(_ context.Context, m mail.Message) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.mails = append(s.mails, m)
		return true
	}
	var err error
	s.firm, err = s.app.Org.Create(t.Context(), organization.CreateParams{Name: "Ledger", Email: "pat@ledger.example", Currency: "USD",
		Timezone: "UTC"})
	s.must(err)
	_, err = s.app.Firms.UpdateSettings(s.asFirm(), firm.UpdateSettingsParams{FirmName: new("Ledger & Partners"),
		WebAddress: new("https://ledger.example/about")})
	s.must(err)
	return s
}

// asFirm returns a context in which the owner of the firm acts.
func (s *asking) asFirm() context.Context {
	return actor.With(s.Context(), actor.Actor{OrganizationID: s.firm.Organization.ID, UserID: s.firm.Owner.UserID, Role: actor.Owner,
		Scopes: actor.Scopes})
}

// members returns the members of a client.
func (s *asking) members(organizationID string) []access.Member {
	s.Helper()
	found, err := s.app.Access.Members(s.asClient(organizationID), page.Request{Limit: 10})
	s.must(err)
	return found.Items
}

// newClient adds a client. One without existing books gets new ones.
func (s *asking) newClient(existing bool) firm.Client {
	s.Helper()
	p := firm.CreateClientParams{Name: "Northwind", Email: finance, BaseCurrency: "USD", Timezone: "UTC"}
	if existing {
		p = firm.CreateClientParams{Name: "Acme", Email: ada, Existing: true}
	}
	c, err := s.app.Firms.CreateClient(s.asFirm(), p)
	s.must(err)
	return c
}

// asClient returns a context in which the books of a client are read.
func (s *asking) asClient(organizationID string) context.Context {
	return actor.With(s.Context(), actor.Actor{OrganizationID: organizationID})
}

// ask asks a client for accounts at providers, and returns the request with the path of its link.
func (s *asking) ask(c firm.Client, providers ...string) (firmrequest.Request, string) {
	s.Helper()
	p := firmrequest.CreateParams{ClientID: c.ID, Message: "Hello <script>alert(1)</script>\nthank you"}
	for _, name := range providers {
		p.Integrations = append(p.Integrations, firmrequest.AskParams{Provider: name})
	}
	sent, err := s.app.FirmRequests.Prepare(s.asFirm(), p)
	s.must(err)
	r, err := s.app.FirmRequests.Create(s.asFirm(), p, sent)
	s.must(err)
	return r, s.linkTo(c.Email)
}

// access reads which firms have access to the books of the owner, or had.
func (s *asking) access() []firm.Access {
	s.Helper()
	found, err := s.app.Firms.AccessList(s.asOwner(), page.Request{Limit: 10})
	s.must(err)
	return found.Items
}

// request reads a request.
func (s *asking) request(id string) firmrequest.Request {
	s.Helper()
	r, err := s.app.FirmRequests.Get(s.asFirm(), id)
	s.must(err)
	return r
}

// connections returns the connections of a client.
func (s *asking) connections(organizationID string) []connection.Connection {
	s.Helper()
	found, err := s.app.Connections.List(s.asClient(organizationID), connection.Filter{}, page.Request{Limit: 100})
	s.must(err)
	return found.Items
}

// sources returns the sources of a client.
func (s *asking) sources(organizationID string) []source.Guided {
	s.Helper()
	found, err := s.app.Sources.List(s.asClient(organizationID), source.Filter{}, page.Request{Limit: 100})
	s.must(err)
	return found.Items
}

// uploads sends a form with a file.
func (p *person) uploads(path, name, content string, fields ...string) answer {
	p.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		p.must(w.WriteField(fields[i], fields[i+1]))
	}
	part, err := w.CreateFormFile("file", name)
	p.must(err)
	_, err = part.Write([]byte(content))
	p.must(err)
	p.must(w.Close())
	return p.sendBody(http.MethodPost, path, &b, "Content-Type", w.FormDataContentType())
}

const (
	dead = "This link does not work"

	unclear   = "Date,Description,Amount,Currency\n01/10/2026,Rent,-1200.00,USD\n05/10/2026,Invoice 7,5000.00,USD\n"
	statement = "Date,Description,Amount,Currency\n2026-10-01,Rent,-1200.00,USD\n2026-10-02,Invoice 7,5000.00,USD\n"
)

func TestAClientConnectsWhatAFirmAsksForByALink(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		r, path := s.ask(c, "kraken", "file")
		p := s.visitor()
		first := p.get(path).wants("the link", 200, path, "Ledger & Partners asks you to connect your accounts", "pat@ledger.example",
			"Northwind", "Hello <script>alert(1)</script>", "ledger.example", "Kraken", "Files", "Become the owner", "You can answer until",
			"That is all")
		first.wantsSecure("the link")
		if strings.Contains(first.text, "<script>alert") {
			s.Errorf("%s", first.text)
		}
		form := p.get(path+"/0").wants("the form", 200, path+"/0", "Connect Kraken", "API key", "Private key", "Query ledger entries")
		form.wantsSecure("the form")
		form.submit(path+"/0", "field_api_key", "wrong", "field_api_secret", "c2VjcmV0").
			wants("wrong keys", 400, path+"/0", "Connect Kraken")
		fields := []string{}
		for name, value := range s.exchange.Credentials() {
			fields = append(fields, "field_"+name, value)
		}
		answer := form.submit(path+"/0", fields...).wants("connected", 200, path+"?done=connected", "The account is connected.", "Connected",
			"That is all")
		for name, value := range s.exchange.Credentials() {
			if strings.Contains(answer.text, value) {
				s.Errorf("the page shows the %s", name)
			}
		}
		made := s.connections(c.OrganizationID)
		if got := s.request(r.ID); len(made) != 1 || made[0].Provider != "kraken" || got.Integrations[0].ConnectionID != made[0].ID ||
			got.Integrations[0].Status != firmrequest.Connected || got.Status != firmrequest.Pending {
			s.Errorf("%+v\n%+v", got, made)
		}
		p.get(path+"/0").wants("again", 404, "", dead)
		s.wantsRecorded(c.OrganizationID, r, "connection", made[0].ID)

		p.get(path+"/1").wants("the form for files", 200, path+"/1", "Upload Files", "What you call the account", "CSV, OFX, QFX or JSON")
		p.uploads(path+"/1/file", "x.csv", "", "source_name", "Bank", "source_type", "bank").
			wants("empty", 400, "", "must not be empty", "[Bank]")
		p.uploads(path+"/1/file", "x.csv", statement, "source_name", "", "source_type", "bank").wants("no name", 400, "", "The name must have")
		p.uploads(path+"/1/file", "x.csv", statement, "source_name", "Bank", "source_type", "wallet").
			wants("a type", 400, "", "The kind must be one of those")
		p.uploads(path+"/1/file", "x.png", "\x89PNG\r\n\x1a\n\x00\x00", "source_name", "Bank", "source_type", "bank").
			wants("no statement", 400, "", "The file")
		p.uploads(path+"/1/file", "october.csv", statement, "source_id", "src_0", "source_name", "Bank", "source_type", "bank").
			wants("another source", 404, "", "The account")
		if left := s.sources(c.OrganizationID); len(left) != 1 {
			s.Errorf("files that were refused have left %+v", left)
		}
		p.uploads(path+"/1/file", "x.csv", statement, "source_name", "\x00", "source_type", "bank").
			wants("a name that PostgreSQL cannot store", 400, "", "The name must have")
		p.uploads(path+"/1/file", "x.csv", statement, "source_name", "two\nlines", "source_type", "bank").
			wants("a name of two lines", 400, "", "must be one line")
		p.uploads(path+"/1/file", "x.csv", unclear, "source_name", "Bank", "source_type", "bank").
			wants("columns that nobody can guess", 400, "", "Send it to Ledger & Partners in another way")
		p.uploads(path+"/1/file", "october.csv", statement, "source_name", "Bank of Northwind", "source_type", "bank", "currency", "USD").
			wants("uploaded", 200, path+"?done=uploaded", "Uploaded", "Upload another")
		bank := s.sources(c.OrganizationID)[1].ID
		all := p.uploads(path+"/1/file", "november.csv", strings.ReplaceAll(statement, "-10-", "-11-"), "source_id", bank, "source_type", "bank").
			wants("another file", 200, path+"?done=uploaded", "Uploaded")
		done := all.submit(path+"/done").wants("done", 200, "", "Thank you, that is all", "Ledger & Partners sees that you are done",
			"can send you another link by which you become their owner")
		done.wantsSecure("done")
		p.get(path).wants("after that", 404, "", dead)
		got := s.request(r.ID)
		files, err := s.app.Imports.List(s.asClient(c.OrganizationID), imports.Filter{}, page.Request{Limit: 10})
		s.must(err)
		if got.Status != firmrequest.Completed || got.EndedBy != firmrequest.ByClient || len(files.Items) != 2 ||
			got.Integrations[1].ImportID != files.Items[0].ID || got.Integrations[1].Status != firmrequest.Connected {
			s.Errorf("%+v %+v", got, files.Items)
		}
		s.wantsRecorded(c.OrganizationID, r, "import", files.Items[0].ID)
		if left := s.sources(c.OrganizationID); len(left) != 2 || left[1].Name != "Bank of Northwind" || files.Items[0].SourceID != left[1].ID {
			s.Errorf("%+v %+v", left, files.Items)
		} else {
			s.wantsRecorded(c.OrganizationID, r, "source", left[1].ID)
		}
		if link := strings.TrimPrefix(path, "/requests/"); strings.Contains(s.log.String(), link) {
			s.Errorf("the log has the link: %s", s.log.String())
		}
	})
}

// wantsRecorded checks that the books of the client say by which request something was made.
func (s *asking) wantsRecorded(organizationID string, r firmrequest.Request, kind, id string) {
	s.Helper()
	log, err := s.app.Audit.List(s.asClient(organizationID), audit.Filter{ResourceID: id}, page.Request{Limit: 100})
	s.must(err)
	f, err := s.app.Firms.GetSettings(s.asFirm())
	s.must(err)
	named := slices.ContainsFunc(log.Items, func(l audit.LogRecord) bool {
		return l.ResourceType == kind && l.Action == "firm_request.used" && l.FirmID == "" && strings.Contains(l.After, r.ID) &&
			strings.Contains(l.After, f.ID)
	})
	if !named {
		s.Errorf("%s %s: %+v", kind, id, log.Items)
	}
}

func TestAnOwnerOfExistingBooksGivesAFirmAccessAndAnotherFirmLosesIt(t *testing.T) {
	eachAsking(t, func(s *asking) {
		_, err := s.app.Firms.UpdateSettings(s.asOwner(), firm.UpdateSettingsParams{FirmName: new("Acme")})
		s.must(err)
		other, err := s.app.Org.Create(s.Context(), organization.CreateParams{Name: "Abacus", Email: "ann@abacus.example", Currency: "USD",
			Timezone: "UTC"})
		s.must(err)
		asOther := actor.With(s.Context(), actor.Actor{OrganizationID: other.Organization.ID, UserID: other.Owner.UserID, Role: actor.Owner})
		_, err = s.app.Firms.UpdateSettings(asOther, firm.UpdateSettingsParams{FirmName: new("Abacus LLP")})
		s.must(err)
		before, err := s.app.Firms.CreateClient(asOther, firm.CreateClientParams{Name: "Acme", Email: ada, Existing: true})
		s.must(err)
		_, err = s.app.Firms.Accept(s.asOwner(), firm.AcceptParams{FirmOrganizationID: other.Organization.ID, ClientID: before.ID})
		s.must(err)

		c := s.newClient(true)
		r, path := s.ask(c, "kraken")
		p := s.visitor()
		p.get(path).wants("not signed in", 200, path, "asks for access to your books", "It will be able to", "Kraken",
			"sign in with the account")
		p.get(path+"/0").wants("not granted", 404, "", dead)
		p.send(http.MethodPost, path+"/done", nil).wants("done already", 409, "", "has no access to your books yet")
		p.send(http.MethodPost, path+"/grant", nil).wants("granted by nobody", 200,
			"/sign-in?next=%2Frequests%2F", "with which you own the books")

		s.must(s.app.Identity.SetPassword(s.Context(), other.Owner.UserID, secret.New(good), identity.Origin{}))
		stranger := s.visitor()
		page := stranger.signIn(path, "ann@abacus.example", good).wants("another firm", 200, path, "Abacus")
		page.submit(path+"/grant", "organization_id", s.made.Organization.ID).wants("foreign books", 404, "", "does not exist")

		page = p.signIn(path, ada, good).wants("signed in", 200, path, "Acme", "Abacus LLP works for it now, and loses its access.",
			"Give access to Ledger & Partners")
		page.submit(path+"/grant", "user_id", other.Owner.UserID).wants("somebody else", 409, path, "signed in as somebody else")
		s.now.Advance(20 * time.Minute)
		page.submit(path+"/grant").wants("too long ago", 200, "/confirm?next=%2Frequests%2F").submit("/confirm", "password", good).
			wants("confirmed", 200, path, "Give access").submit(path+"/grant").
			wants("granted", 200, path+"?done=granted", "Access was granted.", "What to connect", "Kraken")
		list := s.access()
		if len(list) != 2 || list[0].ClientID != c.ID || list[0].Status != firm.Active || list[0].GrantedBy != s.made.Owner.UserID ||
			list[1].Status != firm.Ended {
			s.Errorf("%+v", list)
		}
		page = p.get(path)
		if strings.Contains(page.text, "Become the owner") {
			s.Errorf("books with an owner are given away: %s", page.text)
		}
		p.send(http.MethodPost, path+"/own", nil).wants("owned", 409, path, "have an owner already")
		page.submit(path+"/decline").wants("declined", 200, "", "You have declined", "still has access to your books")
		if got := s.request(r.ID); got.Status != firmrequest.Cancelled || got.EndedBy != firmrequest.ByClient {
			s.Errorf("%+v", got)
		}
		p.get(path).wants("after that", 404, "", dead)

		// The page of the account shows the firm, and ends its access.
		account := p.get("/account").wants("the account", 200, "/account", "Accounting firms", "Ledger & Partners", "Keeps the books of Acme")
		stranger = s.visitor()
		stranger.signIn("/account", "ann@abacus.example", good)
		if text := stranger.get("/account").text; strings.Contains(text, "Keeps the books of") {
			s.Errorf("an owner of other books: %s", text)
		}
		end := "/account/firms/" + s.made.Organization.ID + "/" + c.ID + "/end"
		stranger.send(http.MethodPost, end, nil).wants("by somebody else", 404, "", "")
		if got := s.access()[0].Status; got != firm.Active {
			s.Errorf("somebody else has ended the access: %s", got)
		}
		account.submit(end).wants("ended", 200, "/account", "The access has ended.")
		if list := s.access(); list[0].Status != firm.Ended || list[0].EndedBy != s.made.Owner.UserID {
			s.Errorf("%+v", list[0])
		}
	})
}

func TestARequestForAccessOnlyIsCompletedByIt(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(true)
		r, path := s.ask(c)
		p := s.visitor()
		p.signIn(path, ada, good).wants("signed in", 200, path, "asks for access").submit(path+"/grant").
			wants("granted", 200, "", "Thank you, that is all", "has access to the books")
		if got := s.request(r.ID); got.Status != firmrequest.Completed {
			s.Errorf("%+v", got)
		}
		_, err := s.app.FirmRequests.Prepare(s.asFirm(), firmrequest.CreateParams{ClientID: c.ID})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Fields[0].Name != "integrations" {
			s.Errorf("access that was given is asked for: %v", err)
		}
	})
}

func TestSomebodyOfAClientBecomesTheOwnerOfBooksThatTheFirmHasCreated(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		r, path := s.ask(c, "kraken")
		only, _ := s.ask(c)
		p := s.visitor()
		p.get(path).wants("the request", 200, path, "Become the owner")
		form := p.get(path+"/own").wants("the form", 200, path+"/own", "Become the owner of Northwind", finance, "with the role")
		form.wantsSecure("the form")
		form.submit("", "name", "Nora", "password", "short", "again", "short").wants("a bad password", 400, path+"/own", "Become the owner")
		form.submit("", "name", "Nora", "password", "seven lanterns drift", "again", "seven lanterns drift").
			wants("joined", 200, path+"?done=owner", "You are the owner of the books now.", "Kraken")
		if page := p.get(path); strings.Contains(page.text, "Become the owner") {
			s.Errorf("%s", page.text)
		}
		if members := s.members(c.OrganizationID); len(members) != 1 || members[0].Email != finance || members[0].Role != actor.Owner {
			s.Errorf("%+v", members)
		} else {
			s.wantsRecorded(c.OrganizationID, r, "member", members[0].UserID)
		}
		form.submit("", "name", "Nora", "password", "seven lanterns drift", "again", "seven lanterns drift").
			wants("once more", 409, "", "have an owner already")
		p.get(s.linkTo(finance)).wants("what only asked for an owner", 200, "", "Thank you, that is all")
		if got := s.request(only.ID); got.Status != firmrequest.Completed {
			s.Errorf("%+v", got)
		}
		if got := s.request(r.ID); got.Status != firmrequest.Pending {
			s.Errorf("%+v", got)
		}
	})
}

func TestAClientConnectsAnAccountOnAPageOfItsProviderAndComesBack(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		r, path := s.ask(c, "quickbooks", "plaid")
		p := s.visitor()
		begun := p.get(path+"/0").wants("the form", 200, path, "QuickBooks Online asks you on a page of its own").submit(path+"/0").
			wants("begun", 200, path+"/0", "Go on at QuickBooks Online")
		begun.wantsSecure("begun")
		made := s.connections(c.OrganizationID)
		if len(made) != 1 || made[0].Status != connection.PendingSetup {
			s.Fatalf("%+v", made)
		}
		got, err := s.app.Connections.Get(s.asClient(c.OrganizationID), made[0].ID)
		s.must(err)
		if strings.Contains(got.Attempt.ReturnTo, "requests") {
			s.Errorf("the link is stored: %s", got.Attempt.ReturnTo)
		}
		p.get(path).wants("meanwhile", 200, path, "Go on")
		p.send(http.MethodPost, path+"/0", nil).wants("begun twice", 200, path+"/0", "Go on at QuickBooks Online")
		if n := len(s.connections(c.OrganizationID)); n != 1 {
			s.Errorf("%d connections", n)
		}
		p.get(s.consents(got)).wants("back", 200, path+"?done=connected", "The account is connected.", "Connected")
		if r := s.request(r.ID); r.Integrations[0].Status != firmrequest.Connected || r.Status != firmrequest.Pending {
			s.Errorf("%+v", r)
		}

		// The browser does not come back from the other one, and the sweep finds it finished.
		p.get(path+"/1").submit(path+"/1").wants("begun", 200, path+"/1", "Go on at Plaid")
		s.bank.Mu.Lock()
		s.bank.SignIn(true)
		s.bank.Mu.Unlock()
		s.must(s.app.Connections.Sweep(s.Context()))
		s.must(s.app.FirmRequests.Sweep(s.Context()))
		if r := s.request(r.ID); r.Integrations[1].Status != firmrequest.Connected || r.Status != firmrequest.Completed {
			s.Errorf("%+v", r)
		}
	})
}

func TestACancelledRequestEndsSetupsThatAreNotFinishedAndItsLink(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		r, path := s.ask(c, "quickbooks", "kraken")
		p := s.visitor()
		p.get(path+"/0").submit(path+"/0").wants("begun", 200, path+"/0", "Go on at QuickBooks Online")
		setup, err := s.app.Connections.Get(s.asClient(c.OrganizationID), s.connections(c.OrganizationID)[0].ID)
		s.must(err)
		form := p.get(path + "/1")
		fields := []string{}
		for name, value := range s.exchange.Credentials() {
			fields = append(fields, "field_"+name, value)
		}
		if _, err := s.app.FirmRequests.Cancel(s.asFirm(), r.ID); err != nil {
			s.Fatal(err)
		}
		got := s.connections(c.OrganizationID)
		if len(got) != 1 || got[0].Status != connection.Disconnected {
			s.Errorf("%+v", got)
		}
		p.get(path).wants("cancelled", 404, "", dead)
		form.submit(path+"/1", fields...).wants("a form that was open", 404, "", dead)
		p.uploads(path+"/1/file", "x.csv", statement).wants("a file", 404, "", dead)
		p.get(s.consents(setup)).wants("consented too late", 404, "", nothing)
		if n := len(s.connections(c.OrganizationID)); n != 1 {
			s.Errorf("%d connections", n)
		}
		if _, err := s.app.FirmRequests.Cancel(s.asFirm(), r.ID); fault.KindOf(err) != fault.Conflict {
			s.Errorf("cancelled twice: %v", err)
		}
	})
}

func TestARequestThatIsCancelledWhileTheProviderIsAskedConnectsNothing(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		r, path := s.ask(c, "kraken")
		p := s.visitor()
		form := p.get(path + "/0")
		fields := []string{}
		for name, value := range s.exchange.Credentials() {
			fields = append(fields, "field_"+name, value)
		}
		cancel := sync.OnceFunc(func() {
			if _, err := s.app.FirmRequests.Cancel(s.asFirm(), r.ID); err != nil {
				s.Error(err)
			}
		})
		s.exchange.BeforeRequest(1, cancel)
		form.submit(path+"/0", fields...).wants("cancelled meanwhile", 404, "", dead)
		if got := s.connections(c.OrganizationID); len(got) != 0 {
			s.Errorf("%+v", got)
		}
	})
}

func TestALinkThatDoesNotWorkRevealsNothing(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		r, former := s.ask(c, "kraken")
		sent, err := s.app.FirmRequests.PrepareResend(s.asFirm(), r.ID)
		s.must(err)
		_, err = s.app.FirmRequests.Resend(s.asFirm(), r.ID, sent)
		s.must(err)
		current := s.linkTo(finance)
		_, ended := s.ask(c, "kraken")
		other, cancelled := s.ask(c, "file")
		_, err = s.app.FirmRequests.Cancel(s.asFirm(), other.ID)
		s.must(err)
		s.visitor().get(ended).submit(ended+"/decline").wants("declined", 200, "", "You have declined")
		p := s.visitor()
		want := ""
		check := func(what, path string) {
			s.Helper()
			a := p.get(path).wants(what, 404, "", dead)
			a.wantsSecure(what)
			if want == "" {
				want = a.text
			}
			if a.text != want {
				s.Errorf("%s differs: %s", what, a.text)
			}
			for _, action := range []string{"/grant", "/own", "/decline", "/done", "/0"} {
				p.send(http.MethodPost, path+action, nil).wants(what+action, 404, "", dead)
			}
			p.get(path+"/0").wants(what, 404, "", dead)
			p.get(path+"/own").wants(what, 404, "", dead)
			p.uploads(path+"/0/file", "x.csv", statement).wants(what, 404, "", dead)
		}
		_, invitation, err := s.app.Team.InviteWithLink(s.asClient(c.OrganizationID), team.InviteParams{Email: finance, Role: actor.Owner})
		s.must(err)
		for what, path := range map[string]string{"unknown": "/requests/bul_" + strings.Repeat("x", 43), "replaced": former, "declined": ended,
			"cancelled": cancelled, "short": "/requests/x", "hostile": "/requests/%00%ff", "of another kind": strings.Replace(
				strings.TrimPrefix(invitation.Reveal(), s.url), "/invitations/", "/requests/", 1)} {
			check(what, path)
		}
		p.get(current).wants("the current one", 200, current, "Kraken")
		for _, position := range []string{"1", "-1", "x", "99999999999999999999", "%00"} {
			p.get(current+"/"+position).wants("position "+position, 404, "", dead)
		}
		p.get(strings.Replace(current, "/requests/", "/invitations/", 1)).wants("as an invitation", 404, "", dead)
		s.now.Advance(firmrequest.Lifetime)
		check("expired", current)
		if got := s.request(r.ID); got.Status != firmrequest.Expired || got.EndedAt != nil {
			s.Errorf("%+v", got)
		}
		s.must(s.app.FirmRequests.Sweep(s.Context()))
		if got := s.request(r.ID); got.Status != firmrequest.Expired || got.EndedAt == nil || got.EndedBy != "" {
			s.Errorf("%+v", got)
		}
	})
}

func TestTheEndOfAClientEndsItsLinks(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(true)
		r, path := s.ask(c, "kraken")
		p := s.visitor()
		p.signIn(path, ada, good).submit(path+"/grant").wants("granted", 200, path, "Kraken")
		s.must(s.app.Firms.EndAccess(s.asOwner(), c.ID))
		p.get(path).wants("ended by the client", 404, "", dead)
		if got := s.request(r.ID); got.Status != firmrequest.Cancelled {
			s.Errorf("%+v", got)
		}
	})
}

func TestAnotherSiteCannotAnswerARequest(t *testing.T) {
	eachAsking(t, func(s *asking) {
		c := s.newClient(false)
		r, path := s.ask(c, "kraken", "file")
		p := s.visitor()
		for _, action := range []string{"/own", "/decline", "/done", "/0", "/1/file"} {
			p.send(http.MethodPost, path+action, nil, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site").
				wants(action, 403, "", "Another site")
		}
		if got := s.request(r.ID); got.Status != firmrequest.Pending {
			s.Errorf("%+v", got)
		}
	})
}
