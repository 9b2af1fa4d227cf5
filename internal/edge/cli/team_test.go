package cli_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

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
		members("set", "--email", "ada@acme.example", "--role", "owner").mustFail(t, 1, "role", "all legal entities")
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
		for line := range strings.Lines(inside(on(c, "keys", "list")...).mustDo(t).out) {
			if strings.Contains(line, "Nightly export") {
				id = strings.Fields(line)[0]
				if !strings.Contains(line, "…"+former[len(former)-4:]) || !strings.Contains(line, "works") || !strings.Contains(line, "never used") {
					t.Errorf("%s", line)
				}
			}
		}
		next := strings.TrimSpace(inside(on(c, "keys", "rotate", id)...).mustDo(t).out)
		for _, key := range []string{former, next} {
			if _, err := once(address, key).Organization(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if r := inside(on(c, "keys", "list")...).mustDo(t); strings.Count(r.out, "Nightly export") != 2 || !strings.Contains(r.out, "expires ") {
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
		inside(on(c, "keys", "rotate", second, "--overlap-hours", "0")...).mustDo(t)
		time.Sleep(time.Second) // a node honors it within that time
		if _, err := once(address, next).Organization(t.Context()); statusOf(err) != http.StatusUnauthorized {
			t.Errorf("a key that was replaced without an overlap: %v", err)
		}
		inside(on(c, "verify")...).mustDo(t)
	})
}
