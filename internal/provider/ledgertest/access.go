package ledgertest

import (
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// issued returns how many tokens were issued.
func (w *world) issued() int {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.fake.Tokens().Issued
}

// expire ends all access tokens at the system.
func (w *world) expire() {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.fake.Tokens().Expire()
}

// skipsTokens skips a test if the system has no tokens.
func (w *world) skipsTokens() {
	if w.fake.Tokens() == nil {
		w.Skip("the system has no tokens")
	}
}

func renewsTokens(w *world, _ Suite) {
	w.skipsTokens()
	for range 3 {
		w.expire()
		before, j := w.issued(), w.journal("4")
		if w.push(j); w.issued() != before+1 || w.stored(j.Key) != 1 {
			w.Errorf("%d tokens issued, %d stored", w.issued()-before, w.stored(j.Key))
		}
		w.push(w.journal("4"))
		if w.issued() != before+1 {
			w.Error("the new token is not kept")
		}
	}
}

func renewsEarly(w *world, _ Suite) {
	w.skipsTokens()
	for range 3 {
		before := w.issued()
		w.now.Advance(w.fake.Tokens().Lifetime - 30*time.Second)
		w.push(w.journal("4"))
		if w.issued() != before+1 {
			w.Errorf("%d tokens issued", w.issued()-before)
		}
		expires, err := strconv.ParseInt(w.keeper.stored[provider.TokenExpires].Reveal(), 10, 64)
		if left := time.Unix(expires, 0).Sub(w.now.Now()); err != nil || left <= 0 || left > w.fake.Tokens().Lifetime {
			w.Errorf("the token expires in %s: %v", left, err)
		}
	}
}

func renewsOnce(w *world, _ Suite) {
	w.skipsTokens()
	for round := range 6 {
		if round%2 == 0 {
			w.expire()
		} else {
			w.now.Advance(w.fake.Tokens().Lifetime)
		}
		before := w.issued()
		var all sync.WaitGroup
		for range 5 {
			session, j := w.session(true), w.journal("4")
			all.Go(func() {
				if _, err := w.connector.Push(w.Context(), session, j); err != nil {
					w.Error(err)
				}
			})
		}
		all.Wait()
		if w.issued() != before+1 {
			w.Errorf("%d tokens issued", w.issued()-before)
		}
	}
}

// survivesLostRenewals loses the answer to a renewal, after which the system has replaced the tokens.
func survivesLostRenewals(w *world, _ Suite) {
	w.skipsTokens()
	for n, f := range []providertest.Failure{providertest.Lost, providertest.HangUp, providertest.Cut,
		providertest.Status(http.StatusBadGateway, "", "", "oops")} {
		w.now.Advance(w.fake.Tokens().Lifetime)
		w.FailAt(1, f)
		_, err := w.connector.Push(w.Context(), w.session(false), w.journal("4"))
		w.refuses("a lost renewal", err, fault.Unavailable)
		w.push(w.journal("4"))
		w.now.Advance(w.fake.Tokens().Lifetime)
		w.FailAt(1, f)
		if _, err := w.connector.Push(w.Context(), w.session(true), w.journal("4")); err != nil {
			w.Errorf("%d: %v", n, err)
		}
	}
}

func tellsWithdrawal(w *world, _ Suite) {
	w.skipsTokens()
	w.expire()
	w.Revoke(true)
	for range 2 {
		_, err := w.connector.Push(w.Context(), w.session(true), w.journal("4"))
		w.refuses("withdrawn", err, fault.Unauthorized)
		_, err = w.connector.Chart(w.Context(), w.session(true))
		w.refuses("withdrawn", err, fault.Unauthorized)
	}
	w.Revoke(false)
	w.push(w.journal("4"))
}

// connects leads a browser through the setup of an account.
func connects(w *world, _ Suite) {
	hosted, ok := w.connector.(provider.Hosted)
	if !ok {
		w.Skip("accounts are connected with what people enter")
	}
	entered := provider.Credentials{}
	for _, f := range w.connector.Describe().Fields {
		if value := w.keeper.stored[f.Name]; !value.IsZero() {
			entered[f.Name] = value
		}
	}
	request := provider.SetupRequest{State: "auth_01jc8zq4m0e1v9n2k5x7r3t6w8", ReturnTo: "https://books.example/connections/return"}
	setup, err := hosted.Begin(w.Context(), w.dialer.Open(entered, false), request)
	if err != nil {
		w.Fatal(err)
	}
	query := w.browse(setup, request)
	for name, value := range setup.Keep {
		entered[name] = value
	}
	if setup.URL != "" {
		w.refusesOthers(hosted, entered, request, query)
	}
	w.FailAt(1, providertest.Status(http.StatusBadGateway, "", "", "oops"))
	_, err = hosted.Finish(w.Context(), w.dialer.Open(entered, false), request, query)
	w.refuses("the system is down", err, fault.Unavailable)
	got, err := hosted.Finish(w.Context(), w.dialer.Open(entered, false), request, query)
	if err != nil {
		w.Fatal(err)
	}
	session := w.dialer.Open(got, true)
	account, err := w.connector.Check(w.Context(), session)
	if err != nil || account.ID == "" || account.ID != got[provider.AccountID].Reveal() {
		w.Errorf("%+v %v", account, err)
	}
	j := w.journal("4")
	if _, err := w.connector.Push(w.Context(), session, j); err != nil || w.stored(j.Key) != 1 {
		w.Error(err)
	}
	revoker, ok := w.connector.(provider.Revoker)
	if !ok || setup.URL == "" {
		return
	}
	for range 2 {
		if err := revoker.Revoke(w.Context(), w.dialer.Open(got, true)); err != nil {
			w.Error(err)
		}
	}
	_, err = w.connector.Check(w.Context(), w.dialer.Open(got, true))
	w.refuses("disconnected", err, fault.Unauthorized)
}

// browse opens the page of a setup, which consents at once, and returns the query that it sends the browser back with.
func (w *world) browse(setup provider.Setup, request provider.SetupRequest) url.Values {
	w.Helper()
	if setup.URL == "" {
		return nil
	}
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	page, err := http.NewRequestWithContext(w.Context(), http.MethodGet, setup.URL, http.NoBody)
	if err != nil {
		w.Fatal(err)
	}
	answer, err := browser.Do(page)
	if err != nil {
		w.Fatal(err)
	}
	_ = answer.Body.Close() // it has been read as far as it matters
	back, err := answer.Location()
	if err != nil || back.Scheme+"://"+back.Host+back.Path != request.ReturnTo || back.Query().Get("state") != request.State {
		w.Fatalf("%d: %v %v", answer.StatusCode, back, err)
	}
	return back.Query()
}

// refusesOthers requires that answers that do not belong to a setup are refused.
func (w *world) refusesOthers(hosted provider.Hosted, entered provider.Credentials, request provider.SetupRequest, query url.Values) {
	w.Helper()
	finish := func(change ...string) error {
		other := url.Values{}
		for name, values := range query {
			other[name] = values
		}
		for i := 0; i < len(change); i += 2 {
			if other.Set(change[i], change[i+1]); change[i+1] == "" {
				other.Del(change[i])
			}
		}
		_, err := hosted.Finish(w.Context(), w.dialer.Open(entered, false), request, other)
		return err
	}
	if _, err := hosted.Finish(w.Context(), w.dialer.Open(entered, false), request, nil); err == nil ||
		err.Error() != provider.ErrUnfinished.Error() {
		w.Errorf("without a query: %v", err)
	}
	w.refuses("another state", finish("state", "other"), fault.Conflict)
	w.refuses("no consent", finish("code", "", "error", "access_denied"), fault.Forbidden)
	w.refuses("another error", finish("code", "", "error", "invalid_scope"), fault.Conflict)
	w.refuses("no code", finish("code", ""), fault.Conflict)
	w.refuses("another code", finish("code", "code-999999"), fault.Unauthorized)
	unregistered := provider.NewDialer(w.connector.Describe(), provider.Config{URL: w.URL, AllowPrivate: true, Clock: w.now})
	bare := provider.Credentials{provider.Subdomain: entered[provider.Subdomain], "x": secret.New("x")}
	_, err := hosted.Begin(w.Context(), unregistered.Open(bare, false), request)
	w.refuses("without a registration", err, fault.Conflict, fault.Invalid)
}
