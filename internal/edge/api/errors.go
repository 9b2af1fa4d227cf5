package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// fail answers with an error. The cause of an error that is not the fault of the caller goes to the log and never into the answer.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, detail := wire.Describe(err)
	a.challenge(w, r, err)
	detail.RequestID = requestID(r.Context())
	var f *fault.Error
	if errors.As(err, &f) && f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(f.RetryAfter.Seconds())))))
	}
	refused := f != nil && f.Kind == fault.Unavailable && errors.Unwrap(f) == nil // metrics count what the service has no room for
	if status >= http.StatusInternalServerError && !refused && !disconnected(r, err) {
		organizationID := ""
		if out, ok := w.(*response); ok {
			organizationID = out.organizationID
		}
		level := slog.LevelError
		if f != nil && len(f.Fields) > 0 { // what was sent is the reason, such as the address of a server that does not answer
			level = slog.LevelInfo
		}
		a.config.Log.Log(r.Context(), level, "request failed", "status", status, "method", r.Method, "path", r.URL.Path, "route", r.Pattern,
			"request_id", detail.RequestID, "organization_id", organizationID, "error", chain(err))
	}
	a.send(w, r, status, wire.Encode(wire.ErrorBody{Error: detail}))
}

// chain returns the text of an error with the causes that faults keep from the caller.
func chain(err error) string {
	text := err.Error()
	for f := (*fault.Error)(nil); errors.As(err, &f) && errors.Unwrap(f) != nil; {
		err = errors.Unwrap(f)
		text += ": " + err.Error()
	}
	return text
}

// disconnected reports whether the caller closed the connection, which is not a failure of the service.
func disconnected(r *http.Request, err error) bool {
	return errors.Is(err, context.Canceled) && errors.Is(r.Context().Err(), context.Canceled)
}

// recoverPanic turns a panic into an answer, unless the answer has begun.
func (a *API) recoverPanic(w *response, r *http.Request) {
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
