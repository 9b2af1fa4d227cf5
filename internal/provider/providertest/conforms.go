package providertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider"
)

// Suite says what is tested.
type Suite struct {
	Connector provider.Reader
	Fake      func() Fake // a new one, with an empty account

	// Wrong lists fields that make the system refuse the credentials if they are wrong. By default, all of them.
	Wrong []string
	// Timed says that requests contain a time, which the system compares with its own.
	Timed bool
	// PageSize is how many movements fit into an answer of the system.
	PageSize int
	// Together is how many movements of one time the system can show. By default, any number.
	Together int
	// Forward says that ranges of time are read, because the system has no other way, and that those without movements are not read again.
	Forward bool
	// Quiet is how many requests a synchronization with nothing new takes.
	Quiet int
	// Busy answers as the system does when there are too many requests, if it does not do so with the status 429.
	Busy Failure

	// Money is the only currency of the account, with money that comes and goes. By default, there are several assets, which are traded.
	Money string
	// Days says that the system states the days of movements and not their times.
	Days bool
	// Client is the registration of the service at the system, if it needs one.
	Client provider.Client
}

// Conforms tests what every connector must do.
func Conforms(t *testing.T, s Suite) {
	t.Helper()
	for name, test := range map[string]func(w *world, s Suite){
		"every movement is read once and adds up to the balances": readsEverythingOnce,
		"what is new is read and nothing else":                    readsWhatIsNew,
		"equal times at the edge of a page":                       readsEqualTimes,
		"movements that arrive while pages are read":              readsWhatArrivesMeanwhile,
		"a failure of any request loses nothing":                  survivesFailures,
		"an interrupted synchronization continues":                continuesAfterFailures,
		"limits are kept and waited for":                          waitsForLimits,
		"wrong credentials":                                       refusesWrongCredentials,
		"revoked while pages are read":                            stopsWhenRevoked,
		"clocks that differ":                                      followsTheClock,
		"rights to withdraw":                                      tellsRights,
		"answers that make no sense":                              survivesNonsense,
		"balances that are missing":                               wantsBalances,
		"unknown kinds of movements":                              keepsUnknownKinds,
		"a context that ends":                                     stopsWithItsContext,
		"a cursor of another version":                             refusesUnknownCursors,
		"tokens that expire":                                      renewsTokensOnce,
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			test(newWorld(t, s), s)
		})
	}
	t.Run("description", func(t *testing.T) { describes(t, s.Connector.Describe()) })
}

// describes requires a description that people can use.
func describes(t *testing.T, d provider.Description) {
	entered := slices.ContainsFunc(d.Fields, func(f provider.Field) bool { return f.Name == provider.RPCURL && !f.Optional })
	if d.Name == "" || d.Name != strings.ToLower(d.Name) || d.Title == "" || strings.HasPrefix(d.URL, "https://") == entered ||
		strings.HasSuffix(d.URL, "/") || d.Advice == "" || len(d.Ledgers) == 0 || len(d.Fields) == 0 || d.Kind == "" {
		t.Errorf("incomplete: %+v", d)
	}
	for _, f := range d.Fields {
		if f.Name == "" || f.Title == "" || f.Max <= 0 {
			t.Errorf("incomplete: %+v", f)
		}
	}
}

// history returns movements of every kind, one every few hours, the last ones shortly before the start.
func history(n int) (all []Movement) {
	for i := range n {
		m := Movement{At: start.Add(-time.Duration(n-i) * 3 * time.Hour).Add(time.Duration(i%1000) * time.Millisecond)}
		switch i % 6 {
		case 0:
			m.Kind, m.Asset, m.Amount = Deposit, "EUR", fmt.Sprintf("%d.25", 1000+i)
		case 1:
			m.Kind, m.Asset, m.Amount, m.Fee, m.For, m.Gets = Trade, "EUR", "100.10", "0.26", "BTC", "0.00123456"
		case 2:
			m.Kind, m.Asset, m.Amount = Reward, "ETH", "0.0001000000"
		case 3:
			m.Kind, m.Asset, m.Amount, m.Fee = Withdrawal, "BTC", "0.00003", "0.00001"
		case 4:
			m.Kind, m.Asset, m.Amount, m.Fee, m.For, m.Gets = Trade, "BTC", "0.0005", "", "USDT", "31.7"
		case 5:
			m.Kind, m.Asset, m.Amount = Deposit, "SOL", "12.000000001"
		}
		all = append(all, m)
	}
	return all
}

func readsEverythingOnce(w *world, s Suite) {
	w.add(history(3*s.PageSize + 7)...)
	w.must(true)
	w.wants()
	if !slices.IsSortedFunc(w.order, func(a, b provider.Record) int { return a.Timestamp.Compare(b.Timestamp) }) &&
		len(w.connector.Describe().Ledgers) == 1 {
		w.Error("the records of later pages are older than those of earlier ones")
	}
	for _, m := range history(6) {
		m = s.own(m)
		at := func(r provider.Record) bool { return r.Timestamp.Minute() == 30 }
		if s.Days {
			at = func(r provider.Record) bool {
				return slices.Contains([]int{0, -1}, r.Timestamp.Compare(m.At)) && r.Timestamp.Hour() == 0
			}
		}
		if !slices.ContainsFunc(w.order, func(r provider.Record) bool { return r.Currency == m.Asset && at(r) }) {
			w.Errorf("no record of %+v at its time", m)
		}
	}
}

func readsWhatIsNew(w *world, s Suite) {
	if !s.Forward { // the movements that are added are of the past
		w.must(true)
	}
	w.add(history(s.PageSize + 3)...)
	w.must(true)
	w.wants()
	before := w.Requests()
	if added := w.must(true); added != 0 || s.Quiet > 0 && w.Requests()-before != s.Quiet {
		w.Errorf("nothing is new, but %d records after %d requests, want %d", added, w.Requests()-before, s.Quiet)
	}
	for i := range 5 {
		w.now.Advance(40 * time.Minute)
		w.add(Movement{At: w.now.Now().Add(-time.Second), Kind: Deposit, Asset: "EUR", Amount: fmt.Sprintf("%d.5", i+1)})
		if added := w.must(true); added != 1 {
			w.Errorf("%d new records", added)
		}
	}
	w.wants()
}

func readsEqualTimes(w *world, s Suite) {
	at := start.Add(-48 * time.Hour)
	n := 2*s.PageSize + 5
	if s.Together > 0 {
		n = min(n, s.Together)
	}
	for i := range n {
		w.add(Movement{At: at, Kind: Deposit, Asset: "ETH", Amount: fmt.Sprintf("1.%03d", i)})
	}
	w.add(Movement{At: at.Add(time.Millisecond), Kind: Deposit, Asset: "ETH", Amount: "7"})
	w.must(true)
	w.wants()
}

func readsWhatArrivesMeanwhile(w *world, s Suite) {
	w.add(history(3 * s.PageSize)...)
	for i := range 4 {
		w.BeforeRequest(i+2, func() {
			w.Mu.Lock()
			defer w.Mu.Unlock()
			w.add(Movement{At: w.now.Now(), Kind: Deposit, Asset: "EUR", Amount: fmt.Sprintf("%d.75", i+1)})
		})
	}
	w.must(true)
	w.now.Advance(time.Hour)
	w.must(true)
	w.wants()
}

// failures are what may happen to a request. After each, another try may succeed.
var failures = map[string]Failure{
	"status 500":          Status(http.StatusInternalServerError, "", "", "oops"),
	"status 502 of HTML":  Status(http.StatusBadGateway, "Content-Type", "text/html", "<html>bad gateway</html>"),
	"status 503":          Status(http.StatusServiceUnavailable, "Retry-After", "1", ""),
	"a page of HTML":      Status(http.StatusOK, "Content-Type", "text/html", "<html>please sign in</html>"),
	"nothing":             Status(http.StatusOK, "", "", ""),
	"a redirect":          Status(http.StatusFound, "Location", "https://elsewhere.example/", ""),
	"half of the answer":  Cut,
	"a connection cut":    HangUp,
	"an answer that lost": Lost,
}

// requestsTried is how many requests of a synchronization are failed, one in each.
const requestsTried = 3

// survivesFailures fails each of the first requests in each way. A patient session does not notice.
func survivesFailures(w *world, s Suite) {
	w.add(history(s.PageSize + 1)...)
	for name, f := range failures {
		for n := 1; n <= requestsTried; n++ {
			w.cursors = map[string]string{}
			w.FailAt(n, f)
			if _, err := w.sync(w.session(true)); err != nil {
				w.Errorf("%s at request %d: %v", name, n, err)
			}
		}
	}
	w.wants()
}

// continuesAfterFailures fails each of the first requests in each way. A session without patience ends there, and the next one continues.
func continuesAfterFailures(w *world, s Suite) {
	w.add(history(s.PageSize + 1)...)
	for name, f := range failures {
		for n := 1; n <= requestsTried; n++ {
			w.cursors = map[string]string{}
			w.FailAt(n, f)
			before := w.Requests()
			if _, err := w.sync(w.session(false)); w.Requests()-before >= n {
				w.refuses(fmt.Sprint(name, " at request ", n), err, fault.Unavailable)
			}
			w.must(true)
		}
	}
	w.wants()
}

func waitsForLimits(w *world, s Suite) {
	w.add(history(s.PageSize / 2)...)
	busy := Status(http.StatusTooManyRequests, "Retry-After", "7", "{}")
	w.FailAt(1, busy)
	w.must(true)
	if wait := w.waited(); wait < 7*time.Second {
		w.Errorf("waited for %s after 429 with Retry-After: 7", wait)
	}
	for name, f := range map[string]Failure{"429": Status(http.StatusTooManyRequests, "", "", "{}"), "the system's own": s.Busy} {
		if f == nil {
			continue
		}
		w.FailAt(1, f)
		w.must(true)
		if wait := w.waited(); wait < time.Second {
			w.Errorf("%s: waited for %s", name, wait)
		}
	}
	w.FailAt(1, Status(http.StatusTooManyRequests, "Retry-After", "3600", "{}"))
	_, err := w.sync(w.session(true))
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || f.RetryAfter != time.Hour {
		w.Errorf("an hour to wait: %v", err)
	}
	w.must(true)
	w.wants()
}

func refusesWrongCredentials(w *world, s Suite) {
	w.add(history(3)...)
	fields := s.Wrong
	if fields == nil {
		for _, f := range w.connector.Describe().Fields {
			fields = append(fields, f.Name)
		}
	}
	for _, name := range fields {
		right := w.fake.Credentials()[name]
		wrong := wrongly(right)
		before := w.Requests()
		_, err := w.connector.Check(w.Context(), w.session(true, name, wrong))
		w.refuses("Check with another "+name, err, fault.Unauthorized)
		if n := w.Requests() - before; n != 1 {
			w.Errorf("%d requests with another %s", n, name)
		}
		_, err = w.sync(w.session(true, name, wrong))
		w.refuses("Read with another "+name, err, fault.Unauthorized)
	}
	if _, err := w.connector.Check(w.Context(), w.session(false)); err != nil {
		w.Error(err)
	}
}

// wrongly returns a credential with another letter or digit in its middle.
func wrongly(right string) string {
	at := len(right) / 2
	other := byte('A')
	if right[at] == other {
		other = 'B'
	}
	return right[:at] + string(other) + right[at+1:]
}

func stopsWhenRevoked(w *world, s Suite) {
	w.add(history(3 * s.PageSize)...)
	w.BeforeRequest(3, func() { w.Revoke(true) })
	_, err := w.sync(w.session(true))
	w.refuses("revoked", err, fault.Unauthorized)
	_, err = w.connector.Check(w.Context(), w.session(true))
	w.refuses("revoked", err, fault.Unauthorized)
	w.Revoke(false)
	w.must(true)
	w.wants()
}

func followsTheClock(w *world, s Suite) {
	w.add(history(s.PageSize + 1)...)
	for _, by := range []time.Duration{2 * time.Hour, -2 * time.Hour, 90 * time.Second, -90 * time.Second} {
		w.Skew(by)
		w.cursors = map[string]string{}
		one := w.session(false)
		if _, err := w.sync(one); err != nil {
			w.Errorf("a clock that is %s ahead: %v", by, err)
		}
		if off := one.Now().Sub(w.now.Now()) - by; s.Timed && off.Abs() > time.Second {
			w.Errorf("a clock that is %s ahead: the session is off by %s", by, off)
		}
	}
	w.Skew(0)
	w.must(true)
	w.wants()
}

func tellsRights(w *world, _ Suite) {
	got, err := w.connector.Check(w.Context(), w.session(true))
	if err != nil || slices.Contains(got.Grants, provider.Withdraw) || slices.Contains(got.Grants, provider.Trade) {
		w.Fatalf("%+v %v", got, err)
	}
	for _, right := range []provider.Grant{provider.Trade, provider.Withdraw} {
		tells := w.fake.Grant(right)
		got, err := w.connector.Check(w.Context(), w.session(true))
		if err != nil || slices.Contains(got.Grants, right) != tells {
			w.Errorf("%s: %+v %v", right, got, err)
		}
		if !tells && got.Grants != nil {
			w.Errorf("the system tells nothing, and the connector says %v", got.Grants)
		}
	}
}

// keepsUnknownKinds requires that a movement of an unknown kind is read as it is, for a person to decide.
func keepsUnknownKinds(w *world, _ Suite) {
	w.add(Movement{At: start.Add(-time.Hour), Kind: Novelty, Asset: "EUR", Amount: "3.5"})
	if added := w.must(true); added != 1 || w.order[0].Type != "" || w.order[0].ProviderCategory == "" {
		w.Errorf("%d records: %+v", added, w.order)
	}
	w.wants()
}

func stopsWithItsContext(w *world, s Suite) {
	w.add(history(s.PageSize)...)
	ctx, cancel := context.WithCancel(w.Context())
	cancel()
	for _, ledger := range w.connector.Describe().Ledgers {
		if _, err := w.connector.Read(ctx, w.session(true), ledger, ""); !errors.Is(err, context.Canceled) {
			w.Errorf("%v", err)
		}
	}
}

func refusesUnknownCursors(w *world, _ Suite) {
	for _, ledger := range w.connector.Describe().Ledgers {
		_, err := w.connector.Read(w.Context(), w.session(true), ledger, "7|another")
		w.refuses("another cursor", err, fault.Conflict)
	}
}
