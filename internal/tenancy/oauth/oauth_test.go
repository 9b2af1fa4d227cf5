package oauth_test

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

func TestAnAppGetsTokensForACodeAndActsForThePerson(t *testing.T) {
	each(t, func(w *world) {
		code := w.code(w.ada, w.app, "apis.read write:memory")
		got, err := w.Exchange(w.Context(), redeem(w.app, code))
		w.must(err)
		for prefix, text := range map[string]secret.Text{"buc_": code, "bua_": got.Access, "brt_": got.Refresh} {
			want := regexp.MustCompile("^" + prefix + w.ada.OrganizationID[len("org_"):] + "[0-9A-Za-z]{43}$")
			if !want.MatchString(text.Reveal()) {
				t.Errorf("%s is no %s", text.Reveal(), want)
			}
		}
		if got.ExpiresIn != 24*time.Hour || !slices.Equal(got.Scopes, []actor.Scope{actor.ScopeRead, actor.ScopeMemory}) {
			t.Errorf("%+v", got)
		}
		who := w.accepts("a new token", got.Access)
		if who.OrganizationID != w.ada.OrganizationID || who.UserID != w.ada.UserID || who.Role != actor.Owner || who.SessionID != "" ||
			who.APIKeyID != "" || who.AuthorizationID == "" || !slices.Equal(who.Scopes, got.Scopes) {
			t.Errorf("%+v", who)
		}
		w.rejects("a refresh token", got.Refresh)
		w.rejects("a code", code)
		listed := w.list(w.ada)
		if len(listed) != 1 || listed[0].ID != who.AuthorizationID || listed[0].Client.Name != "Ledger Tools" ||
			listed[0].Client.RegisteredBy != oauth.ByOperator || !slices.Equal(listed[0].Scopes, got.Scopes) {
			t.Errorf("%+v", listed)
		}
	})
}

func TestOnlyHashesOfCodesAndTokensAreStored(t *testing.T) {
	each(t, func(w *world) {
		code := w.code(w.ada, w.app, "apis.read")
		first, err := w.Exchange(w.Context(), redeem(w.app, code))
		w.must(err)
		second, err := w.refresh(w.app, first.Refresh)
		w.must(err)
		w.must(w.db.ReadAcross(t.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
			var all []string
			for _, query := range []string{"SELECT code_hash || redirect_uri || code_challenge FROM oauth_codes",
				"SELECT token_hash || salt || scopes FROM oauth_tokens", "SELECT coalesce(after, '') || coalesce(state, '') FROM audit_log"} {
				rows, err := db.All[string](ctx, tx, query)
				if err != nil {
					return err
				}
				all = append(all, rows...)
			}
			stored := strings.Join(all, " ")
			for _, text := range []secret.Text{code, first.Access, first.Refresh, second.Access, second.Refresh, secret.New(verifier)} {
				if digits := text.Reveal()[len(text.Reveal())-43:]; strings.Contains(stored, digits) {
					t.Errorf("%s is stored", text.Reveal())
				}
			}
			return nil
		}))
	})
}

func TestACodeIsOnlyForItsAppItsAddressAndItsVerifier(t *testing.T) {
	each(t, func(w *world) {
		two := w.register("Two addresses", callback, "https://app.example.com/other")
		for _, c := range []struct {
			what   string
			change func(p *oauth.ExchangeParams)
			code   string
		}{
			{"another app", func(p *oauth.ExchangeParams) { p.ClientID = w.other.ID }, oauth.InvalidGrant},
			{"no app", func(p *oauth.ExchangeParams) { p.ClientID = "" }, oauth.InvalidClient},
			{"an unknown app", func(p *oauth.ExchangeParams) { p.ClientID = "oac_" + w.app.ID[5:] + "0" }, oauth.InvalidClient},
			{"another registered address", func(p *oauth.ExchangeParams) { p.RedirectURI = two.RedirectURIs[1] }, oauth.InvalidGrant},
			{"no address", func(p *oauth.ExchangeParams) { p.RedirectURI = "" }, oauth.InvalidGrant},
			{"no verifier", func(p *oauth.ExchangeParams) { p.Verifier = secret.Text{} }, oauth.InvalidGrant},
			{"another verifier", func(p *oauth.ExchangeParams) { p.Verifier = secret.New(verifier + "x") }, oauth.InvalidGrant},
			{"the challenge as verifier", func(p *oauth.ExchangeParams) { p.Verifier = secret.New(challenge(verifier)) }, oauth.InvalidGrant},
			{"no code", func(p *oauth.ExchangeParams) { p.Code = secret.Text{} }, oauth.InvalidGrant},
			{"a short code", func(p *oauth.ExchangeParams) { p.Code = secret.New("buc_1") }, oauth.InvalidGrant},
			{"a made-up code", func(p *oauth.ExchangeParams) { p.Code = secret.New(p.Code.Reveal()[:72] + "0") }, oauth.InvalidGrant},
			{"a code of an organization that does not exist", func(p *oauth.ExchangeParams) {
				p.Code = secret.New("buc_" + strings.Repeat("0", 26) + p.Code.Reveal()[30:])
			}, oauth.InvalidGrant},
		} {
			code := w.code(w.ada, two, "apis.read")
			p := redeem(two, code)
			c.change(&p)
			_, err := w.Exchange(w.Context(), p)
			w.refuses(c.what, err, c.code)
			if p.Code.Reveal() == code.Reveal() { // whoever lacks something cannot use the code up either
				if _, err := w.Exchange(w.Context(), redeem(two, code)); err != nil {
					t.Errorf("after %s the app itself: %v", c.what, err)
				}
			}
		}
		if n := len(w.list(w.ada)); n != 1 {
			t.Errorf("%d connected apps", n)
		}
	})
}

func TestAVerifierThatBreaksTheRulesProvesNothing(t *testing.T) {
	each(t, func(w *world) {
		short := strings.Repeat("x", 42)
		for _, bad := range []string{short, strings.Repeat("x", 129), short + "+", short + "x\n"} {
			r := requestOf(w.app, "apis.read")
			r.CodeChallenge = challenge(bad)
			code, err := w.Approve(w.Context(), w.ada, w.app, r, []actor.Scope{actor.ScopeRead})
			w.must(err)
			p := redeem(w.app, code)
			p.Verifier = secret.New(bad)
			_, err = w.Exchange(w.Context(), p)
			w.refuses(bad, err, oauth.InvalidGrant)
		}
	})
}

func TestACodeExpiresAfterAMinute(t *testing.T) {
	each(t, func(w *world) {
		early, late := w.code(w.ada, w.app, "apis.read"), w.code(w.ada, w.other, "apis.read")
		w.now.Advance(time.Minute - time.Millisecond)
		if _, err := w.Exchange(w.Context(), redeem(w.app, early)); err != nil {
			t.Error(err)
		}
		w.now.Advance(time.Millisecond)
		_, err := w.Exchange(w.Context(), redeem(w.other, late))
		w.refuses("after a minute", err, oauth.InvalidGrant)
	})
}

func TestACodeThatIsUsedTwiceEndsWhatItGave(t *testing.T) {
	each(t, func(w *world) {
		code := w.code(w.ada, w.app, "apis.read")
		got, err := w.Exchange(w.Context(), redeem(w.app, code))
		w.must(err)
		next, err := w.refresh(w.app, got.Refresh)
		w.must(err)
		stolen := redeem(w.app, code)
		stolen.Verifier = secret.New(verifier + "x")
		_, err = w.Exchange(w.Context(), stolen)
		w.refuses("by somebody without the verifier", err, oauth.InvalidGrant)
		w.accepts("who ends nothing", got.Access)
		w.now.Advance(time.Hour) // long after the code has expired
		var told []oauth.EndReason
		w.Ended = func(_ context.Context, tx *db.Tx, a oauth.Authorization) error {
			tx.AfterCommit(func() { told = append(told, a.EndReason) })
			return nil
		}
		_, err = w.Exchange(w.Context(), redeem(w.app, code))
		w.refuses("again", err, oauth.InvalidGrant)
		w.rejects("the token that it gave", got.Access)
		w.rejects("the one after", next.Access)
		_, err = w.refresh(w.app, next.Refresh)
		w.refuses("the refresh token", err, oauth.InvalidGrant)
		_, err = w.Exchange(w.Context(), redeem(w.app, code))
		w.refuses("once more", err, oauth.InvalidGrant)
		w.ended("after a replay", "code_replayed")
		if !slices.Equal(told, []oauth.EndReason{oauth.CodeReplayed}) {
			w.Errorf("told of %v", told)
		}
	})
}

func TestOneOfFiftyConcurrentRedemptionsWinsAndTheOthersEndWhatItGot(t *testing.T) {
	each(t, func(w *world) {
		code := w.code(w.ada, w.app, "apis.read")
		var mu sync.Mutex
		var won []oauth.Tokens
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				got, err := w.Exchange(w.Context(), redeem(w.app, code))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won = append(won, got)
				} else {
					w.refuses("a loser", err, oauth.InvalidGrant)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 || w.count("oauth_tokens") != 2 || w.count("oauth_authorizations") != 1 {
			t.Fatalf("%d winners, %d tokens, %d authorizations", len(won), w.count("oauth_tokens"), w.count("oauth_authorizations"))
		}
		w.rejects("what the winner got", won[0].Access)
		w.ended("after replays", "code_replayed")
	})
}

func TestConnectingAgainReplacesTheEarlierAuthorizationOfThePersonOnly(t *testing.T) {
	each(t, func(w *world) {
		bob := w.member("bob@acme.example", actor.Accountant)
		_, zoe := w.organization("Zebra", "zoe@zebra.example")
		mine, bobs, zoes, others := w.connect(w.ada, w.app, "apis.read"), w.connect(bob, w.app, "apis.read"),
			w.connect(zoe, w.app, "apis.read"), w.connect(w.ada, w.other, "apis.read")
		code := w.code(w.ada, w.app, "apis.all")
		w.accepts("before the new code is exchanged", mine.Access)
		again, err := w.Exchange(w.Context(), redeem(w.app, code))
		w.must(err)
		w.rejects("the replaced token", mine.Access)
		_, err = w.refresh(w.app, mine.Refresh)
		w.refuses("the replaced refresh token", err, oauth.InvalidGrant)
		for what, token := range map[string]secret.Text{"the new one": again.Access, "bob's": bobs.Access, "zoe's": zoes.Access,
			"another app's": others.Access} {
			w.accepts(what, token)
		}
		w.ended("after connecting again", "replaced")
	})
}

func TestConcurrentConnectionsOfOneAppLeaveOne(t *testing.T) {
	each(t, func(w *world) {
		var codes []secret.Text
		for range 10 {
			codes = append(codes, w.code(w.ada, w.app, "apis.read"))
		}
		var wg sync.WaitGroup
		for _, code := range codes {
			wg.Go(func() {
				if _, err := w.Exchange(w.Context(), redeem(w.app, code)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := len(w.list(w.ada)); n != 1 || len(w.ends()) != 9 {
			t.Errorf("%d connected apps, %v", n, w.ends())
		}
	})
}

func TestOnlyAMemberWhoIsSignedInApproves(t *testing.T) {
	each(t, func(w *world) {
		r, read := requestOf(w.app, "apis.read"), []actor.Scope{actor.ScopeRead}
		_, zoe := w.organization("Zebra", "zoe@zebra.example")
		key, byApp, nobody, outsider := w.ada, w.ada, w.ada, zoe
		key.APIKeyID, byApp.AuthorizationID, nobody.UserID = "key_1", "oau_1", ""
		outsider.OrganizationID = w.ada.OrganizationID
		for what, c := range map[string]struct {
			who  actor.Actor
			kind fault.Kind
		}{"a key": {key, fault.Forbidden}, "an app": {byApp, fault.Forbidden}, "nobody": {nobody, fault.Forbidden},
			"a stranger": {outsider, fault.NotFound}} {
			if _, err := w.Approve(w.Context(), c.who, w.app, r, read); fault.KindOf(err) != c.kind {
				t.Errorf("%s: %v", what, err)
			}
		}
		for what, err := range map[string]error{
			"more than was asked for": second(w.Approve(w.Context(), w.ada, w.app, r, []actor.Scope{actor.ScopeAll})),
			"nothing":                 second(w.Approve(w.Context(), w.ada, w.app, r, nil)),
			"for another app":         second(w.Approve(w.Context(), w.ada, w.other, r, read)),
		} {
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: %v", what, err)
			}
		}
		if n := w.count("oauth_codes"); n != 0 {
			t.Errorf("%d codes", n)
		}
		all := requestOf(w.app, "apis.all")
		if _, err := w.Approve(w.Context(), w.ada, w.app, all, read); err != nil {
			t.Errorf("less than was asked for: %v", err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestARequestIsCheckedAndTheAnswerIsForWhomItConcerns(t *testing.T) {
	each(t, func(w *world) {
		good := func() url.Values { return requestOf(w.app, "apis.read").Values() }
		for _, c := range []struct {
			what   string
			change func(v url.Values)
			person string // what the person is told
			code   string // what the app is told
		}{
			{"a good request", func(url.Values) {}, "", ""},
			{"with parameters that are not known", func(v url.Values) { v["nonce"] = []string{"1", "2"} }, "", ""},
			{"no app", func(v url.Values) { v.Del("client_id") }, "not known", ""},
			{"two apps", func(v url.Values) { v.Add("client_id", w.app.ID) }, "client_id more than once", ""},
			{"no address", func(v url.Values) { v.Del("redirect_uri") }, "not registered", ""},
			{"two addresses", func(v url.Values) { v.Add("redirect_uri", "https://evil.example/") }, "redirect_uri more than once", ""},
			{"another address", func(v url.Values) { v.Set("redirect_uri", "https://evil.example/") }, "not registered", ""},
			{"no response type", func(v url.Values) { v.Del("response_type") }, "", oauth.InvalidRequest},
			{"the implicit flow", func(v url.Values) { v.Set("response_type", "token") }, "", oauth.UnsupportedResponseType},
			{"no challenge", func(v url.Values) { v.Del("code_challenge") }, "", oauth.InvalidRequest},
			{"no method", func(v url.Values) { v.Del("code_challenge_method") }, "", oauth.InvalidRequest},
			{"the plain method", func(v url.Values) { v.Set("code_challenge_method", "plain") }, "", oauth.InvalidRequest},
			{"a short challenge", func(v url.Values) { v.Set("code_challenge", "abc") }, "", oauth.InvalidRequest},
			{"no scope", func(v url.Values) { v.Del("scope") }, "", oauth.InvalidScope},
			{"an unknown scope", func(v url.Values) { v.Set("scope", "apis.read admin") }, "", oauth.InvalidScope},
			{"a long state", func(v url.Values) { v.Set("state", strings.Repeat("x", 20_000)) }, "", ""},
			{"the answer in the query", func(v url.Values) { v.Set("response_mode", "query") }, "", ""},
			{"the answer in the fragment", func(v url.Values) { v.Set("response_mode", "fragment") }, "", oauth.InvalidRequest},
			{"the answer in a form", func(v url.Values) { v.Set("response_mode", "form_post") }, "", oauth.InvalidRequest},
			{"two modes", func(v url.Values) { v["response_mode"] = []string{"query", "fragment"} }, "", oauth.InvalidRequest},
			{"for this service", func(v url.Values) { v["resource"] = []string{issuer, issuer + "/v1"} }, "", ""},
			{"for another service too", func(v url.Values) { v["resource"] = []string{issuer, "https://evil.example"} }, "", oauth.InvalidTarget},
			{"two states", func(v url.Values) { v.Add("state", "other") }, "", oauth.InvalidRequest},
			{"two challenges", func(v url.Values) { v.Add("code_challenge", challenge("x")) }, "", oauth.InvalidRequest},
		} {
			v := good()
			c.change(v)
			r := oauth.ParseAuthorizationRequest(v)
			_, err := w.CheckClient(w.Context(), r)
			if (err == nil) != (c.person == "") || err != nil && !strings.Contains(err.Error(), c.person) {
				t.Errorf("%s: the person is told %v", c.what, err)
			}
			if c.person != "" {
				continue
			}
			_, wrong := r.Check(issuer)
			if (wrong == nil) != (c.code == "") || wrong != nil && wrong.Code != c.code {
				t.Errorf("%s: the app is told %v", c.what, wrong)
			}
		}
	})
}

func TestAnswersAreAddedToTheAddressOfTheApp(t *testing.T) {
	t.Parallel()
	refusal := &oauth.Error{Code: oauth.InvalidScope, Description: "scope & more"}
	for _, c := range []struct{ uri, state, got, want string }{
		{"https://a.example/cb", "s 1", oauth.AuthorizationRequest{RedirectURI: "https://a.example/cb", State: "s 1"}.
			CodeRedirect(issuer, secret.New("buc_1")), "https://a.example/cb?code=buc_1&iss=https%3A%2F%2Fbooks.acme.example&state=s+1"},
		{"https://a.example/cb?x=1", "", oauth.AuthorizationRequest{RedirectURI: "https://a.example/cb?x=%2F&y"}.
			CodeRedirect(issuer, secret.New("buc_1")), "https://a.example/cb?x=%2F&y&code=buc_1&iss=https%3A%2F%2Fbooks.acme.example"},
		{"https://a.example/cb?", "", oauth.AuthorizationRequest{RedirectURI: "https://a.example/cb?"}.
			ErrorRedirect(issuer, refusal), "https://a.example/cb?error=invalid_scope&error_description=scope+%26+more&" +
			"iss=https%3A%2F%2Fbooks.acme.example"},
		{"denied", "", oauth.AuthorizationRequest{RedirectURI: "http://127.0.0.1:4711", State: "&code=x"}.Deny(issuer),
			"http://127.0.0.1:4711?error=access_denied&error_description=the+person+did+not+allow+it&iss=https%3A%2F%2Fbooks.acme.example&" +
				"state=%26code%3Dx"},
		{"a long state is returned", "", oauth.AuthorizationRequest{RedirectURI: "https://a.example/",
			State: strings.Repeat("x", 20_000)}.ErrorRedirect(issuer, refusal),
			"https://a.example/?error=invalid_scope&error_description=scope+%26+more&" +
				"iss=https%3A%2F%2Fbooks.acme.example&state=" + strings.Repeat("x", 20_000)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.uri, c.got, c.want)
		}
	}
	repeated := oauth.ParseAuthorizationRequest(url.Values{"redirect_uri": {"https://a.example/"}, "state": {"1", "2"}})
	if got := repeated.Deny(issuer); strings.Contains(got, "state") {
		t.Errorf("a state that was sent twice is returned: %s", got)
	}
}

func TestEveryScopeIsDescribedInWords(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range actor.Scopes {
		words := oauth.DescribeScope(s)
		if len(words) < 20 || seen[words] || strings.Contains(words, "apis") {
			t.Errorf("%s: %q", s, words)
		}
		seen[words] = true
	}
}

func TestAPersonSeesTheirAppsOfAllOrganizationsAndNobodyElses(t *testing.T) {
	each(t, func(w *world) {
		bob := w.member("bob@acme.example", actor.Viewer)
		_, zoe := w.organization("Zebra", "zoe@zebra.example")
		m, err := w.access.AddMember(w.as(zoe), "bob@acme.example", actor.Admin)
		w.must(err)
		there := actor.Actor{OrganizationID: zoe.OrganizationID, UserID: m.UserID, Role: actor.Admin, SessionID: "ses_3"}
		w.connect(w.ada, w.app, "apis.read")
		w.connect(zoe, w.app, "apis.read")
		here := w.accepts("here", w.connect(bob, w.app, "apis.read").Access)
		w.connect(bob, w.other, "apis.read")
		w.must(w.DisconnectOwn(w.as(bob), w.list(bob)[0].ID)) // the newest one
		far := w.accepts("there", w.connect(there, w.other, "apis.all").Access)
		w.access.NoteUse(far.AuthorizationID, far.OrganizationID, "198.51.100.7")
		w.must(w.access.FlushUses(w.Context()))

		both := []string{bob.OrganizationID, there.OrganizationID}
		found, err := w.OfPerson(w.Context(), bob.UserID, both)
		w.must(err)
		if len(found) != 2 {
			t.Fatalf("%+v", found)
		}
		slices.SortFunc(found, func(a, b oauth.Authorization) int { return strings.Compare(a.ID, b.ID) })
		for i, want := range []actor.Actor{here, far} {
			if got := found[i]; got.ID != want.AuthorizationID || got.OrganizationID != want.OrganizationID || got.UserID != bob.UserID ||
				got.Client.Name == "" || (got.LastUse != nil) != (i == 1) {
				t.Errorf("%d: %+v", i, got)
			}
		}
		for what, ids := range map[string][]string{"the other one": both[1:], "none": nil} {
			if found, err := w.OfPerson(w.Context(), bob.UserID, ids); err != nil || len(found) != len(ids) {
				t.Errorf("%s: %+v %v", what, found, err)
			}
		}
		for _, one := range w.list(w.ada) { // who sees all is told whose they are
			want := map[string]string{w.ada.UserID: "ada@acme.example", bob.UserID: "bob@acme.example"}[one.UserID]
			if one.UserEmail != want || want == "" {
				t.Errorf("%+v", one)
			}
		}
		if err := w.DisconnectOwn(w.as(w.ada), here.AuthorizationID); fault.KindOf(err) != fault.NotFound {
			t.Errorf("an owner disconnects the app of somebody else as if it were her own: %v", err)
		}
	})
}
