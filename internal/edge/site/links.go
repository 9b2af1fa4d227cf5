package site

import (
	"net/http"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/team"
)

// notices says what has been done. Pages name them by a word, so that nobody can make this service say something else.
var notices = map[string]string{
	"signed-out":            "You are signed out.",
	"password":              "Your new password is set. Wherever else you were signed in, you are signed out.",
	"name":                  "Your name was changed.",
	"email-requested":       "Open the link that was sent to the new address. Until then, your address stays as it is.",
	"email":                 "Your email address was changed.",
	"authenticator-removed": "The authenticator app was removed.",
	"passkey":               "The passkey was added.",
	"passkey-renamed":       "The passkey was renamed.",
	"passkey-removed":       "The passkey was removed.",
	"openid-linked":         "You can sign in with that account now.",
	"openid-unlinked":       "You cannot sign in with that account any more, unless you link it again.",
	"session":               "That browser is signed out.",
	"sessions":              "You are signed out everywhere else.",
	"disconnected":          "The app is disconnected.",
	"firm":                  "The access has ended. Nobody of the accounting firm can open your books any longer.",
	"joined":                "You have joined the organization.",
	"granted":               "Access was granted. You can end it at any time.",
	"owner":                 "You are the owner of the books now.",
	"connected":             "The account is connected.",
	"uploaded":              "The file was received.",
}

func (s *Site) showForgot(v *visit) error {
	return v.show(http.StatusOK, "forgot", shown{Title: "Forgot your password?"})
}

// forgot asks for a link to set a new password. The answer does not depend on whether there is such a person.
func (s *Site) forgot(v *visit) error {
	if err := s.app.Identity.RequestReset(v.r.Context(), v.value("email"), v.origin); err != nil {
		return v.again(err, "forgot", shown{Title: "Forgot your password?", Data: v.value("email")})
	}
	return v.show(http.StatusOK, "forgot-sent", shown{Title: "Look into your mail", Data: v.value("email")})
}

// deadLink is the page for a link that does not work.
func (v *visit) deadLink(err error, what shown) error {
	if fault.KindOf(err) != fault.NotFound {
		return err
	}
	what.Title = "This link does not work"
	return v.show(http.StatusNotFound, "dead-link", what)
}

func (s *Site) showSetPassword(v *visit) error {
	l, err := s.app.Identity.FindLink(v.r.Context(), identity.SetPassword, v.link())
	if err != nil {
		return v.deadLink(err, shown{Data: "password"})
	}
	return v.show(http.StatusOK, "set-password", shown{Title: "Set your password", Data: l.Email})
}

func (s *Site) setPassword(v *visit) error {
	l, err := s.app.Identity.FindLink(v.r.Context(), identity.SetPassword, v.link())
	if err != nil {
		return v.deadLink(err, shown{Data: "password"})
	}
	if err = matching(v); err == nil {
		var in identity.SignedIn
		if in, err = s.app.Identity.SetPasswordByLink(v.r.Context(), v.link(), v.secret("password"), v.origin); err == nil {
			return v.welcome(in, "/account")
		}
		if asked, err := v.askForCode(err); asked {
			return err
		}
	}
	return v.again(err, "set-password", shown{Title: "Set your password", Data: l.Email})
}

// matching returns an Invalid fault if a new password was not entered twice.
func matching(v *visit) error {
	if !v.secret("password").Equal(v.secret("again")) {
		return fault.Invalidf("again", "is not the same as the password above")
	}
	return nil
}

// showConfirmEmail shows a button only, because programs that look for viruses open the links in mail.
func (s *Site) showConfirmEmail(v *visit) error {
	l, err := s.app.Identity.FindLink(v.r.Context(), identity.ConfirmEmail, v.link())
	if err != nil {
		return v.deadLink(err, shown{Data: "email"})
	}
	return v.show(http.StatusOK, "confirm-email", shown{Title: "Confirm your email address", Data: l.Email})
}

func (s *Site) confirmEmail(v *visit) error {
	if _, err := s.app.Identity.ConfirmEmailChange(v.r.Context(), v.person.UserID, v.link(), v.origin); err != nil {
		return v.deadLink(err, shown{Data: "email"})
	}
	return v.redirect("/account?done=email")
}

// invited is what the page of an invitation shows.
type invited struct {
	team.Found
	Here string // the address of this page
	Name string
	Mine bool // the person who was invited is signed in
}

func (v *visit) invitationPage(i team.Found) shown {
	return shown{Title: "Join " + i.OrganizationName, Data: invited{Found: i, Here: v.r.URL.Path, Name: v.value("name"),
		Mine: v.session != nil && v.person.Email == i.Email}}
}

func (s *Site) showInvitation(v *visit) error {
	i, err := s.app.Team.Find(v.r.Context(), v.link())
	if err != nil {
		return v.deadLink(err, shown{Data: "invitation"})
	}
	return v.show(http.StatusOK, "invitation", v.invitationPage(i))
}

func (s *Site) acceptInvitation(v *visit) error {
	i, err := s.app.Team.Find(v.r.Context(), v.link())
	if err != nil {
		return v.deadLink(err, shown{Data: "invitation"})
	}
	p := team.AcceptParams{Link: v.link(), Origin: v.origin}
	switch {
	case v.session != nil && v.person.Email == i.Email:
		p.Session = v.session
	case v.session != nil || i.HasAccount:
		return v.redirect(withNext("/sign-in", v.r.URL.Path))
	default:
		p.Name, p.Password = v.value("name"), v.secret("password")
		if err := matching(v); err != nil {
			return v.again(err, "invitation", v.invitationPage(i))
		}
	}
	in, err := s.app.Team.Accept(v.r.Context(), p)
	if err != nil {
		return v.again(err, "invitation", v.invitationPage(i))
	}
	const next = "/account?done=joined"
	if in.Text.IsZero() {
		return v.redirect(next)
	}
	return v.welcome(in, next)
}
