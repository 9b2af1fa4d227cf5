package provider_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
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

// The address of a node may contain a key, and names that the message needs.
func TestTheTextOfARefusalKeepsWordsOfAnAddress(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	for address, want := range map[string]string{
		"https://node.example.com/ethereum/testnet/abc123def":     "… of ethereum testnet",
		"https://node.example.com/ethereum/abcdefghijklmnopqrstu": "… of ethereum testnet",
		"https://node.example.com/ethereum/?key=secrets":          "… of ethereum testnet",
		"https://node.example.com/ethereum/abc12":                 "abc12 of ethereum testnet", // it may be a part of a word
	} {
		s := provider.NewDialer(provider.Description{Title: "the node", URL: server.URL}, provider.Config{AllowPrivate: true}).Open(
			provider.Credentials{"rpc_url": secret.New(address)}, false)
		key := address[strings.LastIndexAny(address, "/=")+1:]
		_, err := s.Do(t.Context(), provider.Call{
			Build:   func(ctx context.Context) (*http.Request, error) { return s.Request(ctx, http.MethodGet, "/", "", "") },
			Explain: func(provider.Answer) error { return fault.Unauthorizedf("%s of ethereum testnet", key) }})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// keeper has credentials that another session has stored, until they are renewed.
type keeper struct{ stored provider.Credentials }

func (k *keeper) Renew(ctx context.Context, stale provider.Credentials, renew func(context.Context, provider.Credentials) (
	provider.Credentials, error)) (out provider.Credentials, err error) {
	if stale[provider.AccessToken].Equal(k.stored[provider.AccessToken]) {
		k.stored, err = renew(ctx, k.stored)
	}
	return k.stored, err
}

// A system may end all tokens at once: that of a session, and the one that another session has stored since.
func TestATokenOfAnotherSessionThatHasExpiredIsRenewedAsWell(t *testing.T) {
	t.Parallel()
	valid := "token-3"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != valid {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	token := func(text string) provider.Credentials {
		return provider.Credentials{provider.AccessToken: secret.New(text)}
	}
	do := func() (renewals int, err error) {
		s := provider.NewDialer(provider.Description{Title: "the bank", URL: server.URL}, provider.Config{AllowPrivate: true}).Open(
			token("token-1"), false)
		s.Keeper = &keeper{token("token-2")}
		_, err = s.Do(t.Context(), provider.Call{
			Build: func(ctx context.Context) (*http.Request, error) {
				r, err := s.Request(ctx, http.MethodGet, "/", "", "")
				if err == nil {
					r.Header.Set("Authorization", s.Text(provider.AccessToken))
				}
				return r, err
			},
			Explain: func(a provider.Answer) error {
				if a.Status == http.StatusUnauthorized {
					return provider.ErrExpired
				}
				return nil
			},
			Renew: func(context.Context, *provider.Session) (provider.Credentials, error) {
				renewals++
				return token("token-3"), nil
			}})
		return renewals, err
	}
	if renewals, err := do(); renewals != 1 || err != nil {
		t.Errorf("%d renewals: %v", renewals, err)
	}
	valid = "another"
	if renewals, err := do(); renewals != 1 || fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("%d renewals: %v", renewals, err)
	}
}
