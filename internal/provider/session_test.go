package provider_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
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

// Some systems repeat the credentials that they refuse.
func TestTheTextOfARefusalHasNoCredentials(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	d := provider.Description{Title: "the bank", URL: server.URL, Fields: []provider.Field{{Name: "address", Open: true}}}
	s := provider.NewDialer(d, provider.Config{AllowPrivate: true}).Open(provider.Credentials{"api_key": secret.New("key-123456"),
		"access_token": secret.New("token-123456"), "address": secret.New("address-1")}, false)
	_, err := s.Do(t.Context(), provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) { return s.Request(ctx, http.MethodGet, "/", "", "") },
		Explain: func(provider.Answer) error {
			return fault.Unauthorizedf("refused: key-123456 and token-123456 of address-1")
		}})
	if fault.KindOf(err) != fault.Unauthorized || err.Error() != "refused: … and … of address-1" {
		t.Error(err)
	}
}
