package cli_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

func TestASynchronizationOutlivesTheLossOfItsDatabase(t *testing.T) {
	t.Parallel()
	cluster := ownCluster(t, nil)
	c := db.Config{URL: cluster.URL("postgres"), Dir: t.TempDir()}
	x := withExchange(t, c)
	want := money.Decimal{}
	for n := range 200 {
		amount := fmt.Sprintf("%d.%02d", n+1, n%100)
		x.deposit(time.Now().Add(-time.Duration(100_000-n)*time.Second), amount)
		want = want.Add(money.MustParse(amount))
	}
	for n := range 30 { // those that were there before
		want = want.Add(money.MustParse(fmt.Sprintf("%d.25", n+1)))
	}
	x.run(x.secrets(), "connect", "kraken", "--no-wait", "--every", "0").mustDo(t)
	killed := make(chan bool)
	x.kraken.BeforeRequest(2, func() {
		cluster.Kill()
		close(killed)
	})
	select {
	case <-killed:
	case <-time.After(patience):
		t.Fatal("the exchange was not asked")
	}
	eventually(t, "it is not ready", func(ctx context.Context) error {
		return wantStatus(ctx, x.address, "/readyz", http.StatusServiceUnavailable)
	})
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is ready", func(ctx context.Context) error { return wantStatus(ctx, x.address, "/readyz", http.StatusOK) })
	interrupted, err := x.connection(t.Context())
	for limit := time.Now().Add(2 * patience); err != nil || interrupted.LastSyncedAt == nil; { // nobody requests another one
		if time.Now().After(limit) {
			t.Fatalf("the interrupted synchronization has not gone on: %+v %v", interrupted, err)
		}
		time.Sleep(100 * time.Millisecond)
		interrupted, err = x.connection(t.Context())
	}
	runs := 0
	for r, err := range x.service.ConnectionRuns(t.Context(), interrupted.ID) {
		if runs++; err != nil || r.Status != "completed" || r.Cause != "setup" {
			t.Errorf("%+v %v", r, err)
		}
	}
	if runs != 1 {
		t.Errorf("%d synchronizations, want the interrupted one", runs)
	}
	count, sum := 0, money.Decimal{}
	for one, err := range x.service.Transactions(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		count, sum = count+1, sum.Add(money.MustParse(*one.External.Quantity))
	}
	if count != 230 || !sum.Equal(want) {
		t.Errorf("%d transactions of %s, want 230 of %s", count, sum, want)
	}
	verifyWhole(t, c, x.service)
}
