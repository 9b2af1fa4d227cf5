package netsuite_test

import (
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/provider/netsuite"
	"github.com/bursarhq/bursar/internal/provider/netsuite/netsuitetest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

var busy = providertest.Status(429, "", "", `{"title":"Too Many Requests","status":429,"o:errorDetails":[{"detail":"Concurrent request `+
	`limit exceeded",`+
	`"o:errorCode":"CONCURRENCY_LIMIT_EXCEEDED"}]}`)

func TestItConformsWithConsent(t *testing.T) {
	t.Parallel()
	ledgertest.Conforms(t, ledgertest.Suite{Connector: netsuite.Connector{}, Fake: func() ledgertest.Fake { return netsuitetest.New("USD") },
		Busy:  busy,
		Wrong: []string{"client_secret", "client_id", "refresh_token"}})
}

func TestItConformsWithACertificate(t *testing.T) {
	t.Parallel()
	fake := func() ledgertest.Fake {
		s := netsuitetest.NewCertified("EUR", netsuitetest.NewKey())
		s.Single = true
		return s
	}
	ledgertest.Conforms(t, ledgertest.Suite{Connector: netsuite.Connector{}, Fake: fake, Wrong: []string{"client_id", "certificate_id",
		"private_key"}})
}

// open returns a session at a fake that was started, with some credentials replaced.
func open(t *testing.T, fake *netsuitetest.Server, change ...string) *provider.Session {
	t.Helper()
	all := map[string]string{}
	for name, value := range fake.Credentials() {
		all[name] = value
	}
	for i := 0; i < len(change); i += 2 {
		all[change[i]] = change[i+1]
	}
	dialer := provider.NewDialer(netsuite.Connector{}.Describe(), provider.Config{URL: fake.URL, AllowPrivate: true})
	return dialer.Open(ledgertest.Secrets(all), false)
}

func TestKeysOfEveryFormAreUsed(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, fake := range map[string]*netsuitetest.Server{"RSA": netsuitetest.NewCertified("USD", key),
		"P-256": netsuitetest.NewCertified("USD", netsuitetest.NewKey())} {
		providertest.Start(t, fake, time.Now)
		text := fake.Credentials()["private_key"]
		for _, form := range []string{text, strings.ReplaceAll(text, "\n", `\n`), strings.ReplaceAll(text, "\n", " "),
			strings.ReplaceAll(text, "\n", "\r\n")} {
			got, err := netsuite.Connector{}.Check(t.Context(), open(t, fake, "private_key", form))
			if err != nil || got.ID != "123456_SB1" || got.Name != "Parent Company" {
				t.Errorf("%s: %+v %v", name, got, err)
			}
		}
		_, err := netsuite.Connector{}.Check(t.Context(), open(t, fake, "private_key", "-----BEGIN PRIVATE KEY-----\nMTIz\n-----END PRIVATE "+
			"KEY-----"))
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The id of the account becomes a part of an address, which must not lead elsewhere.
func TestAccountIDsAreChecked(t *testing.T) {
	t.Parallel()
	fake := netsuitetest.New("USD")
	providertest.Start(t, fake, time.Now)
	for _, id := range []string{"", "evil.example/", "123456.evil.example", "123456:80", "a b", "-", "123456_", "x@y", strings.Repeat("1",
		70)} {
		_, err := netsuite.Connector{}.Check(t.Context(), open(t, fake, provider.Subdomain, id))
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", id, err)
		}
	}
	dialer := provider.NewDialer(netsuite.Connector{}.Describe(), provider.Config{})
	session := dialer.Open(ledgertest.Secrets(fake.Credentials()), false)
	setup, err := netsuite.Connector{}.Begin(t.Context(), session, provider.SetupRequest{State: strings.Repeat("s", 30),
		ReturnTo: "https://books.example"})
	if err != nil || !strings.HasPrefix(setup.URL, "https://123456-sb1.app.netsuite.com/app/login/oauth2/authorize.nl?") ||
		session.Base() != "https://123456-sb1.suitetalk.api.netsuite.com" {
		t.Errorf("%s at %s: %v", setup.URL, session.Base(), err)
	}
}

// A record that was voided keeps its lines, whose amounts are zero.
func TestAVoidJournalIsGone(t *testing.T) {
	t.Parallel()
	fake := netsuitetest.New("USD")
	providertest.Start(t, fake, time.Now)
	c := netsuite.Connector{}
	session := open(t, fake)
	j := provider.Journal{Key: "je_1", Date: "2026-10-15", Currency: "USD", Lines: []provider.JournalLine{
		{Account: "101", Debit: true, Amount: money.MustParse("5")}, {Account: "103", Amount: money.MustParse("5")}}}
	p, err := c.Push(t.Context(), session, j)
	if err != nil {
		t.Fatal(err)
	}
	for i := range fake.Books().Entries[0].Lines {
		fake.Books().Entries[0].Lines[i].Amount = money.MustParse("0")
	}
	if _, err := c.Get(t.Context(), session, p.ID); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	if _, err := c.Push(t.Context(), session, j); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "already exists") {
		t.Error(err)
	}
}

// NetSuite has stored the journal, and says neither its id nor, for a moment, that it exists.
func TestAJournalThatWasStoredWithoutAnIDIsNotTakenForOneThatWasNot(t *testing.T) {
	t.Parallel()
	fake := netsuitetest.New("USD")
	providertest.Start(t, fake, time.Now)
	c := netsuite.Connector{}
	session := open(t, fake)
	j := provider.Journal{Key: "je_1", Date: "2026-10-15", Currency: "USD", Lines: []provider.JournalLine{
		{Account: "101", Debit: true, Amount: money.MustParse("5")}, {Account: "103", Amount: money.MustParse("5")}}}
	hidden := false
	for n := range 40 {
		fake.FailAt(n+1, func(w http.ResponseWriter, answer func() *httptest.ResponseRecorder) {
			before, a := len(fake.Books().Entries), answer()
			if len(fake.Books().Entries) > before {
				hidden = true
				w.WriteHeader(a.Code)
				return
			}
			if hidden {
				a = httptest.NewRecorder()
				a.Code = http.StatusNotFound
				a.Body.WriteString(`{"title":"Not Found","status":404,"o:errorDetails":[{"detail":"it does not exist","o:errorCode":"NONEXISTENT_ID"}]}`)
			}
			for name, values := range a.Header() {
				w.Header()[name] = values
			}
			w.WriteHeader(a.Code)
			_, _ = w.Write(a.Body.Bytes())
		})
	}
	if p, err := c.Push(t.Context(), session, j); fault.KindOf(err) != fault.Unavailable || !hidden {
		t.Errorf("%+v %v", p, err)
	}
	fake.Recover()
	if p, err := c.Push(t.Context(), session, j); err != nil || len(fake.Books().Entries) != 1 {
		t.Errorf("%+v %v: %d journals", p, err, len(fake.Books().Entries))
	}
}
