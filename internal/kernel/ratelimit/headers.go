package ratelimit

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

// Describe sets the header fields of draft-ietf-httpapi-ratelimit-headers: which quotas there are, and what is left of them.
func Describe(h http.Header, states ...State) {
	policies, left := make([]string, len(states)), make([]string, len(states))
	for i, s := range states {
		policies[i] = fmt.Sprintf("%q;q=%d;w=%d", s.Policy.Name, s.Policy.Quota, int(Window/time.Second))
		left[i] = fmt.Sprintf("%q;r=%d;t=%d", s.Policy.Name, s.Remaining, int(math.Ceil(s.Reset.Seconds())))
	}
	h.Set("RateLimit-Policy", strings.Join(policies, ", "))
	h.Set("RateLimit", strings.Join(left, ", "))
}
