package wire

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// kinds maps each kind of failure to a status and a code.
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

// transportError is a failure that exists only in HTTP. The caller sees a validation error with a status of its own.
type transportError struct {
	status  int
	message string
}

func (e *transportError) Error() string { return e.message }

// CodeOf returns the code by which the API reports a kind of failure.
func CodeOf(kind fault.Kind) string { return kinds[kind].code }

// ErrTooLarge returns the error for a body that is larger than a number of bytes.
func ErrTooLarge(bytes int) error {
	return &transportError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d MiB", bytes>>20)}
}

// ErrNoPath returns the failure of a request for a path that has no operation.
func ErrNoPath(path string) error {
	return &fault.Error{Kind: fault.NotFound,
		Message: "path not found: " + QuoteUnlessID(path) + "; the API reference at /docs lists all paths"}
}

// ErrNoMethod returns the failure of a request whose path does not support its method.
func ErrNoMethod(method string, allowed []string) error {
	return &transportError{http.StatusMethodNotAllowed, "this path does not support " + QuoteUnlessID(method) + "; it supports " +
		strings.Join(allowed, ", ")}
}

// transportMessages explains the statuses with which the server answers requests that it cannot read.
var transportMessages = map[int]string{
	http.StatusBadRequest: "the request is not valid HTTP: check its first line, its headers and escapes such as %20, and that it is " +
		"sent to http or https as the address says",
	http.StatusExpectationFailed:           "the header Expect can only be 100-continue",
	http.StatusRequestHeaderFieldsTooLarge: "the first line and the headers of the request are too large",
	http.StatusNotImplemented:              "the Transfer-Encoding is not supported; send chunked, or a Content-Length",
	http.StatusHTTPVersionNotSupported:     "the version of HTTP is not supported; use HTTP/1.1 or HTTP/2",
}

// ErrTransport returns the failure of a request that the server could not read.
func ErrTransport(status int) error {
	return &transportError{status, cmp.Or(transportMessages[status], transportMessages[http.StatusBadRequest])}
}

var (
	errTooLarge   = ErrTooLarge(BodyMax)
	errTooMuch    = &transportError{http.StatusRequestEntityTooLarge, "the body holds too many values; send them in several requests"}
	errLongAnswer = &fault.Error{Kind: fault.Invalid, Message: "the answer would be larger than one answer can be; ask for less at a time, " +
		"or have the service started with more --memory"}
	errFormTooLarge = &transportError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the form is larger than %d MiB", formMax>>20)}
	errMediaType    = &transportError{http.StatusUnsupportedMediaType, "the body must be JSON, with Content-Type: application/json"}
	errTooSlow      = &transportError{http.StatusRequestTimeout, "the body did not arrive in time; send the request again"}
)

// ErrorBody is the body of every answer that reports a failure.
type ErrorBody struct {
	Error ErrorDetail `json:"error" doc:"The error."`
}

// ErrorDetail describes a failure.
type ErrorDetail struct {
	Code      string       `json:"code" doc:"Code for programs, such as VALIDATION_ERROR."`
	Message   string       `json:"message" doc:"Explanation for people."`
	RequestID string       `json:"request_id" doc:"Identifier of the request, the same as in the X-Request-Id header. Quote it when you ask for help."`
	Fields    []ErrorField `json:"fields,omitempty" doc:"Inputs to correct, sorted by path. Present if inputs are at fault."`
}

// ErrorField describes what is wrong with one input.
type ErrorField struct {
	Field   string `json:"field" doc:"Path of the input, such as lines[2].amount."`
	Message string `json:"message" doc:"What is wrong with the input."`
}

// Describe returns the status and the body that report an error. What is not the fault of the caller is not revealed.
func Describe(err error) (int, ErrorDetail) {
	var t *transportError
	if errors.As(err, &t) {
		return t.status, ErrorDetail{Code: kinds[fault.Invalid].code, Message: t.message}
	}
	kind := kinds[fault.KindOf(err)]
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind == fault.Internal {
		return kind.status, ErrorDetail{Code: kind.code,
			Message: "an unexpected error occurred; the request may have taken effect, so check before you send it again"}
	}
	detail := ErrorDetail{Code: kind.code, Message: f.Message}
	for _, field := range f.Fields {
		detail.Fields = append(detail.Fields, ErrorField{shorten(field.Name, pathMax), shorten(field.Message, messageMax)})
	}
	slices.SortStableFunc(detail.Fields, func(a, b ErrorField) int {
		return cmp.Or(ComparePaths(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	})
	detail.Fields = slices.Compact(detail.Fields) // two checks may have found the same
	listed := min(len(detail.Fields), fieldsMax)
	more := len(detail.Fields) - listed
	detail.Fields = detail.Fields[:listed]
	switch { // faults that were not kept are not counted: several checks may have found the same
	case f.Cut && more > 0:
		detail.Message += fmt.Sprintf(": %d faults are listed, and at least %s more", listed, formatCount(more))
	case f.Cut && listed == 1:
		detail.Message += ": 1 fault is listed, and there may be more"
	case f.Cut:
		detail.Message += fmt.Sprintf(": %d faults are listed, and there may be more", listed)
	case more > 0:
		detail.Message += fmt.Sprintf(": %d faults are listed, and %s more", listed, formatCount(more))
	}
	if f.Unread {
		detail.Message += "; the rest of the body was not read"
	}
	return kind.status, detail
}

// Limits of an answer that reports faults, so that a request cannot be answered with much more than it is.
const (
	fieldsMax  = 100  // faults that are listed
	pathMax    = 300  // characters of a path: unknown properties may have any name
	messageMax = 2000 // characters of a message
)

// ComparePaths orders paths of inputs so that the same faults are always reported in the same order: lines[2] before lines[10], and
// lines before lines[0].amount.
func ComparePaths(a, b string) int {
	return slices.CompareFunc(strings.FieldsFunc(a, isPathPunctuation), strings.FieldsFunc(b, isPathPunctuation), func(a, b string) int {
		m, notM := strconv.Atoi(a)
		n, notN := strconv.Atoi(b)
		if notM == nil && notN == nil {
			return cmp.Compare(m, n)
		}
		return cmp.Compare(a, b)
	})
}

func isPathPunctuation(r rune) bool { return strings.ContainsRune(".[]", r) }
