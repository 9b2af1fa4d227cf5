package exchange_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/kraken"

	"github.com/bursarhq/bursar/internal/app/demo/exchange"
)

// sessionAt opens an account, with a secret, at an exchange that begins at a time.
func sessionAt(t *testing.T, now *clock.Manual, text string) *provider.Session {
	t.Helper()
	server := httptest.NewServer(exchange.New(now))
	t.Cleanup(server.Close)
	dialer := provider.NewDialer(kraken.Connector{}.Describe(), provider.Config{URL: server.URL, AllowPrivate: true, Clock: now})
	return dialer.Open(provider.Credentials{provider.APIKey: secret.New(exchange.Key), provider.APISecret: secret.New(text)}, true)
}

// readAll returns what the connector reads from a cursor on, by id, and the next cursor.
func readAll(t *testing.T, s *provider.Session, cursor string) (map[string]provider.Record, string) {
	t.Helper()
	out := map[string]provider.Record{}
	for {
		p, err := kraken.Connector{}.Read(t.Context(), s, kraken.Connector{}.Describe().Ledgers[0], cursor)
		if err != nil || len(p.Omitted) > 0 {
			t.Fatalf("%v %v", err, p.Omitted)
		}
		for _, r := range p.Records {
			out[r.ExternalID] = r
		}
		if cursor = p.Cursor; !p.More {
			return out, cursor
		}
	}
}

func TestTheConnectorToKrakenReadsTheDemoExchangeToItsBalances(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC))
	s := sessionAt(t, now, exchange.Secret)
	account, err := kraken.Connector{}.Check(t.Context(), s)
	if err != nil || account.ID == "" || len(account.Warnings) > 0 {
		t.Fatalf("%+v %v", account, err)
	}
	all, cursor := readAll(t, s, "")
	if len(all) < 150 {
		t.Errorf("only %d records", len(all))
	}
	now.Advance(3 * time.Minute)
	later, _ := readAll(t, s, cursor)
	fresh := 0
	for id, r := range later {
		if _, known := all[id]; !known {
			fresh++
		}
		all[id] = r
	}
	if fresh < 3 {
		t.Errorf("%d new records in three minutes", fresh)
	}
	held, err := kraken.Connector{}.Balances(t.Context(), s)
	if err != nil || len(held.Balances) < 3 {
		t.Fatalf("%+v %v", held, err)
	}
	sums := map[string]money.Decimal{}
	for _, r := range all {
		sums[r.Currency] = sums[r.Currency].Add(*r.Moved())
	}
	for _, b := range held.Balances {
		if b.Amount.Sign() < 0 || !sums[b.Currency].Equal(b.Amount) {
			t.Errorf("%s: %s held, and the ledger sums to %s", b.Currency, b.Amount, sums[b.Currency])
		}
	}
}

func TestTheDemoExchangeIsTheSameInEachRunAndKnowsItsKey(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC)
	one, _ := readAll(t, sessionAt(t, clock.NewManual(at), exchange.Secret), "")
	two, _ := readAll(t, sessionAt(t, clock.NewManual(at), exchange.Secret), "")
	if len(one) != len(two) {
		t.Errorf("%d and %d records", len(one), len(two))
	}
	for id, r := range one {
		if two[id].Quantity == nil || !r.Quantity.Equal(*two[id].Quantity) || !r.Timestamp.Equal(two[id].Timestamp) {
			t.Errorf("%s: %+v %+v", id, r, two[id])
		}
	}
	if _, err := (kraken.Connector{}).Check(t.Context(), sessionAt(t, clock.NewManual(at), "b3RoZXI=")); err == nil {
		t.Error("another secret is accepted")
	}
}
