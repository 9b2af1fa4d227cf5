package cli_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

const (
	crashClients = 8
	crashRounds  = 3 // in every run; make soak runs many more
)

func TestSoakEveryAcknowledgedWriteSurvivesKill9(t *testing.T) {
	t.Parallel()
	interruptions(t, 30, func(_ *testing.T, p *process) { p.kill() })
}

// A service is terminated as in an upgrade: it must stop by itself, soon, and lose nothing either.
func TestSoakAServiceTerminatedUnderLoadStopsAndLosesNothing(t *testing.T) {
	t.Parallel()
	interruptions(t, 15, func(t *testing.T, p *process) {
		began := time.Now()
		p.terminate(t)
		if code := p.wait(t); code != 0 || time.Since(began) > 10*time.Second {
			t.Errorf("exit %d after %s", code, time.Since(began))
		}
	})
}

// interruptions ends the service repeatedly while clients write, and checks each time that everything acknowledged is stored.
func interruptions(t *testing.T, soakRounds int, end func(*testing.T, *process)) {
	t.Helper()
	rounds := dbtest.Repeats(crashRounds, soakRounds)
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

// interrupted runs clients that write and ends the service at a random moment.
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

// cutOff accepts a broken connection as the end of the service. Until then the service must not refuse anything.
func cutOff(err error) (bool, error) {
	var answer *client.Error
	if errors.As(err, &answer) {
		return false, err
	}
	return false, nil
}

// verifyWhole verifies every invariant with the command line, and the audit log with the API.
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
