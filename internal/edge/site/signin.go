package site

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

// openIDNextMax bounds the address to go on to, because it has to fit into the cookie.
const openIDNextMax = 2000

// signInPage is the page on which people sign in.
func (v *visit) signInPage() (shown, error) {
	p := shown{Title: "Sign in", Next: v.next(), Reason: v.whySignIn(), OpenID: v.app.Identity.OpenIDLabel(), Data: v.value("email")}
	if v.app.Identity.OffersPasskeys() {
		c, err := v.app.Identity.BeginPasskeySignIn()
		if err != nil {
			return p, err
		}
		p.Passkey = newCeremony(c)
	}
	return p, nil
}

// whySignIn returns why a person has to sign in who wanted to open another page, and nothing if that is plain. An app that has registered
// itself can have chosen any name, so that it is not named.
func (v *visit) whySignIn() string {
	to, err := url.Parse(v.next())
	switch {
	case err != nil:
	case to.Path == "/oauth/authorize":
		c, err := v.app.OAuth.CheckClient(v.r.Context(), oauth.ParseAuthorizationRequest(to.Query()))
		if err == nil && c.RegisteredBy != oauth.ByItself {
			return "Sign in to say whether “" + c.Name + "” may use your books."
		}
		return "Sign in to say whether the app that sent you here may use your books."
	case strings.HasPrefix(to.Path, "/requests/"):
		return "Sign in with the account with which you own the books, or are their admin."
	case strings.HasPrefix(to.Path, "/confirm-email/"):
		return "Sign in with the email address that you have had so far, to confirm the new one."
	}
	return ""
}

func (s *Site) showSignIn(v *visit) error {
	if v.session != nil {
		return v.redirect(v.next())
	}
	p, err := v.signInPage()
	if err != nil {
		return err
	}
	p.Notice = notices[v.r.URL.Query().Get("done")]
	return v.show(http.StatusOK, "sign-in", p)
}

func (s *Site) signIn(v *visit) error {
	in, err := s.app.Identity.SignIn(v.r.Context(), identity.SignInParams{Email: v.value("email"), Password: v.secret("password"),
		Origin: v.origin})
	if err == nil {
		return v.welcome(in, v.next())
	}
	if asked, err := v.askForCode(err); asked {
		return err
	}
	return v.signInAgain(err)
}

// signInAgain shows what is wrong on the page on which people sign in.
func (v *visit) signInAgain(why error) error {
	p, err := v.signInPage()
	if err != nil {
		return err
	}
	return v.again(why, "sign-in", p)
}

// askForCode leads to the page for the code, if that is what is missing.
func (v *visit) askForCode(err error) (bool, error) {
	var needed *identity.SecondFactorNeeded
	if !errors.As(err, &needed) {
		return false, nil
	}
	v.config.Browser.Keep(v.w, browser.Ticket, needed.Ticket, identity.TicketMax)
	return true, v.redirect(withNext("/sign-in/code", v.next()))
}

func (s *Site) showCode(v *visit) error {
	if s.config.Browser.Text(v.r, browser.Ticket).IsZero() {
		return v.redirect(withNext("/sign-in", v.next()))
	}
	return v.show(http.StatusOK, "code", shown{Title: "Enter the code", Next: v.next()})
}

func (s *Site) enterCode(v *visit) error {
	ticket := s.config.Browser.Text(v.r, browser.Ticket)
	if ticket.IsZero() {
		return v.redirect(withNext("/sign-in", v.next()))
	}
	in, err := s.app.Identity.SignInWithCode(v.r.Context(), ticket, v.secret("code"), v.origin)
	if err != nil {
		return v.again(err, "code", shown{Title: "Enter the code", Next: v.next()})
	}
	return v.welcome(in, v.next())
}

func (s *Site) signInWithPasskey(v *visit) error {
	in, err := s.app.Identity.SignInWithPasskey(v.r.Context(), v.secret("ticket"), []byte(v.value("answer")), v.origin)
	if err != nil {
		return v.signInAgain(err)
	}
	return v.welcome(in, v.next())
}

// beginOpenID sends the person to the OpenID provider. It is a link, because a form may lead to this service only.
func (s *Site) beginOpenID(v *visit) error { return v.toOpenID(identity.OpenIDSignIn, v.next()) }

func (v *visit) toOpenID(purpose identity.OpenIDPurpose, next string) error {
	if len(next) > openIDNextMax {
		next = "/account"
	}
	out, err := v.app.Identity.BeginOpenID(v.r.Context(), purpose, v.session, next)
	if err != nil {
		return err
	}
	v.config.Browser.Keep(v.w, browser.OpenID, out.State, identity.OpenIDMax)
	return v.redirect(out.URL)
}

func (s *Site) finishOpenID(v *visit) error {
	state := s.config.Browser.Text(v.r, browser.OpenID)
	s.config.Browser.Forget(v.w, browser.OpenID)
	out, err := s.app.Identity.FinishOpenID(v.r.Context(), state, v.r.URL.Query(), v.session, v.origin)
	if fault.KindOf(err) == fault.Unauthorized && v.session == nil {
		return v.signInAgain(err)
	}
	if err != nil {
		return err
	}
	switch out.Purpose {
	case identity.OpenIDSignIn:
		return v.welcome(out.SignedIn, localPath(out.Next))
	case identity.OpenIDLink:
		return v.show(http.StatusOK, "link-openid", shown{Title: "Link your account", OpenID: s.app.Identity.OpenIDLabel(), Data: out.Offer})
	}
	return v.redirect(localPath(out.Next))
}

func (s *Site) signOut(v *visit) error {
	if v.session != nil {
		err := s.app.Identity.SignOut(v.r.Context(), v.person, v.origin, v.session.ID)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	s.config.Browser.Forget(v.w, browser.Session)
	if next := v.next(); next != "/account" {
		return v.redirect(next)
	}
	return v.redirect("/sign-in?done=signed-out")
}

// confirmation is what a person can prove with who they are.
type confirmation struct{ Password, Code bool }

func (v *visit) confirmPage() (shown, error) {
	p := shown{Title: "Confirm that it is you", Next: v.next(), OpenID: v.app.Identity.OpenIDLabel(),
		Data: confirmation{v.person.HasPassword(), v.person.HasSecondFactor()}}
	keys, err := v.app.Identity.Passkeys(v.r.Context(), v.person.UserID)
	if err != nil || len(keys) == 0 || !v.app.Identity.OffersPasskeys() {
		return p, err
	}
	c, err := v.app.Identity.BeginPasskeyConfirmation(v.r.Context(), *v.session)
	if err == nil {
		p.Passkey = newCeremony(c)
	}
	return p, err
}

func (s *Site) showConfirm(v *visit) error {
	p, err := v.confirmPage()
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "confirm", p)
}

// confirmed goes on after a person has proved who they are, or shows what was wrong.
func (v *visit) confirmed(err error) error {
	if err == nil {
		return v.redirect(v.next())
	}
	p, failed := v.confirmPage()
	if failed != nil {
		return failed
	}
	return v.again(err, "confirm", p)
}

func (s *Site) confirm(v *visit) error {
	return v.confirmed(s.app.Identity.Confirm(v.r.Context(), *v.session, v.secret("password"), v.secret("code"), v.origin))
}

func (s *Site) confirmWithPasskey(v *visit) error {
	return v.confirmed(s.app.Identity.ConfirmWithPasskey(v.r.Context(), *v.session, v.secret("ticket"), []byte(v.value("answer")), v.origin))
}

func (s *Site) confirmWithOpenID(v *visit) error { return v.toOpenID(identity.OpenIDConfirm, v.next()) }

// reveal returns texts that are shown once.
func reveal(texts []secret.Text) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = t.Reveal()
	}
	return out
}
