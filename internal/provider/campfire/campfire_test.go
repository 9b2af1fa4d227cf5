package campfire_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/campfire"
	"github.com/bursarhq/bursar/internal/provider/campfire/campfiretest"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func TestItConforms(t *testing.T) {
	t.Parallel()
	ledgertest.Conforms(t, ledgertest.Suite{Connector: campfire.Connector{}, Fake: func() ledgertest.Fake { return campfiretest.New() },
		Unlocked: true})
}

func TestAnEntityWithBooksInUSDIsRequired(t *testing.T) {
	t.Parallel()
	fake := campfiretest.New()
	providertest.Start(t, fake, time.Now)
	dialer := provider.NewDialer(campfire.Connector{}.Describe(), provider.Config{URL: fake.URL, AllowPrivate: true})
	credentials := fake.Credentials()
	credentials[provider.Entity] = "top level"
	got, err := campfire.Connector{}.Check(t.Context(), dialer.Open(ledgertest.Secrets(credentials), false))
	if err != nil || got.ID != "54" || got.Name != "Top Level" {
		t.Errorf("%+v %v", got, err)
	}
	credentials[provider.Entity] = "Europe"
	_, err = campfire.Connector{}.Check(t.Context(), dialer.Open(ledgertest.Secrets(credentials), false))
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "Top Level") {
		t.Errorf("%v", err)
	}
	fake.Currency = "GBP"
	_, err = campfire.Connector{}.Check(t.Context(), dialer.Open(ledgertest.Secrets(fake.Credentials()), false))
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "USD") {
		t.Errorf("%v", err)
	}
}
