package site

import (
	"net/http"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/wording"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

// accountPage is what the page of the account shows.
type accountPage struct {
	Memberships    []identity.Membership
	Passkeys       []identity.Passkey
	OffersPasskeys bool
	OpenIDLinked   bool
	Sessions       []sessionView
	Others         int // sessions besides this one
	Apps           []appView
	Firms          []firmView
}

// firmView is an accounting firm that has access to an organization of which the person is an owner or admin.
type firmView struct {
	firm.Access
	OrganizationID, OrganizationName string
}

// sessionView is a browser in which the person is signed in.
type sessionView struct {
	identity.Session
	Browser string
	Current bool
}

// appView is an app that acts for the person.
type appView struct {
	oauth.Authorization
	OrganizationName string
	Can              []string
}

func (s *Site) showAccount(v *visit) error {
	ctx := v.r.Context()
	data := accountPage{Memberships: v.members, OffersPasskeys: s.app.Identity.OffersPasskeys()}
	var err error
	if data.Passkeys, err = s.app.Identity.Passkeys(ctx, v.person.UserID); err != nil {
		return err
	}
	if data.OpenIDLinked, err = s.app.Identity.HasOpenID(ctx, v.person.UserID); err != nil {
		return err
	}
	all, err := s.app.Identity.Sessions(ctx, v.person.UserID)
	if err != nil {
		return err
	}
	for _, one := range all {
		view := sessionView{one, wording.Browser(one.UserAgent), one.ID == v.session.ID}
		if view.Current {
			data.Sessions = append([]sessionView{view}, data.Sessions...)
		} else {
			data.Sessions = append(data.Sessions, view)
		}
	}
	data.Others = len(data.Sessions) - 1
	if data.Apps, err = v.apps(); err != nil {
		return err
	}
	if data.Firms, err = v.firms(); err != nil {
		return err
	}
	return v.show(http.StatusOK, "account", shown{Title: "Your account", Notice: notices[v.r.URL.Query().Get("done")],
		OpenID: s.app.Identity.OpenIDLabel(), Data: data})
}

// organizations returns the ids of the organizations of the person.
func (v *visit) organizations() []string {
	ids := make([]string, len(v.members))
	for i, m := range v.members {
		ids[i] = m.OrganizationID
	}
	return ids
}

// apps returns the apps that act for the person, in the order of the organizations on the page.
func (v *visit) apps() (out []appView, err error) {
	all, err := v.app.OAuth.OfPerson(v.r.Context(), v.person.UserID, v.organizations())
	if err != nil {
		return nil, err
	}
	for _, m := range v.members {
		for _, a := range all {
			if a.OrganizationID != m.OrganizationID {
				continue
			}
			one := appView{Authorization: a, OrganizationName: m.OrganizationName}
			for _, scope := range a.Scopes {
				one.Can = append(one.Can, oauth.DescribeScope(scope))
			}
			out = append(out, one)
		}
	}
	return out, nil
}

// firms returns the accounting firms whose access the person can end, in the order of the organizations on the page.
func (v *visit) firms() (out []firmView, err error) {
	working, err := v.app.Firms.FirmsOf(v.r.Context(), v.organizations())
	if err != nil {
		return nil, err
	}
	for _, m := range v.members {
		if a, ok := working[m.OrganizationID]; ok && m.Role.Manages() && len(m.LegalEntityIDs) == 0 {
			out = append(out, firmView{Access: a, OrganizationID: m.OrganizationID, OrganizationName: m.OrganizationName})
		}
	}
	return out, nil
}

func (s *Site) endFirmAccess(v *visit) error {
	who, err := identity.ActorOf(*v.session, v.members, v.r.PathValue("organization"))
	if err != nil {
		return fault.Missing("accounting firm")
	}
	who.RequestID = v.request
	if err := s.app.Firms.EndAccess(actor.With(v.r.Context(), who), v.r.PathValue("client")); err != nil {
		return err
	}
	return v.redirect("/account?done=firm")
}

func (s *Site) disconnectApp(v *visit) error {
	who, err := identity.ActorOf(*v.session, v.members, v.r.PathValue("organization"))
	if err != nil {
		return fault.Missing("app")
	}
	who.RequestID = v.request
	if err := s.app.OAuth.DisconnectOwn(actor.With(v.r.Context(), who), v.r.PathValue("id")); err != nil {
		return err
	}
	return v.redirect("/account?done=disconnected")
}

func (s *Site) endSession(v *visit) error {
	one := v.r.PathValue("id")
	if one == v.session.ID {
		return s.signOut(v)
	}
	if err := s.app.Identity.SignOut(v.r.Context(), v.person, v.origin, one); err != nil {
		return err
	}
	return v.redirect("/account?done=session")
}

func (s *Site) endOtherSessions(v *visit) error {
	if _, err := s.app.Identity.SignOutOthers(v.r.Context(), v.person, v.origin, v.session.ID); err != nil {
		return err
	}
	return v.redirect("/account?done=sessions")
}

func (s *Site) showChangePassword(v *visit) error {
	return v.show(http.StatusOK, "change-password", shown{Title: "Change your password"})
}

func (s *Site) changePassword(v *visit) error {
	again := func(err error) error { return v.again(err, "change-password", shown{Title: "Change your password"}) }
	if !v.person.HasPassword() && !v.session.Fresh(s.app.DB.Clock().Now()) {
		return v.redirect(withNext("/confirm", "/account/password"))
	}
	if err := matching(v); err != nil {
		return again(err)
	}
	err := s.app.Identity.ChangePassword(v.r.Context(), *v.session, v.secret("current_password"), v.secret("password"), v.origin)
	if err != nil {
		return again(err)
	}
	return v.redirect("/account?done=password")
}

func (s *Site) showChangeName(v *visit) error {
	return v.show(http.StatusOK, "change-name", shown{Title: "Change your name", Data: v.person.Name})
}

func (s *Site) changeName(v *visit) error {
	if err := s.app.Identity.ChangeName(v.r.Context(), v.person.UserID, v.value("name"), v.origin); err != nil {
		return v.again(err, "change-name", shown{Title: "Change your name", Data: v.value("name")})
	}
	return v.redirect("/account?done=name")
}

func (s *Site) showChangeEmail(v *visit) error {
	return v.show(http.StatusOK, "change-email", shown{Title: "Change your email address"})
}

func (s *Site) changeEmail(v *visit) error {
	if err := s.app.Identity.RequestEmailChange(v.r.Context(), v.person.UserID, v.value("email"), v.origin); err != nil {
		return v.again(err, "change-email", shown{Title: "Change your email address", Data: v.value("email")})
	}
	return v.redirect("/account?done=email-requested")
}
