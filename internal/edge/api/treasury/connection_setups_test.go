package treasury_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// bank is what a test decides about the sign-in at the bank.
type bank struct {
	refusal  error  // why the account is refused
	finished int    // how often what the browser brings back was exchanged
	renewed  string // a token that the provider has given when it was asked for the account
	revoked  []connection.Credentials
}

// changeBank has a test decide about the sign-in at the bank.
func changeBank(t *testing.T, s *apitest.Service) *bank {
	t.Helper()
	b := &bank{}
	changeProvider(t, s, "plaid", func(p *connection.Provider) {
		check, finish := p.Check, p.Finish
		p.Check = func(ctx context.Context, c connection.Credentials, k connection.Keeper) (connection.Account, error) {
			if b.refusal != nil {
				_, err := k.Renew(ctx, c, func(_ context.Context, old connection.Credentials) (connection.Credentials, error) {
					old["refresh_token"] = secret.New("renewed")
					return old, nil
				})
				return connection.Account{}, errors.Join(err, b.refusal)
			}
			b.renewed = c["refresh_token"].Reveal()
			return check(ctx, c, k)
		}
		p.Finish = func(ctx context.Context, c connection.Credentials, r connection.SetupRequest, query url.Values) (connection.Credentials,
			error) {
			b.finished++
			return finish(ctx, c, r, query)
		}
		p.Revoke = func(_ context.Context, c connection.Credentials, _ connection.Keeper) error {
			b.revoked = append(b.revoked, c)
			return nil
		}
	})
	return b
}

// comeBack signs in at the bank, and returns the function by which the browser comes back, which a test may call several times.
func comeBack(t *testing.T, s *apitest.Service) func() (connection.Finished, error) {
	t.Helper()
	s.Plaid.Mu.Lock()
	back, err := url.Parse(s.Plaid.SignIn(true))
	s.Plaid.Mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	return func() (connection.Finished, error) {
		return s.App.Connections.FinishSetup(t.Context(), back.Query().Get("state"), back.Query())
	}
}

func TestASetupGoesOnWithWhatTheProviderHasGivenOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, b := s.Found(t, "acme"), changeBank(t, s)
		c := n.BeginBank(t)
		b.refusal = fault.Busyf(time.Second, "the bank does not answer")
		back := comeBack(t, s)
		if finished, err := back(); fault.KindOf(err) != fault.Unavailable || finished.Err != nil {
			t.Errorf("%+v %v", finished, err)
		}
		b.refusal = nil
		if finished, err := back(); err != nil || finished.Err != nil {
			t.Errorf("%+v %v", finished, err)
		}
		if c = n.Sync(t, c.ID); c.Status != "active" || b.finished != 1 || len(b.revoked) != 0 || b.renewed != "renewed" {
			t.Errorf("%d exchanges, %d revocations, the token %q, %+v", b.finished, len(b.revoked), b.renewed, c)
		}
	})
}

func TestTheAccessOfASetupThatIsRefusedEndsUnlessAConnectionMayShareIt(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, b := s.Found(t, "acme"), changeBank(t, s)
		refuse := func() {
			t.Helper()
			b.refusal = fault.Conflictf("the account is refused")
			n.BeginBank(t)
			if finished, err := comeBack(t, s)(); err != nil || finished.Err == nil {
				t.Errorf("%+v %v", finished, err)
			}
			b.refusal = nil
		}
		refuse()
		if len(b.revoked) != 1 || b.revoked[0]["access_token"].IsZero() {
			t.Errorf("%d revocations", len(b.revoked))
		}
		b.refusal = fault.Conflictf("the account is refused")
		s.Plaid.Mu.Lock()
		token := s.Plaid.AddPublicToken()
		s.Plaid.Mu.Unlock()
		_, err := n.Client.CreateConnection(t.Context(), client.CreateConnection{Provider: "plaid", PublicToken: token,
			LegalEntityIDs: []string{n.LegalEntity.ID}})
		if apitest.WantConflict(t, err, "refused"); len(b.revoked) != 2 {
			t.Errorf("%d revocations after a public token", len(b.revoked))
		}
		b.refusal = nil
		connectBank(t, s, n)
		if refuse(); len(b.revoked) != 2 {
			t.Errorf("the access that a connection may share was revoked")
		}
	})
}

func TestTheAccessOfASetupThatIsGivenUpBeforeItsAccountIsKnownEnds(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, b := s.Found(t, "acme"), changeBank(t, s)
		b.refusal = fault.Busyf(time.Second, "the bank does not answer")
		c := n.BeginBank(t)
		if _, err := comeBack(t, s)(); fault.KindOf(err) != fault.Unavailable {
			t.Error(err)
		}
		if c, err := n.Client.Disconnect(t.Context(), c.ID); err != nil || c.Status != "disconnected" || len(b.revoked) != 1 {
			t.Errorf("%d revocations, %+v %v", len(b.revoked), c, err)
		}
		n.BeginBank(t)
		if _, err := comeBack(t, s)(); fault.KindOf(err) != fault.Unavailable {
			t.Error(err)
		}
		write(t, s, "UPDATE authorization_attempts SET expires_at = ?", time.Now().Add(-time.Minute).UTC())
		if err := s.App.Connections.Sweep(t.Context()); err != nil || len(b.revoked) != 2 {
			t.Errorf("%d revocations: %v", len(b.revoked), err)
		}
	})
}

func TestASetupIsFinishedByOneNodeAtATime(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		c := n.BeginBank(t)
		other := time.Now().Add(500 * time.Millisecond).UTC().Truncate(time.Millisecond)
		write(t, s, "UPDATE authorization_attempts SET claimed_until = ?", other) // by another node
		if finished, err := comeBack(t, s)(); err != nil || finished.Err != nil || time.Now().Before(other) {
			t.Errorf("finished at %s, while another node did so until %s: %+v %v", time.Now(), other, finished, err)
		}
		if c = n.Sync(t, c.ID); c.Status != "active" {
			t.Errorf("%+v", c)
		}
	})
}

func TestAConnectionWhoseSetupHasFailedIsDisconnectedAfterADay(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, b := s.Found(t, "acme"), changeBank(t, s)
		c := n.BeginBank(t)
		b.refusal = fault.Conflictf("the account is refused")
		if finished, err := comeBack(t, s)(); err != nil || finished.Err == nil {
			t.Errorf("%+v %v", finished, err)
		}
		for _, want := range []string{"pending_setup", "disconnected"} {
			if err := s.App.Connections.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c, err := n.Client.Connection(t.Context(), c.ID); err != nil || c.Status != want || c.AuthorizationAttempt == nil {
				t.Errorf("%+v %v, want %s", c, err, want)
			}
			write(t, s, "UPDATE authorization_attempts SET created_at = ?", time.Now().Add(-25*time.Hour).UTC())
		}
		write(t, s, "UPDATE authorization_attempts SET finished_at = ?", time.Now().AddDate(0, 0, -401).UTC())
		if err := s.App.Connections.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c, err := n.Client.Connection(t.Context(), c.ID); err != nil || c.AuthorizationAttempt != nil {
			t.Errorf("%+v %v", c, err)
		}
	})
}

func TestThatAnAccessHasNotEndedYetIsShownUntilItsProviderConfirmsIt(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		c := connectBank(t, s, n)
		ctx, leave := context.WithCancel(actor.With(t.Context(), actor.Actor{OrganizationID: n.Organization.ID}))
		changeProvider(t, s, "plaid", func(p *connection.Provider) {
			p.Revoke = func(ctx context.Context, _ connection.Credentials, _ connection.Keeper) error {
				now, err := n.Client.Connection(t.Context(), c.ID)
				if err != nil || now.Status != "disconnected" || now.RevocationError == nil {
					t.Errorf("%+v %v", now, err)
				}
				leave()
				if _, ends := ctx.Deadline(); !ends {
					t.Error("the provider may take forever")
				}
				return ctx.Err()
			}
		})
		if _, err := s.App.Connections.Disconnect(ctx, c.ID, ""); err != nil {
			t.Error(err)
		}
		if c, err := n.Client.Connection(t.Context(), c.ID); err != nil || c.Status != "disconnected" || c.RevocationError != nil {
			t.Errorf("%+v %v", c, err)
		}
	})
}
