package wire

import (
	"errors"
	"fmt"
	"net/http"

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

// CodeOf returns the code by which the API reports a kind of failure.
func CodeOf(kind fault.Kind) string { return kinds[kind].code }

var (
	ErrNoPath       = fault.Missing("path")
	ErrNoMethod     = &transportError{http.StatusMethodNotAllowed, "the path does not take this method"}
	errTooLarge     = &transportError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d MiB", BodyMax>>20)}
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
			Message: "an unexpected error occurred; the request may have taken effect, so look before you send it again"}
	}
	detail := ErrorDetail{Code: kind.code, Message: f.Message}
	for _, field := range f.Fields {
		detail.Fields = append(detail.Fields, ErrorField{field.Name, field.Message})
	}
	return kind.status, detail
}
