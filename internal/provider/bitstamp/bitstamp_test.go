package bitstamp_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/bitstamp"
	"github.com/bursarhq/bursar/internal/provider/bitstamp/bitstamptest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// Times may differ by 150 seconds, which is more than the suite expects of systems that compare them, so that it is not told that this
// one does. It shifts the clock by hours, too.
func TestItConforms(t *testing.T) {
	t.Parallel()
	fake := func() providertest.Fake { return bitstamptest.New() }
	providertest.Conforms(t, providertest.Suite{Connector: bitstamp.Connector{}, Fake: fake, PageSize: 1000, Quiet: 1,
		Busy: bitstamptest.Busy})
}

var start = time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)

// open starts a fake and returns a session with it.
func open(t *testing.T, fake *bitstamptest.Server) *provider.Session {
	now := clock.NewManual(start)
	providertest.Start(t, fake, now.Now)
	credentials := provider.Credentials{}
	for name, text := range fake.Credentials() {
		credentials[name] = secret.New(text)
	}
	config := provider.Config{URL: fake.URL, AllowPrivate: true, Clock: now}
	return provider.NewDialer(bitstamp.Connector{}.Describe(), config).Open(credentials, false)
}

// read reads from a cursor to the end, adds the ids to those that were read, and returns the cursor.
func read(t *testing.T, s *provider.Session, cursor string, ids map[string]bool) string {
	t.Helper()
	for range 100 {
		p, err := bitstamp.Connector{}.Read(t.Context(), s, "transactions", cursor)
		if err != nil || len(p.Omitted) > 0 {
			t.Fatal(p.Omitted, err)
		}
		for _, r := range p.Records {
			ids[r.ExternalID] = true
		}
		if cursor = p.Cursor; !p.More {
			return cursor
		}
	}
	t.Fatal("it has no end")
	return ""
}

// fill adds deposits, a second apart.
func fill(fake *bitstamptest.Server, n int) {
	for i := range n {
		fake.AddRow(start.Add(time.Duration(i-n)*time.Second), "0", map[string]any{"eur": "1.00", "fee": "0.00"})
	}
}

// Transactions are sorted by time, and asked for by id.
func TestATransactionAtTheEdgeOfAPageMayHaveALowerIDThanTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	fake := bitstamptest.New()
	s := open(t, fake)
	fill(fake, 999)
	fake.AddRow(start.Add(2*time.Second), "0", map[string]any{"eur": "2.00", "fee": "0.00"}) // has the lower id and follows on the next page
	fake.AddRow(start.Add(time.Second), "0", map[string]any{"eur": "3.00", "fee": "0.00"})
	ids := map[string]bool{}
	if read(t, s, "", ids); len(ids) != 1001 {
		t.Errorf("%d transactions, want 1001", len(ids))
	}
}

func TestATransactionThatIsShownLateIsRead(t *testing.T) {
	t.Parallel()
	fake := bitstamptest.New()
	s := open(t, fake)
	fill(fake, 1020)
	ids := map[string]bool{}
	cursor := read(t, s, "", ids)
	fake.AddRow(start.Add(-time.Hour), "0", map[string]any{"eur": "5.00", "fee": "0.00"})
	if read(t, s, cursor, ids); len(ids) != 1021 {
		t.Errorf("%d transactions, want 1021", len(ids))
	}
}

func TestATransactionThatIsShownAfterOneWithAHigherIDIsRead(t *testing.T) {
	t.Parallel()
	fake := bitstamptest.New()
	s := open(t, fake)
	fill(fake, 5)
	late := fake.AddRow(start.Add(time.Second), "0", map[string]any{"eur": "5.00", "fee": "0.00"})
	fake.AddRow(start.Add(10*time.Minute), "0", map[string]any{"eur": "6.00", "fee": "0.00"})
	fake.Hidden[late] = true
	ids := map[string]bool{}
	cursor := read(t, s, "", ids)
	fake.Hidden[late] = false
	if read(t, s, cursor, ids); len(ids) != 7 {
		t.Errorf("%d transactions, want 7", len(ids))
	}
}

func TestAFullPageWithoutIDsIsNotReadForEver(t *testing.T) {
	t.Parallel()
	fake := bitstamptest.New()
	s := open(t, fake)
	fill(fake, 1000)
	fake.FailAt(1, providertest.Changed(func(body []byte) []byte { return bytes.ReplaceAll(body, []byte(`"id":`), []byte(`"no":`)) }))
	if p, err := (bitstamp.Connector{}).Read(t.Context(), s, "transactions", ""); fault.KindOf(err) != fault.Unavailable || p.More {
		t.Errorf("%v %v", p.More, err)
	}
}

func TestItDoesNotMatterWhetherTheIDThatIsAskedForCounts(t *testing.T) {
	t.Parallel()
	for _, exclusive := range []bool{false, true} {
		fake := bitstamptest.New()
		fake.Exclusive = exclusive
		s := open(t, fake)
		fill(fake, 2005)
		ids := map[string]bool{}
		cursor := read(t, s, "", ids)
		before := fake.Requests()
		again := read(t, s, cursor, ids)
		if n := fake.Requests() - before; again != cursor || len(ids) != 2005 || n != 1 {
			t.Errorf("exclusive %v: %d transactions; after %s, %d requests lead to %s", exclusive, len(ids), cursor, n, again)
		}
	}
}

func TestAMissingPermissionIsNamed(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"user_transactions/", "account_balances/"} {
		fake := bitstamptest.New()
		s := open(t, fake)
		fake.Missing[method] = true
		_, err := bitstamp.Connector{}.Check(t.Context(), s)
		if fault.KindOf(err) != fault.Forbidden || !strings.Contains(err.Error(), "Account balance and User transactions") {
			t.Errorf("without %s: %v", method, err)
		}
	}
}

func TestRefusalsAreToldApart(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		kind fault.Kind
		text string
	}{
		`{"status":"error","reason":"IP address not allowed","code":"API0002"}`:                   {fault.Forbidden, "address of this service"},
		`{"status":"error","reason":"Authentication failed","code":"API0008"}`:                    {fault.Unauthorized, "API key"},
		`{"status":"error","reason":"Invalid nonce","code":"API0004"}`:                            {fault.Unavailable, "at present"},
		`{"status":"error","reason":"Your account is frozen","code":"API0006"}`:                   {fault.Conflict, "Your account is frozen"},
		`{"status":"error","reason":{"limit":["Limit too large"]}}`:                               {fault.Conflict, "Limit too large"},
		`{"response_code":"500.002","response_explanation":"One of Bitstamp internal services"}`:  {fault.Unavailable, "at present"},
		`{"response_code":"404.004","response_explanation":"Trade account not found for a key."}`: {fault.Conflict, "Trade account not found"},
		`{}`: {fault.Unavailable, "cannot be understood"},
	} {
		fake := bitstamptest.New()
		s := open(t, fake)
		fake.FailAt(1, providertest.Status(http.StatusForbidden, "Content-Type", "application/json", body))
		_, err := bitstamp.Connector{}.Check(t.Context(), s)
		if fault.KindOf(err) != want.kind || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: %s error: %v", body, fault.KindOf(err), err)
		}
	}
}

// The suite cannot require this, because it shifts the clock by less, too.
func TestTheTimeOfBitstampIsTakenOver(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{151 * time.Second, -151 * time.Second} {
		fake := bitstamptest.New()
		s := open(t, fake)
		fake.Skew(by)
		if _, err := (bitstamp.Connector{}).Check(t.Context(), s); err != nil || fake.Requests() != 3 || s.Now().Sub(start) != by {
			t.Errorf("%s: the time is %s after %d requests: %v", by, s.Now(), fake.Requests(), err)
		}
	}
}
