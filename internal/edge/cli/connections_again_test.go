package cli_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/provider/bitstamp/bitstamptest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/provider/rillet/rillettest"
)

// restart has the service run with further variables and flags.
func (x *exchange) restart(env []string, args ...string) *process {
	x.Helper()
	p := start(x.T, env, on(x.config, append([]string{"serve", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--allow-private-networks",
		"--provider-url", "kraken=" + x.kraken.URL}, args...)...)...)
	x.address = p.ready(x.T)
	x.service = once(x.address, x.APIKey)
	return p
}

// connection returns the only connection.
func (x *exchange) connection(ctx context.Context) (client.Connection, error) {
	for c, err := range x.service.Connections(ctx, nil) {
		return c, err
	}
	return client.Connection{}, errors.New("there is none")
}

func TestASynchronizationAfterAnOutageIsWaitedFor(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	x.run(x.secrets(), "connect", "kraken").mustDo(t)
	for n := range 100 {
		x.kraken.FailAt(n+1, providertest.Status(http.StatusBadGateway, "", "", "down"))
	}
	x.run("", "connections", "sync", "Kraken").mustDo(t)
	eventually(t, "the outage is shown", func(ctx context.Context) error {
		c, err := x.connection(ctx)
		if err == nil && c.Status != "error" {
			err = errors.New(c.Status)
		}
		return err
	})
	r := x.run("", "connections", "show", "Kraken").mustDo(t)
	c, err := x.connection(t.Context())
	if err != nil || c.ErrorMessage == nil || strings.Count(r.out, *c.ErrorMessage) != 1 {
		t.Errorf("it does not say once what is wrong: %v\n%s", err, r.out)
	}
	x.kraken.Recover()
	x.deposit(time.Now().Add(-time.Minute), "7.5")
	x.run("", "connections", "sync", "Kraken", "--wait").mustDo(t).says(t, "1 new transaction", "480.00")
}

func TestAnAccountThatIsNotToldGoesOnWithItsSource(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	bank := bitstamptest.New()
	providertest.Start(t, bank, time.Now)
	bank.Mu.Lock()
	bank.Add(providertest.Movement{At: time.Now().Add(-48 * time.Hour), Kind: providertest.Deposit, Asset: "USD", Amount: "5.25"})
	bank.Mu.Unlock()
	x.restart(nil, "--provider-url", "bitstamp="+bank.URL)
	secrets := ""
	for _, name := range []string{"api_key", "api_secret"} {
		secrets += bank.Credentials()[name] + "\n"
	}
	x.run("wrong\nwrong\n", "connect", "bitstamp").mustFail(t, 1, "bursar: Bitstamp refuses")
	x.run(secrets, "connect", "bitstamp").mustDo(t).says(t, "1 new transaction")
	c, err := x.connection(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again := "--source " + c.SourceIDs[0]
	x.run("", "connections", "disconnect", "Bitstamp").mustDo(t).says(t, "`bursar connect bitstamp "+again+"`")
	x.run(secrets, "connect", "bitstamp").mustFail(t, 2, again, "--new-source")
	x.run(secrets, "connect", "bitstamp", "--source", c.SourceIDs[0]).mustDo(t).says(t, "1 known already")
	x.run("", "connections", "disconnect", "Bitstamp", "--yes").mustDo(t)
	r := x.run(secrets, "connect", "bitstamp", "--new-source").mustDo(t)
	r.says(t, "1 new transaction")
	second := conID.FindString(r.out)
	x.run(secrets, "connect", "bitstamp").mustFail(t, 2, "connections update "+second+" --credentials", again, "--new-source")
}

func TestNewCredentialsAreStoredAlthoughTheConnectionChangesMeanwhile(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	x.run(x.secrets(), "connect", "kraken", "--every", "0").mustDo(t)
	c, err := x.connection(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x.kraken.BeforeRequest(1, func() { // the key is being checked
		name := "Renamed"
		if _, err := x.service.UpdateConnection(t.Context(), c.ID, client.UpdateConnection{Name: &name}); err != nil {
			t.Error(err)
		}
	})
	x.run(x.secrets(), "connections", "update", "Kraken", "--credentials").mustDo(t).says(t, "Renamed")
}

func TestASetupThatWasDeclinedIsShown(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	x.restart([]string{"BURSAR_PROVIDER_QUICKBOOKS_CLIENT_ID=a", "BURSAR_PROVIDER_QUICKBOOKS_CLIENT_SECRET=b"})
	x.run("", "connect", "quickbooks", "--no-wait").mustDo(t)
	c, err := x.connection(t.Context())
	if err == nil {
		c, err = x.service.Connection(t.Context(), c.ID)
	}
	if err != nil || c.RedirectURL == nil {
		t.Fatal(c, err)
	}
	page, err := url.Parse(*c.RedirectURL)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Get(x.address + "/connect/callback?error=access_denied&state=" + url.QueryEscape(page.Query().Get("state")))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(text), "bursar connections reauthorize") {
		t.Errorf("%v %s", err, text)
	}
	x.run("", "connections", "list").mustDo(t).says(t, "denied")
	x.run("", "connections", "show", c.ID).mustDo(t).says(t, "denied", "`bursar connections reauthorize "+c.ID)
}

func TestAGeneralLedgerIsWaitedForAndTheNextStepsAreShown(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	ledger := rillettest.New("USD")
	providertest.Start(t, ledger, time.Now)
	x.restart(nil, "--provider-url", "rillet="+ledger.URL)
	r := x.run(ledger.Credentials()["api_key"]+"\n", "connect", "rillet").mustDo(t)
	r.says(t, "Rillet: it has ", " accounts.", "/docs/guides/general-ledger")
	if strings.Contains(r.out, "syncing. ") || strings.Contains(r.out, "it has 0 accounts") {
		t.Errorf("%s", r.out)
	}
	if r := x.run("", "connections", "runs", "Rillet").mustDo(t).says(t, "completed"); strings.Contains(r.out, "0 records") {
		t.Errorf("%s", r.out)
	}
}

func TestEntriesAreSentFromTheCommandLineAndFailuresAreErrors(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	ledger := rillettest.New("USD")
	providertest.Start(t, ledger, time.Now)
	x.restart(nil, "--provider-url", "rillet="+ledger.URL)
	entries := sendable(t, x.service, ledger)
	good, err := x.service.JournalEntry(t.Context(), entries[0])
	if err != nil {
		t.Fatal(err)
	}
	bad := client.CreateJournalEntry{AccountingDate: "2026-01-16", Status: "posted"}
	for _, l := range good.Lines {
		bad.Lines = append(bad.Lines, client.CreateJournalLine{LedgerAccountID: l.LedgerAccountID, CreditOrDebit: l.CreditOrDebit,
			Amount: "10.005", Currency: "USD"})
	}
	if _, err := x.service.CreateJournalEntry(t.Context(), bad); err != nil {
		t.Fatal(err)
	}
	x.run("", "connections", "send", "Rillet", "--dry-run").says(t, "12 to send, 1 blocked",
		"1 entry: the amount 10.005 has more decimals than USD").
		mustFail(t, 1, "bursar: 1 entry cannot be sent")
	x.run("", "connections", "send", "Rillet", "--end-date", "2026-01-15").mustDo(t).says(t, "Rillet: 12 sent, replaced or removed.")
	x.run("", "connections", "send", "Rillet").says(t, "12 there already, 1 failed",
		"JE-13 failed: the amount 10.005").
		mustFail(t, 1, "bursar: nothing was sent, because 1 failed; JE-13: the amount 10.005")
	ledger.Mu.Lock()
	ledger.Books().Entries[0].Date = "2026-01-20"
	ledger.Mu.Unlock()
	x.run("", "connections", "send", "Rillet", "--check").says(t, "11 as sent, 1 changed there",
		"changed: date is 2026-01-20 instead of 2026-01-15").
		mustFail(t, 1, "bursar: 1 entry not as sent")
	many := make([]client.CreateJournalEntry, 250) // more than are begun together
	for n := range many {
		many[n] = client.CreateJournalEntry{AccountingDate: "2026-01-17", Status: "posted", Lines: slices.Clone(bad.Lines)}
		for i := range many[n].Lines {
			many[n].Lines[i].Amount = "10.00"
		}
	}
	if _, err := x.service.CreateJournalEntries(t.Context(), many); err != nil {
		t.Fatal(err)
	}
	before := ledger.Requests()
	x.run("", "connections", "send", "Rillet", "--dry-run").says(t, "250 to send")
	planned := ledger.Requests() - before
	for n := range 100 { // when some are sent
		ledger.FailAt(planned+6+n, providertest.Status(http.StatusUnauthorized, "", "", "{}"))
	}
	x.run("", "connections", "send", "Rillet").mustFail(t, 1, "bursar: Rillet refuses the API key; not attempted: 50 entries")
}

func TestAKeyThatIsMissingIsReported(t *testing.T) {
	t.Parallel()
	x := withExchange(t, dbtest.SQLite(t))
	x.run(x.secrets(), "connect", "kraken", "--every", "0").mustDo(t)
	path := filepath.Join(x.config.Dir, seal.File)
	program(t, nil, on(x.config, "backup", filepath.Join(t.TempDir(), "b.db"))...).mustDo(t).says(t, "Wrote ", path)
	x.keys(nil, "rotate", "--settle", "0s").mustDo(t)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	x.keys(nil, "status").mustFail(t, 1, "1 value", "cannot be read", path)
	x.keys(nil, "rotate", "--settle", "0s").mustFail(t, 1, "cannot be read")
	if _, err := seal.New(secret.Text{}, path).State(); err != nil { // creates another key
		t.Fatal(err)
	}
	x.keys(nil, "status").mustDo(t).says(t, "1 value sealed under a key that is not in the keyset and cannot be read")
	x.keys(nil, "rotate", "--settle", "0s").mustFail(t, 1, "1 value is sealed under a key that is not in the keyset", "--force")
	r := x.keys(nil, "rotate", "--force", "--settle", "0s").mustDo(t)
	if !strings.Contains(r.err, "1 value is sealed under a key that is missing") {
		t.Errorf("%s", r.err)
	}
	p := x.restart(nil)
	if !strings.Contains(p.log.text(), "values are sealed under a key that this service does not have") {
		t.Errorf("the service does not warn:\n%s", p.log.tail())
	}
	x.run(x.secrets(), "connections", "update", "Kraken", "--credentials").mustDo(t)
	x.keys(nil, "rotate", "--settle", "0s").mustDo(t)
}
