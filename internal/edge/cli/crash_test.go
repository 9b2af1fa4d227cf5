package cli_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

const (
	crashClients = 8
	crashRounds  = 3 // in every run; make soak asks for many
)

func TestSoakEveryAcknowledgedWriteSurvivesKill9(t *testing.T) {
	t.Parallel()
	interruptions(t, 200, func(_ *testing.T, p *process) { p.kill() })
}

// A service is terminated as an upgrade does it: it must stop by itself, soon, and lose nothing either.
func TestSoakAServiceTerminatedUnderLoadStopsAndLosesNothing(t *testing.T) {
	t.Parallel()
	interruptions(t, 100, func(t *testing.T, p *process) {
		began := time.Now()
		p.terminate(t)
		if code := p.wait(t); code != 0 || time.Since(began) > 10*time.Second {
			t.Errorf("exit %d after %s", code, time.Since(began))
		}
	})
}

// interruptions ends the service again and again while clients write, and looks each time whether all that was acknowledged is there.
func interruptions(t *testing.T, soakRounds int, end func(*testing.T, *process)) {
	t.Helper()
	rounds := crashRounds
	if os.Getenv("BURSAR_SOAK") == "1" {
		rounds = soakRounds
	}
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		key := found(t, c).APIKey
		p := serve(t, c)
		service := once(p.ready(t), key)
		w := newWitness(t, service)
		for round := 1; round <= rounds && !t.Failed(); round++ {
			w.interrupted(t, service, round, func() { end(t, p) })
			p = serve(t, c)
			service = once(p.ready(t), key)
			w.check(t, service)
		}
		if n := len(w.acknowledged()) + int(w.newestPost); n < rounds*crashClients {
			t.Errorf("only %d changes were acknowledged in %d rounds: that proves little", n, rounds)
		}
		verifyWhole(t, c, service)
	})
}

// interrupted lets clients write and ends the service at a moment nobody chose.
func (w *witness) interrupted(t *testing.T, service *client.Client, round int, end func()) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range crashClients {
		wg.Go(func() {
			if err := w.write(service, fmt.Sprintf("round %d client %d", round, i), nil, cutOff); err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(100*time.Millisecond + rand.N(300*time.Millisecond))
	end()
	wg.Wait()
	service.HTTP.CloseIdleConnections()
}

// cutOff takes a broken connection for the end that it is. Until then the service has no reason to refuse anything.
func cutOff(err error) (bool, error) {
	var answer *client.Error
	if errors.As(err, &answer) {
		return false, err
	}
	return false, nil
}

// verifyWhole asks both ways in whether every invariant holds: the command line on the database, and the API over its log.
func verifyWhole(t *testing.T, c db.Config, service *client.Client) {
	t.Helper()
	program(t, nil, on(c, "verify")...).mustDo(t)
	for after := int64(0); ; {
		v, err := service.VerifyAuditLog(t.Context(), after)
		if err != nil || !v.Valid {
			t.Fatalf("the audit log after entry %d: %+v, %v", after, v, err)
		}
		if v.Complete {
			return
		}
		after = v.LastSequenceNumber
	}
}
