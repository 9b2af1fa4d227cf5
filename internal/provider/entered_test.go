package provider_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
)

// entered returns a session in whose field rpc_url somebody has entered an address.
func entered(address string, config provider.Config, patient bool) *provider.Session {
	d := provider.Description{Title: "the node", Fields: []provider.Field{{Name: provider.RPCURL, Secret: true}}}
	return provider.NewDialer(d, config).Open(provider.Credentials{provider.RPCURL: secret.New(address)}, patient)
}

// blamed returns the field that an error names, and its text.
func blamed(err error) (field, text string) {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid || len(f.Fields) != 1 {
		return "", ""
	}
	return f.Fields[0].Name, f.Fields[0].Message
}

func TestAnAddressThatCannotBeThatOfAServerIsBlamedOnItsField(t *testing.T) {
	t.Parallel()
	for address, says := range map[string]string{
		"":                                       "must be the address of a server",
		"rpc.example.com":                        "must be the address of a server",
		"ftp://rpc.example.com":                  "must be the address of a server",
		"https://":                               "must be the address of a server",
		"https://:8545/":                         "must be the address of a server",
		"https://rpc.example.com/#x":             "must be the address of a server",
		"https://rpc.example.com:x/":             "must be the address of a server",
		"https://rpc.example.com:99999/secret-1": "the port 99999",
		"https://rpc.example.com:65536":          "the port 65536",
		"https://rpc.example.com:0":              "the port 0",
		"https://user:secret-1@rpc.example.com":  "user name",
		"https://secret-1@rpc.example.com":       "user name",
		"http://127.0.0.1:8545/secret-1":         "private network",
		"http://localhost:8545":                  "private network",
		"http://[::1]:8545":                      "private network",
		"http://10.0.0.1":                        "private network",
		"http://169.254.169.254/latest":          "not on the Internet",
	} {
		_, err := entered(address, provider.Config{}, false).Entered(provider.RPCURL, "https://rpc.example.com")
		if field, text := blamed(err); field != provider.RPCURL || !strings.Contains(text, says) || strings.Contains(text, "secret-1") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"https://rpc.example.com/v2/key?x=y", "http://8.8.8.8:65535", "https://rpc.example.com:/",
		"http://[2606:4700::1]:1"} {
		if u, err := entered(address, provider.Config{}, false).Entered(provider.RPCURL, "x"); err != nil || u.String() != address {
			t.Errorf("%q: %v %v", address, u, err)
		}
	}
	if _, err := entered("http://127.0.0.1:8545", provider.Config{AllowPrivate: true}, false).Entered(provider.RPCURL, "x"); err != nil {
		t.Error(err)
	}
	if _, err := entered("http://127.0.0.1:8545", provider.Config{}, true).Entered(provider.RPCURL, "x"); err != nil {
		t.Errorf("in the background, the request says so: %v", err)
	}
}

// A name may lead to a private address, which is known when it is looked up.
func TestANameThatLeadsToAPrivateAddressIsBlamedOnTheFieldInWhichItWasEntered(t *testing.T) {
	t.Parallel()
	s := entered("https://rpc.example.com/secret-1", provider.Config{}, false)
	if _, err := s.Entered(provider.RPCURL, "x"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Do(t.Context(), provider.Call{Build: func(ctx context.Context) (*http.Request, error) {
		return s.RequestAt(ctx, http.MethodGet, "http://127.0.0.1:1/", "", "") // what the name stands for
	}})
	if field, text := blamed(err); field != provider.RPCURL || !strings.Contains(text, "private network") {
		t.Error(err)
	}
}

func TestTheKeyInAnAddressIsNotShown(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	s := entered(server.URL+"/v2/secret-1?key=secret-2", provider.Config{AllowPrivate: true}, false)
	_, err := s.Do(t.Context(), provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			return s.RequestAt(ctx, http.MethodGet, server.URL, "", "")
		},
		Explain: func(provider.Answer) error {
			return fault.Unauthorizedf("the key secret-1 is refused, as is secret-2 at v2")
		}})
	if err == nil || err.Error() != "the key … is refused, as is … at v2" {
		t.Error(err)
	}
}
