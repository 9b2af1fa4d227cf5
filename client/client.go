// Package client is a Go client of the Bursar API. It uses only the standard library.
//
//	c := client.New("http://127.0.0.1:8080", os.Getenv("BURSAR_API_KEY"))
//	org, err := c.Organization(ctx)
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Client calls one service with one API key. It is safe for concurrent use.
type Client struct {
	// HTTP sends the requests; its Timeout limits each of them.
	HTTP *http.Client
	// Retries is how often a call is repeated when the service is rate limiting or unavailable, or does not answer. Only
	// reads and calls with an idempotency key are repeated, because that is safe.
	Retries int

	base         string
	key          string
	ifMatch      string
	organization string
}

const (
	retriesDefault = 3
	timeoutDefault = 60 * time.Second
	pauseMax       = 30 * time.Second
)

// New makes a client of the service at an address such as http://127.0.0.1:8080.
func New(address, apiKey string) *Client {
	return &Client{HTTP: &http.Client{Timeout: timeoutDefault}, Retries: retriesDefault, base: strings.TrimRight(address, "/"), key: apiKey}
}

// Error is a response that is not a success.
type Error struct {
	Status     int           `json:"-"`
	Code       string        `json:"code"`
	Message    string        `json:"message"`
	RequestID  string        `json:"request_id"`
	Fields     []Field       `json:"fields"`
	RetryAfter time.Duration `json:"-"`
}

// Field is one input field to correct.
type Field struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error returns the message of the service.
func (e *Error) Error() string {
	text := fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message)
	for _, f := range e.Fields {
		text += fmt.Sprintf("; %s %s", f.Field, f.Message)
	}
	return text + " (" + e.RequestID + ")"
}

// IsNotFound reports whether an error says that a record does not exist.
func IsNotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}

// Call is one request. Query and Body may be nil; Form replaces Body to send a file.
type Call struct {
	Method         string
	Path           string
	Query          url.Values
	Body           any
	Form           *Form
	IdempotencyKey string
}

// NewIdempotencyKey returns a new key. A call with the same key takes effect once, however often it is sent.
func NewIdempotencyKey() string { return rand.Text() }

// IfMatch returns a client whose calls are refused if the record that they change has another etag.
func (c *Client) IfMatch(etag string) *Client {
	out := *c
	out.ifMatch = etag
	return &out
}

// For returns a client that acts for another organization, which is a client of the accounting firm that the key belongs to.
func (c *Client) For(organizationID string) *Client {
	out := *c
	out.organization = organizationID
	return &out
}

// Do sends a call and decodes the response into out, which may be nil.
func (c *Client) Do(ctx context.Context, call Call, out any) error {
	var body []byte
	if call.Body != nil {
		var err error
		if body, err = json.Marshal(call.Body); err != nil {
			return err
		}
	}
	repeatable := call.Method == http.MethodGet || call.IdempotencyKey != ""
	for try := 0; ; try++ {
		err := c.once(ctx, call, body, out)
		wait, again := pause(err)
		if !again || !repeatable || try >= c.Retries || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// pause reports whether a call that failed may succeed if it is sent again, and after how long: the service is busy, or no
// answer came.
func pause(err error) (time.Duration, bool) {
	if e, ok := errors.AsType[*Error](err); ok {
		busy := e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable || e.Status == http.StatusRequestTimeout
		return min(max(e.RetryAfter, time.Second), pauseMax), busy
	}
	_, lost := errors.AsType[*url.Error](err)
	return time.Second, lost
}

func (c *Client) once(ctx context.Context, call Call, body []byte, out any) error {
	address := c.base + call.Path
	if len(call.Query) > 0 {
		address += "?" + call.Query.Encode()
	}
	sender, content, contentType := c.HTTP, io.ReadCloser(io.NopCloser(bytes.NewReader(body))), ""
	if call.Body != nil {
		contentType = "application/json"
	}
	if call.Form != nil {
		var err error
		if content, contentType, err = call.Form.open(); err != nil {
			return err
		}
		patient := *c.HTTP // an upload has no timeout other than the context
		patient.Timeout = 0
		sender = &patient
	}
	defer content.Close()
	req, err := http.NewRequestWithContext(ctx, call.Method, address, content)
	if err != nil {
		return err
	}
	if call.Form == nil {
		req.ContentLength = int64(len(body))
		if len(body) == 0 {
			req.Body = http.NoBody
		}
	}
	req.Header.Set("X-API-Key", c.key)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if c.ifMatch != "" {
		req.Header.Set("If-Match", c.ifMatch)
	}
	if c.organization != "" {
		req.Header.Set("X-Organization-Id", c.organization)
	}
	if call.IdempotencyKey != "" {
		req.Header.Set("Idempotency-Key", call.IdempotencyKey)
	}
	res, err := sender.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= http.StatusBadRequest {
		return failure(res, text)
	}
	if out == nil || len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, out)
}

func failure(res *http.Response, text []byte) error {
	var body struct {
		Error *Error `json:"error"`
	}
	if err := json.Unmarshal(text, &body); err != nil || body.Error == nil { // perhaps a response of a proxy
		body.Error = &Error{Code: "UNKNOWN", Message: http.StatusText(res.StatusCode), RequestID: res.Header.Get("X-Request-Id")}
	}
	body.Error.Status = res.StatusCode
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		body.Error.RetryAfter = time.Duration(seconds) * time.Second
	}
	return body.Error
}
