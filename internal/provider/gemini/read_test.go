package gemini_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/gemini"
	"github.com/bursarhq/bursar/internal/provider/gemini/geminitest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// world is a fake and a session at it.
type world struct {
	*testing.T
	*geminitest.Server
	now     *clock.Manual
	session *provider.Session
	cursors map[string]string
}

func newWorld(t *testing.T, s *geminitest.Server) *world {
	w := &world{T: t, Server: s, now: clock.NewManual(noon), cursors: map[string]string{}}
	providertest.Start(t, s, w.now.Now)
	sleep := func(ctx context.Context, d time.Duration) error { w.now.Advance(d); return ctx.Err() }
	all := provider.Credentials{}
	for name, text := range s.Credentials() {
		all[name] = secret.New(text)
	}
	w.session = provider.NewDialer(gemini.Connector{}.Describe(), provider.Config{URL: w.URL, AllowPrivate: true, Clock: w.now, Sleep: sleep}).
		Open(all, true)
	return w
}

// read reads a list to its end.
func (w *world) read(ledger string) (out provider.Page) {
	w.Helper()
	for range 100 {
		p, err := gemini.Connector{}.Read(w.Context(), w.session, ledger, w.cursors[ledger])
		if err != nil {
			w.Fatal(err)
		}
		w.cursors[ledger] = p.Cursor
		out.Records, out.Omitted = append(out.Records, p.Records...), append(out.Omitted, p.Omitted...)
		if out.Gaps, out.Removed = append(out.Gaps, p.Gaps...), append(out.Removed, p.Removed...); !p.More {
			return out
		}
	}
	w.Fatal("there is no end")
	return out
}

// ids returns the ids of records, each once.
func ids(p provider.Page) (all []string) {
	for _, r := range p.Records {
		if !slices.Contains(all, r.ExternalID) {
			all = append(all, r.ExternalID)
		}
	}
	return all
}

func one() money.Decimal { return money.FromInt(1) }

func TestTransfersAreReadForwardsAndWithFiveSecondsBetweenRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, geminitest.New())
	for i := range 230 { // five pages, with edges within transfers of one time
		w.Transfer(noon.Add(time.Duration(i/7-100)*24*time.Hour), "Deposit", "ETH", one(), nil)
	}
	if got := ids(w.read("transfers")); len(got) != 230 {
		t.Errorf("%d transfers", len(got))
	}
	if took := w.now.Now().Sub(noon); w.Requests() < 5 || took < time.Duration(w.Requests()-1)*5*time.Second {
		t.Errorf("%d requests in %s", w.Requests(), took)
	}
}

func TestMoreMovementsOfOneTimeThanGeminiShowsAreAGap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, geminitest.New())
	at := noon.Add(-24 * time.Hour)
	for range 60 {
		w.Transfer(at, "Deposit", "ETH", one(), nil)
	}
	w.Transfer(at.Add(time.Millisecond), "Deposit", "ETH", one(), nil)
	p := w.read("transfers")
	if len(ids(p)) != 51 || len(p.Gaps) != 1 || !p.Gaps[0].From.Equal(at) {
		t.Errorf("%d transfers, %+v", len(ids(p)), p.Gaps)
	}
}

func TestPendingTransfersAreReadOnceTheyAreComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t, geminitest.New())
	pending := w.Transfer(noon.Add(-20*24*time.Hour), "Deposit", "USD", one(), geminitest.Row{"status": "Pending"})
	for i := range 120 { // pages after it
		w.Transfer(noon.Add(time.Duration(i-200)*time.Hour), "Deposit", "ETH", one(), nil)
	}
	if got := ids(w.read("transfers")); len(got) != 120 {
		t.Errorf("%d transfers", len(got))
	}
	if got := ids(w.read("transfers")); len(got) != 120 {
		t.Errorf("%d transfers again", len(got))
	}
	w.SetStatus(pending, "Complete")
	if got := ids(w.read("transfers")); !slices.Contains(got, fmt.Sprint("transfer:", pending)) {
		t.Errorf("%d is missing", pending)
	}
	before := w.Requests()
	if w.read("transfers"); w.Requests() != before+1 {
		t.Errorf("%d requests with nothing new", w.Requests()-before)
	}
}

func TestADepositThatWasCreditedInAdvanceIsReadOnce(t *testing.T) {
	t.Parallel()
	for name, days := range map[string]int{"of late": 4, "long ago": 40} {
		w := newWorld(t, geminitest.New())
		advance := w.Transfer(noon.Add(-time.Duration(days)*24*time.Hour), "Deposit", "USD", one(), geminitest.Row{"status": "Advanced"})
		var got []string
		if days < 30 { // it was read before, too
			got = ids(w.read("transfers"))
		}
		complete := w.Complete(advance, noon.Add(-time.Duration(days-3)*24*time.Hour))
		if got = append(got, ids(w.read("transfers"))...); !slices.Equal(got, []string{fmt.Sprint("transfer:", complete)}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestATransferThatAppearsLateIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, geminitest.New())
	w.Transfer(noon.Add(-time.Hour), "Deposit", "ETH", one(), nil)
	w.read("transfers")
	late := w.Transfer(noon.Add(-time.Hour-10*time.Minute), "Deposit", "ETH", one(), nil)
	if got := ids(w.read("transfers")); !slices.Contains(got, fmt.Sprint("transfer:", late)) {
		t.Errorf("%v", got)
	}
}

func TestATradeThatBecomesVoidIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, geminitest.New())
	w.Trade(noon.Add(-time.Hour), "BTCUSD", "Buy", one(), one(), nil)
	got := ids(w.read("trades"))
	w.Break()
	p := w.read("trades")
	for _, id := range got {
		if !slices.Contains(p.Removed, id) {
			t.Errorf("%s is not among %v", id, p.Removed)
		}
	}
	if len(got) != 2 || len(p.Records) != 0 {
		t.Errorf("%v, then %+v", got, p.Records)
	}
}

func TestTheKindOfNonceIsFoundOutOnceInASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, geminitest.NewCounting())
	for range 10 {
		w.read("trades")
	}
	if w.Requests() != 11 {
		t.Errorf("%d requests", w.Requests())
	}
}

func TestWhatAccountsCannotDoIsNoError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, geminitest.New())
	w.FailAt(1, providertest.Status(http.StatusNotFound, "", "", `{"result":"error","reason":"EndpointNotFound","message":"API entry point not found"}`))
	if p := w.read("staking"); len(p.Records) != 0 {
		t.Errorf("%+v", p)
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status       int
		reason, text string
		kind         fault.Kind
		want         string
	}{
		"a wrong key":       {http.StatusBadRequest, "InvalidApiKey", "Invalid API key", fault.Unauthorized, "refuses the API key"},
		"another wrong key": {http.StatusBadRequest, "Unknown", "Invalid API key", fault.Unauthorized, "refuses the API key"},
		"no key":            {http.StatusUnauthorized, "MissingApikeyHeader", "Must provide", fault.Unauthorized, "refuses the API key"},
		"no role":           {http.StatusForbidden, "MissingRole", "To access", fault.Forbidden, "Auditor"},
		"another address":   {http.StatusForbidden, "RemoteAddressForbidden", "no", fault.Forbidden, "IP addresses"},
		"a group":           {http.StatusBadRequest, "MissingAccounts", "no", fault.Conflict, "scope of a single account"},
		"a closed account":  {http.StatusBadRequest, "AccountClosed", "The account is\nclosed", fault.Conflict, "refuses the request: The account is closed"},
		"maintenance":       {http.StatusBadRequest, "Maintenance", "later", fault.Unavailable, "cannot answer at present"},
		"a limit":           {http.StatusBadRequest, "RateLimit", "slower", fault.Unavailable, "no more requests"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, geminitest.New())
			for n := range 5 {
				w.FailAt(n+1, providertest.Status(c.status, "", "", fmt.Sprintf(`{"result":"error","reason":%q,"message":%q}`, c.reason, c.text)))
			}
			_, err := gemini.Connector{}.Check(w.Context(), w.session)
			if fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("%v is %s", err, fault.KindOf(err))
			}
		})
	}
}

func TestChecksNameTheAccountAndWhatIsLacking(t *testing.T) {
	t.Parallel()
	w := newWorld(t, geminitest.New())
	if got, err := (gemini.Connector{}).Check(w.Context(), w.session); err != nil || got.ID != "GEMPJBRDZ" || got.Name != "Primary" {
		t.Errorf("%+v %v", got, err)
	}
	w.Forbid()
	if _, err := (gemini.Connector{}).Check(w.Context(), w.session); fault.KindOf(err) != fault.Forbidden {
		t.Error(err)
	}
	w.Master = true
	if _, err := (gemini.Connector{}).Check(w.Context(), w.session); fault.KindOf(err) != fault.Conflict {
		t.Error(err)
	}
}
