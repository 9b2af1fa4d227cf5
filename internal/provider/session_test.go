package provider_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

// A name can lead to a private address for a moment. A connection must not be given up for that.
func TestAnAddressThatIsRefusedIsTriedAgainInTheBackground(t *testing.T) {
	t.Parallel()
	for patient, want := range map[bool]fault.Kind{true: fault.Unavailable, false: fault.Conflict} {
		s := provider.NewDialer(provider.Description{Title: "the bank", URL: "http://127.0.0.1:1"}, provider.Config{
			Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}).Open(nil, patient)
		_, err := s.Do(t.Context(), provider.Call{Build: func(ctx context.Context) (*http.Request, error) {
			return s.Request(ctx, http.MethodGet, "/", "", "")
		}})
		if fault.KindOf(err) != want {
			t.Errorf("patient %t: %s and not %s: %v", patient, fault.KindOf(err), want, err)
		}
	}
}
