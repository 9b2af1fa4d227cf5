package coinbase_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/coinbase"
	"github.com/bursarhq/bursar/internal/provider/coinbase/coinbasetest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// world is a fake and a session at it.
type world struct {
	*testing.T
	*coinbasetest.Server
	now    *clock.Manual
	cursor string
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, Server: coinbasetest.New(), now: clock.NewManual(noon)}
	providertest.Start(t, w.Server, w.now.Now)
	return w
}

func (w *world) session() *provider.Session {
	sleep := func(ctx context.Context, d time.Duration) error { w.now.Advance(d); return ctx.Err() }
	all := provider.Credentials{}
	for name, text := range w.Credentials() {
		all[name] = secret.New(text)
	}
	return provider.NewDialer(coinbase.Connector{}.Describe(), provider.Config{URL: w.URL, AllowPrivate: true, Clock: w.now, Sleep: sleep}).
		Open(all, true)
}

// read reads to the end and returns the pages.
func (w *world) read() (all []provider.Page) {
	w.Helper()
	s := w.session()
	for range 1000 {
		p, err := coinbase.Connector{}.Read(w.Context(), s, "", w.cursor)
		if err != nil {
			w.Fatal(err)
		}
		w.cursor = p.Cursor
		if all = append(all, p); !p.More {
			return all
		}
	}
	w.Fatal("there is no end")
	return nil
}

// ids returns the ids of the records of pages, each once.
func ids(pages []provider.Page) (all []string) {
	for _, p := range pages {
		for _, r := range p.Records {
			if !slices.Contains(all, r.ExternalID) {
				all = append(all, r.ExternalID)
			}
		}
	}
	return all
}

func one() money.Decimal { return money.FromInt(1) }

func TestShortPagesAreFollowedToTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.PageMax = 3
	var want []string
	for i := range 200 { // more pages than one call reads
		want = append(want, w.Put(noon.Add(time.Duration(i-500)*time.Hour), []string{"BTC", "ETH", "EUR"}[i%3], one(), coinbasetest.Row{"type": "tx"}))
	}
	pages := w.read()
	if got := ids(pages); !slices.Equal(got, want) || len(pages) < 3 {
		t.Errorf("%d of %d, in order: %t, in %d pages", len(got), len(want), slices.IsSorted(got), len(pages))
	}
	cursor := w.cursor
	if pages := w.read(); w.cursor != cursor {
		t.Errorf("nothing is new, and the cursor changes from\n%s to\n%s after %v", cursor, w.cursor, ids(pages))
	}
}

func TestThePartsOfATradeAreInOnePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.PageMax = 5
	for i := range 400 {
		w.Add(providertest.Movement{At: noon.Add(time.Duration(i-500) * time.Hour), Kind: providertest.Trade, Asset: "EUR", Amount: "100",
			Fee: "1", For: []string{"BTC", "ETH", "ETH", "ETH"}[i%4], Gets: "0.5"})
	}
	trades := 0
	for _, p := range w.read() {
		groups := map[string]string{}
		for _, r := range p.Records {
			groups[r.Group] += r.Moved().String() + " "
		}
		for group, parts := range groups {
			if trades++; !slices.Equal(sorted(parts), []string{"-1", "-100", "0.5"}) {
				t.Errorf("%s: %s", group, parts)
			}
		}
	}
	if trades != 400 {
		t.Errorf("%d trades", trades)
	}
}

func sorted(text string) []string {
	all := strings.Fields(text)
	slices.Sort(all)
	return all
}

func TestPendingMovementsAreReadOnceTheyAreCompleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.Put(noon.Add(-50*time.Hour), "BTC", one(), coinbasetest.Row{"type": "receive"})
	pending := w.Put(noon.Add(-40*time.Hour), "BTC", one(), coinbasetest.Row{"type": "receive", "status": "waiting_for_clearing"})
	w.Put(noon.Add(-30*time.Hour), "BTC", one(), coinbasetest.Row{"type": "receive", "status": "canceled"})
	after := w.Put(noon.Add(-20*time.Hour), "BTC", one(), coinbasetest.Row{"type": "receive"})
	if got := ids(w.read()); !slices.Equal(got, []string{before, after}) {
		t.Errorf("%v", got)
	}
	w.Complete("BTC", pending)
	if got := ids(w.read()); !slices.Contains(got, pending) {
		t.Errorf("%v", got)
	}
}

func TestMovementsThatStayPendingAreLeftToPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pending := w.Put(noon.Add(-61*24*time.Hour), "BTC", one(), coinbasetest.Row{"type": "request", "status": "pending"})
	for i := range 3 {
		w.Put(noon.Add(time.Duration(i-60)*24*time.Hour), "BTC", one(), coinbasetest.Row{"type": "receive"})
	}
	pages := w.read()
	if all := pages[0].Omitted; len(all) != 1 || all[0].ID != pending || !strings.HasPrefix(all[0].Reason, `its status has been "pending" for 60 days`) {
		t.Errorf("%+v", all)
	}
	if all := w.read()[0].Omitted; len(all) != 0 {
		t.Errorf("again: %+v", all)
	}
}

func TestMovementsThatAppearLateAreRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		w.Put(noon.Add(time.Duration(i-50)*time.Hour), "BTC", one(), coinbasetest.Row{"type": "receive"})
	}
	last := noon.Add(-46 * time.Hour)
	w.read()
	for i := range 20 { // of the same second, or some minutes older
		late := w.Put(last.Add(-time.Duration(i%2)*10*time.Minute), "BTC", one(), coinbasetest.Row{"type": "receive"})
		if got := ids(w.read()); !slices.Contains(got, late) {
			t.Errorf("%d: %s is not among %v", i, late, got)
		}
	}
}

func TestAMovementThatIsGoneDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gone := w.Put(noon.Add(-50*time.Hour), "BTC", one(), coinbasetest.Row{"type": "receive", "status": "failed"})
	w.Put(noon.Add(-40*time.Hour), "BTC", one(), coinbasetest.Row{"type": "receive"})
	w.read()
	if !strings.Contains(w.cursor, gone) {
		t.Fatal(w.cursor)
	}
	w.Remove("BTC", gone)
	late := w.Put(noon.Add(-10*time.Hour), "BTC", one(), coinbasetest.Row{"type": "receive"})
	if got := ids(w.read()); !slices.Contains(got, late) {
		t.Errorf("%v", got)
	}
}

func TestAValidTokenThatIsRefusedOnceIsRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Put(noon.Add(-50*time.Hour), "BTC", one(), coinbasetest.Row{"type": "receive"})
	w.FailAt(2, providertest.Status(401, "", "", "Unauthorized\n"))
	if got := ids(w.read()); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

func TestALackingPermissionIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Forbid()
	_, err := coinbase.Connector{}.Check(w.Context(), w.session())
	if fault.KindOf(err) != fault.Forbidden || !strings.Contains(fmt.Sprint(err), "View") {
		t.Error(err)
	}
}

func TestAKeyWhosePermissionsAreNotToldHasAWarning(t *testing.T) {
	t.Parallel()
	w := &world{T: t, Server: coinbasetest.NewEdwards(), now: clock.NewManual(noon)}
	providertest.Start(t, w.Server, w.now.Now)
	got, err := coinbase.Connector{}.Check(w.Context(), w.session())
	if err != nil || got.Grants != nil || len(got.Warnings) != 1 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestAPrivateKeyThatIsNoneIsBlamedOnItsField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session()
	s.Credentials[provider.APISecret] = secret.New("hunter2")
	_, err := coinbase.Connector{}.Check(w.Context(), s)
	if fault.KindOf(err) != fault.Invalid || strings.Contains(fmt.Sprint(err), "hunter2") || !strings.Contains(fmt.Sprint(err), "api_secret") {
		t.Error(err)
	}
}

func TestAKeyOfTheOtherKindOfAccountIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session()
	s.Credentials[provider.APISecret] = secret.New(coinbasetest.Edwards.Secret)
	if _, err := (coinbase.Connector{}).Check(w.Context(), s); fault.KindOf(err) != fault.Unauthorized {
		t.Error(err)
	}
}

func TestAPageThatDoesNotSayWhereTheNextBeginsIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.PageMax = 2
	for i := range 5 {
		w.Put(noon.Add(time.Duration(i-50)*time.Hour), "BTC", one(), coinbasetest.Row{"type": "receive"})
	}
	w.FailAt(3, providertest.Changed(func(body []byte) []byte { // the list of the second wallet, which is the one with rows
		return []byte(strings.ReplaceAll(string(body), "starting_after=", "page="))
	}))
	if _, err := (coinbase.Connector{}).Read(w.Context(), w.session(), "", ""); fault.KindOf(err) != fault.Unavailable {
		t.Error(err)
	}
}

func TestARefusalInHTMLIsNotThatOfCoinbase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.FailAt(1, providertest.Status(403, "Content-Type", "text/html", "<html>blocked</html>"))
	w.FailAt(2, providertest.Status(403, "Content-Type", "text/html", "<html>blocked</html>"))
	if _, err := (coinbase.Connector{}).Check(w.Context(), w.session()); err != nil {
		t.Error(err)
	}
}
