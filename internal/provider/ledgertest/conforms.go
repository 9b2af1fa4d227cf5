package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// Suite says what is tested.
type Suite struct {
	Connector provider.Ledger
	Fake      func() Fake // a new one, with the accounts of Standard and without journals

	// Wrong lists fields that make the system refuse the credentials if they are wrong. By default, those that are secret.
	Wrong []string
	// Unlocked says that the system does not tell until when it is locked.
	Unlocked bool
	// Busy answers as the system does when there are too many requests, if it does not do so with the status 429.
	Busy providertest.Failure
}

// Conforms tests what every connector to a general ledger must do.
func Conforms(t *testing.T, s Suite) {
	t.Helper()
	for name, test := range map[string]func(w *world, s Suite){
		"the chart has what journals can be made of":         readsTheChart,
		"a journal is stored once and exactly":               storesOnce,
		"amounts are exact":                                  storesExactAmounts,
		"a failure of any request stores nothing twice":      survivesFailures,
		"a lost answer is found again":                       findsWhatWasLost,
		"a journal that arrives meanwhile is not repeated":   findsWhatArrives,
		"several pushes at once store one journal":           storesOnceAtOnce,
		"locked periods":                                     tellsLocks,
		"accounts that cannot be used":                       namesAccounts,
		"journals that do not balance":                       refusesUnbalanced,
		"another currency":                                   tellsCurrencies,
		"a journal that is removed":                          removes,
		"a journal that is removed and sent again":           storesAgain,
		"what was changed in the system":                     showsDrift,
		"limits are kept and waited for":                     waitsForLimits,
		"texts that are too long":                            cutsTexts,
		"wrong credentials":                                  refusesWrongCredentials,
		"revoked credentials":                                stopsWhenRevoked,
		"answers that make no sense":                         survivesNonsense,
		"a context that ends":                                stopsWithItsContext,
		"tokens that have expired are renewed once":          renewsTokens,
		"tokens are renewed before they expire":              renewsEarly,
		"sessions at once renew tokens once":                 renewsOnce,
		"a renewal whose answer is lost":                     survivesLostRenewals,
		"access that was withdrawn":                          tellsWithdrawal,
		"an account is connected on a page and disconnected": connects,
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
	if d.Name == "" || d.Name != strings.ToLower(d.Name) || d.Title == "" || !strings.HasPrefix(d.URL, "https://") ||
		strings.HasSuffix(d.URL, "/") || d.Advice == "" || d.Kind != provider.Accounting || len(d.Unverified) == 0 {
		t.Errorf("incomplete: %+v", d)
	}
	for _, f := range d.Fields {
		if f.Name == "" || f.Title == "" || f.Max <= 0 {
			t.Errorf("incomplete: %+v", f)
		}
	}
}

func readsTheChart(w *world, s Suite) {
	w.change(func(b *Books) { b.LockedThrough = "2026-08-31" })
	got, err := w.connector.Chart(w.Context(), w.session(true))
	if err != nil {
		w.Fatal(err)
	}
	want := w.fake.Books().Chart
	if got.Currency != want.Currency || got.Foreign != want.Foreign || !s.Unlocked && got.LockedThrough != want.LockedThrough {
		w.Errorf("%s %v %s, want %s %v %s", got.Currency, got.Foreign, got.LockedThrough, want.Currency, want.Foreign, want.LockedThrough)
	}
	if fmt.Sprint(plain(got.Accounts)) != fmt.Sprint(plain(want.Accounts)) {
		w.Errorf("the accounts are\n%+v\nwant\n%+v", got.Accounts, want.Accounts)
	}
	if fmt.Sprintf("%+v", got.Dimensions) != fmt.Sprintf("%+v", want.Dimensions) {
		w.Errorf("the dimensions are\n%+v\nwant\n%+v", got.Dimensions, want.Dimensions)
	}
	account, err := w.connector.Check(w.Context(), w.session(true))
	if err != nil || account.ID == "" || account.Name == "" {
		w.Errorf("%+v %v", account, err)
	}
}

// plain returns accounts in the order of their ids, with a mark instead of why they refuse journals.
func plain(all []provider.LedgerAccount) []provider.LedgerAccount {
	out := slices.Clone(all)
	for i := range out {
		if out[i].Refuses != "" {
			out[i].Refuses = "refuses"
		}
	}
	slices.SortFunc(out, func(a, b provider.LedgerAccount) int { return strings.Compare(a.ID, b.ID) })
	return out
}

func storesOnce(w *world, _ Suite) {
	j := w.journal("120.25", "3.75")
	p := w.push(j)
	if again := w.push(j); again.ID != p.ID || w.stored(j.Key) != 1 {
		w.Errorf("%s and %s, %d stored", p.ID, again.ID, w.stored(j.Key))
	}
	found, err := w.connector.Find(w.Context(), w.session(true), j)
	if err != nil || found.ID != p.ID {
		w.Errorf("%+v %v", found, err)
	}
	got, err := w.connector.Get(w.Context(), w.session(true), p.ID)
	if err != nil || got.ID != p.ID || text(got.Journal) != text(j) {
		w.Errorf("%v: got\n%s\nwant\n%s", err, text(got.Journal), text(j))
	}
	other := w.journal("1")
	_, err = w.connector.Find(w.Context(), w.session(true), other)
	w.refuses("a journal that was not stored", err, fault.NotFound)
	w.push(other)
	_, err = w.connector.Get(w.Context(), w.session(true), strings.Repeat("9", len(p.ID)))
	w.refuses("an id that does not exist", err, fault.NotFound)
}

func storesExactAmounts(w *world, _ Suite) {
	all := []string{"0.01", "1000000000000000.01", "999999999999999.99", "0.10", "1234567.5", "100"}
	places, _ := money.MinorUnits(w.chart.Currency)
	for _, amount := range all {
		j := w.journal(money.MustParse(amount).Round(places).Add(money.FromInt(1)).String(), "12")
		p := w.push(j)
		got, err := w.connector.Get(w.Context(), w.session(true), p.ID)
		if err != nil || text(got.Journal) != text(j) {
			w.Errorf("%v: got\n%s\nwant\n%s", err, text(got.Journal), text(j))
		}
		w.change(func(b *Books) {
			for i, l := range b.Keyed(j.Key)[0].Lines {
				if !l.Amount.Equal(j.Lines[i].Amount) {
					w.Errorf("%s is stored for %s", l.Amount, j.Lines[i].Amount)
				}
			}
		})
	}
	if places > 0 {
		w.push(w.journal("0.01"))
	}
	before := w.Requests()
	j := w.journal("1")
	j.Lines[0].Amount, j.Lines[1].Amount = money.MustParse("1.0001"), money.MustParse("1.0001")
	_, err := w.connector.Push(w.Context(), w.session(true), j)
	w.refuses("more decimals than the currency has", err, fault.Conflict)
	if w.stored(j.Key) != 0 {
		w.Errorf("stored after %d requests", w.Requests()-before)
	}
}

// failures are what may happen to a request. After each, another try may succeed.
var failures = map[string]providertest.Failure{
	"status 500":          providertest.Status(http.StatusInternalServerError, "", "", "oops"),
	"status 502 of HTML":  providertest.Status(http.StatusBadGateway, "Content-Type", "text/html", "<html>bad gateway</html>"),
	"status 503":          providertest.Status(http.StatusServiceUnavailable, "Retry-After", "1", ""),
	"a page of HTML":      providertest.Status(http.StatusOK, "Content-Type", "text/html", "<html>please sign in</html>"),
	"a redirect":          providertest.Status(http.StatusFound, "Location", "https://elsewhere.example/", ""),
	"half of the answer":  providertest.Cut,
	"a connection cut":    providertest.HangUp,
	"an answer that lost": providertest.Lost,
}

// requestsTried is how many requests of a push are failed, one in each.
const requestsTried = 7

// survivesFailures fails each of the requests in each way. A patient session does not notice, and for one without patience another push
// stores what is missing.
func survivesFailures(w *world, _ Suite) {
	for name, f := range failures {
		for n := 1; n <= requestsTried; n++ {
			for _, patient := range []bool{true, false} {
				title := fmt.Sprintf("%s at request %d, patient %v", name, n, patient)
				j := w.journal("5.25")
				w.FailAt(n, f)
				before := w.Requests()
				p, err := w.connector.Push(w.Context(), w.session(patient), j)
				if reached := w.Requests()-before >= n; err != nil && (patient || !reached) {
					w.Errorf("%s: %v", title, err)
				} else if err != nil {
					w.refuses(title, err, fault.Unavailable)
				}
				w.forget()
				again, failed := w.connector.Push(w.Context(), w.session(true), j)
				if failed != nil || err == nil && again.ID != p.ID || w.stored(j.Key) != 1 {
					w.Errorf("%s: %+v, then %+v %v, %d stored", title, p, again, failed, w.stored(j.Key))
				}
			}
		}
	}
}

// findsWhatWasLost loses the answers to all requests of a push from one on, and lets the system forget them.
func findsWhatWasLost(w *world, _ Suite) {
	for n := 1; n <= requestsTried; n++ {
		j := w.journal("7.5")
		for i := range 3 * requestsTried {
			w.FailAt(n+i, providertest.Lost)
		}
		_, err := w.connector.Push(w.Context(), w.session(n%2 == 0), j)
		if err != nil {
			w.refuses(fmt.Sprint("all answers lost from ", n), err, fault.Unavailable)
		}
		w.forget()
		w.change(func(b *Books) { b.Forget() })
		w.now.Advance(48 * time.Hour)
		stored := w.stored(j.Key)
		found, err := w.connector.Find(w.Context(), w.session(true), j)
		if stored > 1 || stored == 1 && err != nil || stored == 0 && fault.KindOf(err) != fault.NotFound {
			w.Errorf("%d: %d stored, %+v %v", n, stored, found, err)
		}
		p := w.push(j)
		if stored == 1 && p.ID != found.ID || w.stored(j.Key) != 1 {
			w.Errorf("%d: %s and %s, %d stored", n, found.ID, p.ID, w.stored(j.Key))
		}
	}
}

// findsWhatArrives loses the answer to one request, and lets the system forget the request before it is repeated.
func findsWhatArrives(w *world, _ Suite) {
	for n := 1; n <= requestsTried; n++ {
		j := w.journal("9")
		w.FailAt(n, providertest.Lost)
		w.BeforeRequest(n+1, func() { w.change(func(b *Books) { b.Forget() }) })
		w.push(j)
		w.forget()
		if w.stored(j.Key) != 1 {
			w.Errorf("%d stored after the answer to request %d was lost", w.stored(j.Key), n)
		}
	}
}

func storesOnceAtOnce(w *world, _ Suite) {
	for range 10 {
		j := w.journal("8.75")
		ids := make([]string, 6)
		var all sync.WaitGroup
		for i := range ids {
			session := w.session(true)
			all.Go(func() {
				p, err := w.connector.Push(w.Context(), session, j)
				if err != nil {
					w.Error(err)
				}
				ids[i] = p.ID
			})
		}
		all.Wait()
		if w.stored(j.Key) != 1 || len(slices.Compact(ids)) != 1 {
			w.Errorf("%d stored: %v", w.stored(j.Key), ids)
		}
	}
}

func tellsLocks(w *world, s Suite) {
	j := w.journal("4")
	w.change(func(b *Books) { b.LockedThrough = "2026-10-31" })
	_, err := w.connector.Push(w.Context(), w.session(true), j)
	w.refuses("a locked period", err, fault.Conflict)
	if err == nil || !strings.Contains(err.Error(), j.Date) || !s.Unlocked && !strings.Contains(err.Error(), "2026-10-31") {
		w.Errorf("the error does not name the date: %v", err)
	}
	if w.stored(j.Key) != 0 {
		w.Error("it is stored")
	}
	j.Date = "2026-11-01"
	p := w.push(j)
	w.change(func(b *Books) { b.LockedThrough = "2026-11-01" })
	if again := w.push(j); again.ID != p.ID {
		w.Errorf("%+v", again)
	}
	err = w.connector.Remove(w.Context(), w.session(true), p)
	w.refuses("removal from a locked period", err, fault.Conflict)
	if w.stored(j.Key) != 1 {
		w.Error("it is removed")
	}
	w.change(func(b *Books) { b.LockedThrough = "" })
	if err := w.connector.Remove(w.Context(), w.session(true), p); err != nil || w.stored(j.Key) != 0 {
		w.Error(err)
	}
}

func namesAccounts(w *world, _ Suite) {
	for _, a := range w.chart.Accounts {
		if a.Active && a.Refuses == "" {
			continue
		}
		j := w.journal("4")
		j.Lines[0].Account = a.ID
		_, err := w.connector.Push(w.Context(), w.session(true), j)
		w.refuses(a.Name, err, fault.Conflict, fault.Invalid)
		if err == nil || !strings.Contains(err.Error(), a.Name) {
			w.Errorf("the error does not name %s: %v", a.Name, err)
		}
		if w.stored(j.Key) != 0 {
			w.Error("it is stored")
		}
	}
	j := w.journal("4")
	unknown := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '7'
		}
		return r
	}, j.Lines[0].Account) + "7"
	j.Lines[1].Account = unknown
	_, err := w.connector.Push(w.Context(), w.session(true), j)
	w.refuses("an unknown account", err, fault.Conflict, fault.Invalid)
	if err == nil || !strings.Contains(err.Error(), unknown) {
		w.Errorf("the error does not name %s: %v", unknown, err)
	}
	for _, d := range w.chart.Dimensions {
		for _, v := range append(slices.Clone(d.Values), provider.DimensionValue{ID: strings.Repeat("8", 12)}) {
			j := w.journal("4")
			j.Lines[1].Dimensions = map[string]string{d.ID: v.ID}
			if v.Active {
				w.push(j)
				continue
			}
			_, err := w.connector.Push(w.Context(), w.session(true), j)
			w.refuses(d.Name+" "+v.Name, err, fault.Conflict, fault.Invalid)
		}
	}
}

func refusesUnbalanced(w *world, _ Suite) {
	j := w.journal("4")
	j.Lines[0].Amount = money.MustParse("5")
	_, err := w.connector.Push(w.Context(), w.session(true), j)
	w.refuses("it does not balance", err, fault.Conflict, fault.Invalid)
	if w.stored(j.Key) != 0 {
		w.Error("it is stored")
	}
}

func tellsCurrencies(w *world, _ Suite) {
	j := w.journal("4.25")
	j.Currency = "CHF"
	if !w.chart.Foreign {
		_, err := w.connector.Push(w.Context(), w.session(true), j)
		w.refuses("another currency", err, fault.Conflict)
		if err == nil || !strings.Contains(err.Error(), "CHF") || w.stored(j.Key) != 0 {
			w.Errorf("%d stored, %v", w.stored(j.Key), err)
		}
		return
	}
	p := w.push(j)
	got, err := w.connector.Get(w.Context(), w.session(true), p.ID)
	if err != nil || text(got.Journal) != text(j) {
		w.Errorf("%v: got\n%s\nwant\n%s", err, text(got.Journal), text(j))
	}
	j = w.journal("400")
	j.Currency = "JPY"
	p = w.push(j)
	if got, err = w.connector.Get(w.Context(), w.session(true), p.ID); err != nil || text(got.Journal) != text(j) {
		w.Errorf("%v: got\n%s\nwant\n%s", err, text(got.Journal), text(j))
	}
	j = w.journal("400")
	j.Currency, j.Lines[0].Amount, j.Lines[1].Amount = "JPY", money.MustParse("400.5"), money.MustParse("400.5")
	_, err = w.connector.Push(w.Context(), w.session(true), j)
	w.refuses("decimals of JPY", err, fault.Conflict)
}

func stopsWithItsContext(w *world, _ Suite) {
	ctx, cancel := context.WithCancel(w.Context())
	cancel()
	j := w.journal("4")
	if _, err := w.connector.Push(ctx, w.session(true), j); !errors.Is(err, context.Canceled) {
		w.Error(err)
	}
	if _, err := w.connector.Chart(ctx, w.session(true)); !errors.Is(err, context.Canceled) {
		w.Error(err)
	}
}
