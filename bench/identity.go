package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

const (
	authenticationMax = 1.15 // GET /v1/organization with the authentication to the same without
	tokenMax          = time.Second
	floodRatioMax     = 3.0

	tokenClients   = 32
	floodPerSecond = 500

	floodWaitingMax = 2000 // how many passwords may be without an answer
)

// identity measures what it costs to know who calls, how fast apps get tokens, and what a flood of wrong passwords does to others.
func (b *bench) identity(e engine) (figures []figure, err error) {
	k, err := b.create(e, "identity")
	if err != nil {
		return nil, err
	}
	shares, tokens, err := b.authentication(e, k)
	if err != nil {
		return nil, err
	}
	s, err := b.serve(k, "--rate-limit", "0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	refreshed, err := b.refreshes(e, s, tokens)
	if err != nil {
		return nil, err
	}
	flooded, err := b.passwordFlood(e, s)
	return append(append(shares, refreshed), flooded...), err
}

// appTokens are what an app was given.
type appTokens struct{ clientID, access, refresh string }

// authentication measures the share of the authentication in a request, in this process, and returns the tokens of some apps.
func (b *bench) authentication(e engine, k database) (figures []figure, tokens []appTokens, err error) {
	d, err := db.Open(db.Config{Dir: k.dir, URL: k.url})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Prepare(b.ctx); err != nil {
		return nil, nil, err
	}
	a := app.New(d, nil)
	web := httptest.NewServer(api.New(a, api.Config{}))
	defer web.Close()
	who, err := a.Access.Authenticate(b.ctx, secret.New(k.key))
	if err != nil {
		return nil, nil, err
	}
	if who.UserID == "" {
		return nil, nil, errors.New("the key of the database has no user who could connect apps")
	}
	person := actor.Actor{OrganizationID: who.OrganizationID, UserID: who.UserID, Role: who.Role, Scopes: who.Scopes, SessionID: "bench"}
	for range tokenClients {
		one, err := connect(b.ctx, a.OAuth, person)
		if err != nil {
			return nil, nil, err
		}
		tokens = append(tokens, one)
	}
	key, bearer := secret.New(k.key), secret.New(tokens[0].access)
	for _, c := range []struct {
		by, header   string
		authenticate func() error
	}{
		{"key", "X-API-Key: " + k.key, func() error { _, err := a.Access.Authenticate(b.ctx, key); return err }},
		{"access token", "Authorization: Bearer " + tokens[0].access, func() error { _, err := a.OAuth.Authenticate(b.ctx, bearer); return err }},
	} {
		f, err := b.authenticationShare(e, web.Listener.Addr().String(), c.by, c.header, c.authenticate)
		if err != nil {
			return nil, nil, err
		}
		figures = append(figures, f)
	}
	return figures, tokens, nil
}

// authenticationShare measures requests, and what the authentication of as many takes, alternately.
func (b *bench) authenticationShare(e engine, host, by, header string, authenticate func() error) (figure, error) {
	text := "GET /v1/organization HTTP/1.1\r\nHost: " + host + "\r\n" + header + "\r\n\r\n"
	next := func(buf []byte) []byte { return append(buf, text...) }
	one := dial(host, 1)
	defer one.close()
	if _, err := one.run(b.warmup(), next); err != nil {
		return figure{}, err
	}
	var requests, authentications tally
	for range pick(b, 20, 8, 2) {
		t, err := one.run(pick(b, time.Second, time.Second, 50*time.Millisecond), next)
		if err != nil {
			return figure{}, err
		}
		requests.add(t)
		began := time.Now()
		for range t.latencies {
			if err := authenticate(); err != nil {
				return figure{}, err
			}
		}
		authentications.elapsed += time.Since(began)
	}
	n := time.Duration(len(requests.latencies))
	ratio := requests.elapsed.Seconds() / (requests.elapsed - authentications.elapsed).Seconds()
	return figure{name: "GET /v1/organization on " + e.name + " with the authentication by " + by + " to without",
		value: fmt.Sprintf("%.3f", ratio), target: fmt.Sprintf("<= %.2f", authenticationMax), verdict: b.judge(ratio <= authenticationMax),
		note: fmt.Sprintf("%s of %s", authentications.elapsed/n, (requests.elapsed / n).Round(time.Microsecond))}, nil
}

// connect returns the tokens of a new app that somebody has connected.
func connect(ctx context.Context, apps *oauth.Service, who actor.Actor) (appTokens, error) {
	const redirect = "https://app.example.com/callback"
	c, err := apps.Register(ctx, oauth.RegisterParams{Name: "App", RedirectURIs: []string{redirect}}, oauth.ByOperator)
	if err != nil {
		return appTokens{}, err
	}
	verifier := oauth2.GenerateVerifier()
	code, err := apps.Approve(ctx, who, c, oauth.AuthorizationRequest{ResponseType: "code", ClientID: c.ID, RedirectURI: redirect,
		Scope: string(actor.ScopeRead), CodeChallenge: oauth2.S256ChallengeFromVerifier(verifier), CodeChallengeMethod: "S256"},
		[]actor.Scope{actor.ScopeRead})
	if err != nil {
		return appTokens{}, err
	}
	t, err := apps.Exchange(ctx, oauth.ExchangeParams{ClientID: c.ID, Code: code, RedirectURI: redirect, Verifier: secret.New(verifier)})
	return appTokens{c.ID, t.Access.Reveal(), t.Refresh.Reveal()}, err
}

// refreshes measures the slowest of many refreshes of many apps at a time.
func (b *bench) refreshes(e engine, s *server, apps []appTokens) (figure, error) {
	until := time.Now().Add(pick(b, 20*time.Second, 5*time.Second, 200*time.Millisecond))
	parts, errs := make([]tally, len(apps)), make([]error, len(apps))
	var wg sync.WaitGroup
	for i, one := range apps {
		wg.Go(func() {
			parts[i], errs[i] = repeat(func(tally) bool { return time.Now().Before(until) }, func() error {
				var answer struct {
					Refresh string `json:"refresh_token"`
				}
				err := postForm(b.ctx, "http://"+s.host+"/oauth/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {one.clientID},
					"refresh_token": {one.refresh}}, &answer)
				one.refresh = answer.Refresh
				return err
			})
		})
	}
	wg.Wait()
	var all tally
	for _, part := range parts {
		all.latencies = append(all.latencies, part.latencies...)
		all.elapsed = max(all.elapsed, part.elapsed)
	}
	slowest := all.at(1)
	return figure{name: fmt.Sprintf("token endpoint on %s, slowest answer to %d clients", e.name, len(apps)), value: rounded(slowest).String(),
		target: "<= " + tokenMax.String(), verdict: b.judge(slowest <= tokenMax),
		note: fmt.Sprintf("%d answers, %.0f a second, median %s, p99 %s", len(all.latencies), all.rate(), rounded(all.at(0.5)),
			rounded(all.at(0.99)))}, errors.Join(errs...)
}

func postForm(ctx context.Context, address string, form url.Values, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %d %s %w", address, res.StatusCode, body, err)
	}
	return json.Unmarshal(body, into)
}

// passwordFlood compares reads and writes at rest with those while wrong passwords arrive: for ever new accounts and from ever new
// addresses, so that each would have to be computed, and for one account from one address.
func (b *bench) passwordFlood(e engine, s *server) (figures []figure, err error) {
	one := dial(s.host, 1)
	defer one.close()
	lasts := pick(b, 20*time.Second, 5*time.Second, 100*time.Millisecond)
	measure := func() (reads, writes tally, err error) {
		if reads, err = one.run(lasts, s.get("/v1/organization")); err == nil {
			writes, err = one.run(lasts, s.rename())
		}
		return reads, writes, err
	}
	if _, _, err := measure(); err != nil { // warm
		return nil, err
	}
	readsAtRest, writesAtRest, err := measure()
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		from  string
		guess func(n int64) (from net.IP, email string)
	}{
		{"many addresses", func(n int64) (net.IP, string) {
			return net.IPv4(127, byte(1+n>>16), byte(n>>8), byte(n)), fmt.Sprintf("guess-%d@example.com", n)
		}},
		{"one address", func(int64) (net.IP, string) { return net.IPv4(127, 255, 0, 1), "ada@example.com" }},
	} {
		f := startFlood(b.ctx, s, one.guess)
		reads, writes, err := measure()
		took := f.stop()
		if err != nil {
			return nil, err
		}
		for _, m := range []struct {
			what        string
			rest, under tally
		}{{"a read", readsAtRest, reads}, {"a write", writesAtRest, writes}} {
			ratio := m.under.at(0.99).Seconds() / m.rest.at(0.99).Seconds()
			figures = append(figures, figure{name: fmt.Sprintf("%d wrong passwords a second from %s on %s, p99 of %s to that at rest",
				floodPerSecond, one.from, e.name, m.what), value: fmt.Sprintf("%.2f", ratio), target: fmt.Sprintf("<= %.0f", floodRatioMax),
				verdict: b.judge(ratio <= floodRatioMax), note: fmt.Sprintf("%s to %s; %.0f passwords a second were answered, %.0f computed",
					rounded(m.under.at(0.99)), rounded(m.rest.at(0.99)), float64(f.answered.Load())/took.Seconds(),
					float64(f.computed.Load())/took.Seconds())})
		}
	}
	return figures, nil
}

// flood sends wrong passwords at a constant rate, whether or not the earlier ones were answered.
type flood struct {
	answered, computed atomic.Int64
	began              time.Time
	cancel             context.CancelFunc
	done               sync.WaitGroup
}

func startFlood(ctx context.Context, s *server, guess func(n int64) (from net.IP, email string)) *flood {
	ctx, cancel := context.WithCancel(ctx)
	f := &flood{cancel: cancel, began: time.Now()}
	f.done.Go(func() {
		turns := time.NewTicker(time.Second / floodPerSecond)
		defer turns.Stop()
		waiting := make(chan struct{}, floodWaitingMax)
		for n := int64(0); ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-turns.C:
			}
			select {
			case waiting <- struct{}{}:
			case <-ctx.Done():
				return
			}
			f.done.Go(func() {
				from, email := guess(n)
				f.guess(ctx, s, from, email)
				<-waiting
			})
		}
	})
	return f
}

// stop ends the flood, and returns how long it lasted.
func (f *flood) stop() time.Duration {
	took := time.Since(f.began)
	f.cancel()
	f.done.Wait()
	return took
}

// guess sends a wrong password from an address.
func (f *flood) guess(ctx context.Context, s *server, from net.IP, email string) {
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}).DialContext(ctx, "tcp", s.host)
	if err != nil {
		return
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	body := fmt.Sprintf(`{"email":%q,"password":"correct horse battery"}`, email)
	request := fmt.Sprintf("POST /v1/session HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", s.host, len(body), body)
	if _, err := io.WriteString(c, request); err != nil {
		return
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		return
	}
	f.answered.Add(1)
	if bytes.HasPrefix(answer, []byte("HTTP/1.1 401 ")) {
		f.computed.Add(1)
	}
}
