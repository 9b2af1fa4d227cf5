package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestAMemberIsChangedAndInvitedOnTheCommandLine(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		members := func(args ...string) result { return inside(on(c, append([]string{"members"}, args...)...)...) }
		members("add", "--email", "ada@acme.example", "--role", "viewer").mustDo(t)
		r := members("set", "--email", "ada@acme.example", "--role", "accountant").mustDo(t)
		if r.out != "ada@acme.example is accountant now.\n" {
			t.Errorf("%+v", r)
		}
		if r := members("set", "--email", "ada@acme.example", "--legal-entity", f.LegalEntityID).mustDo(t); !strings.Contains(r.out,
			"limited to "+f.LegalEntityID) {
			t.Errorf("%+v", r)
		}
		if r := members("list").mustDo(t); !strings.Contains(r.out, f.LegalEntityID) {
			t.Errorf("%+v", r)
		}
		members("set", "--email", "ada@acme.example", "--role", "owner").mustFail(t, 1, "--role cannot be owner", "remove that limit too")
		members("set", "--email", "ada@acme.example", "--role", "owner", "--legal-entity", f.LegalEntityID).mustFail(t, 1,
			"--legal-entity must be empty for an owner")
		members("set", "--email", "ada@acme.example", "--role", "owner", "--all-legal-entities").mustDo(t)
		members("set", "--email", "ada@acme.example", "--role", "boss").mustFail(t, 1, "role must be one of")
		members("set", "--email", "ada@acme.example").mustFail(t, 2, "nothing is to be changed")
		members("set", "--email", "ada@acme.example", "--legal-entity", "x", "--all-legal-entities").mustFail(t, 2, "contradict")
		members("set", "--email", "ada@acme.example", "--legal-entity", "Nowhere").mustFail(t, 1, "--legal-entity")
		members("set", "--email", "bob@acme.example", "--role", "viewer").mustFail(t, 1, "member not found: bob@acme.example")
		members("set", "--role", "viewer").mustFail(t, 2, "--email is required")

		r = members("invite", "--email", "Grace@acme.example", "--role", "viewer", "--public-url", "https://books.acme.example/").mustDo(t)
		if !regexp.MustCompile(`^https://books\.acme\.example/invitations/bul_[0-9A-Za-z]{43}\n$`).MatchString(r.out) ||
			!strings.Contains(r.err, "grace@acme.example") {
			t.Errorf("%+v", r)
		}
		members("invite", "--email", "grace@acme.example", "--role", "viewer").mustFail(t, 1, "was invited already")
		members("invite", "--email", "ada@acme.example", "--role", "viewer").mustFail(t, 1, "member already")
		members("invite", "--email", "x", "--role", "boss").mustFail(t, 1, "email", "role")
		members("invite", "--email", "x@acme.example", "--role", "viewer", "--public-url", "books").mustFail(t, 2, "--public-url")
		members("invite", "--role", "viewer").mustFail(t, 2, "--email is required")

		invitations := func(args ...string) result { return inside(on(c, append([]string{"invitations"}, args...)...)...) }
		listed := regexp.MustCompile(`^(ivt_[0-9a-z]{26})  grace@acme\.example  viewer  pending  20\d\d-\d\d-\d\d \d\d:\d\d *\n$`).
			FindStringSubmatch(invitations("list").mustDo(t).out)
		if listed == nil {
			t.Fatal(invitations("list").out)
		}
		again := invitations("renew", listed[1], "--public-url", "https://books.acme.example").mustDo(t).out
		if again == r.out || !strings.HasPrefix(again, "https://books.acme.example/invitations/bul_") {
			t.Errorf("%q after %q", again, r.out)
		}
		for range 2 {
			if r := invitations("revoke", listed[1]).mustDo(t); r.out != "Revoked the invitation of grace@acme.example.\n" {
				t.Errorf("%+v", r)
			}
		}
		invitations("renew", listed[1]).mustFail(t, 1, "was revoked: invite grace@acme.example again")
		invitations("revoke", "ivt_x").mustFail(t, 1, "invitation not found")
		invitations("revoke").mustFail(t, 2, "needs one argument")
		inside(on(c, "verify")...).mustDo(t)
	})
}

func TestAKeyIsListedAndRotatedOnTheCommandLine(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		address := serve(t, c).ready(t)
		former := keyOf(t, c, f, "--scopes", "apis.read", "--name", "Nightly export")
		var id string
		listed := inside(on(c, "keys", "list")...).mustDo(t).out
		first := regexp.MustCompile(`(?m)^(key_[0-9a-z]{26})  …` + former[len(former)-4:] +
			`  Nightly export\n    works, never expires, never used\n    apis\.read; acts for nobody\n`).FindStringSubmatch(listed)
		if first == nil {
			t.Fatal(listed)
		}
		id = first[1]
		next := strings.TrimSpace(inside(on(c, "keys", "rotate", id)...).mustDo(t).out)
		for _, key := range []string{former, next} {
			if _, err := once(address, key).Organization(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if r := inside(on(c, "keys", "list")...).mustDo(t); strings.Count(r.out, "Nightly export") != 2 ||
			!strings.Contains(r.out, "works, expires 20") || !strings.Contains(r.out, "replaced by key_") {
			t.Errorf("%+v", r)
		}
		inside(on(c, "keys", "rotate", id)...).mustFail(t, 1, "was replaced by")
		inside(on(c, "keys", "rotate", "key_x")...).mustFail(t, 1, "API key not found")
		inside(on(c, "keys", "rotate")...).mustFail(t, 2, "needs one argument")
		inside(on(c, "keys", "rotate", id, "--overlap-hours", "169")...).mustFail(t, 2, "--overlap-hours must be between 0 and 168")
		var second string
		for k, err := range client.New(address, f.APIKey).APIKeys(t.Context()) {
			if err == nil && strings.HasSuffix(next, k.LastFour) {
				second = k.ID
			}
		}
		inside(on(c, "keys", "rotate", second, "--expires", "2020-01-31")...).mustFail(t, 2, "--expires 2020-01-31 is not in the future")
		inside(on(c, "keys", "rotate", second, "--overlap-hours", "0", "--expires", "2099-01-31")...).mustDo(t)
		if r := inside(on(c, "keys", "list")...).mustDo(t); !strings.Contains(r.out, "works, expires 2099-01-31 00:00") {
			t.Errorf("%+v", r)
		}
		time.Sleep(time.Second) // a node honors it within that time
		if _, err := once(address, next).Organization(t.Context()); statusOf(err) != http.StatusUnauthorized {
			t.Errorf("a key that was replaced without an overlap: %v", err)
		}
		last := regexp.MustCompile(`key_[0-9a-z]{26}`).FindString(inside(on(c, "keys", "list")...).mustDo(t).out)
		inside(on(c, "keys", "rotate", id)...).mustFail(t, 1, "was replaced by "+last+" already: rotate that one")
		if r := inside(on(c, "keys", "revoke", last)...).mustDo(t); r.out != "Revoked 1 key: "+last+".\n" {
			t.Errorf("%+v", r)
		}
		if r := inside(on(c, "keys", "revoke", last)...).mustDo(t); r.out != last+" was revoked already.\n" {
			t.Errorf("%+v", r)
		}
		inside(on(c, "keys", "rotate", id)...).mustFail(t, 1, "is revoked or has expired: create a new one")
		inside(on(c, "keys", "revoke", "key_x")...).mustFail(t, 1, "API key not found")
		inside(on(c, "keys", "create", "--scopes", "apis.read", "--name", "")...).mustFail(t, 2, "--name must not be empty")
		inside(on(c, "verify")...).mustDo(t)
	})
}

func TestTheListOfKeysShowsWhatEachCanDoWithinTheWidthOfATerminal(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		members := func(args ...string) { inside(on(c, append([]string{"members"}, args...)...)...).mustDo(t) }
		members("add", "--email", "ada.lovelace-of-the-analytical-engine@accounting.acme.example", "--role", "accountant")
		keyOf(t, c, f, "--scopes", "apis.all,write:memory", "--user", "ada.lovelace-of-the-analytical-engine@accounting.acme.example", "--name",
			strings.Repeat("What it is for ", 6), "--legal-entity", "Acme", "--expires", "2099-01-31")
		keyOf(t, c, f, "--scopes", "apis.read", "--user", "ada.lovelace-of-the-analytical-engine@accounting.acme.example", "--name", "Through")
		members("set", "--email", "ada.lovelace-of-the-analytical-engine@accounting.acme.example", "--legal-entity", "Acme")
		r := inside(on(c, "keys", "list")...).mustDo(t)
		for line := range strings.Lines(r.out) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
		words := strings.Join(strings.Fields(r.out), " ")
		for _, text := range []string{"works, expires 2099-01-31 00:00, never used", "apis.all, write:memory; acts for ada.lovelace-of",
			"; limited to Acme key_",
			"apis.read; acts for ada.lovelace-of-the-analytical-engine@accounting.acme.example; limited through its user to Acme",
			"acts for owner@acme.example"} {
			if !strings.Contains(words, text) {
				t.Errorf("it does not say %q:\n%s", text, r.out)
			}
		}
		var keys []map[string]any
		if err := json.Unmarshal([]byte(inside(on(c, "keys", "list", "--json")...).mustDo(t).out), &keys); err != nil || len(keys) != 3 {
			t.Fatal(err, keys)
		}
		if got := keys[0]; got["name"] != "Through" || fmt.Sprint(got["user_legal_entity_ids"]) != "["+f.LegalEntityID+"]" ||
			got["user_email"] != "ada.lovelace-of-the-analytical-engine@accounting.acme.example" || got["expires_at"] != nil {
			t.Errorf("%v", got)
		}
		if got := keys[1]; fmt.Sprintf("%v %v %v", got["scopes"], got["legal_entity_ids"], got["expires_at"]) !=
			"[apis.all write:memory] ["+f.LegalEntityID+"] 2099-01-31T00:00:00.000Z" {
			t.Errorf("%v", got)
		}
	})
}
