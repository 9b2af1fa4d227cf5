package cli_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestAppsAreRegisteredListedAndRevokedOnTheCommandLine(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		create := func(more ...string) string {
			t.Helper()
			return strings.TrimSpace(inside(on(c, append([]string{"oauth-clients", "create", "--redirect-uri", "http://127.0.0.1/cb"},
				more...)...)...).mustDo(t).out)
		}
		first := create("--name", "Ledger Tools", "--redirect-uri", "https://app.example.com/cb", "--homepage", "https://app.example.com")
		second := create("--name", "Own", "--organization", f.OrganizationID)
		r := inside(on(c, "oauth-clients", "revoke", second)...).mustDo(t)
		if r.out != "Revoked Own.\n" {
			t.Errorf("%+v", r)
		}
		var got []string
		for line := range strings.Lines(inside(on(c, "oauth-clients", "list")...).mustDo(t).out) {
			got = append(got, strings.Join(strings.Fields(line), " "))
		}
		want := second + " " + f.OrganizationID + " revoked Own http://127.0.0.1/cb|" +
			first + " operator active Ledger Tools http://127.0.0.1/cb https://app.example.com/cb"
		if strings.Join(got, "|") != want {
			t.Errorf("%q, want %q", got, want)
		}
		for _, wrong := range []struct{ says, args string }{
			{"--redirect-uri must begin with https", "create --name x --redirect-uri http://evil.example/"},
			{"--homepage must be an https address", "create --name x --redirect-uri http://127.0.0.1/ --homepage http://x.example"},
			{"not found", "revoke oac_unknown"},
		} {
			r := inside(on(c, append([]string{"oauth-clients"}, strings.Fields(wrong.args)...)...)...)
			if r.code == 0 || !strings.Contains(r.err, wrong.says) {
				t.Errorf("%s: %+v", wrong.args, r)
			}
		}
	})
}
