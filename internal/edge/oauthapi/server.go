package oauthapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/ratelimit"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

// Config holds the settings of the endpoints.
type Config struct {
	Browser      browser.Config
	Registration bool // apps may register themselves
	RateLimit    int  // requests per second and API key, from which the limit for requests that fail follows; 0 means no limit
	Log          *slog.Logger
}

// The paths of the endpoints.
const (
	authorizePath = "/oauth/authorize" // the page for people
	tokenPath     = "/oauth/token"
	revokePath    = "/oauth/revoke"
	registerPath  = "/oauth/register"
	metadataPath  = "/.well-known/oauth-authorization-server"
)

// ResourcePath is the path at which apps learn how to get access tokens for the API (RFC 9728).
const ResourcePath = "/.well-known/oauth-protected-resource"

const (
	// bodyMax bounds the body of a request.
	bodyMax = 64 << 10
	// timeout is how long a request may take.
	timeout = 30 * time.Second
	// failedShare is how many of the requests of an address may fail: one in so many of those that an API key may send.
	failedShare = 10
)

// Server serves the endpoints.
type Server struct {
	app           *app.App
	config        Config
	limiter       *ratelimit.Limiter
	failed        ratelimit.Policy
	registrations registrations
}

// New returns a Server.
func New(a *app.App, c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	quota := c.RateLimit * int(ratelimit.Window/time.Second)
	return &Server{app: a, config: c, limiter: ratelimit.New(a.DB, c.Log),
		failed:        ratelimit.Policy{Name: "oauth", Quota: max(1, quota/failedShare), Local: true},
		registrations: newRegistrations()}
}

// Mount registers the endpoints. Registration is not found unless it is on.
func (s *Server) Mount(mux *http.ServeMux) {
	mux.HandleFunc(tokenPath, s.endpoint(s.described(s.token), http.MethodPost))
	mux.HandleFunc(revokePath, s.endpoint(s.described(s.revoke), http.MethodPost))
	mux.HandleFunc(metadataPath, s.endpoint(s.metadata, http.MethodGet, http.MethodHead))
	mux.HandleFunc(ResourcePath, s.endpoint(s.resource(""), http.MethodGet, http.MethodHead))
	mux.HandleFunc(ResourcePath+"/v1", s.endpoint(s.resource("/v1"), http.MethodGet, http.MethodHead))
	if s.config.Registration {
		mux.HandleFunc(registerPath, s.endpoint(s.register, http.MethodPost))
	}
}

// answer is what an endpoint answers with if nothing is wrong. Without content, the body is empty.
type answer struct {
	status  int
	content any
	cached  time.Duration // how long the answer may be kept
}

// handler serves a request to an endpoint.
type handler func(w http.ResponseWriter, r *http.Request) (answer, error)

// described returns a handler whose answers say how many more requests of the address may fail.
func (s *Server) described(serve handler) handler {
	return func(w http.ResponseWriter, r *http.Request) (answer, error) {
		got, err := serve(w, r)
		if s.config.RateLimit > 0 {
			state, _ := s.limiter.Full(s.failed, browser.Network(s.config.Browser.Address(r)))
			ratelimit.Describe(w.Header(), state)
		}
		return got, err
	}
}

// endpoint returns the handler of an endpoint. Apps that run in browsers may call it: it looks at no cookie, so that another site gains
// nothing by calling it.
func (s *Server) endpoint(serve handler, methods ...string) http.HandlerFunc {
	allowed := strings.Join(append(methods, http.MethodOptions), ", ")
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", "RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Pragma", "no-cache") // RFC 6749, section 5.1
		if r.Method == http.MethodOptions {
			h.Set("Access-Control-Allow-Methods", strings.Join(methods, ", "))
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, MCP-Protocol-Version")
			h.Set("Access-Control-Max-Age", "86400")
			h.Set("Allow", allowed)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if !slices.Contains(methods, r.Method) {
			h.Set("Allow", allowed)
			send(w, http.StatusMethodNotAllowed, problem{oauth.InvalidRequest, "the method must be " + strings.Join(methods, " or ")})
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		ctx = actor.With(ctx, actor.Actor{RequestID: h.Get("X-Request-Id")})
		got, err := serve(w, r.WithContext(ctx))
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if got.cached > 0 {
			h.Del("Pragma")
			h.Set("Cache-Control", "public, max-age="+strconv.Itoa(int(got.cached.Seconds())))
		}
		send(w, got.status, got.content)
	}
}

// problem is the body of an error, as RFC 6749 and RFC 7591 have it.
type problem struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// Codes of errors that RFC 6749 has for the page of people only, or not at all. Apps know the first two; a status says the same.
const (
	unavailable = "temporarily_unavailable"
	serverError = "server_error"
)

// failure is an error of the protocol with the status that it is answered with.
type failure struct {
	status int
	known  *oauth.Error
	basic  bool // the app has named itself in the header Authorization
}

func (f *failure) Error() string { return f.known.Error() }

// fail answers with an error. The cause of one that is not the fault of the app goes to the log and never into the answer.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var refused *failure
	var known *oauth.Error
	switch {
	case errors.As(err, &refused):
		if refused.basic {
			w.Header().Set("WWW-Authenticate", `Basic realm="OAuth", charset="UTF-8"`)
		}
		send(w, refused.status, problem{refused.known.Code, refused.known.Description})
		return
	case errors.As(err, &known):
		send(w, http.StatusBadRequest, problem{known.Code, known.Description})
		return
	}
	status, body := http.StatusInternalServerError, problem{serverError, "something went wrong in the service; report the X-Request-Id"}
	var f *fault.Error
	if errors.As(err, &f) {
		switch f.Kind {
		case fault.RateLimited:
			status, body = http.StatusTooManyRequests, problem{unavailable, f.Message}
		case fault.Unavailable:
			status, body = http.StatusServiceUnavailable, problem{unavailable, f.Message}
		}
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(f.RetryAfter.Seconds())))))
		}
	}
	if status >= http.StatusInternalServerError && !errors.Is(r.Context().Err(), context.Canceled) {
		s.config.Log.Error("request failed", "status", status, "method", r.Method, "path", r.URL.Path,
			"request_id", w.Header().Get("X-Request-Id"), "error", withCause(err))
	}
	send(w, status, body)
}

// withCause returns the text of an error with the cause that a fault keeps from the app.
func withCause(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && errors.Unwrap(f) != nil {
		return err.Error() + ": " + errors.Unwrap(f).Error()
	}
	return err.Error()
}

// send writes an answer, whose body is empty if it has no content.
func send(w http.ResponseWriter, status int, content any) {
	h := w.Header()
	if content == nil {
		h.Set("Content-Length", "0")
		w.WriteHeader(status)
		return
	}
	body, err := json.Marshal(content)
	if err != nil {
		panic(err) // all contents are made of texts
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // nothing can be done if the app has left
}

// limited runs what looks an app, a code or a token up, unless too many requests of the address have failed just now.
func (s *Server) limited(r *http.Request, run func() error) error {
	if s.config.RateLimit <= 0 {
		return run()
	}
	address := browser.Network(s.config.Browser.Address(r))
	if state, full := s.limiter.Full(s.failed, address); full {
		return fault.RateLimitedf(state.Reset, "too many requests from this address have failed; wait, then try again")
	}
	err := run()
	var known *oauth.Error
	if errors.As(err, &known) {
		s.limiter.Take(r.Context(), s.failed, address)
	}
	return err
}
