package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// delivery is a request that a receiver of webhooks got.
type delivery struct {
	header http.Header
	body   string
}

// receiver is a server to which webhooks are sent. It keeps the deliveries and answers with a status.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []delivery
}

func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusNoContent}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, delivery{req.Header, string(body)})
		w.Header().Set("Location", "/elsewhere") // of a redirection, which must not be followed
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *receiver) deliveries() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

func TestEventsAreForwardedAsSignedWebhooks(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		key, host := found(t, c).APIKey, freeAddress(t)
		run := func() *process {
			p := start(t, nil, on(c, "serve", "--addr", host, "--rate-limit", "0")...)
			p.ready(t)
			return p
		}
		server, service, to := run(), once("http://"+host, key), receive(t)
		before := eventIDs(t, service, "member.added")[0]
		p := start(t, remote("http://"+host, key), "webhooks", "listen", "--forward", to.URL+"/hook", "--type", "tag.*", "--after", before)
		_, secret, _ := strings.Cut(p.printed(t, "Secret: "), "Secret: ")
		for i, status := range []int{http.StatusOK, http.StatusInternalServerError, http.StatusFound, http.StatusGone, http.StatusNoContent} {
			to.answer(status)
			if i == 4 {
				server.kill()
				server = run()
				service = once("http://"+host, key)
			}
			addTag(t, service, "Tag for "+http.StatusText(status))
			line := p.printed(t, eventIDs(t, service, "tag.*")[i])
			want := regexp.MustCompile(fmt.Sprintf(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  tag\.created {19}evt_\w{26} +\d+ ms  (failed, not repeated: )?%d %s$`,
				status, http.StatusText(status)))
			if m := want.FindStringSubmatch(line); m == nil || (m[1] == "") != (status < 300) {
				t.Errorf("%d is reported as %q", status, line)
			}
		}
		to.Close()
		addTag(t, service, "Tag for nobody")
		if line := p.printed(t, eventIDs(t, service, "tag.*")[5]); !strings.Contains(line, "failed, not repeated: ") {
			t.Errorf("a receiver that is not there is reported as %q", line)
		}
		p.interrupt(t)
		checkDeliveries(t, service, secret, to.deliveries(), 5)
	})
}

// checkDeliveries checks that the events about tags were delivered in order, each once, signed, and as the API returns them.
func checkDeliveries(t *testing.T, service *client.Client, secret string, got []delivery, count int) {
	t.Helper()
	library, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	ids := eventIDs(t, service, "tag.*")
	if len(got) != count {
		t.Fatalf("%d deliveries, want %d", len(got), count)
	}
	for i, d := range got {
		if err := library.Verify([]byte(d.body), d.header); err != nil {
			t.Errorf("delivery %d: %v", i, err)
		}
		if err := library.Verify([]byte(d.body+" "), d.header); err == nil {
			t.Errorf("delivery %d: the signature is not that of the body", i)
		}
		if id := d.header.Get("webhook-id"); id != ids[i] || d.header.Get("Content-Type") != "application/json" {
			t.Errorf("delivery %d has the headers %v, want the id %s", i, d.header, ids[i])
		}
		var answer struct{ Data json.RawMessage }
		if err := service.Do(t.Context(), client.Call{Method: http.MethodGet, Path: "/v1/events/" + ids[i]}, &answer); err != nil {
			t.Fatal(err)
		}
		if d.body != string(answer.Data) {
			t.Errorf("delivery %d is\n%s, want\n%s", i, d.body, answer.Data)
		}
	}
}

func TestWebhooksAreSignedWithTheSecretThatIsChosenWhichIsNotPrinted(t *testing.T) {
	t.Parallel()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	c := dbtest.SQLite(t)
	key := found(t, c).APIKey
	address := serve(t, c).ready(t)
	service, to := once(address, key), receive(t)
	before := eventIDs(t, service, "member.added")[0]
	addTag(t, service, "Osaka")
	arguments := []string{"webhooks", "listen", "--forward", to.URL, "--type", "tag.*", "--after", before}
	environment := remote(address, key)
	for _, p := range []*process{
		start(t, environment, append(slices.Clip(arguments), "--secret", secret)...),
		start(t, append(slices.Clip(environment), "BURSAR_WEBHOOK_SECRET="+secret), arguments...),
	} {
		p.printed(t, "204 No Content")
		p.interrupt(t)
		if strings.Contains(p.out.text(), "whsec_") {
			t.Errorf("it prints the secret:\n%s", p.out.text())
		}
	}
	got := to.deliveries()
	if len(got) != 2 {
		t.Fatalf("%d deliveries, want one of each command", len(got))
	}
	checkDeliveries(t, service, secret, got[:1], 1)
	checkDeliveries(t, service, secret, got[1:], 1)
}
