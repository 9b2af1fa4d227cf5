package provider

import (
	"errors"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/outbound"
)

// ErrClock means that a system refuses a request because of its time. The session then takes over the time of the system.
var ErrClock = errors.New("the time of the request differs from that of the provider")

// ErrTooLarge is the cause of the error for an answer that is larger than any that is read. The same request has the same answer again.
var ErrTooLarge = outbound.ErrBodyTooLarge

// Busy returns the error for a request that exceeds a limit of the system. A wait of zero means that it does not say how long to wait.
func Busy(wait time.Duration, title string) error {
	return &fault.Error{Kind: fault.Unavailable, Message: title + " allows no more requests at present", RetryAfter: max(wait, busyPause)}
}

// Temporary returns the error for a request that may succeed later, with what the system said about it.
func Temporary(title, format string, args ...any) error {
	return fault.UnavailableBecause(fmt.Errorf(format, args...), "%s cannot answer at present", title)
}

// Nonsense returns the error for an answer that is not in the format of the system, such as the page of a proxy. Another try may get
// another answer.
func Nonsense(title string, cause error) error {
	return fault.UnavailableBecause(cause, "%s sent an answer that cannot be understood", title)
}
