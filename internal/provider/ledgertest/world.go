package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// Fake is the fake of a general ledger. It embeds a providertest.Server.
type Fake interface {
	providertest.Answerer
	// Credentials returns what the account is accessed with.
	Credentials() map[string]string
	// Books returns what is in the general ledger.
	Books() *Books
	// Tokens returns what issues its tokens, or nil if there are none.
	Tokens() *Tokens
}

// start is the time at which tests begin.
var start = time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)

// world is a connector and the fake of its system.
type world struct {
	*testing.T
	*providertest.Server
	connector provider.Ledger
	fake      Fake
	now       *clock.Manual
	dialer    *provider.Dialer
	chart     provider.Chart // as the connector read it at the beginning
	keeper    *keeper

	mu    sync.Mutex
	slept []time.Duration
	keys  int
}

func newWorld(t *testing.T, s Suite) *world {
	w := &world{T: t, connector: s.Connector, now: clock.NewManual(start), fake: s.Fake()}
	w.Server = w.fake.Base()
	providertest.Start(t, w.fake, w.now.Now)
	config := provider.Config{URL: w.URL, AllowPrivate: true, Clock: w.now, Sleep: w.sleep}
	if tokens := w.fake.Tokens(); tokens != nil {
		config.Client = tokens.Client
	}
	w.dialer = provider.NewDialer(s.Connector.Describe(), config)
	w.keeper = &keeper{stored: Secrets(w.fake.Credentials())}
	chart, err := w.connector.Chart(w.Context(), w.session(true))
	if err != nil {
		t.Fatal(err)
	}
	w.chart = chart
	return w
}

// Secrets returns credentials in the form that sessions take.
func Secrets(plain map[string]string) provider.Credentials {
	out := provider.Credentials{}
	for name, text := range plain {
		out[name] = secret.New(text)
	}
	return out
}

// keeper keeps credentials as the service does.
type keeper struct {
	mu     sync.Mutex
	stored provider.Credentials
}

// Renew returns the credentials that follow others.
func (k *keeper) Renew(ctx context.Context, stale provider.Credentials,
	renew func(context.Context, provider.Credentials) (provider.Credentials, error),
) (provider.Credentials, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !stale[provider.AccessToken].Equal(k.stored[provider.AccessToken]) {
		return k.stored, nil
	}
	fresh, err := renew(ctx, k.stored)
	if err == nil {
		k.stored = fresh
	}
	return fresh, err
}

// sleep moves the clock instead of waiting.
func (w *world) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	w.slept = append(w.slept, d)
	w.mu.Unlock()
	w.now.Advance(d)
	return ctx.Err()
}

// waited returns the longest pause since the last call.
func (w *world) waited() (longest time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.slept {
		longest = max(longest, d)
	}
	w.slept = nil
	return longest
}

// session returns a session with the credentials that are stored.
func (w *world) session(patient bool) *provider.Session {
	w.keeper.mu.Lock()
	defer w.keeper.mu.Unlock()
	s := w.dialer.Open(w.keeper.stored, patient)
	s.Keeper = w.keeper
	return s
}

// account returns the id of an account by its name.
func (w *world) account(name string) string {
	for _, a := range w.chart.Accounts {
		if a.Name == name {
			return a.ID
		}
	}
	w.Fatalf("there is no account %s: %+v", name, w.chart.Accounts)
	return ""
}

// journal returns a journal with a new key, of amounts that are debited in turn to the first accounts and credited together to another.
// They are rounded if the currency of the books has no decimals.
func (w *world) journal(amounts ...string) provider.Journal {
	w.mu.Lock()
	w.keys++
	n := w.keys
	w.mu.Unlock()
	j := provider.Journal{Key: fmt.Sprintf("je_01jc%08d-v1_a", n), Number: fmt.Sprintf("JE-%d", n), Date: "2026-10-15", Memo: "Sale of 2 BTC",
		Currency: w.chart.Currency}
	total := money.Decimal{}
	places, _ := money.MinorUnits(j.Currency)
	for i, text := range amounts {
		amount := money.MustParse(text)
		if rounded := amount.Round(places); places == 0 && !rounded.IsZero() {
			amount = rounded
		}
		total = total.Add(amount)
		line := provider.JournalLine{Account: w.account([]string{"Checking", "Network fees"}[i%2]), Debit: true, Amount: amount,
			Memo: fmt.Sprintf("Line %d", i+1)}
		if len(w.chart.Dimensions) > 0 && i == 0 {
			line.Dimensions = map[string]string{w.chart.Dimensions[0].ID: active(w.chart.Dimensions[0])}
		}
		j.Lines = append(j.Lines, line)
	}
	j.Lines = append(j.Lines, provider.JournalLine{Account: w.account("Sales"), Amount: total, Memo: "Proceeds"})
	return j
}

// active returns a value of a dimension that lines can have.
func active(d provider.Dimension) string {
	at := slices.IndexFunc(d.Values, func(v provider.DimensionValue) bool { return v.Active })
	return d.Values[at].ID
}

// push stores a journal and requires that it succeeds.
func (w *world) push(j provider.Journal) provider.Posted {
	w.Helper()
	p, err := w.connector.Push(w.Context(), w.session(true), j)
	if err != nil || p.ID == "" {
		w.Fatalf("%+v: %v", p, err)
	}
	return p
}

// forget takes back what was to happen to requests that were not made.
func (w *world) forget() {
	for n := range 3 * requestsTried {
		w.FailAt(n+1, nil)
		w.BeforeRequest(n+1, nil)
	}
}

// stored returns how many journals with a key are in the books.
func (w *world) stored(key string) int {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return len(w.fake.Books().Keyed(key))
}

// change changes the books, as people at the system do.
func (w *world) change(do func(b *Books)) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	do(w.fake.Books())
}

// text describes a journal, with its lines in their order.
func text(j provider.Journal) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s %q %s", j.Key, j.Date, j.Memo, j.Currency)
	for _, l := range j.Lines {
		dimensions := ""
		if len(l.Dimensions) > 0 {
			dimensions = fmt.Sprint(l.Dimensions)
		}
		fmt.Fprintf(&out, "\n  %s %v %s %q %s", l.Account, l.Debit, l.Amount, l.Memo, dimensions)
	}
	return out.String()
}

// refuses requires an error of one of some kinds that contains no secret.
func (w *world) refuses(name string, err error, kinds ...fault.Kind) {
	w.Helper()
	if err == nil || !slices.Contains(kinds, fault.KindOf(err)) {
		w.Errorf("%s: %v, which is %s and not %s", name, err, fault.KindOf(err), kinds)
	}
	w.clean(name, err)
}

// clean requires that an error contains no secret.
func (w *world) clean(name string, err error) {
	w.Helper()
	w.keeper.mu.Lock()
	secrets := []string{w.keeper.stored[provider.AccessToken].Reveal(), w.keeper.stored[provider.RefreshToken].Reveal()}
	for _, f := range w.connector.Describe().Fields {
		if f.Secret {
			secrets = append(secrets, w.keeper.stored[f.Name].Reveal())
		}
	}
	w.keeper.mu.Unlock()
	if tokens := w.fake.Tokens(); tokens != nil {
		secrets = append(secrets, tokens.Client.Secret.Reveal())
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		for _, s := range secrets {
			if s != "" && strings.Contains(e.Error(), s) {
				w.Errorf("%s: the error contains a secret: %v", name, e)
			}
		}
	}
}
