package cli_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// initWith runs init with a password on standard input.
func initWith(t *testing.T, c db.Config, password string, more ...string) result {
	t.Helper()
	cmd := command(t, nil, append(on(c, "init", "--organization", "Acme", "--password-stdin", "--json"), more...))
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(password+"\n"), &out, &errOut
	_ = cmd.Run() // how it ended is in ProcessState
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// signsIn reports whether somebody can sign in with a password.
func signsIn(t *testing.T, address, email, password string) bool {
	t.Helper()
	body, err := json.Marshal(map[string]string{"email": email, "password": password})
	if err != nil {
		t.Fatal(err)
	}
	a, err := http.Post(address+"/v1/session", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusCreated && a.StatusCode != http.StatusUnauthorized {
		t.Fatalf("signing in answers %d", a.StatusCode)
	}
	return a.StatusCode == http.StatusCreated
}

func TestInitDoesNotReplaceThePasswordOfSomebodyWhoHasOne(t *testing.T) {
	t.Parallel()
	const hers, other = "correct violin harvest 42", "another violin harvest 43"
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		initWith(t, c, hers, "--email", "ada@acme.example").mustDo(t)
		before := organizations(t, c)
		initWith(t, c, other, "--email", "Ada@acme.example", "--another").mustFail(t, 1, "ada@acme.example has an account already",
			"nothing was created", "without --password-stdin")
		initWith(t, c, "short", "--email", "new@acme.example", "--another").mustFail(t, 1, "--password-stdin must have at least")
		if got := organizations(t, c); got != before {
			t.Errorf("there are %d organizations, want %d", got, before)
		}
		address := serve(t, c).ready(t)
		if !signsIn(t, address, "ada@acme.example", hers) || signsIn(t, address, "ada@acme.example", other) {
			t.Error("the password has changed")
		}
		inside(on(c, "init", "--organization", "Second", "--email", "ada@acme.example", "--another")...).mustDo(t)
		initWith(t, c, other, "--email", "new@acme.example", "--another").mustDo(t)
		if !signsIn(t, address, "new@acme.example", other) {
			t.Error("somebody new has no password")
		}
		inside(on(c, "verify")...).mustDo(t)
	})
}

// organizations returns how many organizations there are.
func organizations(t *testing.T, c db.Config) int {
	t.Helper()
	return strings.Count(inside(on(c, "verify")...).mustDo(t).out, "org_")
}

func TestInitSuggestsWhatWorksAtTheAddressThatPeopleSee(t *testing.T) {
	t.Parallel()
	c := dbtest.SQLite(t)
	r := inside(on(c, "init", "--organization", "Acme", "--email", "ada@acme.example", "--public-url",
		"https://books.acme.example")...).mustDo(t)
	for _, text := range []string{"--public-url https://books.acme.example\n", " https://books.acme.example/v1/organization\n",
		"https://books.acme.example/set-password"} {
		if !strings.Contains(r.err, text) {
			t.Errorf("it does not suggest %q:\n%s", text, r.err)
		}
	}
	if strings.Contains(r.err, "127.0.0.1") {
		t.Errorf("it suggests another address:\n%s", r.err)
	}
	r = inside(on(c, "init", "--organization", "Acme", "--email", "eve@acme.example", "--another", "--public-url",
		"http://127.0.0.1:9000")...).mustDo(t)
	if !strings.Contains(r.err, " --public-url http://127.0.0.1:9000 --addr 127.0.0.1:9000\n") {
		t.Errorf("for an address of this machine, it suggests\n%s", r.err)
	}
	r = inside(on(c, "init", "--organization", "Acme", "--email", "bob@acme.example", "--another")...).mustDo(t)
	if strings.Contains(r.err, "--public-url") || !strings.Contains(r.err, " http://127.0.0.1:8080/v1/organization\n") {
		t.Errorf("by default, it suggests\n%s", r.err)
	}
}

func TestAMemberWithoutASecondFactorIsLetInOnTheCommandLine(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		found(t, c)
		reset := func(more ...string) result {
			return inside(on(c, append([]string{"members", "reset-second-factor"}, more...)...)...)
		}
		if r := reset("--email", "owner@acme.example").mustDo(t); !strings.HasPrefix(r.out, "http://127.0.0.1:8080/set-password") {
			t.Errorf("who cannot sign in yet gets a link: %+v", r)
		}
		reset("--email", "nobody@acme.example").mustFail(t, 1, "member not found: nobody@acme.example")
		reset("--email", "nobody").mustFail(t, 1, "--email must be an email address")
		reset("--email", "owner@acme.example", "--public-url", "books").mustFail(t, 2, "--public-url")
		reset().mustFail(t, 2, "--email is required")
		addPasskey(t, c)
		r := reset("--email", "Owner@acme.example", "--public-url", "https://books.acme.example").mustDo(t)
		if !strings.HasPrefix(r.out, "Removed no authenticator app and 1 passkey of owner@acme.example, and ended 0 sessions.\n"+
			"https://books.acme.example/set-password") || !strings.Contains(r.err, "has no password") {
			t.Errorf("%+v", r)
		}
		inside(on(c, "verify")...).mustDo(t)
		damage(t, c, "UPDATE user_credentials SET password_hash = 'x'")
		reset("--email", "owner@acme.example").mustFail(t, 1, "owner@acme.example has neither an authenticator app nor a passkey")
	})
}

// addPasskey stores a passkey of the only user, which no device has.
func addPasskey(t *testing.T, c db.Config) {
	t.Helper()
	damage(t, c, "INSERT INTO passkeys (passkey_id, user_id, credential_id, name, credential, created_at) SELECT 'psk_1', user_id, "+
		"'x', 'Laptop', 'x', created_at FROM users")
}

func TestNoFlagTakesACommandForItsValue(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"serve", "--help"}, {"members", "add", "--help"}} {
		r := inside(args...).mustDo(t)
		for line := range strings.Lines(r.out) {
			if name, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == "--oauth-registration" && !strings.HasPrefix(rest, " ") {
				t.Errorf("a flag without a value seems to have one: %s", line)
			}
		}
	}
}
