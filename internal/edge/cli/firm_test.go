package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// jsonFile writes a file and returns its path.
func jsonFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "template.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// idIn returns the id with a prefix in a text.
func idIn(t *testing.T, prefix, text string) string {
	t.Helper()
	found := regexp.MustCompile(prefix + `_[0-9a-z]{26}`).FindString(text)
	if found == "" {
		t.Fatalf("no %s_ in %q", prefix, text)
	}
	return found
}

func TestAFirmWorksForAClientOnTheCommandLine(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		address := serve(t, c).ready(t)
		firm := func(args ...string) result {
			return inside(append(append([]string{"firm"}, args...), "--url", address, "--api-key", f.APIKey)...)
		}
		firm("settings").mustFail(t, 1, "not an accounting firm", "bursar firm settings --name")
		if r := firm("settings", "--name", "Ledger & Partners", "--web-address", "https://ledger.example").mustDo(t); !strings.Contains(r.out,
			"Ledger & Partners\thttps://ledger.example") {
			t.Errorf("%+v", r)
		}
		if r := firm("settings").mustDo(t); !strings.HasPrefix(r.out, "frm_") {
			t.Errorf("%+v", r)
		}
		firm("clients", "add", "--name", "Globex").mustFail(t, 2, "--email is required")
		firm("clients", "add", "--name", "Globex", "--email", "cfo@globex.example").mustFail(t, 1, "base_currency", "timezone")
		added := firm("clients", "add", "--name", "Globex", "--email", "cfo@globex.example", "--base-currency", "USD", "--timezone",
			"UTC").mustDo(t)
		books := idIn(t, "org", added.out)
		pending := firm("clients", "add", "--name", "Initech", "--email", "cfo@initech.example", "--existing").mustDo(t)
		if strings.Contains(pending.out, "org_") || !strings.Contains(pending.out, "pending") {
			t.Errorf("%+v", pending)
		}
		if r := firm("clients", "list", "--status", "active").mustDo(t); strings.Contains(r.out, "Initech") || !strings.Contains(r.out, books) {
			t.Errorf("%+v", r)
		}
		inside(on(c, "members", "add", "--email", "ada@firm.example", "--role", "accountant", "--organization", f.OrganizationID)...).mustDo(t)
		firm("people", "set", "globex", "--person", "eve@firm.example", "--role", "preparer").mustFail(t, 1, "not a member of the firm")
		firm("people", "set", "globex", "--person", "ada@firm.example", "--role", "boss").mustFail(t, 1, "preparer, reviewer")
		firm("people", "set", "globex", "--person", "ada@firm.example", "--role", "preparer").mustDo(t)
		if r := firm("clients", "show", "Globex").mustDo(t); !strings.Contains(r.out, "ada@firm.example") || !strings.Contains(r.out, "Partner") {
			t.Errorf("%+v", r)
		}
		firm("people", "remove", "Globex", "--person", "ada@firm.example").mustDo(t)
		firm("clients", "show", "Nobody").mustFail(t, 1, `no client "Nobody"`)

		chart := jsonFile(t, `{"name": "Chart", "kind": "chart", "accounts": [{"code": "6599", "name": "Nodes", "type": "Expense",
			"parent_code": "6000"}]}`)
		made := idIn(t, "ftp", firm("templates", "create", chart).mustDo(t).out)
		piped := command(t, nil, []string{"firm", "templates", "create", "-", "--url", address, "--api-key", f.APIKey})
		piped.Stdin = strings.NewReader(`{"name": "Rules", "kind": "rules", "rules": [{"rule_type": "classification", "memo_contains": "x",
			"ledger_account_code": "6599"}]}`)
		if out, err := piped.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "Created Rules, ftp_") {
			t.Errorf("%s %v", out, err)
		}
		firm("templates", "create", jsonFile(t, `{"names": "x"}`)).mustFail(t, 1, "names")
		if r := firm("templates", "list").mustDo(t); !strings.Contains(r.out, made) {
			t.Errorf("%+v", r)
		}
		if r := firm("templates", "list", "--offered", "--for", books).mustDo(t); !strings.Contains(r.out, made) {
			t.Errorf("%+v", r)
		}
		if r := firm("templates", "show", made, "--offered", "--for", books).mustDo(t); !strings.Contains(r.out, `"code": "6599"`) {
			t.Errorf("%+v", r)
		}
		firm("templates", "apply", made).mustFail(t, 1, "not found") // the firm is nobody's client
		if r := firm("templates", "apply", made, "--for", books, "--dry-run").mustDo(t); !strings.Contains(r.err, "Would create 1 item") {
			t.Errorf("%+v", r)
		}
		if r := firm("templates", "apply", made, "--for", books).mustDo(t); !strings.Contains(r.out, "created") ||
			!strings.Contains(r.err, "Created 1 item") {
			t.Errorf("%+v", r)
		}
		count := 0
		for a, err := range once(address, f.APIKey).For(books).LedgerAccounts(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if a.Code != nil && *a.Code == "6599" {
				count++
			}
		}
		if count != 1 {
			t.Errorf("the client has %d accounts of the template", count)
		}
		firm("templates", "update", made, "--file", jsonFile(t, `{"accounts": [{"code": "6599", "name": "Other", "type": "Expense"}]}`)).mustDo(t)
		firm("templates", "apply", made, "--for", books).mustFail(t, 1, "nothing was created, because of 1 conflict", "the code 6599 belongs to")
		firm("templates", "delete", made).mustDo(t)
		inside("connections", "list", "--for", "Globex", "--url", address, "--api-key", f.APIKey).mustFail(t, 2, "--for must be the id")
		inside("connections", "list", "--for", books, "--url", address, "--api-key", f.APIKey).mustDo(t)
		unknown := found(t, c).OrganizationID
		inside("connections", "list", "--for", unknown, "--url", address, "--api-key", f.APIKey).mustFail(t, 1, "not found")

		firm("clients", "end", "Initech").mustDo(t)
		firm("clients", "end", "Globex").mustFail(t, 1, "nobody owns the books")
		if r := firm("access", "list").mustDo(t); !strings.Contains(r.err, "No accounting firm") {
			t.Errorf("%+v", r)
		}
		firm("access", "end", "fcl_01jd00000000000000000000zz").mustFail(t, 1, "bursar firm access list")
		if _, err := once(address, f.APIKey).CreateTag(t.Context(), client.CreateTag{Name: "Own", Kind: "project"}); err != nil {
			t.Errorf("the firm cannot write its own books: %v", err)
		}
	})
}

func TestAFirmAsksItsClientsAndDoesOneTaskForAllOnTheCommandLine(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		address := serve(t, c).ready(t)
		firm := func(args ...string) result {
			return inside(append(append([]string{"firm"}, args...), "--url", address, "--api-key", f.APIKey)...)
		}
		firm("settings", "--name", "Ledger & Partners").mustDo(t)
		if r := firm("overview").mustDo(t); !strings.Contains(r.err, "You work for no client") {
			t.Errorf("%+v", r)
		}
		firm("clients", "add", "--name", "Globex", "--email", "cfo@globex.example", "--base-currency", "USD", "--timezone", "UTC").mustDo(t)

		firm("requests", "create", "Globex", "--ask", "no-such").mustFail(t, 1, "integrations[0].provider")
		made := firm("requests", "create", "Globex", "--ask", "kraken", "--ask", "file=Bank statements", "--message", "Hello").mustDo(t)
		id := idIn(t, "frq", made.out)
		if !strings.Contains(made.out, "was not sent") {
			t.Errorf("a message is said to be sent without a mail server: %+v", made)
		}
		for _, list := range [][]string{{"--client", "Globex"}, {"--status", "pending"}} {
			r := firm(append([]string{"requests", "list"}, list...)...).mustDo(t)
			if !strings.Contains(r.out, id+"  Globex  pending  0 of 2") {
				t.Errorf("%v: %+v", list, r)
			}
		}
		if r := firm("requests", "show", id).mustDo(t); !strings.Contains(r.out, "Bank statements") ||
			!strings.Contains(r.out, "cfo@globex.example") {
			t.Errorf("%+v", r)
		}
		firm("requests", "resend", id).mustDo(t)
		firm("requests", "cancel", id).mustDo(t)
		firm("requests", "cancel", id).mustFail(t, 1, "is cancelled")
		if r := firm("requests", "list", "--status", "pending").mustDo(t); !strings.Contains(r.err, "There are no such requests") {
			t.Errorf("%+v", r)
		}

		if r := firm("overview").mustDo(t); !strings.Contains(r.out, "Globex") {
			t.Errorf("%+v", r)
		}
		firm("jobs", "start", "dance").mustFail(t, 1, "kind")
		done := firm("jobs", "start", "classification", "--action", "suggest", "--client", "Globex").mustDo(t)
		if !strings.Contains(done.out, "Globex  completed") {
			t.Errorf("%+v", done)
		}
		job := idIn(t, "fjb", done.err)
		firm("jobs", "start", "classification", "--action", "post", "--expected-count", "7").mustFail(t, 1, "not 7")
		dry := firm("jobs", "start", "classification", "--action", "post", "--dry-run", "--expected-count", "1").mustDo(t)
		if !strings.Contains(dry.out, "Globex  completed") || !strings.Contains(dry.err, "dry run") {
			t.Errorf("%+v", dry)
		}
		if r := firm("jobs", "show", job).mustDo(t); r.out != done.out {
			t.Errorf("%+v", r)
		}
		// The books began this month, so there is no month to check.
		unready := firm("jobs", "start", "readiness").mustDo(t)
		if !strings.Contains(unready.out, "skipped") || !strings.Contains(unready.out, "no month of the client is over") {
			t.Errorf("%+v", unready)
		}
		if r := firm("jobs", "start", "readiness", "--background").mustDo(t); !strings.Contains(r.out, "for 1 client") {
			t.Errorf("%+v", r)
		}
		if r := firm("jobs", "list", "--kind", "classification").mustDo(t); !strings.Contains(r.out, job) ||
			strings.Contains(r.out, "readiness") {
			t.Errorf("%+v", r)
		}
		firm("jobs", "cancel", job).mustFail(t, 1, "completed")
	})
}
