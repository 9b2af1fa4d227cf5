package integration_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/campfire/campfiretest"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/provider/netsuite/netsuitetest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/provider/quickbooks/quickbookstest"
	"github.com/bursarhq/bursar/internal/provider/rillet/rillettest"
	"github.com/bursarhq/bursar/internal/provider/xero/xerotest"
)

// system is a general ledger of the catalog.
type system struct {
	title    string
	provider string
	fake     func() ledgertest.Fake
	consents bool                         // somebody consents on a page
	setUp    []string                     // what is entered for the organization first
	entered  []string                     // what is entered for the connection
	untold   bool                         // the system does not tell until when it is locked
	revoked  func(f ledgertest.Fake) bool // whether the access has ended at the system; nil if that is not possible
}

// systems are all general ledgers, in the ways in which they are connected.
var systems = []system{
	{title: "QuickBooks", provider: "quickbooks", fake: func() ledgertest.Fake { return quickbookstest.New("USD", true) }, consents: true,
		revoked: tokensRevoked},
	{title: "QuickBooks with one currency", provider: "quickbooks", fake: func() ledgertest.Fake { return quickbookstest.New("USD", false) },
		consents: true, revoked: tokensRevoked},
	{title: "Xero", provider: "xero", fake: func() ledgertest.Fake { return xerotest.New("USD") }, consents: true,
		revoked: func(f ledgertest.Fake) bool { return !f.(*xerotest.Server).Connected() }},
	{title: "NetSuite", provider: "netsuite", fake: func() ledgertest.Fake { return netsuitetest.New("USD") }, consents: true,
		setUp: []string{"client_id", "client_secret"}, entered: []string{provider.Subdomain}, revoked: tokensRevoked},
	{title: "NetSuite with a certificate", provider: "netsuite",
		fake:  func() ledgertest.Fake { return netsuitetest.NewCertified("USD", netsuitetest.NewKey()) },
		setUp: []string{"client_id", "certificate_id", "private_key"}, entered: []string{provider.Subdomain}},
	{title: "Rillet", provider: "rillet", fake: func() ledgertest.Fake { return rillettest.New("USD") }, entered: []string{provider.APIKey}},
	{title: "Campfire", provider: "campfire", fake: func() ledgertest.Fake { return campfiretest.New() }, entered: []string{provider.APIKey},
		untold: true},
}

// tokensRevoked reports whether a refresh token was revoked.
func tokensRevoked(f ledgertest.Fake) bool { return f.Tokens().Revoked == 1 }

// journey is an organization whose general ledger is the fake of one of the systems. Everything is done through the API.
type journey struct {
	*testing.T
	*apitest.Ledger
	system
	s          *apitest.Service
	fake       ledgertest.Fake
	server     *providertest.Server
	connection client.Connection
	gl         map[string]string // ids of the accounts at the general ledger, by our codes
}

// eachSystem runs a test with each general ledger, connected and with its accounts mapped.
func eachSystem(t *testing.T, test func(j *journey)) {
	t.Parallel()
	for _, one := range systems {
		t.Run(one.title, func(t *testing.T) {
			t.Parallel()
			dbtest.EachSampled(t, func(t *testing.T, c db.Config) { test(begin(t, dbtest.Open(t, c), one)) })
		})
	}
}

// begin connects a general ledger, and maps the accounts and tags that entries are posted with.
func begin(t *testing.T, d *db.DB, one system) *journey {
	j := &journey{T: t, system: one, fake: one.fake(), gl: map[string]string{}}
	j.server = j.fake.Base()
	providertest.Start(t, j.fake, time.Now)
	books := j.fake.Books()
	books.Accounts[0].Code, books.Accounts[0].Name = "1010", "Bank accounts"
	books.Accounts[2].Code = "4010"
	j.s = apitest.StartChanged(t, d, func(c *app.Config) {
		c.ProviderURLs[one.provider] = j.server.URL
		if tokens := j.fake.Tokens(); tokens != nil && len(one.setUp) == 0 {
			c.Registered[one.provider] = tokens.Client
		}
	})
	j.Ledger = j.s.Found(t, "acme").OpenLedger(t)
	j.connect()
	j.mapAccounts()
	return j
}

func (j *journey) must(err error) {
	j.Helper()
	if err != nil {
		j.Fatal(err)
	}
}

// body describes the connection as people enter it.
func (j *journey) body() client.CreateConnection {
	with := j.fake.Credentials()
	c := client.CreateConnection{Provider: j.provider, Name: "Books"}
	for _, field := range j.entered {
		switch field {
		case provider.APIKey:
			c.APIKey = with[field]
		case provider.Subdomain:
			c.Subdomain = with[field]
		}
	}
	if j.consents {
		c.RedirectURL = j.s.URL + "/dashboard?from=settings"
	}
	return c
}

// connect connects the general ledger as people do, and waits until its accounts are read.
func (j *journey) connect() {
	j.Helper()
	if len(j.setUp) > 0 && j.connection.ID == "" {
		_, err := j.Client.CreateConnection(j.T.Context(), j.body())
		apitest.WantConflict(j.T, err, "set up for the organization first")
		with := j.fake.Credentials()
		_, err = j.Client.SetUpProvider(j.T.Context(), j.provider, client.SetUpProvider{ClientID: with["client_id"],
			ClientSecret: with["client_secret"], CertificateID: with["certificate_id"], PrivateKey: with["private_key"]})
		j.must(err)
	}
	c, err := j.Client.CreateConnection(j.T.Context(), j.body())
	j.must(err)
	if j.consents {
		a := c.AuthorizationAttempt
		if c.RedirectURL == nil || a == nil || a.Status != "pending" || a.SetupURL == nil || *a.SetupURL != *c.RedirectURL ||
			j.connection.ID == "" && c.Status != "pending_setup" {
			j.Fatalf("%+v", c)
		}
		j.consent(*c.RedirectURL)
	}
	if j.connection = j.Sync(j.T, c.ID); j.connection.Status != "active" || j.connection.LastSyncedAt == nil {
		j.Fatalf("%+v", j.connection)
	}
	if c = j.connection; c.ExternalAccountID == nil && j.fake.Credentials()[provider.AccountID] != "" ||
		!slices.Contains(c.Capabilities, "push_journal_entries") || c.RedirectURL != nil || c.ErrorMessage != nil {
		j.Errorf("%+v", c)
	}
}

// consent opens the page of the provider in a browser, consents there, and follows the browser back to where the setup began.
func (j *journey) consent(page string) {
	j.Helper()
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, to := range []string{j.s.URL + app.SetupPath + "?", j.body().RedirectURL} {
		answer, err := browser.Get(page)
		j.must(err)
		_ = answer.Body.Close() // it matters only where the browser is sent
		if page = answer.Header.Get("Location"); !strings.HasPrefix(page, to) {
			j.Fatalf("status %d, sent to %q instead of %q", answer.StatusCode, page, to)
		}
	}
}

// mapAccounts maps accounts as it is suggested: those that are certain together, and one whose number differs alone.
func (j *journey) mapAccounts() {
	j.Helper()
	accounts := j.fake.Books().Accounts
	n := 0
	for a, err := range j.Client.GLAccounts(j.T.Context(), url.Values{"connection_id": {j.connection.ID}}) {
		j.must(err)
		n++
		at := slices.IndexFunc(accounts, func(one provider.LedgerAccount) bool { return one.ID == a.ExternalID })
		if at < 0 || a.Code == nil || *a.Code != accounts[at].Code || !strings.HasPrefix(a.Name, accounts[at].Name) || a.Type == nil ||
			*a.Type != accounts[at].Type || a.Usable != (accounts[at].Active && accounts[at].Refuses == "") {
			j.Errorf("%s", apitest.JSON(j.T, a))
		}
	}
	if n != len(accounts) {
		j.Errorf("%d accounts instead of %d", n, len(accounts))
	}
	_, err := j.Client.AcceptGLMappings(j.T.Context(), client.AcceptGLMappings{})
	j.must(err)
	for m, err := range j.Client.GLMappings(j.T.Context(), nil) {
		j.must(err)
		if m.Code == nil || !slices.Contains([]string{"1010", "4010", "6210"}, *m.Code) {
			continue
		}
		if *m.Code == "6210" && len(m.Suggestions) == 1 {
			m, err = j.Client.SetGLMapping(j.T.Context(), m.LedgerAccountID, client.SetGLMapping{GLAccountID: &m.Suggestions[0].GLAccountID})
			j.must(err)
		}
		if m.Status != "mapped" || m.GLAccount == nil {
			j.Fatalf("%s", apitest.JSON(j.T, m))
		}
		j.gl[*m.Code] = m.GLAccount.ExternalID
	}
}

// run creates a run, and executes it to its end.
func (j *journey) run(c client.CreateGLSyncRun) client.GLSyncRun {
	j.Helper()
	r, err := j.Client.CreateGLSyncRun(j.T.Context(), c)
	j.must(err)
	return j.ends(r.ID)
}

// ends executes a run to its end, as the background work does.
func (j *journey) ends(id string) client.GLSyncRun {
	j.Helper()
	for range 5 {
		if err := j.s.App.GeneralLedger.Run(j.T.Context(), j.Organization.ID, id); err != nil && !errors.Is(err, task.ErrClaimed) {
			j.Fatal(err)
		}
		r, err := j.Client.GLSyncRun(j.T.Context(), id)
		if j.must(err); r.FinishedAt != nil {
			return r
		}
		time.Sleep(100 * time.Millisecond)
	}
	j.Fatal("the run does not end")
	return client.GLSyncRun{}
}

// results returns what a run did, a line for each entry.
func (j *journey) results(r client.GLSyncRun) (out []string) {
	j.Helper()
	for one, err := range j.Client.GLSyncResults(j.T.Context(), r.ID, nil) {
		j.must(err)
		text := fmt.Sprintf("%s %s %s", one.SequenceNumber, one.Action, one.Status)
		for _, c := range one.Changes {
			text += " " + c.Field
		}
		out = append(out, text)
	}
	return out
}

// completes requires that a run has completed and has done some things.
func (j *journey) completes(what string, r client.GLSyncRun, want ...string) {
	j.Helper()
	got := j.results(r)
	slices.Sort(got)
	slices.Sort(want)
	if r.Status != "completed" || r.ErrorMessage != nil || !slices.Equal(got, want) {
		j.Errorf("%s: %s: got %q, want %q", what, apitest.JSON(j.T, r), got, want)
	}
}

// change changes the general ledger, as people do there.
func (j *journey) change(do func(l *ledgertest.Books)) {
	j.server.Mu.Lock()
	defer j.server.Mu.Unlock()
	do(j.fake.Books())
}

// there returns the journals of an entry that are in the general ledger, by the marks that they carry.
func (j *journey) there(e client.JournalEntry) (out []*ledgertest.Entry) {
	j.change(func(l *ledgertest.Books) {
		for _, one := range l.Entries {
			key := one.Key
			if key == "" {
				_, key = provider.Unmark(one.Memo)
			}
			if !one.Gone && strings.HasPrefix(key, strings.TrimPrefix(e.ID, "je_")+"-") {
				out = append(out, one)
			}
		}
	})
	return out
}

// entries returns how many journals are in the general ledger.
func (j *journey) entries() (n int) {
	j.change(func(l *ledgertest.Books) {
		for _, one := range l.Entries {
			if !one.Gone {
				n++
			}
		}
	})
	return n
}

// stands requires that an entry stands in the general ledger once, with a currency and lines such as "Dr 1010 125 | memo | Treasury", and
// is marked as sent.
func (j *journey) stands(e client.JournalEntry, currency string, lines ...string) {
	j.Helper()
	all := j.there(e)
	if len(all) != 1 {
		j.Errorf("%s: %d journals", e.SequenceNumber, len(all))
		return
	}
	memo, _ := provider.Unmark(all[0].Memo)
	got := []string{}
	for _, l := range all[0].Lines {
		got = append(got, j.describe(l))
	}
	if all[0].Date != e.AccountingDate.UTC().Format(time.DateOnly) || memo != *e.Memo || all[0].Currency != currency ||
		!slices.Equal(got, lines) || all[0].Number != "" && all[0].Number != e.SequenceNumber {
		j.Errorf("%s: got %s %s %s %q %q, want %s %q", e.SequenceNumber, all[0].Number, all[0].Date, all[0].Currency, memo, got, currency,
			lines)
	}
	now := j.Find(j.T, e.ID)
	if a := now.LatestGLSyncAttempt; !now.IsSync || now.LastSyncedAt == nil || a == nil || a.Status != "succeeded" ||
		a.Provider != j.provider || a.ExternalID == nil || *a.ExternalID != all[0].ID || a.Error != nil {
		j.Errorf("%s: %v %s", e.SequenceNumber, now.IsSync, apitest.JSON(j.T, a))
	}
}

// describe describes a line of a journal.
func (j *journey) describe(l provider.JournalLine) string {
	side, account := "Cr", l.Account
	if l.Debit {
		side = "Dr"
	}
	for code, id := range j.gl {
		if id == l.Account {
			account = code
		}
	}
	text := fmt.Sprintf("%s %s %s", side, account, l.Amount)
	if l.Memo != "" {
		text += " | " + l.Memo
	}
	for _, d := range j.fake.Books().Dimensions {
		for _, v := range d.Values {
			if l.Dimensions[d.ID] == v.ID {
				text += " | " + v.Name
			}
		}
	}
	return text
}
