package treasury_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// add adds movements to the account at Kraken: some deposits of EUR, one an hour, until an hour ago.
func add(s *apitest.Service, n int) {
	s.Kraken.Mu.Lock()
	defer s.Kraken.Mu.Unlock()
	for i := range n {
		s.Kraken.Add(providertest.Movement{At: time.Now().Add(-time.Duration(n-i) * time.Hour), Kind: providertest.Deposit, Asset: "EUR",
			Amount: fmt.Sprintf("%d.25", i+1)})
	}
}

// latestRun returns the latest run of a connection.
func latestRun(t *testing.T, n *apitest.Tenant, id string) (out client.ConnectionRun, count int) {
	t.Helper()
	for r, err := range n.Client.ConnectionRuns(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		if count++; count == 1 {
			out = r
		}
	}
	return out, count
}

func TestAnExchangeAccountIsReadOnceAndThenWhatIsNew(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		add(s, 120)
		c := n.ConnectKraken(t, client.CreateConnection{})
		if c.Status != "syncing" || c.AuthMethod != "api_key" || len(c.SourceIDs) != 1 || c.SyncEveryMinutes != 15 ||
			!slices.Equal(c.Capabilities, []string{"import_transactions", "read_balances"}) {
			t.Errorf("%+v", c)
		}
		source, err := n.Client.Source(ctx, c.SourceIDs[0])
		if err != nil || source.SourceType != "exchange" || source.Provider != "kraken" || source.IsManual {
			t.Errorf("%+v %v", source, err)
		}
		c = n.Sync(t, c.ID)
		if c.Status != "active" || c.LastSyncedAt == nil || c.NextSyncAt == nil || !slices.Contains(c.Guidance.AllowedActions, "sync") {
			t.Errorf("%+v", c)
		}
		r, runs := latestRun(t, n, c.ID)
		if runs != 1 || r.Cause != "setup" || r.Status != "completed" || r.Read != 120 || r.Created != 120 || r.Duplicates != 0 ||
			r.Omitted != 0 || r.FinishedAt == nil || r.ErrorMessage != nil {
			t.Errorf("%d runs, %+v", runs, r)
		}
		if got := count(t, n, source.ID); got != 120 {
			t.Errorf("%d transactions", got)
		}
		s.Kraken.Mu.Lock()
		s.Kraken.Add(providertest.Movement{At: time.Now().Add(-time.Minute), Kind: providertest.Deposit, Asset: "EUR", Amount: "7"})
		s.Kraken.Mu.Unlock()
		if _, err := n.Client.SyncSource(ctx, source.ID); err != nil {
			t.Error(err)
		}
		n.Sync(t, c.ID)
		if r, runs := latestRun(t, n, c.ID); runs != 2 || r.Cause != "request" || r.Created != 1 {
			t.Errorf("%d runs, %+v", runs, r)
		}
		if got := count(t, n, source.ID); got != 121 {
			t.Errorf("%d transactions", got)
		}
		for b, err := range n.Client.SourceBalances(ctx, source.ID) {
			if err != nil || b.AssetType != "EUR" || b.Observed == nil || *b.Observed != "7297.00" || *b.BookAtObserved != "0.00" {
				t.Errorf("%+v %v", b, err)
			}
		}
	})
}

// count returns how many transactions a source has.
func count(t *testing.T, n *apitest.Tenant, sourceID string) (total int) {
	t.Helper()
	for _, err := range n.Client.Transactions(t.Context(), url.Values{"source_id": {sourceID}}) {
		if err != nil {
			t.Fatal(err)
		}
		total++
	}
	return total
}

func TestTheScheduleReadsOnlyConnectionsWithSomethingNew(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		add(s, 3)
		c := n.ConnectKraken(t, client.CreateConnection{})
		n.Sync(t, c.ID)
		if due, err := s.App.Connections.Poll(ctx); err != nil || due != 0 {
			t.Errorf("%d are due: %v", due, err)
		}
		makeDue(t, s)
		before := s.Kraken.Requests()
		if due, err := s.App.Connections.Poll(ctx); err != nil || due != 1 {
			t.Errorf("%d are due: %v", due, err)
		}
		if sent := s.Kraken.Requests() - before; sent != 1 {
			t.Errorf("a look that finds nothing new took %d requests", sent)
		}
		quiet, err := n.Client.Connection(ctx, c.ID)
		if err != nil || quiet.Status != "active" || quiet.NextSyncAt == nil || !quiet.NextSyncAt.After(time.Now()) {
			t.Errorf("%+v %v", quiet, err)
		}
		if _, runs := latestRun(t, n, c.ID); runs != 1 {
			t.Errorf("%d runs", runs)
		}
		s.Kraken.Mu.Lock()
		s.Kraken.Add(providertest.Movement{At: time.Now().Add(-time.Minute), Kind: providertest.Deposit, Asset: "EUR", Amount: "7"})
		s.Kraken.Mu.Unlock()
		makeDue(t, s)
		if due, err := s.App.Connections.Poll(ctx); err != nil || due != 1 {
			t.Errorf("%d are due: %v", due, err)
		}
		if c, err := n.Client.Connection(ctx, c.ID); err != nil || c.Status != "syncing" {
			t.Errorf("%+v %v", c, err)
		}
		n.Sync(t, c.ID)
		if r, runs := latestRun(t, n, c.ID); runs != 2 || r.Cause != "schedule" || r.Created != 1 {
			t.Errorf("%d runs, %+v", runs, r)
		}
		never, err := n.Client.UpdateConnection(ctx, c.ID, client.UpdateConnection{SyncEveryMinutes: new(0)})
		if err != nil || never.NextSyncAt != nil || never.SyncEveryMinutes != 0 {
			t.Errorf("%+v %v", never, err)
		}
		makeDue(t, s)
		if due, err := s.App.Connections.Poll(ctx); err != nil || due != 0 {
			t.Errorf("%d are due: %v", due, err)
		}
	})
}

// makeDue has the schedule look at all connections.
func makeDue(t *testing.T, s *apitest.Service) {
	t.Helper()
	err := s.App.DB.WriteAcross(t.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE connection_syncs SET due_at = ? WHERE due_at IS NOT NULL", time.Now().Add(-time.Minute).UTC())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestACredentialThatIsRefusedPausesAConnectionUntilItIsReplaced(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		add(s, 3)
		c := n.ConnectKraken(t, client.CreateConnection{})
		s.Kraken.Revoke(true)
		c = n.Sync(t, c.ID)
		if c.Status != "needs_reauthorization" || c.ErrorMessage == nil || !strings.Contains(*c.ErrorMessage, "refuses") || c.NextSyncAt != nil {
			t.Errorf("%+v", c)
		}
		if r, _ := latestRun(t, n, c.ID); r.Status != "failed" || r.ErrorMessage == nil {
			t.Errorf("%+v", r)
		}
		_, err := n.Client.SyncConnection(ctx, c.ID)
		apitest.WantConflict(t, err, "send a new api_key")
		_, err = n.Client.UpdateConnection(ctx, c.ID, client.UpdateConnection{APIKey: new(s.Kraken.Credentials()["api_key"])})
		apitest.WantError(t, "a refused key", err, http.StatusBadRequest, []string{"api_key"}, "")
		s.Kraken.Revoke(false)
		if c, err = n.Client.UpdateConnection(ctx, c.ID, client.UpdateConnection{APIKey: new(s.Kraken.Credentials()["api_key"])}); err != nil ||
			c.Status != "syncing" {
			t.Errorf("%+v %v", c, err)
		}
		if c = n.Sync(t, c.ID); c.Status != "active" || count(t, n, c.SourceIDs[0]) != 3 {
			t.Errorf("%+v", c)
		}
	})
}

func TestAKeyThatCanWithdrawIsRefusedAndOneThatCanTradeIsWarnedAbout(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		s.Kraken.Grant(provider.Trade)
		c := n.ConnectKraken(t, client.CreateConnection{})
		if !strings.Contains(strings.Join(c.Guidance.Warnings, " "), "permit trading") {
			t.Errorf("%+v", c.Guidance)
		}
		if _, err := n.Client.Disconnect(t.Context(), c.ID); err != nil {
			t.Error(err)
		}
		s.Kraken.Grant(provider.Withdraw)
		with := s.Kraken.Credentials()
		_, err := n.Client.CreateConnection(t.Context(), client.CreateConnection{Provider: "kraken", Name: "Kraken",
			LegalEntityIDs: []string{n.LegalEntity.ID}, APIKey: with["api_key"], APISecret: with["api_secret"]})
		apitest.WantError(t, "a refused key", err, http.StatusBadRequest, []string{"api_key"}, "")
	})
}

func TestWhatAKeyOfKrakenMayDoDecidesWhetherItIsUsed(t *testing.T) {
	t.Parallel()
	const warning, refusal = "permit trading or other changes at Kraken", "can move money out of the account"
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		for _, c := range []struct {
			permissions []string
			refused     string // what is said about the key
			warned      bool
		}{
			{permissions: []string{"query-ledger"}, refused: "Query (funds) is needed"},
			{permissions: []string{"query-funds", "modify-trades"}, refused: "Query ledger entries is needed"},
			{permissions: []string{"export-data"}, refused: "Query (funds) and Query ledger entries are needed"},
			{permissions: reading("withdraw-funds"), refused: refusal},
			{permissions: reading("add-withdraw-address"), refused: refusal},
			{permissions: reading("update-withdraw-address"), refused: refusal},
			{permissions: reading("internal-transfer"), refused: refusal},
			{permissions: reading("add-funds"), warned: true},
			{permissions: reading("earn-funds"), warned: true},
			{permissions: reading("modify-trades"), warned: true},
			{permissions: reading("close-trades"), warned: true},
			{permissions: reading("create-subaccount"), warned: true},
			{permissions: reading("what-comes-next"), warned: true},
			{permissions: reading("query-open-trades", "query-closed-trades", "export-data", "create-ws-token")},
		} {
			s.Kraken.Mu.Lock()
			s.Kraken.Permissions = c.permissions
			s.Kraken.Mu.Unlock()
			got, err := tryKraken(t, s, n, client.CreateConnection{})
			if c.refused != "" {
				apitest.WantError(t, strings.Join(c.permissions, " "), err, http.StatusBadRequest, []string{"api_key"}, c.refused)
				continue
			}
			if err != nil || strings.Contains(strings.Join(got.Guidance.Warnings, " "), warning) != c.warned {
				t.Errorf("%v: %+v %v", c.permissions, got.Guidance, err)
				continue
			}
			if _, err := n.Client.Disconnect(t.Context(), got.ID); err != nil {
				t.Error(err)
			}
		}
	})
}

// reading returns the permissions that a key of Kraken needs, and others.
func reading(others ...string) []string {
	return append([]string{"query-funds", "query-ledger"}, others...)
}

func TestASynchronizationThatIsInterruptedAtAnyRequestContinuesWithoutGapOrDuplicate(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		rows := 60 // two pages
		add(s, rows)
		for request := 1; request <= 4; request++ {
			n := s.Found(t, "acme")
			c := n.ConnectKraken(t, client.CreateConnection{})
			ctx, stop := context.WithCancel(t.Context())
			s.Kraken.BeforeRequest(request, stop)
			_ = s.App.Connections.Run(ctx, n.Organization.ID, c.ID) // it may have ended before
			stop()
			if _, err := s.App.DB.Jobs().ExecContext(t.Context(), "UPDATE connection_syncs SET claimed_until = NULL"); err != nil {
				t.Fatal(err) // as if the time of the claim had passed
			}
			if c = n.Sync(t, c.ID); c.Status != "active" || count(t, n, c.SourceIDs[0]) != rows {
				t.Errorf("interrupted at request %d: %d transactions, %+v", request, count(t, n, c.SourceIDs[0]), c)
			}
		}
	})
}

func TestConnectionsThatAreReadAtTheSameTimeDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		add(s, 10)
		var wait gosync.WaitGroup
		made := map[string]*apitest.Tenant{}
		for _, name := range []string{"acme", "globex"} {
			n := s.Found(t, name)
			c := n.ConnectKraken(t, client.CreateConnection{})
			made[c.SourceIDs[0]] = n
			for range 2 { // one of two workers that want the same connection gets it
				wait.Go(func() { _ = s.App.Connections.Run(t.Context(), n.Organization.ID, c.ID) })
			}
		}
		wait.Wait()
		for sourceID, n := range made {
			if got := count(t, n, sourceID); got != 10 {
				t.Errorf("%s has %d transactions", n.Organization.Name, got)
			}
		}
	})
}

func TestTheSidesOfATradeBelongTogetherWhenASynchronizationIsOver(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		s.Kraken.Mu.Lock()
		s.Kraken.Add(providertest.Movement{At: time.Now().Add(-2 * time.Hour), Kind: providertest.Deposit, Asset: "EUR", Amount: "5000"},
			providertest.Movement{At: time.Now().Add(-time.Hour), Kind: providertest.Trade, Asset: "BTC", Amount: "0.1", For: "EUR", Gets: "4000",
				Fee: "4"})
		s.Kraken.Mu.Unlock()
		c := n.Sync(t, n.ConnectKraken(t, client.CreateConnection{}).ID)
		groups := map[string]int{}
		for x, err := range n.Client.Transactions(t.Context(), url.Values{"source_id": {c.SourceIDs[0]}}) {
			if err != nil {
				t.Fatal(err)
			}
			if x.Internal.GroupID != nil {
				groups[*x.Internal.GroupID]++
			}
		}
		if len(groups) != 1 {
			t.Errorf("groups: %v", groups)
		}
	})
}

// PostgreSQL stores no NUL, which SQLite does: a record with one is left out on both, and the others are read.
func TestARecordWithAnIDThatCannotBeStoredIsLeftOut(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		add(s, 3)
		c := n.ConnectKraken(t, client.CreateConnection{})
		s.Kraken.FailAt(1, providertest.Changed(func(body []byte) []byte {
			return bytes.Replace(body, []byte(`"ledger":{`), []byte(`"ledger":{"L\u0000":{"refid":"a","type":"odd\u0000","time":"x"},`), 1)
		}))
		c = n.Sync(t, c.ID)
		if r, _ := latestRun(t, n, c.ID); c.Status != "active" || r.Created != 3 || r.Omitted != 1 {
			t.Errorf("%+v %+v", c, r)
		}
	})
}
