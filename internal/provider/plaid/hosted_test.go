package plaid_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/plaid"
	"github.com/bursarhq/bursar/internal/provider/plaid/plaidtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func TestAPublicTokenIsExchangedOnce(t *testing.T) {
	t.Parallel()
	fake, s := open(t, true)
	s.Credentials = texts("public_token", fake.AddPublicToken())
	got, err := plaid.Connector{}.Exchange(t.Context(), s)
	if err != nil || len(got) != 2 || got[provider.AccessToken].Reveal() != fake.Credentials()[provider.AccessToken] ||
		got[provider.AccountID].Reveal() != plaidtest.ItemID {
		t.Fatalf("%v %v", got, err)
	}
	if _, err = (plaid.Connector{}).Exchange(t.Context(), s); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a second time: %v", err)
	}
	s.Credentials = got
	if _, err = (plaid.Connector{}).Exchange(t.Context(), s); fault.KindOf(err) != fault.Invalid {
		t.Errorf("without a public token: %v", err)
	}
	account, err := plaid.Connector{}.Check(t.Context(), s)
	if err != nil || account.ID != plaidtest.ItemID || account.Name != "First Platypus Bank" || account.Grants != nil ||
		len(account.Warnings) != 1 || !strings.Contains(account.Warnings[0], "2027-03-16") {
		t.Errorf("%+v %v", account, err)
	}
}

func TestAPersonSignsInOnAPageOfPlaid(t *testing.T) {
	t.Parallel()
	fake, s := open(t, true)
	s.Credentials = nil
	request := provider.SetupRequest{State: "st4te", ReturnTo: "https://books.example/back?x=1"}
	setup, err := plaid.Connector{}.Begin(t.Context(), s, request)
	if err != nil || !strings.HasPrefix(setup.URL, "https://") || setup.ExpiresAt != time.Date(2026, 11, 2, 13, 30, 0, 0, time.UTC) {
		t.Fatalf("%+v %v", setup, err)
	}
	s.Credentials = setup.Keep
	if _, err := (plaid.Connector{}).Finish(t.Context(), s, request, nil); !errors.Is(err, provider.ErrUnfinished) {
		t.Errorf("before: %v", err)
	}
	fake.SignIn(false)
	if _, err := (plaid.Connector{}).Finish(t.Context(), s, request, nil); !errors.Is(err, provider.ErrUnfinished) {
		t.Errorf("given up: %v", err)
	}
	if back := fake.SignIn(true); back != "https://books.example/back?state=st4te&x=1" {
		t.Error(back)
	}
	got, err := plaid.Connector{}.Finish(t.Context(), s, request, nil)
	if err != nil || got[provider.AccessToken].IsZero() || got[provider.AccountID].Reveal() != plaidtest.ItemID || len(got) != 2 {
		t.Errorf("%v %v", got, err)
	}
}

func TestASignInThatHasEndedIsRenewedAndKeepsItsToken(t *testing.T) {
	t.Parallel()
	fake, s := open(t, true)
	fake.ItemError = "ITEM_LOGIN_REQUIRED"
	if _, err := (plaid.Connector{}).Check(t.Context(), s); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("%v", err)
	}
	request := provider.SetupRequest{State: "st4te", ReturnTo: "https://books.example/back", Renews: true}
	setup, err := plaid.Connector{}.Begin(t.Context(), s, request)
	if err != nil {
		t.Fatal(err)
	}
	s.Credentials = setup.Keep
	if _, err := (plaid.Connector{}).Finish(t.Context(), s, request, nil); !errors.Is(err, provider.ErrUnfinished) {
		t.Errorf("before: %v", err)
	}
	fake.SignIn(true)
	got, err := plaid.Connector{}.Finish(t.Context(), s, request, nil)
	if err != nil || got[provider.AccessToken].Reveal() != fake.Credentials()[provider.AccessToken] || len(got) != 2 {
		t.Errorf("%v %v", got, err)
	}
}

func TestRefusalsSayWhoHasToAct(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct {
		kind fault.Kind
		says string
	}{
		"ITEM_ERROR ITEM_LOGIN_REQUIRED":             {fault.Unauthorized, "asks for a new sign-in"},
		"ITEM_ERROR ITEM_LOCKED":                     {fault.Unauthorized, "locked"},
		"ITEM_ERROR ACCESS_NOT_GRANTED":              {fault.Forbidden, "share the accounts"},
		"INVALID_INPUT INVALID_ACCESS_TOKEN":         {fault.Unauthorized, "connect the bank again"},
		"INVALID_INPUT INVALID_API_KEYS":             {fault.Unavailable, "operator"},
		"RATE_LIMIT_EXCEEDED RATE_LIMIT":             {fault.Unavailable, "no more requests"},
		"INSTITUTION_ERROR INSTITUTION_DOWN":         {fault.Unavailable, "the bank does not answer"},
		"API_ERROR INTERNAL_SERVER_ERROR":            {fault.Unavailable, "cannot answer"},
		"INVALID_REQUEST UNKNOWN_FIELDS":             {fault.Conflict, "UNKNOWN_FIELDS"},
		"ITEM_ERROR INSTITUTION_NO_LONGER_SUPPORTED": {fault.Conflict, "import files"},
	} {
		fake, s := open(t, false)
		kind, code, _ := strings.Cut(code, " ")
		fake.FailAt(1, providertest.Status(http.StatusBadRequest, "", "", fmt.Sprintf(
			`{"error_type":%q,"error_code":%q,"error_message":"m","display_message":null,"request_id":"x"}`, kind, code)))
		_, err := plaid.Connector{}.Balances(t.Context(), s)
		if fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %s: %v", code, fault.KindOf(err), err)
		}
	}
}

func TestWithoutARegistrationNothingIsSent(t *testing.T) {
	t.Parallel()
	fake, s := open(t, true)
	none := dial(fake, clock.NewManual(time.Now()), provider.Client{}).Open(s.Credentials, false)
	if _, err := (plaid.Connector{}).Balances(t.Context(), none); fault.KindOf(err) != fault.Unavailable || fake.Requests() != 0 {
		t.Errorf("%v after %d requests", err, fake.Requests())
	}
}

func TestAccessThatHasEndedCanBeEndedAgain(t *testing.T) {
	t.Parallel()
	_, s := open(t, true)
	for range 2 {
		if err := (plaid.Connector{}).Revoke(t.Context(), s); err != nil {
			t.Error(err)
		}
	}
	if _, err := (plaid.Connector{}).Check(t.Context(), s); fault.KindOf(err) != fault.Unauthorized {
		t.Error(err)
	}
}

func TestWebhooksAreVerified(t *testing.T) {
	t.Parallel()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := private.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	key := plaid.WebhookKey{ID: "k1", Algorithm: "ES256", Curve: "P-256", X: encode(point[1:33]), Y: encode(point[33:])}
	body, now := []byte(`{"webhook_code":"SYNC_UPDATES_AVAILABLE"}`), time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)
	sign := func(algorithm, id string, at time.Time, body []byte) string {
		hash := sha256.Sum256(body)
		text := encode([]byte(`{"alg":"`+algorithm+`","kid":"`+id+`","typ":"JWT"}`)) + "." +
			encode(fmt.Appendf(nil, `{"iat":%d,"request_body_sha256":%q}`, at.Unix(), hex.EncodeToString(hash[:])))
		digest := sha256.Sum256([]byte(text))
		r, s, err := ecdsa.Sign(rand.Reader, private, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		return text + "." + encode(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
	}
	good := sign("ES256", "k1", now, body)
	if id, err := plaid.WebhookKeyID(good); id != "k1" || err != nil {
		t.Errorf("%q %v", id, err)
	}
	if err := plaid.VerifyWebhook(key, good, body, now.Add(5*time.Minute)); err != nil {
		t.Error(err)
	}
	expired, at := key, int64(1)
	expired.ExpiredAt = &at
	other := key
	other.X, other.Y = key.Y, key.X
	for name, c := range map[string]struct {
		key   plaid.WebhookKey
		token string
		body  string
		at    time.Time
	}{
		"old":               {key, good, string(body), now.Add(5*time.Minute + time.Second)},
		"of the future":     {key, sign("ES256", "k1", now.Add(time.Hour), body), string(body), now},
		"another body":      {key, good, string(body) + " ", now},
		"another algorithm": {key, sign("HS256", "k1", now, body), string(body), now},
		"another key id":    {key, sign("ES256", "k2", now, body), string(body), now},
		"an expired key":    {expired, good, string(body), now},
		"no key":            {other, good, string(body), now},
		"cut":               {key, good[:len(good)-4], string(body), now},
		"changed":           {key, good[:len(good)-8] + "AAAAAAAA", string(body), now},
		"empty":             {key, "", string(body), now},
		"two parts":         {key, good[:strings.LastIndexByte(good, '.')], string(body), now},
	} {
		if err := plaid.VerifyWebhook(c.key, c.token, []byte(c.body), c.at); !errors.Is(err, plaid.ErrWebhook) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
