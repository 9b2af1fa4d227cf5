package site

import (
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

// consentPage is what the page shows on which a person allows an app to act for them.
type consentPage struct {
	Client       oauth.Client
	Homepage     string // the host of the app's homepage
	BackTo       string // the host that the person is sent back to
	SelfMade     bool   // the app has registered itself
	Can          []string
	Choices      []choice
	Chosen       string // the only one; empty if there are several, so that nobody allows it for one without having looked
	Request      url.Values
	UserID       string
	Organization string // that has registered the app, if it is one of the person's
}

// choice is an organization for which an app may act.
type choice struct {
	identity.Membership
	ReadOnly bool // the app asks for more than the role allows
	Limited  bool // the person sees some legal entities only
	Alike    bool // another organization has the same name
	Replaces bool // the app is connected there already
}

// asked is a request of an app that was checked.
type asked struct {
	client  oauth.Client
	request oauth.AuthorizationRequest
	scopes  []actor.Scope
}

// checkRequest checks the request of an app. If the answer was given already, done is true.
func (v *visit) checkRequest(values url.Values) (a asked, done bool, err error) {
	a.request = oauth.ParseAuthorizationRequest(values)
	if a.client, err = v.app.OAuth.CheckClient(v.r.Context(), a.request); err != nil {
		return a, false, err
	}
	here, wrong := "/oauth/authorize?"+a.request.Values().Encode(), (*oauth.Error)(nil)
	if len(here) > nextMax { // it could not be kept while the person signs in
		wrong = &oauth.Error{Code: oauth.InvalidRequest, Description: "the request is too long: send a shorter state"}
	} else if v.session == nil {
		return a, true, v.redirect(withNext("/sign-in", here))
	} else {
		a.scopes, wrong = a.request.Check(v.config.Browser.PublicURL)
	}
	if wrong == nil {
		// An app may do what needs a recent proof of who the person is, and so does allowing it.
		if !v.session.Fresh(v.app.DB.Clock().Now()) {
			return a, true, v.redirect(withNext("/confirm", here))
		}
		return a, false, nil
	}
	if a.client.RegisteredBy == oauth.ByItself { // anybody could make this service send people anywhere
		return a, false, fault.Malformedf("The app that sent you here made a mistake: %s.", wrong.Description)
	}
	return a, true, v.redirect(a.request.ErrorRedirect(v.config.Browser.PublicURL, wrong))
}

func (s *Site) showConsent(v *visit) error {
	values, err := url.ParseQuery(v.r.URL.RawQuery)
	if err != nil {
		return fault.Malformedf("The app that sent you here has sent an address that cannot be read: it is not encoded as addresses are.")
	}
	a, done, err := v.checkRequest(values)
	if err != nil || done {
		return err
	}
	return v.showConsentPage(http.StatusOK, a, "")
}

// showConsentPage asks the person. The form may lead to where the app wants them to be sent back to, and nowhere else.
func (v *visit) showConsentPage(status int, a asked, problem string) error {
	back, err := url.Parse(a.request.RedirectURI)
	if err != nil {
		return fault.Malformedf("The app that sent you here wants you to be sent back to what is no address.")
	}
	data := consentPage{Client: a.client, BackTo: back.Host, SelfMade: a.client.RegisteredBy == oauth.ByItself,
		Request: a.request.Values(), UserID: v.person.UserID}
	if home, err := url.Parse(a.client.HomepageURL); err == nil {
		data.Homepage = home.Host
	}
	for _, scope := range a.scopes {
		data.Can = append(data.Can, oauth.DescribeScope(scope))
	}
	connected, err := v.app.OAuth.OfPerson(v.r.Context(), v.person.UserID, v.organizations())
	if err != nil {
		return err
	}
	writes := slices.ContainsFunc(a.scopes, func(scope actor.Scope) bool { return scope != actor.ScopeRead })
	for _, m := range v.members {
		one := choice{Membership: m, ReadOnly: writes && (m.Role == actor.Viewer || m.Role == actor.Auditor), Limited: len(m.LegalEntityIDs) > 0,
			Alike: slices.ContainsFunc(v.members, func(other identity.Membership) bool {
				return other.OrganizationName == m.OrganizationName && other.OrganizationID != m.OrganizationID
			}),
			Replaces: slices.ContainsFunc(connected, func(c oauth.Authorization) bool {
				return c.OrganizationID == m.OrganizationID && c.Client.ID == a.client.ID
			})}
		data.Choices = append(data.Choices, one)
		if m.OrganizationID == a.client.OrganizationID {
			data.Organization = m.OrganizationName
		}
	}
	if len(data.Choices) == 1 {
		data.Chosen = data.Choices[0].OrganizationID
	}
	secure(v.w.Header(), originOf(back))
	return v.show(status, "consent", shown{Title: "Allow “" + a.client.Name + "” to use your books?", Problem: problem, Data: data})
}

// consent gives the app the answer of the person. Everything is checked again, because the form may have been changed or be old.
func (s *Site) consent(v *visit) error {
	a, done, err := v.checkRequest(v.r.PostForm)
	if err != nil || done {
		return err
	}
	for _, name := range []string{"decision", "user_id", "organization_id"} {
		if len(v.r.PostForm[name]) > 1 {
			return fault.Malformedf("The form has %s more than once.", name)
		}
	}
	switch {
	case v.value("decision") == "deny":
		return v.leave(a, a.request.Deny(s.config.Browser.PublicURL))
	case v.value("decision") != "allow":
		return v.showConsentPage(http.StatusBadRequest, a, "choose whether you allow it")
	case v.value("user_id") != v.person.UserID:
		return v.showConsentPage(http.StatusConflict, a, "you have signed in as somebody else meanwhile: look at it again")
	case v.value("organization_id") == "":
		return v.showConsentPage(http.StatusBadRequest, a, "choose an organization")
	}
	who, err := identity.ActorOf(*v.session, v.members, v.value("organization_id"))
	if err != nil {
		return err
	}
	who.RequestID = v.request
	code, err := s.app.OAuth.Approve(v.r.Context(), who, a.client, a.request, a.scopes)
	if err != nil {
		return err
	}
	return v.leave(a, a.request.CodeRedirect(s.config.Browser.PublicURL, code))
}

// hostPattern is that of a host that a policy for browsers can name. It leaves out IPv6 addresses, which no policy can.
var hostPattern = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$`)

// originOf returns the origin of an address, for the policy of a page, or nothing if no policy can name it.
func originOf(at *url.URL) string {
	if !hostPattern.MatchString(at.Host) {
		return ""
	}
	return at.Scheme + "://" + at.Host
}

// leave sends the person back to the app. Browsers do not follow a redirect to an address that the policy of the page could not name, so
// that there is a link instead.
func (v *visit) leave(a asked, to string) error {
	back, err := url.Parse(a.request.RedirectURI)
	if err == nil && originOf(back) != "" {
		secure(v.w.Header(), originOf(back))
		return v.redirect(to)
	}
	return v.show(http.StatusOK, "leave", shown{Title: "Go back to " + a.client.Name, Data: template.URL(to)}) // it was checked
}
