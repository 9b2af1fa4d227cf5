package treasury_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/bitstamp/bitstamptest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// wantAsked reports unless the answer to a request to connect an account asks which one it is, with some words.
func wantAsked(t *testing.T, err error, words ...string) {
	t.Helper()
	e, ok := errors.AsType[*client.Error](err)
	if !ok || e.Status != http.StatusConflict || len(e.Fields) != 1 || e.Fields[0].Field != "source_id" {
		t.Errorf("%+v", err)
		return
	}
	for _, word := range words {
		if !strings.Contains(e.Message, word) {
			t.Errorf("it does not say %q: %s", word, e.Message)
		}
	}
}

// tryKraken tries to connect the account at Kraken, and returns the error.
func tryKraken(t *testing.T, s *apitest.Service, n *apitest.Tenant, c client.CreateConnection) (client.Connection, error) {
	t.Helper()
	with := s.Kraken.Credentials()
	c.Provider, c.Name, c.APISecret, c.LegalEntityIDs = "kraken", "Kraken", with["api_secret"], []string{n.LegalEntity.ID}
	if c.APIKey == "" {
		c.APIKey = with["api_key"]
	}
	return n.Client.CreateConnection(t.Context(), c)
}

func TestAnAccountThatIsNotToldIsNotReadIntoASecondSourceUnlessSomebodySaysSo(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		add(s, 3)
		s.Kraken.Mu.Lock()
		s.Kraken.IBAN, s.Kraken.Keys = "", append(s.Kraken.Keys, "second", "third")
		s.Kraken.Mu.Unlock()
		first := n.ConnectKraken(t, client.CreateConnection{})
		n.Sync(t, first.ID)
		_, err := tryKraken(t, s, n, client.CreateConnection{APIKey: "second"})
		wantAsked(t, err, first.ID, "PATCH", "new_source")
		ended, err := n.Client.Disconnect(ctx, first.ID)
		if err != nil || !strings.Contains(strings.Join(ended.Guidance.Warnings, " "), "source_id "+first.SourceIDs[0]) {
			t.Fatalf("%+v %v", ended, err)
		}
		_, err = tryKraken(t, s, n, client.CreateConnection{APIKey: "second"})
		wantAsked(t, err, first.ID, "source_id "+first.SourceIDs[0], "new_source")
		s.Kraken.Mu.Lock()
		s.Kraken.IBAN = "AA88" // it tells now, but did not then
		s.Kraken.Mu.Unlock()
		_, err = tryKraken(t, s, n, client.CreateConnection{})
		wantAsked(t, err, first.ID)
		s.Kraken.Mu.Lock()
		s.Kraken.IBAN = ""
		s.Kraken.Mu.Unlock()

		other, err := tryKraken(t, s, n, client.CreateConnection{APIKey: "third", NewSource: true})
		if err != nil || other.SourceIDs[0] == first.SourceIDs[0] {
			t.Fatalf("%+v %v", other, err)
		}
		_, err = tryKraken(t, s, n, client.CreateConnection{})
		wantAsked(t, err, first.ID, other.ID)
		again, err := tryKraken(t, s, n, client.CreateConnection{SourceID: first.SourceIDs[0]})
		if err != nil || again.SourceIDs[0] != first.SourceIDs[0] {
			t.Fatalf("%+v %v", again, err)
		}
		n.Sync(t, again.ID)
		if r, _ := latestRun(t, n, again.ID); r.Created != 0 || r.Duplicates != 3 {
			t.Errorf("%+v", r)
		}
	})
}

// At most three of the connections that it may be are named.
func TestManyAccountsThatAreNotToldAreCounted(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		keys := []string{"second", "third", "fourth", "fifth"}
		s.Kraken.Mu.Lock()
		s.Kraken.IBAN, s.Kraken.Keys = "", append(s.Kraken.Keys, keys...)
		s.Kraken.Mu.Unlock()
		named := make([]string, len(keys)) // the latest first
		for i, key := range keys {
			c := n.ConnectKraken(t, client.CreateConnection{APIKey: key, NewSource: true})
			named[len(keys)-1-i] = fmt.Sprintf("the connection Kraken (%s) (if so, send the credentials with PATCH /v1/connections/%[1]s instead)",
				c.ID)
		}
		_, err := tryKraken(t, s, n, client.CreateConnection{})
		wantAsked(t, err, "it is not known whether this is the account of "+strings.Join(named[:3], "; or of ")+
			"; or of another connection to Kraken (1 more). If it is another account, send new_source true")
	})
}

// A connection to another provider may continue with the source of an account that was disconnected.
func TestTwoConnectionsNeverHaveOneSource(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exchange := bitstamptest.New()
		providertest.Start(t, exchange, time.Now)
		s := apitest.StartChanged(t, d, func(c *app.Config) { c.ProviderURLs["bitstamp"] = exchange.URL })
		n, ctx, with := s.Found(t, "acme"), t.Context(), exchange.Credentials()
		first := n.ConnectKraken(t, client.CreateConnection{})
		n.Sync(t, first.ID)
		if _, err := n.Client.Disconnect(ctx, first.ID); err != nil {
			t.Fatal(err)
		}
		other := n.NewConnection(t, client.CreateConnection{Provider: "bitstamp", Name: "Bitstamp", APIKey: with["api_key"],
			APISecret: with["api_secret"], SourceID: first.SourceIDs[0]})
		for _, c := range []client.CreateConnection{{}, {SourceID: first.SourceIDs[0]}} {
			_, err := tryKraken(t, s, n, c)
			wantAsked(t, err, other.ID, first.SourceIDs[0])
		}
		if _, err := n.Client.Disconnect(ctx, other.ID); err != nil {
			t.Fatal(err)
		}
		if again, err := tryKraken(t, s, n, client.CreateConnection{}); err != nil || again.SourceIDs[0] != first.SourceIDs[0] {
			t.Errorf("%+v %v", again, err)
		}
	})
}

func TestAnAccountOfAnotherLegalEntityIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		s.Kraken.Mu.Lock()
		s.Kraken.IBAN, s.Kraken.Keys = "", append(s.Kraken.Keys, "second")
		s.Kraken.Mu.Unlock()
		n.ConnectKraken(t, client.CreateConnection{})
		german := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "DE", BaseCurrency: "EUR"})
		if c := n.ConnectKraken(t, client.CreateConnection{APIKey: "second", LegalEntityIDs: []string{german.ID}}); c.Status != "syncing" {
			t.Errorf("%+v", c)
		}
	})
}

func TestAKeyIsConnectedOnceAlthoughItsAccountIsToldOnlyLater(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		s.Kraken.Mu.Lock()
		s.Kraken.IBAN = ""
		s.Kraken.Mu.Unlock()
		n.ConnectKraken(t, client.CreateConnection{})
		s.Kraken.Mu.Lock()
		s.Kraken.IBAN = "AA88"
		s.Kraken.Mu.Unlock()
		_, err := tryKraken(t, s, n, client.CreateConnection{NewSource: true})
		apitest.WantConflict(t, err, "connected to this account already")
		german := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "DE", BaseCurrency: "EUR"})
		with := s.Kraken.Credentials()
		_, err = n.Client.CreateConnection(t.Context(), client.CreateConnection{Provider: "kraken", Name: "Kraken", APIKey: with["api_key"],
			APISecret: with["api_secret"], LegalEntityIDs: []string{german.ID}})
		apitest.WantConflict(t, err, "connected to this account already")
	})
}

func TestAKeyThatPermitsNothingIsRefused(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		for _, permissions := range [][]string{nil, {}} {
			s.Kraken.Mu.Lock()
			s.Kraken.Permissions = permissions
			s.Kraken.Mu.Unlock()
			_, err := tryKraken(t, s, n, client.CreateConnection{})
			if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != http.StatusBadRequest || len(e.Fields) != 1 ||
				e.Fields[0].Field != "api_key" || !strings.Contains(e.Fields[0].Message, "permits nothing") {
				t.Errorf("%v: %+v", permissions, err)
			}
		}
	})
}
