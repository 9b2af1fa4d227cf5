package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/provider/kraken/krakentest"
	"github.com/bursarhq/bursar/internal/provider/plaid/plaidtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// exchange is a running service whose accounts at Kraken and at a bank are fakes, and the organization that uses it.
type exchange struct {
	*testing.T
	founded
	kraken  *krakentest.Server
	bank    *plaidtest.Server
	config  db.Config
	address string
	service *client.Client
}

func withExchange(t *testing.T, c db.Config) *exchange {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir() // the key for secrets is there
	}
	x := &exchange{T: t, founded: found(t, c), kraken: krakentest.New(), bank: plaidtest.New(), config: c}
	providertest.Start(t, x.kraken, time.Now)
	providertest.Start(t, x.bank, time.Now)
	for i := range 30 {
		x.deposit(time.Now().Add(-time.Duration(40-i)*time.Hour), fmt.Sprintf("%d.25", i+1))
	}
	p := start(t, []string{"BURSAR_PROVIDER_PLAID_CLIENT_ID=" + plaidtest.Client.ID,
		"BURSAR_PROVIDER_PLAID_CLIENT_SECRET=" + plaidtest.Client.Secret.Reveal()},
		on(c, "serve", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--allow-private-networks", "--provider-url", "kraken="+x.kraken.URL,
			"--provider-url", "plaid="+x.bank.URL)...)
	x.address = p.ready(t)
	x.service = once(x.address, x.APIKey)
	return x
}

// deposit adds a deposit of EUR to the account at Kraken.
func (x *exchange) deposit(at time.Time, amount string) {
	x.kraken.Mu.Lock()
	defer x.kraken.Mu.Unlock()
	x.kraken.Add(providertest.Movement{At: at, Kind: providertest.Deposit, Asset: "EUR", Amount: amount})
}

// run runs the program with what is typed, which comes from a pipe.
func (x *exchange) run(typed string, args ...string) result {
	x.Helper()
	cmd := command(x.T, remote(x.address, x.APIKey), args)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(typed), &out, &errOut
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		x.Fatal(err)
	}
	r := result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
	if secret := x.kraken.Credentials()["api_secret"]; strings.Contains(r.out+r.err, secret) {
		x.Errorf("%v prints the secret", args)
	}
	return r
}

// says fails the test unless a command has printed some texts.
func (r result) says(t *testing.T, texts ...string) result {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.out, text) {
			t.Errorf("it does not print %q:\n%s%s", text, r.out, r.err)
		}
	}
	return r
}

// secrets returns the key and the secret of the account at Kraken, each in a line.
func (x *exchange) secrets() string {
	c := x.kraken.Credentials()
	return c["api_key"] + "\n" + c["api_secret"] + "\n"
}

func TestAnAccountIsConnectedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		x := withExchange(t, c)
		if r := x.run("", "connections", "list").mustDo(t); !strings.Contains(r.err, "There are no connections yet: `bursar connect`") {
			t.Errorf("%s", r.err)
		}
		r := x.run(x.secrets(), "connect", "kraken", "--name", "Main account", "--every", "0").mustDo(t)
		r.says(t, "Connected: con_", "Main account: 30 records read, 30 new transactions.", "At the provider", "EUR", "472.50",
			"30 transactions wait to be booked", "It is read again on request only")
		if !strings.Contains(r.err, "Query ledger entries") {
			t.Errorf("it does not say how to create a key:\n%s", r.err)
		}
		x.run("", "connections", "list").mustDo(t).says(t, "PROVIDER", "kraken", "Main account", "active")
		x.run("", "connections", "list", "--status", "error").mustDo(t)
		x.run("", "connections", "show", "main account").mustDo(t).says(t, "on request", "472.50", "disconnect, edit, sync")

		x.deposit(time.Now().Add(-time.Minute), "7.5")
		x.run("", "connections", "sync", "Main account", "--wait").mustDo(t).says(t, "1 new transaction", "480.00", "31 transactions wait")
		x.run("", "connections", "sync", "Main account").mustDo(t).says(t, "is being read")
		x.run("", "connections", "runs", "Main account").mustDo(t).says(t, "BEGAN", "setup", "request", "completed", "30 new transactions")

		x.run("", "connections", "update", "Main account", "--name", "Kraken", "--every", "30", "--classify", "suggest").mustDo(t).
			says(t, "Changed: con_")
		x.run(x.secrets(), "connections", "update", "Kraken", "--credentials").mustDo(t)
		x.run("", "connections", "show", "Kraken").mustDo(t).says(t, "get suggestions")
		x.run("", "connections", "update", "Kraken", "--classify", "none").mustDo(t)
		x.run("", "connections", "reauthorize", "Kraken").mustFail(t, 1, "bursar connections update con_", "--credentials")
		x.run("", "connections", "disconnect", "Kraken").mustDo(t).says(t, "Disconnected: con_", "transactions, source",
			"bursar connect kraken --source src_")
		x.run("", "connections", "sync", "Kraken").mustFail(t, 1, "is disconnected, which is final")

		// Connected again, it goes on with the source that it had.
		x.run(x.secrets(), "connect", "kraken").mustDo(t).says(t, "31 known already")
	})
}

func TestSecretsComeFromFilesAndLinesAndNeverFromArguments(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	with := x.kraken.Credentials()
	file := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(file, []byte(with["api_secret"]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	key := "--field=api_key=" + with["api_key"]
	x.run("", "connect", "kraken", key, "--field", "api_secret=abc").mustFail(t, 2, "others on this machine can read the arguments",
		"--field-file api_secret=FILE")
	x.run("", "connect", "kraken", key).mustFail(t, 1, "the Private key is missing", "--field api_secret=-")
	x.run("", "connect", "kraken", "--field", "nonsense=1").mustFail(t, 2, `Kraken has no field "nonsense": choose from api_key, api_secret`)
	x.run("", "connect", "kraken", key, key).mustFail(t, 2, "api_key is given more than once")
	x.run("", "connect", "kraken", "--field", "api_key").mustFail(t, 2, "must be the name of a field and its value")
	x.run("", "connect", "kraken", key, "--field-file", "api_secret="+file+".none").mustFail(t, 1, "no such file")
	x.run("\n", "connect", "kraken", key).mustFail(t, 1, "the Private key is empty")
	x.run("", "connect", "krakn").mustFail(t, 1, `there is no provider "krakn": choose one of`, "kraken")
	x.run("", "connect").mustFail(t, 2, "bursar connections providers")
	x.run("", "connect", "kraken", "coinbase").mustFail(t, 2, "takes one argument")
	x.run("", "connect", "xero").mustFail(t, 1, "Xero needs a registration of this service first",
		x.address+"/connect/callback", x.address+"/docs/guides/register-at-a-provider", "restarts it")
	x.run("", "connect", "kraken", key, "--field-file", "api_secret="+file, "--legal-entity", "Globex").
		mustFail(t, 1, `there is no legal entity "Globex"`, x.LegalEntityID)
	x.run("", "connect", "kraken", key, "--field-file", "api_secret="+file, "--every", "1").mustFail(t, 1, "sync_every_minutes")
	wrong := strings.Replace(with["api_key"], with["api_key"][:4], "zzzz", 1)
	x.run(with["api_secret"]+"\n", "connect", "kraken", "--field", "api_key="+wrong, "--field", "api_secret=-").mustFail(t, 1, "refuses")
	for one, err := range x.service.Connections(t.Context(), nil) {
		t.Errorf("%+v %v", one, err)
	}
	x.run("", "connect", "kraken", key, "--field-file", "api_secret="+file, "--no-wait", "--legal-entity", x.LegalEntityID).mustDo(t).
		says(t, "Connected: con_")
	x.run("", "connections", "show", "con_01jd0000000000000000000000").mustFail(t, 1, "connection not found")
	x.run("", "connections", "show", "nothing").mustFail(t, 1, `there is no connection "nothing"`)
	x.run("", "connections", "update", "Kraken").mustFail(t, 2, "say what to change")
}

func TestARevokedKeySaysWhatToDo(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	x.run(x.secrets(), "connect", "kraken").mustDo(t).says(t, "It is looked at every 15 minutes")
	x.kraken.Revoke(true)
	x.run("", "connections", "sync", "Kraken", "--wait").mustFail(t, 1, "refuses", "bursar connections update con_", "--credentials")
	x.run("", "connections", "list").mustDo(t).says(t, "needs_reauthorization")
	x.run("", "connections", "sync", "Kraken").mustFail(t, 1, "bursar connections update con_")
	r := x.run("", "connections", "show", "Kraken").mustDo(t).says(t, "bursar connections update con_", "disconnect")
	if strings.Contains(r.out, "PATCH") || strings.Contains(r.out, "reauthorize") {
		t.Errorf("it does not say what to do in a terminal:\n%s", r.out)
	}
	x.kraken.Revoke(false)
	x.deposit(time.Now().Add(-time.Minute), "7.5")
	x.run(x.secrets(), "connections", "update", "Kraken", "--credentials", "--wait").mustDo(t).says(t, "1 new transaction", "480.00")
	x.run(x.secrets(), "connect", "kraken").mustFail(t, 1, "Kraken", "is connected to this account already")
}

func TestProvidersAreListedByKindWithWhatEachNeeds(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	x.run("", "connections", "providers").mustDo(t).says(t, "(exchanges)", "(banks)", "(blockchains)", "(general ledgers)",
		"not available: `bursar connections providers quickbooks` says why")
	x.run("", "connections", "providers", "quickbooks").mustDo(t).says(t, "BURSAR_PROVIDER_QUICKBOOKS_CLIENT_ID")
	x.run("", "connections", "providers", "Coinbase").mustDo(t).says(t, "api_secret", "required, secret", "permission View")
	x.run("", "connections", "providers", "plaid").mustDo(t).says(t, "on a page of Plaid")
	x.run("", "connections", "providers", "netsuite").mustDo(t).says(t, "once for the organization")
}

func TestAnAccountIsConnectedOnAPageWhileTheCommandWaits(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	p := start(t, remote(x.address, x.APIKey), "connect", "plaid", "--name", "Checking")
	p.printed(t, "https://secure.plaid.com/hl/link-production-0000")
	x.bank.Mu.Lock()
	x.bank.Add(providertest.Movement{At: time.Now().Add(-48 * time.Hour), Kind: providertest.Deposit, Asset: "USD", Amount: "1200.50"})
	back := x.bank.SignIn(true)
	x.bank.Mu.Unlock()
	eventually(t, "the browser comes back", func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, back, http.NoBody)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return errors.New(answer.Status)
		}
		return nil
	})
	p.printed(t, "The setup is finished.")
	p.printed(t, "Checking: ")
	if code := p.wait(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	q := start(t, remote(x.address, x.APIKey), "connections", "reauthorize", "Checking")
	q.printed(t, "link-production-0001")
	q.interruptFails(t, "the connection stays")
	x.run("", "connections", "reauthorize", "Checking", "--no-wait").mustDo(t).says(t, "link-production-0002")
}

// interruptFails sends what Ctrl-C does, and checks that the process says what that means.
func (p *process) interruptFails(t *testing.T, says string) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t); code != 1 || !strings.Contains(p.log.text(), says) {
		t.Errorf("exit %d after Ctrl-C\n%s", code, p.log.tail())
	}
}
