package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// kinds is the one table from a kind of failure to what HTTP calls it.
var kinds = map[fault.Kind]struct {
	status int
	code   string
}{
	fault.Invalid:      {http.StatusBadRequest, "VALIDATION_ERROR"},
	fault.Unauthorized: {http.StatusUnauthorized, "UNAUTHORIZED"},
	fault.Forbidden:    {http.StatusForbidden, "FORBIDDEN"},
	fault.NotFound:     {http.StatusNotFound, "RESOURCE_NOT_FOUND"},
	fault.Conflict:     {http.StatusConflict, "CONFLICT"},
	fault.RateLimited:  {http.StatusTooManyRequests, "RATE_LIMITED"},
	fault.Unavailable:  {http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE"},
	fault.Provider:     {http.StatusServiceUnavailable, "PROVIDER_ERROR"},
	fault.Internal:     {http.StatusInternalServerError, "INTERNAL_ERROR"},
}

// transportError is a failure that only HTTP knows; to the caller it is a faulty request.
type transportError struct {
	status  int
	message string
}

func (e *transportError) Error() string { return e.message }

var (
	errNoPath       = fault.Missing("path")
	errNoMethod     = &transportError{http.StatusMethodNotAllowed, "the path does not take this method"}
	errTooLarge     = &transportError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d MiB", bodyMax>>20)}
	errFormTooLarge = &transportError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the form is larger than %d MiB", formMax>>20)}
	errMediaType    = &transportError{http.StatusUnsupportedMediaType, "the body must be JSON, with Content-Type: application/json"}
	errTooSlow      = &transportError{http.StatusRequestTimeout, "the body did not arrive in time"}
)

// ErrorBody is what every failure is answered with.
type ErrorBody struct {
	Error ErrorDetail `json:"error" doc:"What went wrong"`
}

// ErrorDetail says what went wrong.
type ErrorDetail struct {
	Code      string       `json:"code" doc:"A name for programs, such as VALIDATION_ERROR"`
	Message   string       `json:"message" doc:"A sentence for people"`
	RequestID string       `json:"request_id" doc:"The id of this request, equal to the X-Request-Id header; give it when you ask for help"`
	Fields    []ErrorField `json:"fields,omitempty" doc:"Every input to correct, on a validation error"`
}

// ErrorField blames one input.
type ErrorField struct {
	Field   string `json:"field" doc:"The path of the input, such as lines[2].amount"`
	Message string `json:"message" doc:"What is wrong with it"`
}

// fail writes an error. What is not the caller's doing goes to the log, with its cause, and never into the answer.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, detail := describe(err)
	detail.RequestID = requestID(r.Context())
	var f *fault.Error
	if errors.As(err, &f) && f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(f.RetryAfter.Seconds())))))
	}
	if status >= http.StatusInternalServerError && !gone(r, err) {
		organizationID := ""
		if out, ok := w.(*response); ok {
			organizationID = out.organizationID
		}
		a.config.Log.Error("request failed", "status", status, "method", r.Method, "path", r.URL.Path, "route", r.Pattern,
			"request_id", detail.RequestID, "organization_id", organizationID, "error", chain(err))
	}
	a.send(w, r, status, encode(ErrorBody{detail}))
}

// chain is the text of an error with the causes that faults keep from the caller.
func chain(err error) string {
	text := err.Error()
	for f := (*fault.Error)(nil); errors.As(err, &f) && errors.Unwrap(f) != nil; {
		err = errors.Unwrap(f)
		text += ": " + err.Error()
	}
	return text
}

// gone tells that the caller hung up: that is no failure of ours, and nobody reads the answer.
func gone(r *http.Request, err error) bool {
	return errors.Is(err, context.Canceled) && errors.Is(r.Context().Err(), context.Canceled)
}

func describe(err error) (int, ErrorDetail) {
	var t *transportError
	if errors.As(err, &t) {
		return t.status, ErrorDetail{Code: kinds[fault.Invalid].code, Message: t.message}
	}
	kind := kinds[fault.KindOf(err)]
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind == fault.Internal {
		return kind.status, ErrorDetail{Code: kind.code,
			Message: "an unexpected error occurred; the request may have taken effect, so look before you send it again"}
	}
	detail := ErrorDetail{Code: kind.code, Message: f.Message}
	for _, field := range f.Fields {
		detail.Fields = append(detail.Fields, ErrorField{field.Name, field.Message})
	}
	return kind.status, detail
}

// recovered turns a panic into an answer, so that the connection and the caller's wait end well.
func (a *API) recovered(w *response, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	a.config.Log.Error("panic", "method", r.Method, "path", r.URL.Path, "request_id", requestID(r.Context()), "panic", fmt.Sprint(p),
		"stack", string(debug.Stack()))
	if !w.begun {
		a.fail(w, r, errors.New("panic"))
	}
}
