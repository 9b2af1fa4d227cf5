package xero_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/provider/xero"
	"github.com/bursarhq/bursar/internal/provider/xero/xerotest"
)

func TestItConforms(t *testing.T) {
	t.Parallel()
	for _, currency := range []string{"EUR", "JPY"} {
		t.Run(currency, func(t *testing.T) {
			t.Parallel()
			ledgertest.Conforms(t, ledgertest.Suite{Connector: xero.Connector{}, Fake: func() ledgertest.Fake { return xerotest.New(currency) },
				Wrong: []string{"refresh_token"}})
		})
	}
}

// connect connects an organisation, of which a person has perhaps connected another one before.
func connect(t *testing.T, fake *xerotest.Server, r provider.SetupRequest, before string) (provider.Credentials, error) {
	t.Helper()
	dialer := provider.NewDialer(xero.Connector{}.Describe(), provider.Config{URL: fake.URL, AllowPrivate: true, Client: fake.Tokens().Client})
	entered := ledgertest.Secrets(map[string]string{provider.AccountID: before})
	setup, err := xero.Connector{}.Begin(t.Context(), dialer.Open(entered, false), r)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range setup.Keep {
		entered[name] = value
	}
	page, err := http.NewRequestWithContext(t.Context(), http.MethodGet, setup.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultTransport.RoundTrip(page)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close() // nothing is read from it
	back, err := url.Parse(answer.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return xero.Connector{}.Finish(t.Context(), dialer.Open(entered, false), r, back.Query())
}

func TestTheOrganisationOfTheConsentIsUsed(t *testing.T) {
	t.Parallel()
	fake := xerotest.New("EUR")
	providertest.Start(t, fake, time.Now)
	r := provider.SetupRequest{State: "s1", ReturnTo: "https://books.example/back"}
	got, err := connect(t, fake, r, "")
	if err != nil || got[provider.AccountID].Reveal() != xerotest.Tenant {
		t.Errorf("%s %v", got[provider.AccountID].Reveal(), err)
	}
	fake.Together = true
	if got, err = connect(t, fake, r, ""); err != nil || got[provider.AccountID].Reveal() != xerotest.Other {
		t.Errorf("of several, the one that was connected last: %s %v", got[provider.AccountID].Reveal(), err)
	}
	r.Renews = true
	if got, err = connect(t, fake, r, xerotest.Tenant); err != nil || got[provider.AccountID].Reveal() != xerotest.Tenant {
		t.Errorf("of several, the one that was connected before: %s %v", got[provider.AccountID].Reveal(), err)
	}
	fake.Together = false
	if _, err = connect(t, fake, r, xerotest.Other); fault.KindOf(err) != fault.Conflict {
		t.Errorf("another organisation than before: %v", err)
	}
}

// Disconnecting one organisation leaves others of the same person connected.
func TestOtherOrganisationsStayConnected(t *testing.T) {
	t.Parallel()
	fake := xerotest.New("EUR")
	providertest.Start(t, fake, time.Now)
	dialer := provider.NewDialer(xero.Connector{}.Describe(), provider.Config{URL: fake.URL, AllowPrivate: true, Client: fake.Tokens().Client})
	credentials := fake.Credentials()
	credentials[provider.AccountID] = xerotest.Other
	if err := (xero.Connector{}).Revoke(t.Context(), dialer.Open(ledgertest.Secrets(credentials), true)); err != nil {
		t.Fatal(err)
	}
	credentials[provider.AccountID] = xerotest.Tenant
	if _, err := (xero.Connector{}).Check(t.Context(), dialer.Open(ledgertest.Secrets(credentials), true)); err != nil {
		t.Error(err)
	}
}
