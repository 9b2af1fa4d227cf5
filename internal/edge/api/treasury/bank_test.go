package treasury_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/plaid/plaidtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// signIn has a person use the page of the bank that was begun last, or give up there. The browser then comes back.
func signIn(t *testing.T, s *apitest.Service, gives bool) (connection.Finished, error) {
	t.Helper()
	s.Plaid.Mu.Lock()
	back, err := url.Parse(s.Plaid.SignIn(gives))
	s.Plaid.Mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	return s.App.Connections.FinishSetup(t.Context(), back.Query().Get("state"), back.Query())
}

// connectBank connects the bank, with transactions in two accounts.
func connectBank(t *testing.T, s *apitest.Service, n *apitest.Tenant) client.Connection {
	t.Helper()
	s.Plaid.Mu.Lock()
	for i, amount := range []string{"100.00", "20.00", "3.00"} { // the third is of the card
		s.Plaid.Add(providertest.Movement{At: time.Now().AddDate(0, 0, i-10), Kind: providertest.Deposit, Asset: "USD", Amount: amount})
	}
	s.Plaid.Mu.Unlock()
	c := n.BeginBank(t)
	if finished, err := signIn(t, s, true); err != nil || finished.Err != nil {
		t.Fatal(finished, err)
	}
	return n.Sync(t, c.ID)
}

func TestABankIsConnectedOnThePageOfItsAggregator(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		begun := n.BeginBank(t)
		a := begun.AuthorizationAttempt
		if begun.Status != "pending_setup" || a == nil || a.Status != "pending" || a.SetupURL == nil || !a.ExpiresAt.After(time.Now()) ||
			begun.RedirectURL == nil || *begun.RedirectURL != *a.SetupURL || len(begun.SourceIDs) != 0 || begun.ExternalAccountID != nil {
			t.Errorf("%+v %+v", begun, a)
		}
		_, err := n.Client.SyncConnection(ctx, begun.ID)
		apitest.WantConflict(t, err, "setup")
		if _, err := s.App.Connections.FinishSetup(ctx, "unknown", nil); !errors.Is(err, connection.ErrNoSetup) {
			t.Error(err)
		}
		finished, err := signIn(t, s, false)
		if fault.KindOf(finished.Err) == 0 && !errors.Is(err, connection.ErrUnfinished) {
			t.Errorf("a person who gave up: %+v %v", finished, err)
		}

		c := connectBank(t, s, n)
		if c.Status != "active" || c.ExternalAccountID == nil || *c.ExternalAccountID != plaidtest.ItemID || len(c.SourceIDs) != 2 ||
			c.AuthMethod != "oauth" || c.RedirectURL != nil || c.AuthorizationAttempt.Status != "completed" {
			t.Errorf("%+v", c)
		}
		if finished, err := signIn(t, s, true); err != nil || finished.Err != nil {
			t.Errorf("a page that is opened again: %+v %v", finished, err)
		}
		for i, want := range []struct{ kind, balance string }{{"bank", "120.00"}, {"card", "3.00"}} {
			source, err := n.Client.Source(ctx, c.SourceIDs[i])
			if err != nil || source.SourceType != want.kind || source.LegalEntityID != n.LegalEntity.ID || source.IsManual {
				t.Errorf("%+v %v", source, err)
			}
			if got := count(t, n, source.ID); got != 2-i {
				t.Errorf("%d transactions in %s", got, source.Name)
			}
			for b, err := range n.Client.SourceBalances(ctx, source.ID) {
				if err != nil || b.AssetType != "USD" || b.Observed == nil || *b.Observed != want.balance {
					t.Errorf("%s: %+v %v", source.Name, b, err)
				}
			}
		}
	})
}

func TestABankIsAuthorizedAgainWhileItGoesOn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		c := connectBank(t, s, n)
		s.Plaid.ItemError = "ITEM_LOGIN_REQUIRED"
		if _, err := n.Client.SyncConnection(ctx, c.ID); err != nil {
			t.Fatal(err)
		}
		if c = n.Sync(t, c.ID); c.Status != "needs_reauthorization" || c.NextSyncAt != nil {
			t.Errorf("%+v", c)
		}
		again, err := n.Client.Reauthorize(ctx, c.ID, client.ReauthorizeConnection{})
		if err != nil || again.Status != "needs_reauthorization" || again.RedirectURL == nil {
			t.Errorf("%+v %v", again, err)
		}
		if finished, err := signIn(t, s, true); err != nil || finished.Err != nil {
			t.Fatal(finished, err)
		}
		if c = n.Sync(t, c.ID); c.Status != "active" || len(c.SourceIDs) != 2 || c.ErrorMessage != nil {
			t.Errorf("%+v", c)
		}
	})
}

func TestASetupThatNobodyFinishesExpires(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		c := n.BeginBank(t)
		err := s.App.DB.WriteAcross(ctx, "a test", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE authorization_attempts SET expires_at = ?", time.Now().Add(-time.Minute).UTC())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		late, err := n.Client.Connection(ctx, c.ID)
		if err != nil || late.RedirectURL != nil || late.AuthorizationAttempt.Status != "expired" {
			t.Errorf("%+v %v", late, err)
		}
		if _, err := signIn(t, s, true); !errors.Is(err, connection.ErrNoSetup) {
			t.Errorf("a setup that has expired: %v", err)
		}
		if err := s.App.Connections.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if c, err = n.Client.Connection(ctx, c.ID); err != nil || c.Status != "disconnected" || len(c.RetainedResources) != 0 {
			t.Errorf("%+v %v", c, err)
		}
	})
}

func TestAPersonWhoseBrowserDoesNotComeBackIsConnectedAllTheSame(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		c := n.BeginBank(t)
		s.Plaid.Mu.Lock()
		s.Plaid.SignIn(true)
		s.Plaid.Mu.Unlock()
		if err := s.App.Connections.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if c = n.Sync(t, c.ID); c.Status != "active" || len(c.SourceIDs) != 2 {
			t.Errorf("%+v", c)
		}
	})
}

func TestATransactionThatABankTakesBackIsGoneUnlessItIsBooked(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		c := connectBank(t, s, n)
		var all []client.Transaction
		for one, err := range n.Client.Transactions(ctx, url.Values{"source_id": {c.SourceIDs[0]}}) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, one)
		}
		booked, err := n.Client.BookTransaction(ctx, client.BookTransaction{TransactionID: all[0].ID, TransactionType: "INVOICE",
			LedgerAccountID: n.AccountByCode(t, "4010").ID, AutoPost: true})
		if err != nil {
			t.Fatal(err)
		}
		s.Plaid.Mu.Lock()
		for _, one := range all {
			id, _, _ := strings.Cut(one.ExternalID, "@")
			s.Plaid.Put("removed", s.Plaid.Transaction(id, plaidtest.Checking, "2026-01-01", "-1.00"))
		}
		s.Plaid.Mu.Unlock()
		if _, err := n.Client.SyncConnection(ctx, c.ID); err != nil {
			t.Fatal(err)
		}
		c = n.Sync(t, c.ID)
		if r, _ := latestRun(t, n, c.ID); r.Removed != 1 {
			t.Errorf("%+v", r)
		}
		if _, err := n.Client.Transaction(ctx, all[1].ID); !client.IsNotFound(err) {
			t.Errorf("the transaction that was taken back: %v", err)
		}
		if entry, err := n.Client.JournalEntry(ctx, booked.ID); err != nil || entry.Status != "posted" {
			t.Errorf("%+v %v", entry, err)
		}
		if text := strings.Join(c.Guidance.Warnings, " "); !strings.Contains(text, all[0].SequenceNumber) {
			t.Errorf("the warnings do not name %s: %s", all[0].SequenceNumber, text)
		}
	})
}

func TestDisconnectingEndsTheAccessAtTheProvider(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		c := connectBank(t, s, n)
		before := s.Plaid.Requests()
		c, err := n.Client.Disconnect(ctx, c.ID)
		if err != nil || c.Status != "disconnected" || c.RevocationError != nil || s.Plaid.Requests() != before+1 ||
			strings.Join(c.RetainedResources, " ") != "transactions source" {
			t.Errorf("%+v %v", c, err)
		}
		if got := count(t, n, c.SourceIDs[0]); got != 2 {
			t.Errorf("%d transactions are left", got)
		}
	})
}

func TestADeletedAccountOfABankStaysDeletedAndTheLastOneEndsTheSignIn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		c := connectBank(t, s, n)
		if err := n.Client.DeleteSource(ctx, c.SourceIDs[1]); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Client.SyncConnection(ctx, c.ID); err != nil {
			t.Fatal(err)
		}
		after := n.Sync(t, c.ID)
		if len(after.SourceIDs) != 1 || after.SourceIDs[0] != c.SourceIDs[0] || after.Status != "active" {
			t.Errorf("%+v", after)
		}
		for i := range 20 {
			s.Plaid.FailAt(i+1, providertest.Status(http.StatusBadGateway, "", "", "down"))
		}
		var e *client.Error
		if err := n.Client.DeleteSource(ctx, c.SourceIDs[0]); !errors.As(err, &e) || e.Status != http.StatusServiceUnavailable {
			t.Errorf("the bank does not answer: %v", err)
		}
		if kept, err := n.Client.Connection(ctx, c.ID); err != nil || kept.Status != "active" || count(t, n, c.SourceIDs[0]) != 2 {
			t.Errorf("%+v %v", kept, err)
		}
		s.Plaid.Recover()
		if err := n.Client.DeleteSource(ctx, c.SourceIDs[0]); err != nil {
			t.Fatal(err)
		}
		if ended, err := n.Client.Connection(ctx, c.ID); err != nil || ended.Status != "disconnected" || len(ended.SourceIDs) != 0 {
			t.Errorf("%+v %v", ended, err)
		}
	})
}

func TestAConnectionIsDisconnectedAlthoughItsProviderIsDown(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		c := connectBank(t, s, n)
		for i := range 20 {
			s.Plaid.FailAt(i+1, providertest.Status(http.StatusBadGateway, "", "", "down"))
		}
		c, err := n.Client.Disconnect(t.Context(), c.ID)
		if err != nil || c.Status != "disconnected" || c.RevocationError == nil {
			t.Errorf("%+v %v", c, err)
		}
	})
}

func TestASetupWhoseAccountIsRefusedSaysWhy(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		connectBank(t, s, n)
		second := n.BeginBank(t)
		finished, err := signIn(t, s, true) // the same account
		if err != nil || finished.Err == nil || !strings.Contains(finished.Err.Error(), "connected to this account already") {
			t.Errorf("%+v %v", finished, err)
		}
		s.Plaid.ItemError = "ITEM_LOGIN_REQUIRED"
		n.BeginBank(t)
		finished, err = signIn(t, s, true)
		if err != nil || finished.Err == nil || strings.Contains(finished.Err.Error(), "api_key") {
			t.Errorf("%+v %v", finished, err)
		}
		second, err = n.Client.Connection(t.Context(), second.ID)
		if err != nil || second.Status != "pending_setup" || second.AuthorizationAttempt.Status != "failed" ||
			second.AuthorizationAttempt.Error == nil || second.RedirectURL != nil {
			t.Errorf("%+v %v", second, err)
		}
	})
}
