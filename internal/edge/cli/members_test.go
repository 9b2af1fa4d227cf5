package cli_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// keyOf creates an API key on the command line.
func keyOf(t *testing.T, c db.Config, f founded, more ...string) string {
	t.Helper()
	args := append(on(c, "keys", "create", "--organization", f.OrganizationID), more...)
	return strings.TrimSpace(inside(args...).mustDo(t).out)
}

func TestAPersonIsAddedListedAndRemovedOnTheCommandLine(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		address := serve(t, c).ready(t)
		r := inside(on(c, "members", "add", "--email", "Ada@Acme.example", "--role", "accountant")...).mustDo(t)
		if !strings.HasPrefix(r.out, "Added ada@acme.example as accountant, usr_") || !strings.Contains(r.err, "bursar keys create") {
			t.Errorf("%+v", r)
		}
		list := func() (lines [][]string) {
			for line := range strings.Lines(inside(on(c, "members", "list")...).mustDo(t).out) {
				lines = append(lines, strings.Fields(line)[:2])
			}
			return lines
		}
		want := [][]string{{"owner@acme.example", "owner"}, {"ada@acme.example", "accountant"}}
		if got := list(); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("the members are %v", got)
		}
		hers := once(address, keyOf(t, c, f, "--scopes", "apis.all", "--user", "ada@acme.example"))
		if _, err := hers.CreateTag(t.Context(), client.CreateTag{Name: "Osaka", Kind: "project"}); err != nil {
			t.Errorf("an accountant cannot write: %v", err)
		}
		name := "Renamed"
		if _, err := hers.UpdateOrganization(t.Context(), client.UpdateOrganization{Name: &name}); statusOf(err) != http.StatusForbidden {
			t.Errorf("an accountant renames the organization: %v", err)
		}
		r = inside(on(c, "members", "remove", "--email", "ada@acme.example")...).mustDo(t)
		if r.out != "Removed ada@acme.example, accountant, and revoked 1 key.\n" {
			t.Errorf("%+v", r)
		}
		time.Sleep(time.Second) // a node honors a revocation within that time
		if _, err := hers.Organization(t.Context()); statusOf(err) != http.StatusUnauthorized {
			t.Errorf("the key of a former member: %v", err)
		}
		inside(on(c, "members", "add", "--email", "ada@acme.example", "--role", "viewer")...).mustDo(t)
		if _, err := hers.Organization(t.Context()); statusOf(err) != http.StatusUnauthorized {
			t.Errorf("a key that was revoked works again when the person is back: %v", err)
		}
		for range 2 {
			keyOf(t, c, f, "--scopes", "apis.read", "--user", "ada@acme.example")
		}
		r = inside(on(c, "members", "remove", "--email", "ada@acme.example")...).mustDo(t)
		if r.out != "Removed ada@acme.example, viewer, and revoked 2 keys.\n" {
			t.Errorf("%+v", r)
		}
		inside(on(c, "verify")...).mustDo(t)
	})
}

func TestMembersThatCannotBeAddedOrRemovedAreExplained(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		found(t, c)
		members := func(args ...string) result { return inside(on(c, append([]string{"members"}, args...)...)...) }
		members("add", "--email", "ada", "--role", "boss").mustFail(t, 1, "--email must be an email address",
			`--role must be one of owner, admin, accountant, viewer or auditor, but is "boss"`)
		members("add", "--email", "owner@acme.example", "--role", "viewer").mustFail(t, 1,
			"owner@acme.example is a member already, with the role owner")
		members("add", "--role", "viewer").mustFail(t, 2, "--email is required")
		members("add", "--email", "ada@acme.example").mustFail(t, 2, "--role is required")
		members("remove", "--email", "owner@acme.example").mustFail(t, 1, "only owner")
		members("remove", "--email", "ada@acme.example").mustFail(t, 1, "member not found: ada@acme.example")
		members("remove").mustFail(t, 2, "--email is required")
		if r := members("list").mustDo(t); strings.Count(r.out, "\n") != 1 {
			t.Errorf("something was changed: %s", r.out)
		}
		members("add", "--email", "second@acme.example", "--role", "owner").mustDo(t)
		members("remove", "--email", "owner@acme.example").mustDo(t)
		second := found(t, c)
		members("list").mustFail(t, 2, "there are 2 organizations", second.OrganizationID)
		members("list", "--organization", second.OrganizationID).mustDo(t)
		inside(on(c, "keys", "create", "--scopes", "apis.read")...).mustFail(t, 2, "there are 2 organizations", second.OrganizationID)
		inside(on(c, "verify")...).mustDo(t)
	})
	inside("members", "list", "--data", t.TempDir()).mustFail(t, 1, "there is no database")
}

func TestAKeyIsLimitedToLegalEntitiesAndExpires(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		address := serve(t, c).ready(t)
		owner := once(address, f.APIKey)
		second, err := owner.CreateLegalEntity(t.Context(), client.CreateLegalEntity{Name: "Acme GmbH", BaseCurrency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		expires := time.Now().UTC().AddDate(0, 1, 0).Truncate(24 * time.Hour)
		limited := once(address, keyOf(t, c, f, "--scopes", "apis.read", "--legal-entity", "Acme GmbH", "--legal-entity", second.ID, "--expires",
			expires.Format(time.DateOnly), "--name", "Limited"))
		seen := 0
		for e, err := range limited.LegalEntities(t.Context()) {
			if err != nil || e.ID != second.ID {
				t.Errorf("it sees %s, %v", e.ID, err)
			}
			seen++
		}
		if seen != 1 {
			t.Errorf("it sees %d legal entities, want one", seen)
		}
		for k, err := range owner.APIKeys(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if k.Name == "Limited" && (!slices.Equal(k.LegalEntityIDs, []string{second.ID}) || k.ExpiresAt == nil || !k.ExpiresAt.Equal(expires)) {
				t.Errorf("the key is %+v", k)
			}
		}
		soon := once(address, keyOf(t, c, f, "--scopes", "apis.read", "--expires", time.Now().Add(2*time.Second).Format(time.RFC3339Nano)))
		if _, err := soon.Organization(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		if _, err := soon.Organization(t.Context()); statusOf(err) != http.StatusUnauthorized {
			t.Errorf("after its expiry: %v", err)
		}
		create := func(more ...string) result {
			return inside(append(on(c, "keys", "create", "--organization", f.OrganizationID, "--scopes", "apis.read"), more...)...)
		}
		inside(on(c, "keys", "create", "--scopes", "apis.read")...).mustDo(t) // of the only organization
		create("--legal-entity", "Nobody", "--legal-entity", "").mustFail(t, 1, `there is no legal entity "Nobody"; choose one of`,
			`there is no legal entity ""`)
		create("--expires", "2020-01-31").mustFail(t, 2, "--expires 2020-01-31 is not in the future")
		create("--expires", "soon").mustFail(t, 2, "--expires must be a time")
	})
}
