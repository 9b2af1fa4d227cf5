package treasury_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/catalog"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// What each kind of provider needs, and how it is refused without: US and DE are legal entities with the base currencies USD and EUR.
func TestWhatAProviderNeedsIsRequiredAndNothingElse(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		german := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "DE", BaseCurrency: "EUR"})
		bank := n.NewSource(t, client.CreateSource{SourceType: "bank"})
		names := strings.NewReplacer("US", n.LegalEntity.ID, "DE", german.ID, "BANK", bank.ID)
		long := strings.Repeat("x", 501)
		for _, c := range []struct {
			body   string
			status int
			fields string
			says   string
		}{
			{`{"provider":"kraken","name":"K","legal_entity_ids":["US"]}`, 400, "api_key api_secret", "is required for Kraken"},
			{`{"provider":"kraken","name":"K","api_key":"k","api_secret":"s"}`, 400, "legal_entity_ids", "exactly one"},
			{`{"provider":"kraken","name":"K","legal_entity_ids":[],"api_key":"k","api_secret":"s"}`, 400, "legal_entity_ids", "exactly one"},
			{`{"provider":"kraken","name":"K","legal_entity_ids":["US","DE"],"api_key":"k","api_secret":"s"}`, 400, "legal_entity_ids", ""},
			{`{"provider":"kraken","legal_entity_ids":["US"],"api_key":"k","api_secret":"s"}`, 400, "name", ""},
			{`{"provider":"kraken","name":"","legal_entity_ids":["US"],"api_key":"k","api_secret":"s"}`, 400, "name", ""},
			{`{"provider":"kraken","name":"` + long + `","legal_entity_ids":["US"],"api_key":"k","api_secret":"s"}`, 400, "name", "500"},
			{`{"provider":"kraken","name":"K","legal_entity_ids":["US"],"api_key":"k","api_secret":"s","passphrase":"p"}`, 400, "passphrase",
				"Kraken has no such field"},
			{`{"provider":"kucoin","name":"K","legal_entity_ids":["US"],"api_key":"k","api_secret":"s"}`, 400, "passphrase", "is required"},
			{`{"provider":"okx","name":"K","legal_entity_ids":["US"],"api_key":"k","api_secret":"s"}`, 400, "passphrase", "is required"},
			{`{"provider":"bitget","name":"K","legal_entity_ids":["US"],"api_key":"k","api_secret":"s"}`, 400, "passphrase", "is required"},
			{`{"provider":"kraken","name":"K","legal_entity_ids":["US"],"api_key":"k","api_secret":"s","source_id":"BANK"}`, 400, "source_id",
				"must be a source of type exchange"},
			{`{"provider":"kraken","name":"K","legal_entity_ids":["US"],"api_key":"k","api_secret":"s","source_id":"BANK","new_source":true}`, 400,
				"new_source source_id", "must be omitted if there is a source_id"},
			{`{"provider":"plaid","legal_entity_ids":["US"],"new_source":true}`, 400, "new_source", "must be omitted"},
			{`{"provider":"kraken","name":"K","legal_entity_ids":["US"],"api_key":"k","api_secret":"s","sync_every_minutes":4}`, 400,
				"sync_every_minutes", "from 5"},
			{`{"provider":"kraken","name":"K","legal_entity_ids":["US"],"api_key":"k","api_secret":"s","classify":"guess"}`, 400, "classify", ""},
			{`{"provider":"kraken","name":"K","legal_entity_ids":["US"],"api_key":"k","api_secret":"s","redirect_url":"https://a.example.com"}`,
				400, "redirect_url", "must be omitted"},
			{`{"provider":"kraken","name":"K","legal_entity_ids":["US"],"api_key":"wrong","api_secret":"d3Jvbmc="}`, 400, "api_key", "Kraken"},
			{`{"provider":"kraken","name":"K","legal_entity_ids":["le_00000000000000000000000000"],"api_key":"k","api_secret":"s"}`, 404,
				"legal_entity_ids[0]", ""},
			{`{"provider":"nonesuch","name":"K"}`, 400, "provider", "must be one of"},
			{`{"provider":"krakn","name":"K","legal_entity_ids":["US"],"api_key":"k","api_secret":"s"}`, 400, "provider", "must be one of"},
			{`{"provider":"krakn","name":"` + long + `","legal_entity_ids":["US","DE"]}`, 400, "provider name legal_entity_ids", "at most 1 item"},
			{`{"provider":"krakn","legal_entity_ids":["US"],"source_id":"BANK","new_source":true}`, 400, "provider", "must be one of"},
			{`{"provider":"file"}`, 400, "provider", "not available yet"},
			{`{}`, 400, "provider", "is required"},
			{`{"provider":"plaid"}`, 400, "legal_entity_ids", "several legal entities"},
			{`{"provider":"plaid","legal_entity_ids":["US"],"source_id":"BANK"}`, 400, "source_id", "a source for each account"},
			{`{"provider":"plaid","legal_entity_ids":["US"],"public_token":"public-unknown"}`, 400, "public_token", ""},
			{`{"provider":"plaid","legal_entity_ids":["US"],"redirect_url":"http://books.example.com/"}`, 400, "redirect_url", "HTTPS"},
			{`{"provider":"plaid","legal_entity_ids":["US"],"redirect_url":"https://evil.example.com/"}`, 400, "redirect_url", "not registered"},
			{`{"provider":"quickbooks","legal_entity_ids":["US"]}`, 400, "provider", "BURSAR_PROVIDER_QUICKBOOKS_CLIENT_ID"},
			{`{"provider":"xero","legal_entity_ids":["US"]}`, 400, "provider", "at https://developer.xero.com/app/manage with the redirect address"},
			{`{"provider":"xero","legal_entity_ids":["US"]}`, 400, "provider", "/connect/callback, sets BURSAR_PROVIDER_XERO_CLIENT_ID"},
			{`{"provider":"xero","legal_entity_ids":["US"]}`, 400, "provider", "restarts it. See "},
			{`{"provider":"netsuite","subdomain":"123456"}`, 409, "provider", "must be set up for the organization first"},
			{`{"provider":"netsuite"}`, 400, "provider subdomain", "is required"},
			{`{"provider":"netsuite","subdomain":"123456","client_id":"x"}`, 400, "client_id", ""},
			{`{"provider":"campfire","legal_entity_ids":["DE"],"api_key":"k"}`, 400, "legal_entity_ids[0]", "must have the base currency USD"},
			{`{"provider":"rillet","legal_entity_ids":["US"]}`, 400, "api_key", "is required"},
			{`{"provider":"rillet","legal_entity_ids":["US"],"api_key":"k","classify":"draft"}`, 400, "classify", "must be omitted"},
			{`{"provider":"bitcoin","legal_entity_ids":["US"]}`, 400, "address", "is required"},
			{`{"provider":"bitcoin","legal_entity_ids":["US"],"address":"nonsense"}`, 400, "address", ""},
			{`{"provider":"solana","legal_entity_ids":["US"],"address":"0OIl"}`, 400, "address", ""},
			{`{"provider":"bitcoin","legal_entity_ids":["US"],"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq","gap_limit":"many"}`, 400,
				"gap_limit", ""},
		} {
			a := s.Send(t, apitest.Request{Method: http.MethodPost, Path: "/v1/connections", Key: n.Key, Body: names.Replace(c.body)})
			e := a.Error(t)
			named := map[string]bool{}
			for _, f := range e.Fields {
				named[f.Field] = true
			}
			want := strings.Fields(c.fields)
			slices.Sort(want)
			if a.Status != c.status || !slices.Equal(slices.Sorted(maps.Keys(named)), want) || !strings.Contains(string(a.Body), c.says) {
				t.Errorf("%s\n%d %s", c.body, a.Status, a.Body)
			}
		}
		for c := range n.Client.Connections(t.Context(), nil) {
			t.Errorf("a refused request has created %+v", c)
		}
	})
}

func TestNetSuiteIsSetUpForTheOrganizationFirst(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		put := func(path, body string) apitest.Answer {
			return s.Send(t, apitest.Request{Method: http.MethodPut, Path: "/v1/connections/providers/" + path, Key: n.Key, Body: body})
		}
		for body, field := range map[string]string{`{}`: "client_id", `{"client_id":""}`: "client_id", `{"client_id":"a b"}`: "client_id",
			`{"client_id":"a","api_key":"b"}`: "api_key"} {
			if a := put("netsuite", body); a.Status != http.StatusBadRequest || !a.Blames(t, field) {
				t.Errorf("%s: %d %s", body, a.Status, a.Body)
			}
		}
		for _, other := range []string{"kraken", "nonesuch"} {
			if a := put(other, `{"client_id":"a"}`); a.Status != http.StatusNotFound {
				t.Errorf("%s: %d %s", other, a.Status, a.Body)
			}
		}
		if a := put("netsuite", `{"client_id":"client","client_secret":"hidden"}`); a.Status != http.StatusOK ||
			strings.Contains(string(a.Body), "hidden") || !strings.Contains(string(a.Body), `"set_up":true`) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		c, err := n.Client.CreateConnection(t.Context(), client.CreateConnection{Provider: "netsuite", Subdomain: "123456"})
		if err != nil || c.Status != "pending_setup" || c.RedirectURL == nil || !strings.Contains(*c.RedirectURL, "client_id=client") ||
			len(c.LegalEntityIDs) != 0 || c.Settings["subdomain"] != "123456" {
			t.Errorf("%+v %v", c, err)
		}
		again, err := n.Client.CreateConnection(t.Context(), client.CreateConnection{Provider: "netsuite", Subdomain: "123456"})
		if err != nil || again.ID != c.ID || again.AuthorizationAttempt.ID == c.AuthorizationAttempt.ID {
			t.Errorf("connecting a general ledger again: %+v %v", again, err)
		}
		if again, err = n.Client.Reauthorize(t.Context(), c.ID, client.ReauthorizeConnection{}); err != nil || again.RedirectURL == nil ||
			!strings.Contains(*again.RedirectURL, "123456") {
			t.Errorf("a setup that was not finished is begun again: %+v %v", again, err)
		}
		other := s.Found(t, "other")
		_, err = other.Client.CreateConnection(t.Context(), client.CreateConnection{Provider: "netsuite", Subdomain: "123456"})
		apitest.WantError(t, "another organization", err, http.StatusConflict, []string{"provider"}, "set up")
	})
}

// A form for every provider can be made from what the API says of it.
func TestEveryFieldOfEveryProviderIsAPropertyOfTheRequest(t *testing.T) {
	t.Parallel()
	properties := func(example any) map[string]any {
		text, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		var out map[string]any
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	create := properties(client.CreateConnection{Provider: "x", Name: "x", SourceID: "x", APIKey: "x", APISecret: "x", Passphrase: "x",
		WebhookSecret: "x", PublicToken: "x", Subdomain: "x", Address: "x", Chain: "x", RPCURL: "x", NativeSymbol: "x", FirstBlock: "x",
		GapLimit: "x", Entity: "x"})
	setUp := properties(client.SetUpProvider{ClientID: "x", ClientSecret: "x", CertificateID: "x", PrivateKey: "x"})
	for _, c := range catalog.All() {
		d := c.Describe()
		if !slices.Contains(connection.Providers, d.Name) && d.Kind != provider.Chain {
			t.Errorf("%s is no provider of the documentation", d.Name)
		}
		for _, f := range d.Fields {
			known := create
			if f.Setup {
				known = setUp
			}
			if known[f.Name] == nil {
				t.Errorf("%s needs %s, which no request has", d.Name, f.Name)
			}
		}
	}
}

func TestWhatAnExchangeHasSentIsKept(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		add(s, 1)
		c := n.Sync(t, n.ConnectKraken(t, client.CreateConnection{}).ID)
		for tx, err := range n.Client.Transactions(ctx, map[string][]string{"source_id": {c.SourceIDs[0]}}) {
			if err != nil {
				t.Fatal(err)
			}
			raw, err := n.Client.TransactionWithRaw(ctx, tx.ID)
			if err != nil || !strings.Contains(string(raw.Raw), `"refid"`) || !strings.Contains(string(raw.Raw), `"1.25`) {
				t.Errorf("%s %v", raw.Raw, err)
			}
			if plain, err := n.Client.Transaction(ctx, tx.ID); err != nil || plain.Raw != nil {
				t.Errorf("%s %v", plain.Raw, err)
			}
		}
		if raw, err := n.Client.TransactionWithRaw(ctx, n.NewTransaction(t).ID); err != nil || string(raw.Raw) != "null" {
			t.Errorf("%s %v", raw.Raw, err)
		}
	})
}
