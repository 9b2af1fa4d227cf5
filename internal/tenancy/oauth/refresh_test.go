package oauth_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

func TestRefreshTokensRotateAndTheFormerAccessTokenLivesUntilItExpires(t *testing.T) {
	each(t, func(w *world) {
		first := w.connect(w.ada, w.app, "apis.read")
		w.now.Advance(time.Hour)
		second, err := w.refresh(w.app, first.Refresh)
		w.must(err)
		if second.Access.Reveal() == first.Access.Reveal() || second.Refresh.Reveal() == first.Refresh.Reveal() ||
			second.ExpiresIn != 24*time.Hour {
			t.Errorf("%+v", second)
		}
		w.accepts("the new one", second.Access)
		w.accepts("the former one", first.Access)
		w.now.Advance(23*time.Hour - time.Millisecond)
		w.accepts("just before it expires", first.Access)
		w.now.Advance(time.Millisecond)
		w.rejects("after a day", first.Access)
		w.accepts("the new one has an hour left", second.Access)
	})
}

func TestARepeatedRefreshWithinTenSecondsReturnsTheSameTokens(t *testing.T) {
	each(t, func(w *world) {
		first := w.connect(w.ada, w.app, "apis.all")
		second, err := w.Refresh(w.Context(), oauth.RefreshParams{ClientID: w.app.ID, Token: first.Refresh, Scope: "apis.read"})
		w.must(err)
		for _, after := range []time.Duration{0, 4 * time.Second, 6 * time.Second} {
			w.now.Advance(after)
			again, err := w.refresh(w.app, first.Refresh)
			w.must(err)
			if again.Access.Reveal() != second.Access.Reveal() || again.Refresh.Reveal() != second.Refresh.Reveal() ||
				!slices.Equal(again.Scopes, second.Scopes) {
				t.Errorf("other tokens, or %v instead of %v", again.Scopes, second.Scopes)
			}
		}
		if again, _ := w.refresh(w.app, first.Refresh); again.ExpiresIn != 24*time.Hour-10*time.Second {
			t.Errorf("the token is said to be valid for %s", again.ExpiresIn)
		}
		if n := w.count("oauth_tokens"); n != 4 {
			t.Errorf("%d tokens", n)
		}
		w.accepts("the last one", second.Access)
		var told []oauth.Authorization
		w.Ended = func(_ context.Context, tx *db.Tx, a oauth.Authorization) error {
			tx.AfterCommit(func() { told = append(told, a) })
			return nil
		}
		w.now.Advance(time.Millisecond)
		_, err = w.refresh(w.app, first.Refresh)
		w.refuses("later than ten seconds", err, oauth.InvalidGrant)
		for what, token := range map[string]secret.Text{"the first": first.Access, "the second": second.Access} {
			w.rejects(what, token)
		}
		_, err = w.refresh(w.app, second.Refresh)
		w.refuses("the whole family has ended", err, oauth.InvalidGrant)
		w.ended("after a refresh token was used again", "token_replayed")
		if len(told) != 1 || told[0].EndReason != oauth.TokenReplayed || told[0].Client.Name != w.app.Name || told[0].UserID != w.ada.UserID {
			t.Errorf("told of %+v", told)
		}
	})
}

func TestARepeatAfterTheNewTokenWasUsedEndsTheAuthorization(t *testing.T) {
	// Letters are generations: A is the first refresh token, B what it was exchanged for, and so on. An order that ends with ! is one whose
	// last use ends the authorization.
	for _, order := range []string{"ABA!", "AABA!", "ABCA!", "ABCB!", "ABBCB!", "AABBCC", "ABBB", "AAAA", "ABCC"} {
		t.Run(order, func(t *testing.T) {
			each(t, func(w *world) {
				tokens := []oauth.Tokens{w.connect(w.ada, w.app, "apis.read")}
				uses, ends := strings.CutSuffix(order, "!")
				for i, use := range uses {
					generation := int(use - 'A')
					next, err := w.refresh(w.app, tokens[generation].Refresh)
					if ends && i == len(uses)-1 {
						w.refuses("the last use", err, oauth.InvalidGrant)
						break
					}
					w.must(err)
					if generation == len(tokens)-1 {
						tokens = append(tokens, next)
					} else if next.Refresh.Reveal() != tokens[generation+1].Refresh.Reveal() {
						t.Errorf("the repeat of %c returns other tokens", use)
					}
				}
				last := tokens[len(tokens)-1]
				if !ends {
					w.accepts("the last token", last.Access)
					w.ended("after repeats")
					return
				}
				w.rejects("the last token", last.Access)
				_, err := w.refresh(w.app, last.Refresh)
				w.refuses("the last refresh token", err, oauth.InvalidGrant)
				w.ended("after a reuse", "token_replayed")
			})
		})
	}
}

func TestFiftyConcurrentRefreshesReturnTheSameTokensAndStoreThemOnce(t *testing.T) {
	each(t, func(w *world) {
		first := w.connect(w.ada, w.app, "apis.read")
		var mu sync.Mutex
		got := map[string]int{}
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				next, err := w.refresh(w.app, first.Refresh)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				got[next.Access.Reveal()+" "+next.Refresh.Reveal()]++
			})
		}
		wg.Wait()
		if len(got) != 1 || w.count("oauth_tokens") != 4 {
			t.Errorf("%d different answers, %d tokens", len(got), w.count("oauth_tokens"))
		}
		w.ended("after concurrent refreshes")
	})
}

func TestARefreshCanNarrowTheScopesAndNeverWidenThem(t *testing.T) {
	each(t, func(w *world) {
		tokens := w.connect(w.ada, w.app, "apis.all write:memory")
		for _, c := range []struct{ asked, granted string }{
			{"", "apis.all write:memory"},
			{"apis.read", "apis.read"}, // included in apis.all
			{"write:memory", "write:memory"},
			{"write:operational-rules", ""},
			{"apis.all write:operational-rules", ""},
			{"everything", ""},
			{"apis.all write:memory", "apis.all write:memory"}, // again what was granted
			{"apis.read apis.read", "apis.read"},
		} {
			next, err := w.Refresh(w.Context(), oauth.RefreshParams{ClientID: w.app.ID, Token: tokens.Refresh, Scope: c.asked})
			if c.granted == "" {
				w.refuses(c.asked, err, oauth.InvalidScope)
				continue
			}
			w.must(err)
			var names []string
			for _, s := range w.accepts(c.asked, next.Access).Scopes {
				names = append(names, string(s))
			}
			if got := strings.Join(names, " "); got != c.granted || len(next.Scopes) != len(names) {
				t.Errorf("%q: %q %v, want %q", c.asked, got, next.Scopes, c.granted)
			}
			tokens = next
		}
		reader := w.connect(w.ada, w.other, "apis.read")
		_, err := w.Refresh(w.Context(), oauth.RefreshParams{ClientID: w.other.ID, Token: reader.Refresh, Scope: "apis.all"})
		w.refuses("from reading to writing", err, oauth.InvalidScope)
		if _, err := w.refresh(w.other, reader.Refresh); err != nil {
			t.Errorf("a refused request used the token up: %v", err)
		}
	})
}

func TestARefreshTokenIsOnlyForItsApp(t *testing.T) {
	each(t, func(w *world) {
		tokens := w.connect(w.ada, w.app, "apis.read")
		_, err := w.refresh(w.other, tokens.Refresh)
		w.refuses("another app", err, oauth.InvalidGrant)
		_, err = w.refresh(oauth.Client{}, tokens.Refresh)
		w.refuses("no app", err, oauth.InvalidClient)
		_, err = w.refresh(w.app, tokens.Access)
		w.refuses("an access token", err, oauth.InvalidGrant)
		_, err = w.refresh(w.app, secret.New("brt_"+tokens.Access.Reveal()[4:]))
		w.refuses("an access token in disguise", err, oauth.InvalidGrant)
		_, err = w.refresh(w.app, secret.New("brt_"+strings.Repeat("0", 69)))
		w.refuses("an organization that does not exist", err, oauth.InvalidGrant)
		next, err := w.refresh(w.app, tokens.Refresh)
		w.must(err)
		w.now.Advance(time.Minute)
		_, err = w.refresh(w.other, tokens.Refresh)
		w.refuses("another app with a former token", err, oauth.InvalidGrant)
		w.accepts("which does not end anything", next.Access)
	})
}

func TestRefreshTokensExpireAfterNinetyDaysWithoutUse(t *testing.T) {
	each(t, func(w *world) {
		tokens := w.connect(w.ada, w.app, "apis.read")
		idle := w.connect(w.ada, w.other, "apis.read")
		const days = 24 * time.Hour
		w.now.Advance(60 * days)
		next, err := w.refresh(w.app, tokens.Refresh)
		w.must(err)
		w.now.Advance(30*days - time.Millisecond)
		if _, err := w.refresh(w.other, idle.Refresh); err != nil {
			t.Errorf("just before ninety days: %v", err)
		}
		w.now.Advance(60 * days)
		next, err = w.refresh(w.app, next.Refresh)
		w.must(err)
		w.now.Advance(90 * days)
		_, err = w.refresh(w.app, next.Refresh)
		w.refuses("after ninety days", err, oauth.InvalidGrant)
	})
}

func TestWhoIsNoLongerAMemberHasNoApps(t *testing.T) {
	each(t, func(w *world) {
		bob, eve := w.member("bob@acme.example", actor.Accountant), w.member("eve@acme.example", actor.Viewer)
		bobs, eves, code := w.connect(bob, w.app, "apis.read"), w.connect(eve, w.app, "apis.read"), w.code(bob, w.other, "apis.read")
		evesKeys := 0
		w.EndKeys = func(_ context.Context, _ *db.Tx, authorizationID string) ([]string, error) {
			if strings.HasPrefix(authorizationID, "oau_") {
				evesKeys++
			}
			return nil, nil
		}
		if who := w.accepts("a viewer's app", eves.Access); who.Role != actor.Viewer {
			t.Errorf("%+v", who)
		}
		// Without the call of EndOfUser, the app finds out when it refreshes.
		w.remove(bob)
		w.now.Advance(time.Second)
		w.rejects("bob's app", bobs.Access)
		_, err := w.Exchange(w.Context(), redeem(w.other, code))
		w.refuses("the code that bob has left", err, oauth.InvalidGrant)
		_, err = w.refresh(w.app, bobs.Refresh)
		w.refuses("bob's app refreshes", err, oauth.InvalidGrant)
		w.ended("after that", "member_removed")
		w.must(w.db.Write(w.as(w.ada), w.ada.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			return w.EndOfUser(ctx, tx, eve.UserID)
		}))
		w.rejects("eve's app", eves.Access)
		w.ended("after the call", "member_removed", "member_removed")
		if len(w.list(w.ada)) != 0 || evesKeys != 2 {
			t.Errorf("%v, keys of %d apps were revoked", w.list(w.ada), evesKeys)
		}
	})
}

func (w *world) remove(who actor.Actor) {
	w.Helper()
	_, _, err := w.access.RemoveMember(w.as(w.ada), who.UserID)
	w.must(err)
}

func TestRevokingATokenEndsTheAuthorization(t *testing.T) {
	each(t, func(w *world) {
		for _, c := range []struct {
			what string
			of   func(first, second oauth.Tokens) secret.Text
		}{
			{"the refresh token", func(_, second oauth.Tokens) secret.Text { return second.Refresh }},
			{"the access token", func(_, second oauth.Tokens) secret.Text { return second.Access }},
			{"a former refresh token", func(first, _ oauth.Tokens) secret.Text { return first.Refresh }},
			{"a former access token", func(first, _ oauth.Tokens) secret.Text { return first.Access }},
		} {
			first := w.connect(w.ada, w.app, "apis.read")
			second, err := w.refresh(w.app, first.Refresh)
			w.must(err)
			w.now.Advance(30 * time.Hour)
			second, err = w.refresh(w.app, second.Refresh)
			w.must(err)
			w.refuses(c.what+" by another app", w.Revoke(w.Context(), w.other.ID, c.of(first, second)), oauth.InvalidRequest)
			w.accepts(c.what+" by another app", second.Access)
			w.must(w.Revoke(w.Context(), w.app.ID, c.of(first, second)))
			w.rejects(c.what, second.Access)
			_, err = w.refresh(w.app, second.Refresh)
			w.refuses(c.what, err, oauth.InvalidGrant)
			w.must(w.Revoke(w.Context(), w.app.ID, c.of(first, second))) // again
		}
		w.ended("after all", "revoked", "revoked", "revoked", "revoked")
		for _, text := range []string{"", "x", "brt_1", "brt_" + strings.Repeat("0", 69), "bua_" + strings.Repeat("0", 69),
			"buc_" + strings.Repeat("0", 69)} {
			if err := w.Revoke(w.Context(), w.app.ID, secret.New(text)); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
		w.refuses("an unknown app", w.Revoke(w.Context(), "oac_1", secret.New("x")), oauth.InvalidClient)
	})
}

func TestThePersonOwnersAndAdminsDisconnectApps(t *testing.T) {
	each(t, func(w *world) {
		bob, eve, tom := w.member("bob@acme.example", actor.Viewer), w.member("eve@acme.example", actor.Admin),
			w.member("tom@acme.example", actor.Accountant)
		_, zoe := w.organization("Zebra", "zoe@zebra.example")
		limited := eve
		limited.LegalEntityIDs = []string{"le_1"}
		robot := actor.Actor{OrganizationID: w.ada.OrganizationID, Scopes: actor.Scopes, APIKeyID: "key_1"}
		for _, c := range []struct {
			what string
			by   actor.Actor
			may  bool
		}{
			{"bob himself", bob, true}, {"an admin", eve, true}, {"an owner", w.ada, true}, {"an accountant", tom, false},
			{"an admin of some legal entities", limited, false}, {"a key of nobody", robot, false},
			{"the owner of another organization", zoe, false},
		} {
			tokens := w.connect(bob, w.app, "apis.read")
			id := w.accepts(c.what, tokens.Access).AuthorizationID
			listed := slices.ContainsFunc(w.list(c.by), func(a oauth.Authorization) bool { return a.ID == id })
			_, err := w.Authorization(w.as(c.by), id)
			if listed != c.may || (err == nil) != c.may {
				t.Errorf("%s sees it: %v %v", c.what, listed, err)
			}
			err = w.Disconnect(w.as(c.by), id)
			if c.may {
				w.must(err)
				w.must(w.Disconnect(w.as(c.by), id)) // again
				w.rejects(c.what, tokens.Access)
				if a, err := w.Authorization(w.as(c.by), id); err != nil || a.EndReason != oauth.Disconnected || a.Client.Name != w.app.Name {
					t.Errorf("%+v %v", a, err)
				}
				continue
			}
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: %v", c.what, err)
			}
			w.accepts(c.what, tokens.Access)
		}
	})
}

func TestRevokingAnAppEndsAllThatItWasAllowed(t *testing.T) {
	each(t, func(w *world) {
		var jobs []oauth.EndAuthorizations
		w.Queue = func(_ context.Context, tx *db.Tx, j oauth.EndAuthorizations) error {
			tx.AfterCommit(func() { jobs = append(jobs, j) })
			return nil
		}
		own, err := w.RegisterForOrganization(w.as(w.ada), oauth.RegisterParams{Name: "Own", RedirectURIs: []string{callback}})
		w.must(err)
		_, zoe := w.organization("Zebra", "zoe@zebra.example")
		mine, zoes, other := w.connect(w.ada, own, "apis.read"), w.connect(zoe, own, "apis.read"), w.connect(w.ada, w.other, "apis.read")
		code := w.code(w.ada, own, "apis.read")
		for _, token := range []secret.Text{mine.Access, zoes.Access} {
			w.accepts("before", token)
		}
		for what, err := range map[string]error{
			"another organization": w.RevokeClient(w.as(zoe), own.ID),
			"an app of nobody":     w.RevokeClient(w.as(w.ada), w.app.ID),
			"an unknown app":       w.RevokeClient(w.as(w.ada), "oac_1"),
			"reading another's":    second(w.Client(w.as(zoe), own.ID)),
		} {
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: %v", what, err)
			}
		}
		w.must(w.RevokeClient(w.as(w.ada), own.ID))
		w.must(w.RevokeClient(w.as(w.ada), own.ID))
		w.rejects("at once", mine.Access)
		w.rejects("also in another organization", zoes.Access)
		w.accepts("another app", other.Access)
		_, err = w.refresh(own, mine.Refresh)
		w.refuses("a refresh", err, oauth.InvalidClient)
		_, err = w.Exchange(w.Context(), redeem(own, code))
		w.refuses("a code", err, oauth.InvalidClient)
		if _, err := w.CheckClient(w.Context(), requestOf(own, "apis.read")); fault.KindOf(err) != fault.Invalid {
			t.Errorf("the consent page: %v", err)
		}
		if len(jobs) != 1 {
			t.Fatalf("%d jobs", len(jobs))
		}
		w.must(w.EndOfClient(w.Context(), jobs[0]))
		w.ended("after the job", "client_revoked")
		if len(w.list(zoe)) != 0 || len(w.list(w.ada)) != 1 {
			t.Errorf("connected: %v and %v", w.list(zoe), w.list(w.ada))
		}
		if c, err := w.Client(w.as(w.ada), own.ID); err != nil || c.RevokedAt == nil {
			t.Errorf("%+v %v", c, err)
		}
		if _, err := w.RevokeAnyClient(w.Context(), w.other.ID); err != nil {
			t.Error(err)
		}
		w.rejects("an app that the operator revoked", other.Access)
		w.must(w.Sweep(w.Context())) // does what the job has not done
		w.ended("after the sweep", "client_revoked", "client_revoked")
	})
}

func TestAnOrganizationRegistersAndListsItsOwnApps(t *testing.T) {
	each(t, func(w *world) {
		for i := range 100 {
			c, err := w.RegisterForOrganization(w.as(w.ada), oauth.RegisterParams{Name: strings.Repeat("x", i+1), RedirectURIs: []string{callback},
				HomepageURL: "https://app.example.com"})
			w.must(err)
			if c.OrganizationID != w.ada.OrganizationID || c.CreatedBy != w.ada.UserID || c.RegisteredBy != oauth.ByOrganization {
				t.Fatalf("%+v", c)
			}
		}
		p := oauth.RegisterParams{Name: "one more", RedirectURIs: []string{callback}}
		_, err := w.RegisterForOrganization(w.as(w.ada), p)
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("the hundred and first: %v", err)
		}
		found, err := w.Clients(w.as(w.ada), page.Request{Limit: 100})
		w.must(err)
		if len(found.Items) != 100 || len(found.Items[0].Name) != 100 {
			t.Errorf("%d apps, the first is %+v", len(found.Items), found.Items[0])
		}
		w.must(w.RevokeClient(w.as(w.ada), found.Items[0].ID))
		if _, err := w.RegisterForOrganization(w.as(w.ada), p); err != nil {
			t.Errorf("after one was revoked: %v", err)
		}
		_, zoe := w.organization("Zebra", "zoe@zebra.example")
		if found, err := w.Clients(w.as(zoe), page.Request{Limit: 100}); err != nil || len(found.Items) != 0 {
			t.Errorf("another organization sees %v %v", found.Items, err)
		}
		if all, err := w.AllClients(w.Context(), page.Request{Limit: 100}); err != nil || len(all.Items) != 100 || !all.HasMore {
			t.Errorf("the operator sees %d %v", len(all.Items), err)
		}
	})
}

func TestTheSweepDeletesWhatHasExpiredAndEndsWhatNobodyUses(t *testing.T) {
	each(t, func(w *world) {
		const day = 24 * time.Hour
		idle, busy := w.connect(w.ada, w.app, "apis.read"), w.connect(w.ada, w.other, "apis.read")
		w.code(w.ada, w.app, "apis.read")
		w.now.Advance(day)
		w.must(w.Sweep(w.Context()))
		if codes, tokens := w.count("oauth_codes"), w.count("oauth_tokens"); codes != 3 || tokens != 2 {
			t.Errorf("after a day: %d codes, %d tokens", codes, tokens)
		}
		w.now.Advance(time.Minute)
		w.must(w.Sweep(w.Context()))
		if codes := w.count("oauth_codes"); codes != 0 {
			t.Errorf("a day after they have expired: %d codes", codes)
		}
		w.now.Advance(60 * day)
		next, err := w.refresh(w.other, busy.Refresh)
		w.must(err)
		w.now.Advance(29*day - 2*time.Minute)
		w.must(w.Sweep(w.Context()))
		w.ended("before ninety days")
		if _, err := w.refresh(w.app, idle.Refresh); err != nil {
			t.Errorf("before ninety days: %v", err)
		}
		w.now.Advance(30 * day)
		w.must(w.Sweep(w.Context()))
		w.ended("a token that was exchanged and has expired ends nothing")
		w.now.Advance(60*day + time.Minute)
		w.must(w.Sweep(w.Context()))
		w.ended("after ninety days", "expired", "expired")
		if tokens := w.count("oauth_tokens"); tokens != 0 || len(w.list(w.ada)) != 0 {
			t.Errorf("%d tokens, %v", tokens, w.list(w.ada))
		}
		_, err = w.refresh(w.other, next.Refresh)
		w.refuses("after the sweep", err, oauth.InvalidGrant)
		w.must(w.Revoke(w.Context(), w.other.ID, next.Refresh))
	})
}

func TestAnotherNodeHonorsARevocationWithinASecond(t *testing.T) {
	each(t, func(w *world) {
		tokens := w.connect(w.ada, w.app, "apis.read")
		node := oauth.NewService(w.db)
		if !node.IsNew(tokens.Access) || node.IsNew(tokens.Refresh) {
			t.Error("a token that the node has not seen")
		}
		_, err := node.Authenticate(w.Context(), tokens.Access)
		w.must(err)
		if node.IsNew(tokens.Access) {
			t.Error("a token that the node has seen")
		}
		w.must(w.Revoke(w.Context(), w.app.ID, tokens.Refresh))
		w.rejects("on the same node", tokens.Access)
		w.now.Advance(500 * time.Millisecond)
		if _, err := node.Authenticate(w.Context(), tokens.Access); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("half a second later: %v", err)
		}
	})
}

func TestWhoIsLimitedToLegalEntitiesSeesOnlyAppsThatAreLimitedToThem(t *testing.T) {
	each(t, func(w *world) {
		tom := w.member("tom@acme.example", actor.Accountant)
		tokens := w.connect(tom, w.app, "apis.read")
		id := w.accepts("his app", tokens.Access).AuthorizationID
		limited := tom
		limited.LegalEntityIDs = []string{"le_1", "le_2"}
		expect := func(what string, who actor.Actor, sees bool) {
			w.Helper()
			_, err := w.Authorization(w.as(who), id)
			if len(w.list(who)) == 1 != sees || (err == nil) != sees {
				w.Errorf("%s: %v %v", what, w.list(who), err)
			}
		}
		expect("without limits", tom, true)
		expect("a limited key of somebody who has access to all", limited, false)
		if err := w.Disconnect(w.as(limited), id); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		for entities, sees := range map[string]bool{"le_1": true, "le_2 le_1": true, "le_1 le_3": false} {
			w.must(w.db.WriteAcross(t.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, "UPDATE members SET legal_entity_ids = ? WHERE user_id = ?", entities, tom.UserID)
				return err
			}))
			expect("a member limited to "+entities, limited, sees)
			w.now.Advance(time.Second)
			if who := w.accepts(entities, tokens.Access); strings.Join(who.LegalEntityIDs, " ") != entities {
				t.Errorf("the app of a member limited to %s is limited to %v", entities, who.LegalEntityIDs)
			}
		}
	})
}

func TestConcurrentUsesOfATokenAndItsSuccessorEndTheAuthorizationOrReturnTheSameTokens(t *testing.T) {
	each(t, func(w *world) {
		first := w.connect(w.ada, w.app, "apis.read")
		second, err := w.refresh(w.app, first.Refresh)
		w.must(err)
		var wg sync.WaitGroup
		var mu sync.Mutex
		seen := map[string]bool{}
		for i := range 50 {
			token := []secret.Text{first.Refresh, second.Refresh}[i%2]
			wg.Go(func() {
				next, err := w.refresh(w.app, token)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					seen[next.Refresh.Reveal()] = true
				}
			})
		}
		wg.Wait()
		if len(seen) > 2 {
			t.Errorf("%d different tokens", len(seen))
		}
		// Both were used, so that the last use of the first one ends the authorization at the latest.
		_, err = w.refresh(w.app, first.Refresh)
		w.refuses("the first", err, oauth.InvalidGrant)
		w.rejects("the second", second.Access)
		w.ended("after all", "token_replayed")
	})
}
