package ramp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/provider/ramp"
	"github.com/bursarhq/bursar/internal/provider/ramp/ramptest"
)

// open returns a clock and a session at a fake, with the registration of the service.
func open(t *testing.T, fake *ramptest.Server) (*clock.Manual, *provider.Session) {
	t.Helper()
	now := clock.NewManual(time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC))
	providertest.Start(t, fake, now.Now)
	return now, dial(fake, now, ramptest.Client)
}

// dial opens a session with the credentials of a fake.
func dial(fake *ramptest.Server, now clock.Clock, c provider.Client) *provider.Session {
	d := provider.NewDialer(ramp.Connector{}.Describe(), provider.Config{URL: fake.URL, AllowPrivate: true, Clock: now, Client: c,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	credentials := provider.Credentials{}
	for name, text := range fake.Credentials() {
		credentials[name] = secret.New(text)
	}
	return d.Open(credentials, false)
}

// read reads a page and describes it.
func read(t *testing.T, s *provider.Session, ledger, cursor string) (string, provider.Page) {
	t.Helper()
	p, err := ramp.Connector{}.Read(t.Context(), s, ledger, cursor)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range p.Records {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s %s", r.Timestamp.Format("01-02 15:04"), r.ExternalID, r.Moved(), r.Currency,
			cmp.Or(r.Type, "?"), r.ProviderCategory))
	}
	for _, o := range p.Omitted {
		lines = append(lines, "left out "+o.ID+": "+o.Reason)
	}
	if len(p.Removed) > 0 {
		lines = append(lines, "removed "+strings.Join(p.Removed, " "))
	}
	return strings.Join(lines, "\n"), p
}

func TestATransactionIsReadOnceItIsClearedHoweverLong(t *testing.T) {
	t.Parallel()
	fake := ramptest.New()
	now, s := open(t, fake)
	fake.Put("transactions", ramptest.Transaction("slow", "2026-09-01T10:00:00Z", "PENDING", "300"))
	fake.Put("transactions", ramptest.Transaction("declined", "2026-09-01T10:00:00Z", "DECLINED", "1"))
	fake.Put("transactions", ramptest.Transaction("new", "2026-11-01T10:00:00Z", "CLEARED", "19.90"))
	text, p := read(t, s, "transactions", "")
	if text != "11-01 10:00 new -19.9 USD ? Advertising" {
		t.Error(text)
	}
	cleared := ramptest.Transaction("slow", "2026-09-01T10:00:00Z", "CLEARED", "310.5")
	cleared["settlement_date"] = "2026-11-02T08:00:00.123456"
	fake.Put("transactions", cleared)
	fake.Put("transactions", ramptest.Transaction("late", "2026-10-20T10:00:00Z", "CLEARED", "-2"))
	text, p = read(t, s, "transactions", p.Cursor)
	want := "10-20 10:00 late 2 USD ? Advertising\n11-01 10:00 new -19.9 USD ? Advertising\n11-02 08:00 slow -310.5 USD ? Advertising"
	if text != want {
		t.Error(text)
	}
	if _, p = read(t, s, "transactions", p.Cursor); len(p.Records) != 2 { // the slow one is settled and old
		t.Errorf("%+v", p.Records)
	}
	// One that is never settled holds the position for 90 days.
	fake.Put("transactions", ramptest.Transaction("stuck", "2026-11-02T10:00:00Z", "PENDING", "300"))
	now.Advance(200 * 24 * time.Hour)
	fake.Put("transactions", ramptest.Transaction("later", "2027-05-20T10:00:00Z", "CLEARED", "1"))
	_, p = read(t, s, "transactions", p.Cursor)
	if !strings.Contains(p.Cursor, fmt.Sprint(now.Now().Add(-90*24*time.Hour).Unix())) {
		t.Error(p.Cursor)
	}
}

func TestWhatMovesOnTheCardAccountIsBookedAsAnAccountantWould(t *testing.T) {
	t.Parallel()
	fake := ramptest.New()
	_, s := open(t, fake)
	for i, status := range []string{"COMPLETED", "ACH_CONFIRMED", "INITIATED", "CANCELED", "RETURNED_BY_RDFI"} {
		fake.Put("transfers", map[string]any{"id": fmt.Sprint("f", i), "created_at": "2026-10-2" + fmt.Sprint(i) + "T12:00:00", "status": status,
			"amount": map[string]any{"amount": 150000 + i, "currency_code": "USD"}})
	}
	text, p := read(t, s, "transfers", "")
	want := `10-20 12:00 f0 1500 USD INTERNAL TRANSFER transfer
10-21 12:00 f1 1500.01 USD INTERNAL TRANSFER transfer
removed f4 f3`
	if text != want {
		t.Error(text)
	}
	if p.Records[0].Part != "card" || p.Records[0].Card == nil || p.Records[0].Card.MerchantName != "" {
		t.Errorf("%+v", p.Records[0])
	}
	fake.Put("cashbacks", map[string]any{"id": "c", "created_at": "2026-10-20T12:00:00+00:00", "amount": map[string]any{"amount": 1234,
		"currency_code": "USD"}})
	if text, _ = read(t, s, "cashbacks", ""); text != "10-20 12:00 c 12.34 USD ? cashback" {
		t.Error(text)
	}
	fake.Put("transactions", ramptest.Transaction("t", "2026-10-20T12:00:00Z", "CLEARED", "135"))
	_, p = read(t, s, "transactions", "")
	if r := p.Records[0]; r.Card.MerchantName != "Facebook Ads" || r.Card.CardholderName != "Dana Alhasawi" ||
		r.Card.MerchantCategory != "7311" || r.Description != "FACEBOOK ADS" || r.Vendor != "Facebook Ads" || !json.Valid(r.Original) {
		t.Errorf("%+v %+v", r, r.Card)
	}
}

func TestRowsThatAreNotClearAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field string
		value any
		want  string
	}{
		"no amount":      {"amount", nil, "left out a: it does not state its amount"},
		"a text":         {"amount", "1.50", "left out a: it is not in the form of Ramp's list"},
		"binary noise":   {"amount", json.Number("1.4999999999999999"), "left out a: its amount has more digits than its currency"},
		"yen":            {"currency_code", "JPY", "left out a: its amount has more digits than its currency"},
		"pounds":         {"currency_code", "GBP", "10-20 12:00 a -1.5 GBP ? Advertising"},
		"no currency":    {"currency_code", nil, "left out a: the smallest unit of its currency is not known"},
		"no time":        {"user_transaction_time", nil, "left out a: it has no time"},
		"not settled at": {"settlement_date", nil, "10-20 12:00 a -1.5 USD ? Advertising"},
		"no state":       {"state", nil, "left out a: it does not say whether it is settled"},
		"no id":          {"id", "", "left out : it has no id"},
		"no category":    {"sk_category_name", nil, "10-20 12:00 a -1.5 USD ? card transaction"},
	} {
		fake := ramptest.New()
		_, s := open(t, fake)
		tx := ramptest.Transaction("a", "2026-10-20T12:00:00Z", "CLEARED", "1.5")
		tx[c.field] = c.value
		fake.Put("transactions", tx)
		if text, _ := read(t, s, "transactions", ""); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

func TestALongHistoryIsReadInPartsAlsoIfAPositionIsNotValidAnyMore(t *testing.T) {
	t.Parallel()
	fake := ramptest.New()
	_, s := open(t, fake)
	fake.PageSize = 2
	for i := range 28 {
		fake.Put("transactions", ramptest.Transaction(fmt.Sprintf("t%02d", i), fmt.Sprintf("2026-10-%02dT12:00:00Z", i+1), "CLEARED", "1"))
	}
	_, first := read(t, s, "transactions", "")
	fake.Forgets = true
	_, second := read(t, s, "transactions", first.Cursor)
	_, third := read(t, s, "transactions", second.Cursor)
	if len(first.Records) != 20 || !first.More || len(second.Records) != 18 || !second.More || len(third.Records) != 10 || third.More {
		t.Errorf("%d %t, %d %t, %d %t", len(first.Records), first.More, len(second.Records), second.More, len(third.Records), third.More)
	}
}

func TestTheBalanceIsWhatIsOwed(t *testing.T) {
	t.Parallel()
	fake := ramptest.New()
	now, s := open(t, fake)
	fake.Add(providertest.Movement{At: now.Now(), Kind: providertest.Withdrawal, Asset: "USD", Amount: "12.50"})
	held, err := ramp.Connector{}.Balances(t.Context(), s)
	if got := fmt.Sprint(held.Balances); held.Complete || err != nil || got != "[{USD -12.5 card}]" {
		t.Errorf("%s %v", got, err)
	}
	account, err := ramp.Connector{}.Check(t.Context(), s)
	if err != nil || account.ID != ramptest.BusinessID || account.Name != "Acme Rockets, Inc." || account.Grants != nil {
		t.Errorf("%+v %v", account, err)
	}
}

func TestABalanceThatIsNotStatedIsNotZero(t *testing.T) {
	t.Parallel()
	fake := ramptest.New()
	_, s := open(t, fake)
	if _, err := (ramp.Connector{}).Balances(t.Context(), s); err != nil { // it gets a token
		t.Fatal(err)
	}
	for body, want := range map[string]string{`{}`: "[]", `{"card_balance_excluding_pending":null}`: "[]",
		`{"card_balance_excluding_pending":0}`: "[{USD 0 card}]"} {
		fake.FailAt(1, providertest.Status(http.StatusOK, "", "", body))
		held, err := ramp.Connector{}.Balances(t.Context(), s)
		if got := fmt.Sprint(held.Balances); held.Complete || err != nil || got != want {
			t.Errorf("%s: %s %v", body, got, err)
		}
	}
}

func TestMissingPermissionsAreNamed(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"transactions:read", "transfers:read", "cashbacks:read", "business:read"} {
		fake := ramptest.New()
		_, s := open(t, fake)
		fake.Lacks = scope
		if _, err := (ramp.Connector{}).Check(t.Context(), s); fault.KindOf(err) != fault.Forbidden || !strings.Contains(err.Error(), scope) {
			t.Errorf("an app without %s: %v", scope, err)
		}
		fake.Lacks = ""
		if _, err := (ramp.Connector{}).Check(t.Context(), s); err != nil {
			t.Error(err)
		}
		fake.Lacks = scope
		if _, err := (ramp.Connector{}).Check(t.Context(), s); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a token without %s: %v", scope, err)
		}
	}
}

func TestATokenIsRenewedShortlyBeforeItExpires(t *testing.T) {
	t.Parallel()
	fake := ramptest.New()
	now, s := open(t, fake)
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {10*24*time.Hour - 2*time.Minute, 1}, {90 * time.Second, 2}} {
		now.Advance(c.after)
		if _, err := (ramp.Connector{}).Balances(t.Context(), s); err != nil || fake.Renewals() != c.want {
			t.Errorf("after %s: %d tokens, %v", c.after, fake.Renewals(), err)
		}
	}
}

func TestAnAdminConsentsOnAPageOfRamp(t *testing.T) {
	t.Parallel()
	fake := ramptest.NewConsented()
	now, s := open(t, fake)
	s.Credentials = provider.Credentials{provider.APIKey: secret.New("ramp_id_former"), provider.APISecret: secret.New("former")}
	request := provider.SetupRequest{State: "st4te", ReturnTo: "https://books.example/back"}
	setup, err := ramp.Connector{}.Begin(t.Context(), s, request)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(setup.URL)
	if q := at.Query(); err != nil || at.Path != "/v1/authorize" || q.Get("client_id") != ramptest.Client.ID || q.Get("state") != "st4te" ||
		q.Get("redirect_uri") != request.ReturnTo || q.Get("response_type") != "code" || !strings.Contains(q.Get("scope"), "transfers:read") {
		t.Errorf("%s", setup.URL)
	}
	code := fake.Consent(request.ReturnTo)
	finish := func(query url.Values) (provider.Credentials, error) {
		return ramp.Connector{}.Finish(t.Context(), s, request, query)
	}
	if _, err := finish(nil); !errors.Is(err, provider.ErrUnfinished) {
		t.Errorf("before: %v", err)
	}
	if _, err := finish(url.Values{"state": {"another"}, "code": {code}}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("another state: %v", err)
	}
	if _, err := finish(url.Values{"state": {"st4te"}, "error": {"access_denied"}}); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("no consent: %v", err)
	}
	got, err := finish(url.Values{"state": {"st4te"}, "code": {code}})
	if err != nil || got[provider.AccessToken].IsZero() || got[provider.RefreshToken].IsZero() || got[provider.TokenExpires].IsZero() {
		t.Fatalf("%v %v", got, err)
	}
	if _, err := finish(url.Values{"state": {"st4te"}, "code": {code}}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("twice: %v", err)
	}
	s.Credentials = got
	if _, err := (ramp.Connector{}).Check(t.Context(), s); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := (ramp.Connector{}).Revoke(t.Context(), s); err != nil {
			t.Errorf("revoke: %v", err)
		}
	}
	if _, err := (ramp.Connector{}).Check(t.Context(), s); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("revoked: %v", err)
	}
	for _, c := range []provider.Client{{}, {ID: ramptest.Client.ID, Secret: secret.New("another")}} {
		if _, err := (ramp.Connector{}).Check(t.Context(), dial(fake, now, c)); fault.KindOf(err) != fault.Unavailable ||
			!strings.Contains(err.Error(), "operator") {
			t.Errorf("a registration that is wrong: %v", err)
		}
	}
}
