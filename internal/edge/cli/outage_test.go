package cli_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/db/dbtest/pgcluster"
)

// ownCluster starts a PostgreSQL server that a test may stop and kill.
func ownCluster(t *testing.T, settings map[string]string) *pgcluster.Cluster {
	t.Helper()
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

// status requests a path without a key and returns the status.
func status(ctx context.Context, address, path string) (code, retryAfter int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, nil)
	if err != nil {
		return 0, 0, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer res.Body.Close()
	retryAfter, _ = strconv.Atoi(res.Header.Get("Retry-After"))
	return res.StatusCode, retryAfter, nil
}

// wantStatus checks the status of a path without a key; an unavailable service must send Retry-After.
func wantStatus(ctx context.Context, address, path string, want int) error {
	code, retryAfter, err := status(ctx, address, path)
	switch {
	case err != nil:
		return err
	case code != want:
		return fmt.Errorf("%s answers %d, want %d", path, code, want)
	case code == http.StatusServiceUnavailable && retryAfter < 1:
		return fmt.Errorf("%s answers 503 with Retry-After %d", path, retryAfter)
	}
	return nil
}

func TestAServiceStartedBeforeItsDatabaseWaitsForIt(t *testing.T) {
	t.Parallel()
	cluster := ownCluster(t, nil)
	c := db.Config{URL: cluster.URL("postgres")}
	key := found(t, c).APIKey
	if err := cluster.Stop(false); err != nil {
		t.Fatal(err)
	}
	host := freeAddress(t)
	address := "http://" + host
	p := start(t, nil, on(c, "serve", "--addr", host)...)
	p.logged(t, "the database is not reachable; retrying")
	service := once(address, key)
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
		if err := wantStatus(t.Context(), address, path, want); err != nil {
			t.Error(err)
		}
	}
	_, err := service.Organization(t.Context())
	if err := unavailable(err); err != nil {
		t.Errorf("a read: %v", err)
	}
	name := "too early"
	_, err = service.UpdateOrganization(t.Context(), client.UpdateOrganization{Name: &name})
	if err := unavailable(err); err != nil {
		t.Errorf("a write: %v", err)
	}
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.ready(t)
	if err := wantStatus(t.Context(), address, "/readyz", http.StatusOK); err != nil {
		t.Error(err)
	}
	if org, err := service.Organization(t.Context()); err != nil || org.Name != "Acme" {
		t.Errorf("%+v, %v", org, err)
	}
}

func TestAServiceOutlivesTheLossOfItsDatabase(t *testing.T) {
	t.Parallel()
	cluster := ownCluster(t, nil)
	c := db.Config{URL: cluster.URL("postgres")}
	key := found(t, c).APIKey
	p := serve(t, c)
	address := p.ready(t)
	service := once(address, key)
	w := newWitness(t, service)
	var refusals atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			if err := w.write(service, fmt.Sprintf("client %d", i), stop, refusedFor(&refusals)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Go(func() { readOn(t, service, stop) })
	for what, lose := range map[string]func() error{
		"stopped":         func() error { return cluster.Stop(false) },
		"stopped at once": func() error { return cluster.Stop(true) },
		"killed":          func() error { cluster.Kill(); return nil },
	} {
		time.Sleep(200 * time.Millisecond)
		before := refusals.Load()
		if err := lose(); err != nil {
			t.Fatal(err)
		}
		eventually(t, what+": unready", func(ctx context.Context) error {
			return wantStatus(ctx, address, "/readyz", http.StatusServiceUnavailable)
		})
		if err := wantStatus(t.Context(), address, "/healthz", http.StatusOK); err != nil {
			t.Error(err)
		}
		eventually(t, what+": writes are refused", func(context.Context) error {
			if refusals.Load() < before+10 {
				return fmt.Errorf("%d refusals", refusals.Load()-before)
			}
			return nil
		})
		if err := cluster.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, what+": back by itself", func(ctx context.Context) error {
			_, err := service.Organization(ctx)
			return err
		})
	}
	time.Sleep(200 * time.Millisecond)
	close(stop)
	wg.Wait()
	w.check(t, service)
	verifyWhole(t, c, service)
	if !p.running() {
		t.Error("the service ended")
	}
}

// refusedFor accepts only the answer that the service is unavailable: no broken connection and no other error.
func refusedFor(count *atomic.Int64) func(error) (bool, error) {
	return func(err error) (bool, error) {
		count.Add(1)
		return true, unavailable(err)
	}
}

// readOn reads continuously: a read is answered or refused, like a write.
func readOn(t *testing.T, service *client.Client, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
		if _, err := service.Organization(context.Background()); err != nil {
			if wrong := unavailable(err); wrong != nil {
				t.Errorf("a read: %v", wrong)
			}
		}
	}
}

func TestAServiceRefusesAPostgreSQLThatForgetsCommits(t *testing.T) {
	t.Parallel()
	const flag = "--allow-data-loss-on-crash"
	for setting, config := range map[string]func(*testing.T) db.Config{
		"fsync": func(t *testing.T) db.Config {
			return db.Config{URL: ownCluster(t, map[string]string{"fsync": "off"}).URL("postgres")}
		},
		"synchronous_commit": func(t *testing.T) db.Config {
			u, err := url.Parse(dbtest.Postgres(t).URL)
			if err != nil {
				t.Fatal(err)
			}
			// Encoded by hand, because PostgreSQL does not decode the + of Go's encoding.
			u.RawQuery += "&options=-c%20synchronous_commit%3Doff"
			return db.Config{URL: u.String()}
		},
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			c := config(t)
			inside(on(c, "init", "--organization", "Acme", "--email", "owner@acme.example")...).mustFail(t, 1, setting, flag)
			p := serve(t, c)
			if code := p.wait(t); code != 1 {
				t.Errorf("serve: exit %d, want 1", code)
			}
			result{1, "", p.log.text()}.mustFail(t, 1, setting, flag)
			key := found(t, c, flag).APIKey
			p = serve(t, c, flag)
			if _, err := once(p.ready(t), key).Organization(t.Context()); err != nil {
				t.Error(err)
			}
			p.logged(t, "may lose acknowledged writes")
		})
	}
}
