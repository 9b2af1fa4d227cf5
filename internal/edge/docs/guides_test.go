package docs_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/docs/guides"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/catalog"
	"github.com/bursarhq/bursar/internal/provider/kraken/krakentest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/provider/stripe/stripetest"
)

var blocks = regexp.MustCompile("(?s)```(sh|text)\n(.*?)```")

func TestTheCommandsOfTheGuidesWork(t *testing.T) {
	t.Parallel()
	for _, name := range guides.Order {
		if needsDemo(t, name) {
			continue // the capture of the examples runs it, as it has the demo company
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apitest.Start(t, dbtest.Open(t, dbtest.SQLite(t)), api.Config{})
			s.Work(t)
			fillStripe(s.Stripe)
			fillKraken(s.Kraken)
			with := s.Kraken.Credentials()
			follow(t, name, s.URL, s.Found(t, "acme").Key, "KRAKEN_API_KEY="+with["api_key"], "KRAKEN_API_SECRET="+with["api_secret"])
		})
	}
}

// fillStripe adds what the guide to Stripe shows.
func fillStripe(s *stripetest.Server) {
	northwind := s.Customer("Northwind", nil)
	s.Invoice(northwind, []stripetest.Object{s.Line("Seats", 120000, nil)}, stripetest.Object{"number": "A-1", "status": "paid",
		"amount_remaining": int64(0)})
	s.Invoice(northwind, []stripetest.Object{s.Line("Seats", 30000, nil)}, stripetest.Object{"number": "A-2"})
	s.BalanceTransaction("charge", 120000, 2510, nil)
	s.BalanceTransaction("payout", -50000, 0, nil)
}

// fillKraken adds what the guide to connections shows.
func fillKraken(s *krakentest.Server) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for n, amount := range []string{"500", "300.25"} {
		s.Add(providertest.Movement{At: time.Now().Add(time.Duration(n-48) * time.Hour), Kind: providertest.Deposit, Asset: "EUR",
			Amount: amount})
	}
	s.Add(providertest.Movement{At: time.Now().Add(-time.Hour), Kind: providertest.Withdrawal, Asset: "EUR", Amount: "50"})
}

func textOfGuide(t *testing.T, name string) string {
	t.Helper()
	text, err := guides.Files.ReadFile(name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// needsDemo tells whether the commands of a guide are about the demo company.
func needsDemo(t *testing.T, name string) bool {
	t.Helper()
	return strings.Contains(textOfGuide(t, name), "`bursar demo`")
}

// endOfBlock separates what the blocks of a guide print.
const endOfBlock = "\x1e"

// follow runs the commands of a guide, in order, in one shell. A block marked "text" is what the commands before it print.
// Blocks marked "console" are not run. Other variables are those of env, and HOOK_URL is the address of a receiver of webhooks that accepts
// everything.
func follow(t *testing.T, name, url, key string, env ...string) {
	t.Helper()
	script := "set -euo pipefail\n"
	var wants []string // by block of commands; empty if the guide does not show what it prints
	for _, block := range blocks.FindAllStringSubmatch(textOfGuide(t, name), -1) {
		switch {
		case block[1] == "sh":
			script += block[2] + "printf '" + endOfBlock + "'\n"
			wants = append(wants, "")
		case len(wants) == 0:
			t.Fatalf("the guide shows an output before the first command:\n%s", block[2])
		default:
			wants[len(wants)-1] = block[2]
		}
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer receiver.Close()
	c := exec.CommandContext(t.Context(), "bash", "-c", script)
	c.Dir = t.TempDir()
	c.Env = append(append(os.Environ(), env...), "BURSAR_URL="+url, "BURSAR_API_KEY="+key, "HOOK_URL="+receiver.URL+"/hook")
	if program := os.Getenv("BURSAR_BIN"); program != "" { // of the commands that work on a database
		c.Env = append(c.Env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	}
	var out, complaints strings.Builder
	c.Stdout, c.Stderr = &out, &complaints
	if err := c.Run(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out.String(), complaints.String())
		return
	}
	for line := range strings.Lines(out.String()) {
		if strings.TrimSpace(line) == "null" { // jq prints it where a command asks for a field that is not there
			t.Errorf("a command of the guide prints null:\n%s", out.String())
		}
	}
	printed := strings.Split(out.String(), endOfBlock)
	for i, want := range wants {
		if want != "" && printed[i] != want {
			t.Errorf("block %d of commands prints\n%s\nand the guide says\n%s", i+1, printed[i], want)
		}
	}
	t.Logf("%s", out.String())
}

func TestEveryGuideIsListed(t *testing.T) {
	t.Parallel()
	files, err := guides.Files.ReadDir(".")
	if err != nil || len(files) != len(guides.Order) {
		t.Errorf("there are %d guides, and %d are listed (%v)", len(files), len(guides.Order), err)
	}
}

func TestTheGuideToRegistrationsHasEveryProviderThatNeedsOne(t *testing.T) {
	t.Parallel()
	text, found := textOfGuide(t, "register-at-a-provider"), 0
	for _, c := range catalog.All() {
		d := c.Describe()
		if d.RegisterAt == "" {
			continue
		}
		found++
		variable := "BURSAR_PROVIDER_" + strings.ToUpper(d.Name) + "_CLIENT_"
		at := strings.TrimPrefix(d.RegisterAt, "https://")
		for _, want := range []string{"## " + d.Title + "\n", at, variable + "ID", variable + "SECRET"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the guide does not have %q", d.Title, want)
			}
		}
	}
	if found == 0 {
		t.Error("no provider needs a registration")
	}
}

func TestTheCodeOfAGuideCanBeCopied(t *testing.T) {
	t.Parallel()
	a := described(t)
	for _, name := range guides.Order {
		text := get(t, a, "/docs/guides/"+name).Body.String()
		blocks := strings.Count(text, "<pre")
		if blocks == 0 || strings.Count(text, `<figure><button type="button" class="copy" hidden>Copy</button><pre tabindex="0">`) != blocks ||
			strings.Count(text, "</pre></figure>") != blocks {
			t.Errorf("%s has %d blocks of code, not all with a button to copy them", name, blocks)
		}
	}
}
