package provider

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/outbound"
)

const (
	// bodyMax bounds an answer.
	bodyMax = 16 << 20
	// timeout bounds a request, with its answer.
	timeout = time.Minute
	// timeoutBrief bounds one for whose answer somebody waits, who has to be told in time that there is none.
	timeoutBrief = 20 * time.Second
	// triesMax is how often a request is sent that fails for a reason that may pass.
	triesMax = 4
	// waitFirst is how long to wait before the second try. It doubles with each one.
	waitFirst = 500 * time.Millisecond
	// waitMax is how long to wait between two tries. If a system asks for more, the caller has to try again later.
	waitMax = 15 * time.Second
	// busyPause is how long to wait if a system refuses a request because there are too many, and does not say for how long.
	busyPause = 5 * time.Second
	// retryAfterMax bounds the pause that a system may ask for.
	retryAfterMax = time.Hour
)

// Config says how systems are reached.
type Config struct {
	URL          string   // replaces the address of the system
	AllowPrivate bool     // allow an address on a private network
	Proxy        *url.URL // nil means none
	Clock        clock.Clock
	Client       Client // the registration of the service at the system, if it needs one

	// Sleep waits; nil means for as long as it is told. Tests replace it.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Dialer opens sessions at one system. The sessions share its connections.
type Dialer struct {
	Config
	title    string
	rate     Rate
	replaced bool
	http     *http.Client
	nonce    atomic.Int64 // the last one

	fields []Field

	mu    sync.Mutex
	paces map[[sha256.Size]byte]*pace // by the hash of what tells accounts apart
}

// NewDialer returns a dialer for the system of a description.
func NewDialer(d Description, c Config) *Dialer {
	replaced := c.URL != ""
	if !replaced {
		c.URL = d.URL
	}
	c.URL = strings.TrimRight(c.URL, "/")
	if c.Clock == nil {
		c.Clock = clock.System{}
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	return &Dialer{Config: c, title: d.Title, rate: d.Rate, replaced: replaced, fields: d.Fields,
		http: outbound.New(outbound.Config{AllowPrivate: c.AllowPrivate, Proxy: c.Proxy,
			BodyMax: bodyMax, Timeout: timeout, HeaderTimeout: timeout})}
}

// Open returns a session with credentials. A patient session repeats requests that fail for a reason that may pass; one that is not is for
// callers who wait for the answer.
func (d *Dialer) Open(c Credentials, patient bool) *Session {
	s := &Session{Credentials: c, dialer: d, tries: 1, pace: d.paceOf(c), base: d.URL}
	if patient {
		s.tries = triesMax
	}
	return s
}

// pacesMax is how many accounts are remembered with how much they may still ask.
const pacesMax = 10_000

// paceOf returns what keeps the sessions at an account within the limit of the system.
func (d *Dialer) paceOf(c Credentials) *pace {
	key := [sha256.Size]byte{}
	if !d.rate.Shared {
		key = sha256.Sum256([]byte(cmp.Or(c[APIKey].Reveal(), c[AccountID].Reveal(), c[Address].Reveal(), c[Subdomain].Reveal())))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.paces) >= pacesMax {
		d.paces = nil // a system that is asked too often says so
	}
	if d.paces == nil {
		d.paces = map[[sha256.Size]byte]*pace{}
	}
	if d.paces[key] == nil {
		d.paces[key] = &pace{rate: d.rate}
	}
	return d.paces[key]
}

// Session is the access to one account. It is used by one goroutine at a time.
type Session struct {
	Credentials Credentials
	// Learnt is what a connector has found out about the credentials, such as the kind of nonce that they need. It is kept for the session.
	Learnt string
	// Cursors are the positions up to which ledgers were read, for a Balancer that finds in them what to ask for.
	Cursors map[string]string
	// Keeper keeps credentials that are renewed. Without one they are kept for the session.
	Keeper Keeper

	dialer  *Dialer
	base    string
	tries   int
	pace    *pace
	entered string        // the field in which a person has entered the address of the system; empty if nobody has
	offset  time.Duration // by how much the clock of the system is ahead of ours
}

// Text returns a credential.
func (s *Session) Text(field string) string { return s.Credentials[field].Reveal() }

// Now returns the time, as far as we know that of the system.
func (s *Session) Now() time.Time { return s.dialer.Clock.Now().Add(s.offset) }

// Nonce returns a number that is greater than all before it, also those of other sessions: microseconds since 1970, as far as possible.
func (s *Session) Nonce() int64 {
	last := &s.dialer.nonce
	for {
		before := last.Load()
		if next := max(before+1, s.dialer.Clock.Now().UnixMicro()); last.CompareAndSwap(before, next) {
			return next
		}
	}
}

// Request returns a request to the system. The path begins with a slash.
func (s *Session) Request(ctx context.Context, method, path, query, body string) (*http.Request, error) {
	return s.RequestAt(ctx, method, s.base+path, query, body)
}

// RequestAt returns a request to an address without a query, such as one of the system that is not below the address of its API.
func (s *Session) RequestAt(ctx context.Context, method, address, query, body string) (*http.Request, error) {
	if query != "" {
		address += "?" + query
	}
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err == nil && body == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	return r, err
}

// Base returns the address that paths of requests are added to.
func (s *Session) Base() string { return s.base }

// Replaced reports whether the operator has replaced the address of the system.
func (s *Session) Replaced() bool { return s.dialer.replaced }

// UseBase replaces the address that paths of requests are added to, for a system with an address for each account.
func (s *Session) UseBase(address string) { s.base = strings.TrimRight(address, "/") }

// Client returns the registration of the service at the system.
func (s *Session) Client() Client { return s.dialer.Client }

// Title returns the name of the system for people.
func (s *Session) Title() string { return s.dialer.title }

// Answer is the answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Call is a request as it is made for each try, because signatures contain the time.
type Call struct {
	Cost  int // in units of the limit of the system; 0 means 1
	Build func(ctx context.Context) (*http.Request, error)
	// Explain returns the error that an answer states, and nil for an answer that is a success. It returns ErrClock if the time is refused,
	// and ErrExpired if a token has expired.
	Explain func(Answer) error
	// Renew returns credentials with a new token. It is called once if Explain returns ErrExpired, before the request is sent again. Tokens
	// that another session has stored meanwhile are tried first.
	Renew func(ctx context.Context, s *Session) (Credentials, error)
}

// othersMax is how many tokens of other sessions are tried for a request. They may have expired as well.
const othersMax = 3

// Do sends a request, again if it fails for a reason that may pass, and returns the body of the answer.
func (s *Session) Do(ctx context.Context, c Call) ([]byte, error) {
	adjusted, renewed, others := false, false, 0
	for try := 1; ; try++ {
		if err := s.pace.take(ctx, max(c.Cost, 1), s.dialer.Clock.Now, s.dialer.Sleep); err != nil {
			return nil, err
		}
		answer, err := s.send(ctx, c)
		if err == nil {
			err = c.Explain(answer)
		}
		if errors.Is(err, ErrClock) {
			if at := serverTime(answer.Header); !adjusted && !at.IsZero() {
				adjusted = true
				s.offset = at.Sub(s.dialer.Clock.Now())
				try--
				continue
			}
			err = Temporary(s.dialer.title, "the clock of this machine differs from that of %s", s.dialer.title)
		}
		if errors.Is(err, ErrExpired) {
			if c.Renew != nil && !renewed && others < othersMax {
				others++ // unless the function is called
				if err := s.Renew(ctx, func(ctx context.Context, stored *Session) (Credentials, error) {
					renewed = true
					return c.Renew(ctx, stored)
				}); err != nil {
					return nil, err
				}
				try--
				continue
			}
			err = fault.Unauthorizedf("%s refuses the access that it was asked for a moment ago", s.dialer.title)
		}
		wait, again := s.repeat(ctx, err, try)
		if !again {
			return answer.Body, s.withoutCredentials(err)
		}
		if stopped := s.dialer.Sleep(ctx, wait); stopped != nil {
			return nil, stopped
		}
	}
}

// withoutCredentials takes credentials out of the text of an error, because some systems repeat what they were sent.
func (s *Session) withoutCredentials(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	text := f.Message
	for name, value := range s.Credentials {
		if slices.ContainsFunc(s.dialer.fields, func(f Field) bool { return f.Name == name && f.Open }) {
			continue
		}
		for _, hidden := range hiddenIn(value.Reveal()) {
			if len(hidden) >= credentialMin {
				text = strings.ReplaceAll(text, hidden, "…")
			}
		}
	}
	if text == f.Message {
		return err
	}
	clean := *f
	clean.Message = text
	return &clean
}

// hiddenIn returns the texts that a credential consists of: itself and, if it is an address, the parts of it that may be a key.
func hiddenIn(credential string) []string {
	out := []string{credential}
	u, err := url.Parse(credential)
	if err != nil || u.Host == "" {
		return out
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if isLikeKey(part) {
			out = append(out, part)
		}
	}
	for _, values := range u.Query() {
		out = append(out, values...)
	}
	return out
}

// keyMin is the length from which on a part of a path is taken for a key, even without a digit.
const keyMin = 16

// isLikeKey reports whether a part of a path may be a key. Others, such as the name of a network, are words that a message needs.
func isLikeKey(part string) bool {
	isLetter := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
	return len(part) >= keyMin || strings.ContainsAny(part, "0123456789") && strings.ContainsFunc(part, isLetter)
}

// credentialMin is the length from which on a credential is looked for in texts: a shorter one may be a part of a word.
const credentialMin = 6

// repeat reports whether to send a request again after an error, and after which pause.
func (s *Session) repeat(ctx context.Context, err error, try int) (time.Duration, bool) {
	var f *fault.Error
	if err == nil || ctx.Err() != nil || !errors.As(err, &f) || f.Kind != fault.Unavailable || try >= s.tries ||
		errors.Is(err, ErrTooLarge) {
		return 0, false
	}
	wait := max(f.RetryAfter, waitFirst<<(try-1))
	return wait, wait <= waitMax
}

// send sends a request once.
func (s *Session) send(ctx context.Context, c Call) (Answer, error) {
	within := timeout
	if s.tries == 1 {
		within = timeoutBrief
	}
	bounded, stop := context.WithTimeout(ctx, within)
	defer stop()
	r, err := c.Build(bounded)
	if err != nil {
		return Answer{}, err
	}
	response, err := s.dialer.http.Do(r)
	if err != nil {
		return Answer{}, s.unreachable(ctx, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return Answer{}, s.unreachable(ctx, err)
	}
	a := Answer{response.StatusCode, response.Header, bytes.TrimSpace(body)}
	return a, s.refuse(a)
}

// unreachable returns the error for a request without an answer. The address, which may contain a signature, is left out.
func (s *Session) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	var refused *outbound.RefusedError
	if errors.As(err, &refused) {
		if s.tries > 1 { // a name may lead to another address for a while
			return fault.UnavailableBecause(err, "%s cannot be reached: %v", s.dialer.title, refused)
		}
		if s.entered != "" {
			return fault.Invalidf(s.entered, "cannot be used: %v", refused)
		}
		return fault.Conflictf("%s cannot be reached: %v", s.dialer.title, refused)
	}
	if errors.Is(err, ErrTooLarge) {
		return fault.UnavailableBecause(err, "%s sent an answer that is too large", s.dialer.title)
	}
	return fault.UnavailableBecause(err, "%s cannot be reached at present", s.dialer.title)
}

// refuse returns the error that follows from the status of an answer alone. What a system says with others is up to its connector.
func (s *Session) refuse(a Answer) error {
	switch {
	case a.Status == http.StatusTooManyRequests, a.Status == http.StatusTeapot:
		return Busy(retryAfter(a.Header, s.dialer.Clock.Now()), s.dialer.title)
	case a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
		err := Temporary(s.dialer.title, "status %d", a.Status)
		var f *fault.Error
		if errors.As(err, &f) {
			f.RetryAfter = max(f.RetryAfter, retryAfter(a.Header, s.dialer.Clock.Now()))
		}
		return err
	case a.Status >= http.StatusInternalServerError:
		return Temporary(s.dialer.title, "status %d", a.Status)
	case a.Status >= 300 && a.Status < 400:
		return Nonsense(s.dialer.title, fmt.Errorf("the answer has the status %d", a.Status))
	}
	return nil
}

// serverTime returns the time that an answer states, or the zero time.
func serverTime(h http.Header) time.Time {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// retryAfter returns the pause that an answer asks for, in seconds or until a date, and zero if it does not.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	wait, err := time.ParseDuration(text + "s")
	if err != nil {
		at, failed := http.ParseTime(text)
		if failed != nil {
			return 0
		}
		wait = at.Sub(now)
	}
	return min(max(wait, 0), retryAfterMax)
}

// sleep waits for a while or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
