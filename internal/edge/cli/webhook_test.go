package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// arrivals counts the names of the tags whose events a webhook endpoint has received.
type arrivals struct {
	mu     sync.Mutex
	secret string
	names  map[string]int
	wrong  int                // messages that were not signed
	before func(received int) // called before an answer
}

func (a *arrivals) serve(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var event struct{ Data struct{ Name string } }
	_ = json.Unmarshal(body, &event)
	a.mu.Lock()
	verifier, err := standardwebhooks.NewWebhook(a.secret)
	if err != nil || verifier.Verify(body, r.Header) != nil {
		a.wrong++
	}
	a.names[event.Data.Name]++
	before, n := a.before, len(a.names)
	a.mu.Unlock()
	if before != nil {
		before(n)
	}
}

// missing returns how many of some tags were not received.
func (a *arrivals) missing(names []string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, name := range names {
		if a.names[name] == 0 {
			n++
		}
	}
	return n
}

// The service is killed while it sends events, after some were received and before that was stored. All events of changes that were
// committed arrive all the same.
func TestSoakNoEventIsLostWhenTheServiceIsKilled(t *testing.T) {
	t.Parallel()
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		if c.Dir == "" {
			c.Dir = t.TempDir() // the key for secrets is there
		}
		got := &arrivals{names: map[string]int{}}
		receiver := httptest.NewServer(http.HandlerFunc(got.serve))
		t.Cleanup(receiver.Close)
		f := found(t, c)
		run := func() (*process, *client.Client) {
			p := serve(t, c, "--allow-private-networks")
			return p, once(p.ready(t), f.APIKey)
		}
		p, service := run()
		e, err := service.CreateWebhookEndpoint(t.Context(), client.CreateWebhookEndpoint{URL: receiver.URL, Types: []string{"tag.created"}})
		if err != nil {
			t.Fatal(err)
		}
		var kill sync.Once
		got.mu.Lock()
		got.secret = e.Secret
		got.before = func(received int) {
			if received == 5 {
				kill.Do(p.kill)
			}
		}
		got.mu.Unlock()
		var committed []string
		for n := 0; ; n++ {
			name := fmt.Sprintf("tag %d", n)
			if _, err := service.CreateTag(t.Context(), client.CreateTag{Name: name, Kind: "project"}); err != nil {
				break
			}
			committed = append(committed, name)
		}
		<-p.done
		_, service = run()
		eventually(t, "all events arrive", func(context.Context) error {
			if n := got.missing(committed); n > 0 {
				return fmt.Errorf("%d of %d events are missing", n, len(committed))
			}
			return nil
		})
		if got.wrong > 0 {
			t.Errorf("%d messages were not signed", got.wrong)
		}
		d, err := service.WebhookEndpoint(t.Context(), e.ID)
		if err != nil || d.Status != "enabled" || d.FailingSince != nil {
			t.Errorf("%+v %v", d, err)
		}
	})
}
