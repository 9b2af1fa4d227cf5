package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/outbound"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

const (
	// timeout bounds a request, from resolving the name to the end of the answer.
	timeout = 15 * time.Second

	userAgent = "Bursar-Webhooks/1"

	answerMax   = 64 << 10 // bytes of an answer that are read, so that the connection can be used again
	bodyKept    = 1 << 10  // bytes of an answer that are stored
	headersKept = 4 << 10  // bytes of the headers of an answer that are stored
	errorKept   = 500      // bytes of a reason that are stored

	idleMax     = 200 // connections that are kept open
	idlePerHost = requestsMax
)

// Attempt is a request that was sent, and its answer.
type Attempt struct {
	Number         int64 // counts the attempts of a delivery from 1; 0 in a test
	At             time.Time
	Duration       time.Duration
	URL            string
	RequestHeaders string

	StatusCode      int // 0 if there was no answer
	ResponseHeaders string
	ResponseBody    string // the beginning
	Error           string // why it failed, in plain words; empty if it succeeded

	unsent     bool          // nothing was sent, for which the endpoint is not to blame
	retryAfter time.Duration // for how long the endpoint asks not to be sent anything
}

// Succeeded reports whether the endpoint has accepted the event.
func (a Attempt) Succeeded() bool { return a.Error == "" }

func newClient(c Config) *http.Client {
	return outbound.New(outbound.Config{AllowPrivate: c.AllowPrivate, Proxy: c.Proxy, Resolver: c.Resolver, RootCAs: c.RootCAs,
		UserAgent: userAgent, BodyMax: answerMax, HeaderTimeout: c.Timeout, Timeout: c.Timeout, OneByOne: true, IdleMax: idleMax,
		IdlePerHost: idlePerHost})
}

// send sends an event to an address. Failures are part of the attempt.
func (s *Service) send(ctx context.Context, address string, secrets []secret.Text, organizationID string, e outbox.Event) Attempt {
	now := s.db.Clock().Now()
	a := Attempt{At: clock.Stamp(now), URL: address}
	body := e.Envelope(organizationID)
	signature, err := sign(secrets, e.ID, now, body)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		a.Error = "the address is not valid"
		return a
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "User-Agent": {userAgent}, "Webhook-Id": {e.ID},
		"Webhook-Timestamp": {seconds(now)}, "Webhook-Signature": {signature}}
	a.RequestHeaders = headerText(request.Header)
	response, err := s.client.Do(request)
	if err != nil {
		a.Error = s.explain(err)
	} else {
		a.read(response)
	}
	a.Duration = s.db.Clock().Now().Sub(now)
	s.counted.WithLabelValues(map[bool]string{true: "succeeded", false: "failed"}[a.Succeeded()]).Inc()
	return a
}

// read notes an answer.
func (a *Attempt) read(response *http.Response) {
	defer response.Body.Close()
	a.StatusCode, a.ResponseHeaders = response.StatusCode, headerText(response.Header)
	var head bytes.Buffer
	if _, err := io.CopyN(&head, response.Body, bodyKept); err == nil {
		_, _ = io.Copy(io.Discard, response.Body) // An error while reading changes nothing: the status says whether the event was accepted.
	}
	a.ResponseBody = storable(head.String(), bodyKept)
	switch {
	case a.StatusCode >= 200 && a.StatusCode <= 299:
	case a.StatusCode >= 300 && a.StatusCode <= 399:
		a.Error = fmt.Sprintf("answered %d; redirects are not followed", a.StatusCode)
	default:
		a.Error = fmt.Sprintf("answered %d", a.StatusCode)
	}
	if a.StatusCode == http.StatusTooManyRequests || a.StatusCode == http.StatusServiceUnavailable {
		a.retryAfter = retryAfter(response.Header.Get("Retry-After"), a.At)
	}
}

// retryAfter returns the time that a header asks for: a number of seconds, or a date.
func retryAfter(header string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if n, err := strconv.ParseInt(strings.TrimSpace(header), 10, 32); err == nil {
		wait = time.Duration(n) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return min(max(0, wait), retryAfterMax)
}

// explain says in plain words why there was no answer.
func (s *Service) explain(err error) string {
	var refused *outbound.RefusedError
	var certificate *tls.CertificateVerificationError
	var name *net.DNSError
	var operation *net.OpError
	var timedOut net.Error
	var full *url.Error
	switch {
	case errors.As(err, &refused):
		return refused.Error()
	case errors.Is(err, outbound.ErrSwitched):
		return "answered 101, which is not an answer to an event"
	case errors.As(err, &certificate):
		return storable("the certificate is not valid: "+certificate.Err.Error(), errorKept)
	case errors.As(err, &name) && name.IsNotFound:
		return storable("no connection: the host "+name.Name+" does not exist", errorKept)
	case errors.As(err, &operation) && operation.Op == "dial" && operation.Timeout():
		return fmt.Sprintf("no connection within %v", outbound.DialTimeout)
	case strings.Contains(err.Error(), "TLS handshake timeout"):
		return fmt.Sprintf("no secure connection within %v", outbound.TLSTimeout)
	case errors.As(err, &timedOut) && timedOut.Timeout() || errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %v", s.config.Timeout)
	case errors.As(err, &operation) && operation.Op == "dial":
		return storable("no connection: "+operation.Err.Error(), errorKept)
	case errors.As(err, &full):
		return storable("no answer: "+full.Err.Error(), errorKept) // without the address, which may be long
	default:
		return storable("no answer: "+err.Error(), errorKept)
	}
}

// headerText returns headers with one on each line, in alphabetical order.
func headerText(h http.Header) string {
	var lines []string
	for name, values := range h {
		for _, v := range values {
			lines = append(lines, strings.ToLower(name)+": "+v)
		}
	}
	slices.Sort(lines)
	return storable(strings.Join(lines, "\n"), headersKept)
}

// storable returns the beginning of a text from another system, without what a database does not store.
func storable(text string, most int) string {
	return cut(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD"), most)
}

// cut returns the beginning of a text of at most a number of bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
