package site

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/team"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// requestKept is how long a browser remembers the request from which it went to the page of a provider.
const requestKept = time.Hour

// requestPage is what the page of a request shows.
type requestPage struct {
	firmrequest.Found
	PagePath string
	UserID   string // of who is signed in
	FirmHost string // of the web address of the firm
	Choices  []firmrequest.Choice
	Chosen   string // the only one; empty if there are several, so that nobody gives access to one without having looked
}

// visitor returns who has opened the link of a request.
func (v *visit) visitor() firmrequest.Visitor {
	out := firmrequest.Visitor{Link: v.link(), RequestID: v.request}
	if v.session != nil {
		out.Person = &firmrequest.Person{UserID: v.person.UserID, SessionID: v.session.ID, Members: v.members}
	}
	return out
}

// requestPath returns the address of the page of the request whose link the address has.
func (v *visit) requestPath() string { return "/requests/" + url.PathEscape(v.r.PathValue("link")) }

// requestGone is the page for a link of a request that does not work. It says the same whether there ever was one.
func (v *visit) requestGone(err error) error { return v.deadLink(err, shown{Data: "request"}) }

// showRequest shows who asks for what. Nothing is done by opening it, because programs that look for viruses open the links in mail.
func (s *Site) showRequest(v *visit) error {
	f, err := s.app.FirmRequests.Refresh(v.r.Context(), v.visitor())
	if err != nil {
		return v.requestGone(err)
	}
	if f.Status != firmrequest.Pending {
		return v.requestDone(f)
	}
	p, err := v.requestPage(f)
	if err != nil {
		return err
	}
	p.Notice = notices[v.r.URL.Query().Get("done")]
	return v.show(http.StatusOK, "request", p)
}

func (v *visit) requestPage(f firmrequest.Found) (shown, error) {
	data := requestPage{Found: f, PagePath: v.requestPath()}
	if at, err := url.Parse(f.Firm.WebAddress); err == nil {
		data.FirmHost = at.Host
	}
	if f.AsksAccess() && v.session != nil {
		var err error
		if data.Choices, err = v.app.FirmRequests.Choices(v.r.Context(), f, v.members); err != nil {
			return shown{}, err
		}
		data.UserID = v.person.UserID
		if len(data.Choices) == 1 {
			data.Chosen = data.Choices[0].OrganizationID
		}
	}
	return shown{Title: f.Title(), Data: data}, nil
}

// requestAgain shows the page of a request with what is wrong.
func (v *visit) requestAgain(err error, f firmrequest.Found) error {
	if fault.KindOf(err) == fault.NotFound {
		return v.requestGone(err)
	}
	p, failed := v.requestPage(f)
	if failed != nil {
		return failed
	}
	return v.again(err, "request", p)
}

// requestDone is the page of a request that has ended by what its visitor has just done.
func (v *visit) requestDone(f firmrequest.Found) error {
	v.config.Browser.Forget(v.w, browser.Request)
	title := "Thank you, that is all"
	if f.Status == firmrequest.Cancelled {
		title = "You have declined"
	}
	return v.show(http.StatusOK, "request-done", shown{Title: title, Data: f})
}

// grantAccess gives the firm access to an organization of the person, who must have proved recently who they are.
func (s *Site) grantAccess(v *visit) error {
	f, err := s.app.FirmRequests.Find(v.r.Context(), v.link())
	if err != nil {
		return v.requestGone(err)
	}
	now := s.app.DB.Clock().Now()
	switch {
	case v.session == nil:
		return v.redirect(withNext("/sign-in", v.requestPath()))
	case !v.session.Fresh(now):
		return v.redirect(withNext("/confirm", v.requestPath()))
	case v.value("user_id") != v.person.UserID:
		return v.requestAgain(fault.Conflictf("you have signed in as somebody else meanwhile: look at it again"), f)
	case v.value("organization_id") == "":
		return v.requestAgain(fault.Malformedf("choose an organization"), f)
	}
	who, err := identity.ActorOf(*v.session, v.members, v.value("organization_id"))
	if err != nil {
		return err
	}
	if f, err = s.app.FirmRequests.Grant(v.r.Context(), v.visitor(), who); err != nil {
		return v.requestAgain(err, f)
	}
	if f.Status != firmrequest.Pending {
		return v.requestDone(f)
	}
	return v.redirect(v.requestPath() + "?done=granted")
}

// ownershipPage is the page on which somebody becomes the owner of books that the firm has created, and that nobody owns.
func (v *visit) ownershipPage(o team.Found) shown {
	p := v.invitationPage(o)
	p.Title = "Become the owner of " + o.OrganizationName
	return p
}

func (s *Site) showOwnership(v *visit) error {
	f, o, err := s.app.FirmRequests.FindOwnership(v.r.Context(), v.link())
	if err != nil {
		return v.requestAgain(err, f)
	}
	return v.show(http.StatusOK, "invitation", v.ownershipPage(o))
}

// becomeOwner makes somebody the owner. Whoever has an account must be signed in with the address that the request was sent to.
func (s *Site) becomeOwner(v *visit) error {
	f, o, err := s.app.FirmRequests.FindOwnership(v.r.Context(), v.link())
	if err != nil {
		return v.requestAgain(err, f)
	}
	p := team.AcceptParams{Origin: v.origin}
	switch {
	case v.session != nil && v.person.Email == o.Email:
		p.Session = v.session
	case v.session != nil || o.HasAccount:
		return v.redirect(withNext("/sign-in", v.r.URL.Path))
	default:
		p.Name, p.Password = v.value("name"), v.secret("password")
		if err := matching(v); err != nil {
			return v.again(err, "invitation", v.ownershipPage(o))
		}
	}
	_, in, err := s.app.FirmRequests.BecomeOwner(v.r.Context(), v.link(), p)
	if fault.KindOf(err) == fault.NotFound {
		return v.requestGone(err)
	}
	if err != nil {
		return v.again(err, "invitation", v.ownershipPage(o))
	}
	next := v.requestPath() + "?done=owner"
	if in.Text.IsZero() {
		return v.redirect(next)
	}
	return v.welcome(in, next)
}

func (s *Site) declineRequest(v *visit) error {
	f, err := s.app.FirmRequests.Decline(v.r.Context(), v.visitor())
	if err != nil {
		return v.requestAgain(err, f)
	}
	return v.requestDone(f)
}

func (s *Site) completeRequest(v *visit) error {
	f, err := s.app.FirmRequests.Complete(v.r.Context(), v.visitor())
	if err != nil {
		return v.requestAgain(err, f)
	}
	return v.requestDone(f)
}

// keepRequest lets the browser come back to a request from the page of a provider, whose address must not contain the link.
func (v *visit) keepRequest() { v.config.Browser.Keep(v.w, browser.Request, v.link(), requestKept) }

// askedFrom returns the address of the request from which the browser went away, or nothing.
func (v *visit) askedFrom() string {
	text := v.config.Browser.Text(v.r, browser.Request)
	if text.IsZero() {
		return ""
	}
	if _, err := v.app.FirmRequests.Find(v.r.Context(), text); err != nil {
		return ""
	}
	return "/requests/" + url.PathEscape(text.Reveal())
}

// backToRequest leads to the request from which the browser went away, if what was finished now belongs to it.
func (v *visit) backToRequest(done string) (left bool, err error) {
	who := v.visitor()
	who.Link = v.config.Browser.Text(v.r, browser.Request)
	f, err := v.app.FirmRequests.Refresh(v.r.Context(), who)
	switch {
	case fault.KindOf(err) == fault.NotFound || err == nil && !f.Changed:
		return false, nil
	case err != nil:
		return true, err
	}
	v.config.Browser.Forget(v.w, browser.Request)
	if f.Status != firmrequest.Pending {
		return true, v.requestDone(f)
	}
	return true, v.redirect("/requests/" + url.PathEscape(who.Link.Reveal()) + "?done=" + done)
}

// integrationPage is what the page shows on which one account is connected.
type integrationPage struct {
	firmrequest.Found
	Item        firmrequest.Integration
	Position    int
	PagePath    string
	RequestPath string
	Advice      string
	Provider    string       // for people
	SetupURL    template.URL // the page of the provider to open, once the setup was begun
	Hosted      bool         // the account is connected on a page of the provider
	Ledger      bool         // no legal entity has to be chosen
	Fields      []fieldShown
	Repeats     bool // the account may be one that is connected already
	Types       []choiceShown
	Faults      []string // of what the form has no field for
	Unclear     bool     // the file has questions that the form has no field for
	Entered     map[string]string
}

// fieldShown is a field of a form.
type fieldShown struct {
	connection.Field
	Value string // what was entered, unless it is secret
	Long  bool   // it may have several lines
}

// choiceShown is something to choose.
type choiceShown struct{ Value, Text string }

// longField is from how many characters on a field gets several lines.
const longField = 1000

// findIntegration returns an account that is asked for, by its position in the address.
func (v *visit) findIntegration() (f firmrequest.Found, p integrationPage, err error) {
	if f, err = v.app.FirmRequests.Find(v.r.Context(), v.link()); err != nil {
		return f, p, err
	}
	position, err := strconv.Atoi(v.r.PathValue("position"))
	if err != nil {
		return f, p, fault.Missing("link")
	}
	p = integrationPage{Found: f, Position: position, RequestPath: v.requestPath(), PagePath: v.requestPath() + "/" + strconv.Itoa(position),
		Entered: map[string]string{}}
	p.Item, err = f.FindIntegration(position)
	return f, p, err
}

// fill adds what the provider of the account asks for.
func (v *visit) fill(p *integrationPage) error {
	if p.Item.IsFile() {
		p.Types = []choiceShown{{string(source.Bank), "a bank account"}, {string(source.Card), "a card"},
			{string(source.Exchange), "an exchange"}, {string(source.Other), "something else"}}
		return nil
	}
	provider, err := v.app.FirmRequests.Provider(p.Item)
	if err != nil {
		return err
	}
	p.Provider, p.Advice, p.Hosted = provider.Title, provider.Advice, provider.Begin != nil
	p.Ledger = provider.Kind == connection.Accounting
	if c, ok := p.Setups[p.Item.ConnectionID]; ok && c.Attempt != nil && c.Attempt.Status == connection.AttemptPending {
		if at, err := url.Parse(c.Attempt.SetupURL); err == nil && (at.Scheme == "https" || at.Scheme == "http") {
			p.SetupURL = template.URL(c.Attempt.SetupURL)
		}
	}
	for _, f := range provider.Fields {
		if f.Setup || p.Hosted && !f.Open || f.Name == "webhook_secret" {
			continue
		}
		one := fieldShown{Field: f, Long: f.Max >= longField}
		if !f.Secret {
			one.Value = p.Entered[f.Name]
		}
		p.Fields = append(p.Fields, one)
	}
	return nil
}

func (v *visit) integrationShown(p integrationPage) shown {
	title := "Connect " + p.Item.Name
	if p.Item.IsFile() {
		title = "Upload " + p.Item.Name
	}
	return shown{Title: title, Data: p}
}

func (v *visit) templateOf(p integrationPage) string {
	if p.Item.IsFile() {
		return "request-file"
	}
	return "request-connect"
}

func (s *Site) showIntegration(v *visit) error {
	f, p, err := v.findIntegration()
	if err == nil {
		err = v.fill(&p)
	}
	if fault.KindOf(err) == fault.Conflict {
		return v.requestAgain(err, f)
	}
	if err != nil {
		return v.requestGone(err)
	}
	return v.show(http.StatusOK, v.templateOf(p), v.integrationShown(p))
}

// integrationAgain shows the form for an account again with what is wrong.
func (v *visit) integrationAgain(why error, p integrationPage) error {
	var e *fault.Error
	if errors.As(why, &e) && e.Kind == fault.NotFound && len(e.Fields) == 0 { // the link, and nothing that was chosen
		return v.requestGone(why)
	}
	if err := v.fill(&p); err != nil {
		return err
	}
	p.Repeats = fault.KindOf(why) == fault.Conflict
	shown := v.integrationShown(p)
	shown.explain(why)
	known := []string{"file", "source_name", "source_type", "currency", "legal_entity_id"}
	for _, f := range p.Fields {
		known = append(known, f.Name)
	}
	if len(p.Sources) > 0 { // otherwise there is no field for it
		known = append(known, "source_id")
	}
	for field, text := range shown.Faults {
		if field == "mapping" || strings.HasPrefix(field, "mapping.") {
			p.Unclear = true
		}
		if !slices.Contains(known, field) {
			p.Faults = append(p.Faults, strings.Replace(field, "source_id", "the account", 1)+" "+text)
		}
	}
	slices.Sort(p.Faults)
	shown.Data = p
	switch kind := fault.KindOf(why); kind {
	case fault.Invalid, fault.Unauthorized, fault.Conflict, fault.RateLimited, fault.NotFound, fault.Forbidden, fault.Unavailable,
		fault.Provider:
		v.retryAfter(why)
		return v.show(statusOf(kind), v.templateOf(p), shown)
	}
	return why
}

// connectIntegration connects an account with what was entered, or begins a setup on a page of the provider. The browser is not redirected
// there, because the policy of the pages keeps forms from leading to other sites: there is a link instead.
func (s *Site) connectIntegration(v *visit) error {
	_, p, err := v.findIntegration()
	if err != nil || p.Item.IsFile() {
		return v.requestGone(fault.Missing("link"))
	}
	if err := v.fill(&p); err != nil {
		return v.requestAgain(err, p.Found)
	}
	fields := connection.Credentials{}
	for _, f := range p.Fields {
		text := v.value("field_" + f.Name)
		if f.Long { // browsers send line breaks as CR LF
			text = strings.ReplaceAll(text, "\r\n", "\n")
		}
		if text = strings.TrimSpace(text); text != "" {
			fields[f.Name], p.Entered[f.Name] = secret.New(text), text
		}
	}
	p.Entered["legal_entity_id"] = v.value("legal_entity_id")
	p.Fields = nil
	f, c, err := s.app.FirmRequests.Connect(v.r.Context(), firmrequest.ConnectParams{Visitor: v.visitor(), Position: p.Position,
		LegalEntityID: v.value("legal_entity_id"), Fields: fields, NewSource: v.value("new_source") == "yes"})
	if err != nil {
		return v.integrationAgain(err, p)
	}
	if c.Attempt != nil && c.Attempt.Status == connection.AttemptPending {
		v.keepRequest()
		return v.redirect(p.PagePath)
	}
	return v.afterIntegration(f, "connected")
}

// afterIntegration leads back to the request, or shows that it is done.
func (v *visit) afterIntegration(f firmrequest.Found, done string) error {
	if f.Status != firmrequest.Pending {
		return v.requestDone(f)
	}
	return v.redirect(v.requestPath() + "?done=" + done)
}

// memoryMax is how much of a form with a file is kept in memory.
const memoryMax = 1 << 20

// uploadFile imports a file. The link is checked before the file is read.
func (s *Site) uploadFile(v *visit) error {
	_, p, err := v.findIntegration()
	if err != nil || !p.Item.IsFile() {
		return v.requestGone(fault.Missing("link"))
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, uploadMax)
	if err := v.r.ParseMultipartForm(memoryMax); err != nil {
		return v.integrationAgain(fault.Invalidf("file", "could not be read: it may have at most %d MB", uploadMax>>20), p)
	}
	defer func() { _ = v.r.MultipartForm.RemoveAll() }() // what is left is deleted with the folder for temporary files
	for _, name := range []string{"source_id", "source_name", "source_type", "currency", "legal_entity_id"} {
		p.Entered[name] = v.value(name)
	}
	types := integrationPage{Item: p.Item}
	if err := v.fill(&types); err != nil {
		return err
	}
	known := slices.ContainsFunc(types.Types, func(c choiceShown) bool { return c.Value == v.value("source_type") })
	if !known && v.value("source_id") == "" {
		return v.integrationAgain(fault.Invalidf("source_type", "must be one of those to choose from"), p)
	}
	file, header, err := v.r.FormFile("file")
	if err != nil || header.Size == 0 {
		return v.integrationAgain(fault.Invalidf("file", "must be chosen, and must not be empty"), p)
	}
	defer func() { _ = file.Close() }() // it was only read
	f, _, err := s.app.FirmRequests.Upload(v.r.Context(), firmrequest.UploadParams{Visitor: v.visitor(), Position: p.Position,
		SourceID: v.value("source_id"), SourceType: source.Type(v.value("source_type")), SourceName: v.value("source_name"),
		LegalEntityID: v.value("legal_entity_id"), Currency: v.value("currency"), FileName: header.Filename, File: file})
	if err != nil {
		return v.integrationAgain(fault.RenameField(err, "name", "source_name"), p)
	}
	return v.afterIntegration(f, "uploaded")
}
