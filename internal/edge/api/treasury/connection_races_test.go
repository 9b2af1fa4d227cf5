package treasury_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// changeProvider changes what a service does at a provider.
func changeProvider(t *testing.T, s *apitest.Service, name string, change func(p *connection.Provider)) {
	t.Helper()
	for _, p := range s.App.Connections.Available() {
		if p.Name == name {
			change(&p)
			s.App.Connections.WithProvider(p)
			return
		}
	}
	t.Fatalf("there is no provider %s", name)
}

// write changes what is stored, as if something had happened that a test cannot wait for.
func write(t *testing.T, s *apitest.Service, query string, args ...any) {
	t.Helper()
	err := s.App.DB.WriteAcross(t.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantDisconnected reports unless a connection is disconnected, and nothing is to be read of it.
func wantDisconnected(t *testing.T, s *apitest.Service, n *apitest.Tenant, id string) {
	t.Helper()
	c, err := n.Client.Connection(t.Context(), id)
	if err != nil || c.Status != "disconnected" || c.NextSyncAt != nil || c.ErrorMessage != nil {
		t.Errorf("%+v %v", c, err)
	}
	var left int64
	err = s.App.DB.Read(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		left, err = db.One[int64](ctx, tx, "count", `SELECT count(*) FROM connection_syncs WHERE organization_id = @org AND connection_id = ?
			AND (status <> 'idle' OR stage IS NOT NULL OR due_at IS NOT NULL OR poll_claim IS NOT NULL)`, id)
		return err
	})
	if err != nil || left != 0 {
		t.Errorf("something is still to be read: %v", err)
	}
}

func TestAConnectionThatIsDisconnectedWhileTheScheduleLooksAtItStaysSo(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		add(s, 3)
		c := n.ConnectKraken(t, client.CreateConnection{})
		n.Sync(t, c.ID)
		s.Kraken.Mu.Lock()
		s.Kraken.Add(providertest.Movement{At: time.Now().Add(-time.Minute), Kind: providertest.Deposit, Asset: "EUR", Amount: "7"})
		s.Kraken.Mu.Unlock()
		makeDue(t, s)
		s.Kraken.BeforeRequest(1, func() {
			if _, err := n.Client.Disconnect(ctx, c.ID); err != nil {
				t.Error(err)
			}
		})
		if due, err := s.App.Connections.Poll(ctx); err != nil || due != 1 {
			t.Errorf("%d are due: %v", due, err)
		}
		wantDisconnected(t, s, n, c.ID)
	})
}

func TestATaskOfADisconnectedConnectionEndsWithoutReading(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		c := n.ConnectKraken(t, client.CreateConnection{})
		n.Sync(t, c.ID)
		if _, err := n.Client.Disconnect(ctx, c.ID); err != nil {
			t.Fatal(err)
		}
		write(t, s, "UPDATE connection_syncs SET status = 'pending', stage = 'start' WHERE connection_id = ?", c.ID)
		before := s.Kraken.Requests()
		n.Sync(t, c.ID)
		if s.Kraken.Requests() != before {
			t.Error("the provider was asked")
		}
		wantDisconnected(t, s, n, c.ID)
	})
}

func TestAWorkerDoesNotChangeAConnectionThatIsDisconnectedMeanwhile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		c := n.ConnectKraken(t, client.CreateConnection{})
		changeProvider(t, s, "kraken", func(p *connection.Provider) {
			p.Read = func(ctx context.Context, w *connection.Work) error {
				var claim string
				err := s.App.DB.Read(ctx, n.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
					claim, err = db.One[string](ctx, tx, "claim", "SELECT claim FROM connection_syncs WHERE organization_id = @org")
					return err
				})
				if err == nil {
					_, err = n.Client.Disconnect(ctx, w.ID)
				}
				// Even if the worker still held its claim, it would leave the connection alone.
				write(t, s, "UPDATE connection_syncs SET status = 'running', claim = ?, claimed_until = ? WHERE connection_id = ?", claim,
					time.Now().Add(time.Minute).UTC(), w.ID)
				return err
			}
		})
		n.Sync(t, c.ID)
		wantDisconnected(t, s, n, c.ID)
	})
}

func TestAnEventThatArrivesWhileAConnectionIsDisconnectedIsRefused(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		c := n.NewConnection(t, client.CreateConnection{WebhookSecret: "whsec_1"})
		err := s.App.Connections.Receive(ctx, "stripe", c.ID, func(connection.Credentials) (connection.Event, bool, error) {
			_, err := n.Client.Disconnect(ctx, c.ID)
			return connection.Event{ID: "evt_1", Type: "charge.updated", ObjectType: "charge", ObjectID: "ch_1"}, true, err
		})
		if err == nil {
			t.Error("the event was accepted")
		}
		wantDisconnected(t, s, n, c.ID)
	})
}

// renewing has the Kraken account accept every key, and its reader do something with the keeper of the credentials.
func renewing(t *testing.T, s *apitest.Service, read func(ctx context.Context, w *connection.Work) error) {
	t.Helper()
	changeProvider(t, s, "kraken", func(p *connection.Provider) {
		p.Check = func(context.Context, connection.Credentials, connection.Keeper) (connection.Account, error) {
			return connection.Account{}, nil
		}
		p.Read = read
	})
}

const (
	enteredKey = "entered-by-a-person-while-the-token-was-renewed"
	renewedKey = "renewed-by-a-worker"
)

func TestARenewedTokenDoesNotReplaceCredentialsThatAPersonHasEnteredMeanwhile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		c := n.ConnectKraken(t, client.CreateConnection{})
		for _, want := range []string{renewedKey, enteredKey} {
			var used, stored string
			renewing(t, s, func(ctx context.Context, w *connection.Work) error {
				out, err := w.Keeper.Renew(ctx, w.Credentials, func(_ context.Context, old connection.Credentials) (connection.Credentials, error) {
					if want == enteredKey {
						if _, err := n.Client.UpdateConnection(ctx, c.ID, client.UpdateConnection{APIKey: new(enteredKey)}); err != nil {
							return nil, err
						}
					}
					old["api_key"] = secret.New(renewedKey)
					return old, nil
				})
				used = out["api_key"].Reveal()
				return err
			})
			_ = s.App.Connections.Run(ctx, n.Organization.ID, c.ID) // it loses its claim to the new credentials
			renewing(t, s, func(_ context.Context, w *connection.Work) error {
				stored = w.Credentials["api_key"].Reveal()
				return nil
			})
			if _, err := n.Client.SyncConnection(ctx, c.ID); err != nil {
				t.Fatal(err)
			}
			if n.Sync(t, c.ID); used != want || stored != want {
				t.Errorf("%q is used and %q is stored, want %q", used, stored, want)
			}
			if _, err := n.Client.SyncConnection(ctx, c.ID); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestANodeWhoseTokenIsRefusedUsesTheOneThatAnotherNodeStoresThen(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		c := n.ConnectKraken(t, client.CreateConnection{})
		var used string
		done := make(chan error, 1)
		renewing(t, s, func(ctx context.Context, w *connection.Work) error {
			out, err := w.Keeper.Renew(ctx, w.Credentials, func(context.Context, connection.Credentials) (connection.Credentials, error) {
				go func() {
					time.Sleep(200 * time.Millisecond) // the answer of the provider is on its way to the other node
					_, err := n.Client.UpdateConnection(t.Context(), c.ID, client.UpdateConnection{APIKey: new(enteredKey)})
					done <- err
				}()
				return nil, fault.Unauthorizedf("the token was used before")
			})
			used = out["api_key"].Reveal()
			return err
		})
		_ = s.App.Connections.Run(t.Context(), n.Organization.ID, c.ID) // it loses its claim to the new credentials
		if err := <-done; err != nil || used != enteredKey {
			t.Errorf("%q is used: %v", used, err)
		}
		if shown, err := n.Client.Connection(t.Context(), c.ID); err != nil || shown.Status != "syncing" {
			t.Errorf("%+v %v", shown, err)
		}
	})
}

// handling has the Kraken account do something whenever only events are handled.
func handling(t *testing.T, s *apitest.Service, during func()) {
	t.Helper()
	changeProvider(t, s, "kraken", func(p *connection.Provider) {
		read := p.Read
		p.Read = func(ctx context.Context, w *connection.Work) error {
			if w.Stage != "" {
				return read(ctx, w)
			}
			during()
			return nil
		}
	})
}

// wakeForEvents has the events of a connection handled.
func wakeForEvents(t *testing.T, s *apitest.Service, id string) {
	t.Helper()
	write(t, s, "UPDATE connection_syncs SET status = 'pending' WHERE connection_id = ? AND stage IS NULL", id)
}

func TestEventsDoNotPutOffTheSchedule(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		c := n.ConnectKraken(t, client.CreateConnection{})
		read := n.Sync(t, c.ID)
		handling(t, s, func() {})
		time.Sleep(2 * time.Millisecond)
		wakeForEvents(t, s, c.ID)
		if c = n.Sync(t, c.ID); !c.NextSyncAt.Equal(*read.NextSyncAt) || !c.LastSyncedAt.Equal(*read.LastSyncedAt) || c.Status != "active" {
			t.Errorf("before %+v, after events %+v", read, c)
		}
	})
}

func TestARequestWhileAWorkerIsBusyIsFollowedByARun(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, ctx := s.Found(t, "acme"), t.Context()
		c := n.ConnectKraken(t, client.CreateConnection{})
		request := func() {
			if asked, err := n.Client.SyncConnection(ctx, c.ID); err != nil || asked.Status != "syncing" {
				t.Errorf("%+v %v", asked, err)
			}
		}
		s.Kraken.BeforeRequest(2, request) // while all is read
		if c := n.Sync(t, c.ID); c.Status != "syncing" {
			t.Errorf("%+v", c)
		}
		if c := n.Sync(t, c.ID); c.Status != "active" {
			t.Errorf("%+v", c)
		}
		handling(t, s, request)
		wakeForEvents(t, s, c.ID)
		if c := n.Sync(t, c.ID); c.Status != "syncing" {
			t.Errorf("%+v", c)
		}
		if c := n.Sync(t, c.ID); c.Status != "active" {
			t.Errorf("%+v", c)
		}
		if r, runs := latestRun(t, n, c.ID); runs != 3 || r.Cause != "request" || r.Status != "completed" {
			t.Errorf("%d runs, %+v", runs, r)
		}
	})
}
