package site

import (
	"strings"
	"unicode/utf8"

	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// Config says how browsers reach the pages.
type Config struct {
	Browser browser.Config
	Log     *slog.Logger
}

// Site serves the pages.
type Site struct {
	app    *app.App
	config Config
	guard  *http.CrossOriginProtection
}

// New returns the pages of an application.
func New(a *app.App, c Config) *Site {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Site{app: a, config: c, guard: c.Browser.Protection()}
}

// need is what a page needs of whoever opens it.
type need int

const (
	anybody  need = iota
	signedIn      // a session
	recent        // a session in which the person has proved recently who they are
)

// route is a page.
type route struct {
	pattern string
	need    need
	serve   func(v *visit) error
	upload  bool   // the page reads a file from the form by itself
	back    string // the page that a person opens again after they had to sign in, or to prove who they are; empty means this one
}

// routes lists the pages.
func (s *Site) routes() []route {
	const account = "/account"
	return []route{
		{pattern: "GET /{$}", serve: s.home},
		{pattern: "GET /sign-in", serve: s.showSignIn},
		{pattern: "POST /sign-in", serve: s.signIn},
		{pattern: "GET /sign-in/code", serve: s.showCode},
		{pattern: "POST /sign-in/code", serve: s.enterCode},
		{pattern: "POST /sign-in/passkey", serve: s.signInWithPasskey},
		{pattern: "GET /sign-in/openid", serve: s.beginOpenID},
		{pattern: "GET " + identity.OpenIDCallback, serve: s.finishOpenID},
		{pattern: "POST /sign-out", serve: s.signOut},

		{pattern: "GET /forgot-password", serve: s.showForgot},
		{pattern: "POST /forgot-password", serve: s.forgot},
		{pattern: "GET /set-password/{link}", serve: s.showSetPassword},
		{pattern: "POST /set-password/{link}", serve: s.setPassword},
		{pattern: "GET /confirm-email/{link}", need: signedIn, serve: s.showConfirmEmail},
		{pattern: "POST /confirm-email/{link}", need: signedIn, serve: s.confirmEmail},
		{pattern: "GET /invitations/{link}", serve: s.showInvitation},
		{pattern: "POST /invitations/{link}", serve: s.acceptInvitation},

		{pattern: "GET /requests/{link}", serve: s.showRequest},
		{pattern: "POST /requests/{link}/grant", serve: s.grantAccess},
		{pattern: "GET /requests/{link}/own", serve: s.showOwnership},
		{pattern: "POST /requests/{link}/own", serve: s.becomeOwner},
		{pattern: "POST /requests/{link}/decline", serve: s.declineRequest},
		{pattern: "POST /requests/{link}/done", serve: s.completeRequest},
		{pattern: "GET /requests/{link}/{position}", serve: s.showIntegration},
		{pattern: "POST /requests/{link}/{position}", serve: s.connectIntegration},
		{pattern: "POST /requests/{link}/{position}/file", serve: s.uploadFile, upload: true},

		{pattern: "GET " + app.SetupPath, serve: s.finishConnecting},

		{pattern: "GET /oauth/authorize", serve: s.showConsent},
		{pattern: "POST /oauth/authorize", serve: s.consent},

		{pattern: "GET /confirm", need: signedIn, serve: s.showConfirm, back: account},
		{pattern: "POST /confirm", need: signedIn, serve: s.confirm, back: account},
		{pattern: "POST /confirm/passkey", need: signedIn, serve: s.confirmWithPasskey, back: account},
		{pattern: "GET /confirm/openid", need: signedIn, serve: s.confirmWithOpenID, back: account},

		{pattern: "GET /account", need: signedIn, serve: s.showAccount},
		{pattern: "GET /account/password", need: signedIn, serve: s.showChangePassword},
		{pattern: "POST /account/password", need: signedIn, serve: s.changePassword},
		{pattern: "GET /account/email", need: recent, serve: s.showChangeEmail},
		{pattern: "POST /account/email", need: recent, serve: s.changeEmail},
		{pattern: "GET /account/name", need: signedIn, serve: s.showChangeName},
		{pattern: "POST /account/name", need: signedIn, serve: s.changeName},
		{pattern: "GET /account/authenticator", need: recent, serve: s.showAuthenticator},
		{pattern: "POST /account/authenticator", need: recent, serve: s.beginAuthenticator},
		{pattern: "POST /account/authenticator/confirm", need: recent, serve: s.confirmAuthenticator, back: "/account/authenticator"},
		{pattern: "POST /account/authenticator/remove", need: recent, serve: s.removeAuthenticator, back: "/account/authenticator"},
		{pattern: "POST /account/authenticator/recovery-codes", need: recent, serve: s.replaceCodes, back: "/account/authenticator"},
		{pattern: "GET /account/passkeys/new", need: recent, serve: s.showAddPasskey},
		{pattern: "POST /account/passkeys/new", need: recent, serve: s.addPasskey},
		{pattern: "GET /account/passkeys/{id}", need: recent, serve: s.showPasskey},
		{pattern: "POST /account/passkeys/{id}/rename", need: recent, serve: s.renamePasskey, back: account},
		{pattern: "POST /account/passkeys/{id}/remove", need: recent, serve: s.removePasskey, back: account},
		{pattern: "GET /account/openid", need: recent, serve: s.beginLink},
		{pattern: "POST /account/openid", need: recent, serve: s.linkOpenID, back: account},
		{pattern: "POST /account/openid/unlink", need: recent, serve: s.unlinkOpenID, back: account},
		{pattern: "POST /account/sessions/{id}/end", need: signedIn, serve: s.endSession, back: account},
		{pattern: "POST /account/sessions/end-others", need: signedIn, serve: s.endOtherSessions, back: account},
		{pattern: "POST /account/apps/{organization}/{id}/disconnect", need: signedIn, serve: s.disconnectApp, back: account},
		{pattern: "POST /account/firms/{organization}/{client}/end", need: recent, serve: s.endFirmAccess, back: account},
	}
}

// Mount adds the pages and their files to a mux.
func (s *Site) Mount(mux *http.ServeMux) {
	for _, r := range s.routes() {
		mux.Handle(r.pattern, s.handler(r))
	}
	for path, f := range served {
		mux.Handle("GET "+path, f)
	}
}

const (
	bodyMax = 64 << 10

	// handleTimeout bounds a request, a visit to an OpenID provider included.
	handleTimeout = 30 * time.Second

	// uploadMax bounds a form with a file, and uploadTimeout how long it may take to arrive.
	uploadMax     = 100 << 20
	uploadTimeout = 10 * time.Minute
)

// handler serves a page.
func (s *Site) handler(p route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		timeout := handleTimeout
		if p.upload {
			timeout = uploadTimeout
		}
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		request := w.Header().Get("X-Request-Id")
		if request == "" {
			request = s.app.DB.IDs().New(id.Request)
			w.Header().Set("X-Request-Id", request)
		}
		secure(w.Header(), "")
		v := &visit{Site: s, w: w, r: r.WithContext(ctx), request: request}
		v.origin = s.config.Browser.Origin(r, request)
		defer v.recover()
		if err := s.enter(v, p); err != nil {
			v.fail(err)
		}
	})
}

// enter checks what a page needs, and serves it.
func (s *Site) enter(v *visit, p route) error {
	if s.guard.Check(v.r) != nil {
		return fault.Forbiddenf("another site has made your browser send this, so that nothing was done: open the page here, and try again")
	}
	if v.r.Method == http.MethodPost && !p.upload {
		v.r.Body = http.MaxBytesReader(v.w, v.r.Body, bodyMax)
		if err := v.r.ParseForm(); err != nil {
			return fault.Malformedf("the form could not be read: go back, and send it again")
		}
	}
	for _, name := range []string{"id", "organization"} {
		if text := v.r.PathValue(name); !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fault.Missing("page")
		}
	}
	if err := v.identify(); err != nil {
		return err
	}
	back := p.back
	if back == "" {
		back = v.r.URL.RequestURI()
	}
	switch {
	case p.need >= signedIn && v.session == nil:
		return v.redirect(withNext("/sign-in", back))
	case p.need == recent && !v.session.Fresh(s.app.DB.Clock().Now()):
		return v.redirect(withNext("/confirm", back))
	}
	return p.serve(v)
}

// home leads to the account, or to where people sign in.
func (s *Site) home(v *visit) error {
	if v.session == nil {
		return v.redirect("/sign-in")
	}
	return v.redirect("/account")
}
