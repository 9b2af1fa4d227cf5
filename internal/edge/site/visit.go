package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// visit is one request for a page.
type visit struct {
	*Site
	w       http.ResponseWriter
	r       *http.Request
	request string // its id
	origin  identity.Origin

	session *identity.Session // nil if nobody is signed in
	members []identity.Membership
	person  identity.Person
}

// identify finds out who is signed in.
func (v *visit) identify() error {
	text := v.config.Browser.Text(v.r, browser.Session)
	if text.IsZero() {
		return nil
	}
	one, members, err := v.app.Identity.Authenticate(v.r.Context(), text)
	if fault.KindOf(err) == fault.Unauthorized {
		return nil
	}
	if err != nil {
		return err
	}
	person, err := v.app.Identity.Find(v.r.Context(), one.UserID)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	v.session, v.members, v.person = &one, members, person
	return nil
}

// value returns a field of the form.
func (v *visit) value(name string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(v.r.PostForm.Get(name), ""), "\x00", "") // which PostgreSQL cannot store
}

// secret returns a field of the form that must not be shown.
func (v *visit) secret(name string) secret.Text { return secret.New(v.r.PostForm.Get(name)) }

// link returns the secret part of the address.
func (v *visit) link() secret.Text { return secret.New(v.r.PathValue("link")) }

// next returns the page of this service that a person wants to go on to.
func (v *visit) next() string { return localPath(v.r.FormValue("next")) }

// redirect sends the browser to a path of this service.
func (v *visit) redirect(path string) error {
	v.w.Header().Set("Location", path)
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// welcome gives the browser its new session. The one that it had before ends.
func (v *visit) welcome(in identity.SignedIn, next string) error {
	if v.session != nil {
		err := v.app.Identity.SignOut(v.r.Context(), v.person, v.origin, v.session.ID)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	v.config.Browser.Keep(v.w, browser.Session, in.Text, in.Session.Lifetime())
	v.config.Browser.Keep(v.w, browser.Device, in.Device, identity.DeviceMax)
	v.config.Browser.Forget(v.w, browser.Ticket)
	return v.redirect(next)
}

// secure sets the headers of every answer. The form of a page may lead to one more origin.
func secure(h http.Header, formOrigin string) {
	if formOrigin != "" {
		formOrigin = " " + formOrigin
	}
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; form-action 'self'"+
		formOrigin+"; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}

// show answers with a page.
func (v *visit) show(status int, template string, p shown) error {
	p.Style, p.Script, p.template = style.version, script.version, template
	if v.session != nil {
		p.Person = &v.person
	}
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, template, p); err != nil {
		return fmt.Errorf("site: %s: %w", template, err)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	v.w.WriteHeader(status)
	_, _ = v.w.Write(b.Bytes()) // the reader may have gone
	return nil
}

// again shows a form again with what is wrong. Errors that are not about the input have a page of their own.
func (v *visit) again(err error, template string, p shown) error {
	switch kind := fault.KindOf(err); kind {
	case fault.Invalid, fault.Unauthorized, fault.Conflict, fault.RateLimited:
		p.explain(err)
		v.retryAfter(err)
		return v.show(statusOf(kind), template, p)
	default:
		return err
	}
}

func statusOf(kind fault.Kind) int {
	switch kind {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.Unauthorized:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusConflict
	case fault.RateLimited:
		return http.StatusTooManyRequests
	case fault.Unavailable, fault.Provider:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// retryAfter says when to try again.
func (v *visit) retryAfter(err error) {
	var e *fault.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		v.w.Header().Set("Retry-After", strconv.FormatInt(int64((e.RetryAfter+time.Second-1)/time.Second), 10))
	}
}

// titles says what is the matter, by status.
var titles = map[int]string{
	http.StatusBadRequest:          "This does not work",
	http.StatusUnauthorized:        "You are not signed in",
	http.StatusForbidden:           "This is not allowed",
	http.StatusNotFound:            "This page does not exist",
	http.StatusConflict:            "This is not possible now",
	http.StatusTooManyRequests:     "Too many attempts",
	http.StatusServiceUnavailable:  "Not available at present",
	http.StatusInternalServerError: "Something went wrong",
}

// fail answers with a page about an error. What only operators should know is logged.
func (v *visit) fail(err error) {
	if errors.Is(err, context.Canceled) && errors.Is(v.r.Context().Err(), context.Canceled) {
		return // the browser has left, which is no error, and reads no answer
	}
	kind := fault.KindOf(err)
	status := statusOf(kind)
	p := shown{Title: titles[status], Status: status}
	if status == http.StatusUnauthorized && v.session != nil {
		p.Title = titles[http.StatusBadRequest]
	}
	if kind == fault.Internal {
		v.config.Log.Error("a page failed", "method", v.r.Method, "path", routeOf(v.r), "request_id", v.request, "error", err)
		p.Problem = "The service made a mistake. Try again. If it happens again, tell the operator of the service this number:"
		p.Number = v.request
	} else {
		if kind == fault.Unavailable || kind == fault.Provider {
			v.config.Log.Warn("a page is not available", "path", routeOf(v.r), "request_id", v.request, "error", errors.Unwrap(err))
		}
		p.explain(err)
		v.retryAfter(err)
	}
	if err := v.show(status, "problem", p); err != nil {
		v.config.Log.Error("the page about an error failed", "request_id", v.request, "error", err)
		http.Error(v.w, "Something went wrong.", http.StatusInternalServerError)
	}
}

// routeOf returns the pattern of the address, because the address itself may contain a secret.
func routeOf(r *http.Request) string { return r.Pattern }

// recover answers if a page panics.
func (v *visit) recover() {
	what := recover()
	if what == nil {
		return
	}
	if what == http.ErrAbortHandler {
		panic(what)
	}
	v.config.Log.Error("a page panicked", "path", routeOf(v.r), "request_id", v.request, "panic", what, "stack", string(debug.Stack()))
	v.fail(fmt.Errorf("panic: %v", what))
}
