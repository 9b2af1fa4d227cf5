package cli_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// subcommands returns the names of the subcommands in the help text of a command.
func subcommands(help string) []string {
	_, list, ok := strings.Cut(help, "Available Commands:\n")
	if !ok {
		return nil
	}
	list, _, _ = strings.Cut(list, "\n\n")
	var names []string
	for line := range strings.Lines(list) {
		names = append(names, strings.Fields(line)[0])
	}
	return names
}

func TestEveryCommandExplainsItselfWithAnExample(t *testing.T) {
	t.Parallel()
	var walk func(path []string)
	walk = func(path []string) {
		r := inside(append(path, "--help")...)
		name := strings.Join(append([]string{"bursar"}, path...), " ")
		if r.code != 0 || r.err != "" || !strings.Contains(r.out, "Usage:") {
			t.Errorf("%s --help: exit %d\n%s%s", name, r.code, r.out, r.err)
		}
		below := subcommands(r.out)
		plain := name == "bursar help" || name == "bursar version" || len(path) > 0 && len(below) > 0
		if !plain && !strings.Contains(r.out, "Examples:\n") {
			t.Errorf("%s --help shows no example", name)
		}
		for _, sub := range below {
			walk(append(path[:len(path):len(path)], sub))
		}
	}
	walk(nil)
	if n := len(subcommands(inside("--help").out)); n < 8 {
		t.Errorf("only %d commands were found in the help", n)
	}
}

func TestACommandCalledWronglySaysHowToCallIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--nope"}, "--nope"},
		{[]string{"sevre"}, "sevre"},
		{[]string{"serve", "--nope"}, "--nope"},
		{[]string{"serve", "now"}, "now"},
		{[]string{"serve", "--rate-limit", "many"}, "--rate-limit"},
		{[]string{"serve", "--log-level", "loud"}, "--log-level"},
		{[]string{"serve", "--slow-statement", "soon"}, "--slow-statement must be a duration"},
		{[]string{"serve", "--rate-limit", "-5"}, "--rate-limit must be 0 or more, but is -5"},
		{[]string{"serve", "--log-format", "xml"}, "--log-format"},
		{[]string{"keys", "destroy"}, "destroy"},
		{[]string{"init"}, "--organization is required"},
		{[]string{"init", "--organization", "Acme"}, "--email is required"},
		{[]string{"keys", "create"}, "--scopes is required"},
		{[]string{"keys", "create", "--organization", "Acme", "--scopes", "apis.read"}, "--organization must be an id"},
		{[]string{"keys", "create", "--organization", "org_01m7ex1624ezcs9eyj82ymzae2", "--scopes", "apis.write"},
			`unknown scope "apis.write"; choose from apis.read, apis.all, write:memory or write:operational-rules`},
		{[]string{"backup"}, "arg"},
		{[]string{"backup", "one", "two"}, "arg"},
		{[]string{"version", "two"}, "two"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			r := inside(c.args...)
			r.mustFail(t, 2, c.says, "Run `bursar", "--help`")
			if r.out != "" {
				t.Errorf("stdout has %q", r.out)
			}
		})
	}
}

func TestVersionNamesTheProgramAndThePlatform(t *testing.T) {
	t.Parallel()
	if r := inside("version").mustDo(t); !regexp.MustCompile(`^bursar \S+ \(go\S+, \w+/\w+\)\n$`).MatchString(r.out) {
		t.Errorf("got %q", r.out)
	}
}

func TestInitPrintsOneObjectForMachines(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		r := inside(on(c, "init", "--organization", "Acme", "--email", "owner@acme.example", "--json")...).mustDo(t)
		var fields map[string]string
		if err := json.Unmarshal([]byte(r.out), &fields); err != nil { // which refuses anything after the object
			t.Fatalf("%v in %q", err, r.out)
		}
		for name, prefix := range map[string]string{"organization_id": "org_", "legal_entity_id": "le_", "user_id": "usr_", "api_key": "bur_",
			"set_password_url": "http://127.0.0.1:8080/set-password/bul_"} {
			if !strings.HasPrefix(fields[name], prefix) {
				t.Errorf("%s is %q", name, fields[name])
			}
		}
		if len(fields) != 5 {
			t.Errorf("want five fields, got %v", fields)
		}
		if !strings.Contains(r.err, "bursar serve") || strings.Contains(r.err, fields["api_key"]) {
			t.Errorf("stderr should say what comes next and keep the key to stdout:\n%s", r.err)
		}
	})
}

func TestInitPrintsLinesForPeople(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	r := inside(on(c, "init", "--organization", "Acme GmbH", "--email", "Owner@Acme.example", "--currency", "EUR", "--timezone",
		"Europe/Berlin")...).mustDo(t)
	for _, text := range []string{"Acme GmbH", "EUR", "owner@acme.example", "bur_"} {
		if !strings.Contains(r.out, text) {
			t.Errorf("stdout lacks %q:\n%s", text, r.out)
		}
	}
}

func TestInitTwiceCreatesTwoOrganizations(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		first, second := found(t, c), found(t, c)
		if first.OrganizationID == second.OrganizationID || first.APIKey == second.APIKey || first.LegalEntityID == second.LegalEntityID {
			t.Errorf("they share something: %+v and %+v", first, second)
		}
		if first.UserID != second.UserID {
			t.Errorf("the same address became two people: %s and %s", first.UserID, second.UserID)
		}
		if r := inside(on(c, "verify")...).mustDo(t); !strings.Contains(r.out, "2 organizations") {
			t.Errorf("verify says %q", r.out)
		}
	})
}

func TestInitCreatesAClientOfAnExistingFirm(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		firm := found(t, c)
		client := []string{"init", "--organization", "Acme", "--email", "owner@acme.example", "--json", "--firm"}
		for _, other := range []string{"org_x", strings.Replace(firm.OrganizationID, "org_0", "org_1", 1), firm.LegalEntityID} {
			inside(on(c, append(client, other)...)...).mustFail(t, 1, "firm not found")
		}
		inside(on(c, append(client, firm.OrganizationID)...)...).mustDo(t)
		inside(on(c, append(client, firm.OrganizationID)...)...).mustDo(t)
		if r := inside(on(c, "verify")...).mustDo(t); !strings.Contains(r.out, "3 organizations") {
			t.Errorf("verify says %q", r.out)
		}
	})
}

func TestInitNamesEveryFaultyFlagAndFoundsNothing(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		r := inside(on(c, "init", "--organization", " ", "--email", "owner", "--currency", "DOUBLOON", "--timezone", "Mars/Olympus", "--json")...)
		r.mustFail(t, 1, "--organization must", "--email must", "--currency must", "--timezone must")
		if r.out != "" {
			t.Errorf("stdout has %q", r.out)
		}
		if r := inside(on(c, "verify")...).mustDo(t); !strings.Contains(r.out, "0 organizations") {
			t.Errorf("verify says %q", r.out)
		}
	})
}

func TestAFaultyInitCreatesNoDatabase(t *testing.T) {
	t.Parallel()
	c := db.Config{Dir: filepath.Join(t.TempDir(), "data")}
	inside(on(c, "init", "--organization", "Acme", "--email", "owner")...).mustFail(t, 1, "--email must")
	if _, err := os.Stat(c.Dir); err == nil {
		t.Error("it made a database all the same")
	}
}

func TestMigrateCanBeRepeated(t *testing.T) {
	t.Parallel()
	c := db.Config{Dir: filepath.Join(t.TempDir(), "new", "folder")}
	for range 2 {
		if r := inside(on(c, "migrate")...).mustDo(t); r.out != "The schema is up to date.\n" || r.err != "" {
			t.Errorf("stdout has %q, stderr %q; the log should be quiet", r.out, r.err)
		}
	}
}

func TestAKeyCreatedOnTheCommandLineWorksAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		address := serve(t, c).ready(t)
		issue := func(more ...string) *client.Client {
			r := inside(append(on(c, "keys", "create", "--organization", f.OrganizationID), more...)...).mustDo(t)
			if !regexp.MustCompile(`^bur_[0-9A-Za-z]{43}\n$`).MatchString(r.out) {
				t.Fatalf("stdout should hold the key alone: %q", r.out)
			}
			return once(address, strings.TrimSpace(r.out))
		}
		name := "Renamed"
		for what, try := range map[string]struct {
			client *client.Client
			status int // of a change
		}{
			"of the owner":           {issue("--scopes", "apis.all", "--user", "OWNER@acme.example"), http.StatusOK},
			"of the owner, to read":  {issue("--scopes", "apis.read", "--user", "owner@acme.example"), http.StatusForbidden},
			"of nobody, for all":     {issue("--scopes", "apis.all"), http.StatusForbidden},
			"of nobody, with a name": {issue("--scopes", "apis.read,write:memory", "--name", "Script"), http.StatusForbidden},
		} {
			if _, err := try.client.Organization(t.Context()); err != nil {
				t.Errorf("a key %s cannot read: %v", what, err)
			}
			_, err := try.client.UpdateOrganization(t.Context(), client.UpdateOrganization{Name: &name})
			if got := statusOf(err); got != try.status {
				t.Errorf("a key %s changes with %d, want %d: %v", what, got, try.status, err)
			}
		}
	})
}

// statusOf returns the HTTP status of a client error, 200 for nil and 0 for other errors.
func statusOf(err error) int {
	var answer *client.Error
	if errors.As(err, &answer) {
		return answer.Status
	}
	if err != nil {
		return 0
	}
	return http.StatusOK
}

func TestAKeyForAnUnknownUserIsNotCreated(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		f := found(t, c)
		for says, args := range map[string][]string{
			"member not found: stranger@acme.example": {"--organization", f.OrganizationID, "--user", "stranger@acme.example"},
			"email must be":          {"--organization", f.OrganizationID, "--user", "stranger"},
			"organization not found": {"--organization", "org_01m7ex1624ezcs9eyj82ymzae2"},
		} {
			r := inside(append(on(c, "keys", "create", "--scopes", "apis.read"), args...)...)
			r.mustFail(t, 1, says)
			if r.out != "" {
				t.Errorf("stdout has %q", r.out)
			}
		}
		keys := 0
		service := once(serve(t, c).ready(t), f.APIKey)
		for _, err := range service.APIKeys(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			keys++
		}
		if keys != 1 {
			t.Errorf("there are %d keys, want the first one only", keys)
		}
	})
}

func TestACommandThatNeedsADatabaseSaysThatThereIsNoneAndCreatesNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := db.Config{Dir: filepath.Join(dir, "nowhere")}
	for _, args := range [][]string{{"verify"}, {"backup", filepath.Join(dir, "copy.db")}, {"anchor"},
		{"keys", "create", "--scopes", "apis.read"}, {"members", "list"}, {"members", "add", "--email", "a@acme.example", "--role", "viewer"},
		{"members", "remove", "--email", "a@acme.example"}, {"members", "set", "--email", "a@acme.example", "--role", "viewer"},
		{"members", "invite", "--email", "a@acme.example", "--role", "viewer"}, {"keys", "list"}, {"keys", "rotate", "key_1"},
		{"import", "--format", "csv", "-"}, {"import", "prices", "-"},
		{"import", "transactions", "--source", "Bank", "-"}, {"import", "transactions", "--resume", "imp_1"}, {"export", "--format", "csv"}} {
		inside(on(c, args...)...).mustFail(t, 1, "no database in "+c.Dir, "--data", "bursar init")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("they left %v, %v", left, err)
	}
}
