package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

// feed returns the events that a query selects.
func feed(t *testing.T, c *client.Client, query string) (all []client.Event) {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range c.Events(t.Context(), values) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// told returns the type of each event and some properties of its data.
func told(all []client.Event, names ...string) (out []string) {
	for _, e := range all {
		text, data := e.Type, map[string]any{}
		_ = json.Unmarshal(e.Data, &data)
		for _, name := range names {
			text += fmt.Sprintf(" %v", data[name])
		}
		out = append(out, text)
	}
	return out
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheFeedReturnsEveryChangeWithTheRecordAsItWasThen(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, other := s.Found(t, "mine"), s.Found(t, "other")
		other.NewTag(t)
		start := feed(t, n.Client, "order=desc")[0].ID
		made, err := n.Client.CreateTag(t.Context(), client.CreateTag{Name: "first", Kind: "supplier"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Client.UpdateTag(t.Context(), made.ID, client.UpdateTag{Name: new("second")}); err != nil {
			t.Fatal(err)
		}
		n.NewTag(t)
		if err := n.Client.DeleteTag(t.Context(), made.ID); err != nil {
			t.Fatal(err)
		}
		since := feed(t, n.Client, "after="+start)
		same(t, told(since), "tag.created", "tag.updated", "tag.created", "tag.deleted")
		same(t, told(feed(t, n.Client, "object_id="+made.ID), "name", "deleted"),
			"tag.created first <nil>", "tag.updated second <nil>", "tag.deleted <nil> true")
		same(t, told(feed(t, n.Client, "object_id="+made.ID+"&types=tag.updated")), "tag.updated")
		same(t, told(feed(t, n.Client, "limit=1&types=tag.deleted,tag.updated")), "tag.updated", "tag.deleted")
		same(t, told(feed(t, n.Client, "limit=1&types=tag.*&after="+since[0].ID)), "tag.updated", "tag.created", "tag.deleted")
		same(t, told(feed(t, n.Client, "limit=2&order=desc&types=tag.*")), "tag.deleted", "tag.created", "tag.updated", "tag.created")
		all, pages := feed(t, n.Client, ""), feed(t, n.Client, "limit=1")
		if len(all) != len(pages) || all[0].Type != "organization.created" {
			t.Errorf("%d events at once and %d one by one; the first is %s", len(all), len(pages), all[0].Type)
		}
		for _, e := range all {
			if e.OrganizationID != n.Organization.ID {
				t.Errorf("%s is of %s", e.ID, e.OrganizationID)
			}
		}
		one, err := n.Client.Event(t.Context(), since[1].ID)
		if err != nil || one.Type != "tag.updated" || string(one.Data) != string(since[1].Data) {
			t.Errorf("%+v %v", one, err)
		}
		if _, err := other.Client.Event(t.Context(), since[1].ID); !client.IsNotFound(err) {
			t.Errorf("another organization reads it: %v", err)
		}
	})
}

func TestWhatTheFeedCannotSelectIsRefused(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, other := s.Found(t, "mine"), s.Found(t, "other")
		foreign, own := feed(t, other.Client, "order=desc")[0].ID, feed(t, n.Client, "order=desc")[0].ID
		for query, want := range map[string]string{
			"types=tag.made":                "400 types",
			"types=*":                       "400 types",
			"types=ta*":                     "400 types",
			"types=tag.created,nothing":     "400 types",
			"after=" + foreign:              "404 after",
			"after=evt_1":                   "404 after",
			"after=" + own + "&order=desc":  "400 after",
			"order=newest":                  "400 order",
			"object_id=":                    "400 object_id",
			"types=tag.*&cursor=made-up":    "400 cursor",
			"after=" + own + "&limit=101":   "400 limit",
			"since=2026-01-01T00:00:00.000": "400 since",
		} {
			for _, accept := range []string{"application/json", "text/event-stream"} {
				a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/events?" + query, Key: n.Key, Header: http.Header{"Accept": {accept}}})
				got := fmt.Sprint(a.Status)
				if fields := a.Error(t).Fields; len(fields) > 0 {
					got += " " + fields[0].Field
				}
				if accept != "application/json" && strings.Contains(query, "order=desc") {
					want = "400 order"
				}
				if got != want {
					t.Errorf("%s as %s: %s, want %s: %s", query, accept, got, want, a.Body)
				}
			}
		}
	})
}

func TestEventsAboutKeysAreForOwnersAndAdminsOnly(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		viewer := client.New(s.URL, n.Member(t, actor.Viewer, actor.ScopeRead))
		admin := client.New(s.URL, n.Member(t, actor.Admin, actor.ScopeAll))
		reader := client.New(s.URL, n.Member(t, actor.Admin, actor.ScopeRead)) // the API does not show it keys either
		found := feed(t, admin, "types=api_key.*")
		if len(found) < 3 || strings.Contains(string(found[0].Data), n.Key) {
			t.Fatalf("%v", told(found))
		}
		if hidden := append(feed(t, viewer, "types=api_key.*"), feed(t, reader, "types=api_key.*")...); len(hidden) > 0 {
			t.Errorf("%v", told(hidden))
		}
		for _, e := range feed(t, viewer, "") {
			if strings.HasPrefix(e.Type, "api_key.") {
				t.Errorf("a viewer reads %s", e.Type)
			}
		}
		if _, err := viewer.Event(t.Context(), found[0].ID); !client.IsNotFound(err) {
			t.Error(err)
		}
		if after := feed(t, viewer, "after="+found[0].ID); len(after) == 0 { // its place in the feed is no secret
			t.Error("nothing after the event")
		}
	})
}

func TestTransactionsThatArriveTogetherAreOneEventWithAListOfThemAll(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		source := n.NewSource(t, client.CreateSource{}).ID
		at := time.Date(2026, 1, 12, 12, 0, 0, 0, time.UTC)
		var all []client.CreateTransaction
		for i := range 120 {
			all = append(all, client.CreateTransaction{SourceID: source, ExternalID: fmt.Sprint(i), External: client.CreateTransactionExternal{
				Timestamp: at, Description: "arrived", Direction: "credit", Quantity: new("10"), Currency: "USD"}})
		}
		made, err := n.Client.CreateTransactions(t.Context(), all...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Client.UpdateTransaction(t.Context(), made.Data[7].ID, client.UpdateTransaction{Status: new("spam")}); err != nil {
			t.Fatal(err)
		}
		single := n.NewTransaction(t)
		events := feed(t, n.Client, "types=transactions.created,transaction.created")
		same(t, told(events, "count", "first", "last"), "transactions.created 120 OT-1 OT-120", "transaction.created <nil> <nil> <nil>")
		var ids []string
		for one, err := range n.Client.EventTransactions(t.Context(), events[0].ID) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, one.ID)
		}
		for i, one := range made.Data {
			if i >= len(ids) || ids[i] != one.ID {
				t.Fatalf("%d of %d transactions, number %d is another one", len(ids), len(made.Data), i)
			}
		}
		for one, err := range n.Client.EventTransactions(t.Context(), events[1].ID) {
			if err != nil || one.ID != single.ID {
				t.Errorf("%s %v", one.ID, err)
			}
		}
		same(t, told(feed(t, n.Client, "object_id="+single.ID), "id"), "transaction.created "+single.ID)
		other := feed(t, n.Client, "types=source.created")[0].ID
		a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/events/" + other + "/transactions", Key: n.Key})
		if a.Status != http.StatusConflict {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

func TestAStreamSendsEventsAsTheyHappenAndContinuesAfterTheLastOne(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		first := n.NewTag(t)
		read := func(query url.Values, count int, do func(i int)) (got []client.Event) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if do != nil {
				time.AfterFunc(300*time.Millisecond, func() {
					for i := range count {
						do(i)
					}
				})
			}
			for e, err := range n.Client.StreamEvents(ctx, query) {
				if err != nil {
					t.Error(err)
					break
				}
				if got = append(got, e); len(got) == count {
					break
				}
			}
			return got
		}
		live := read(nil, 3, func(i int) {
			if _, err := n.Client.UpdateTag(context.Background(), first.ID, client.UpdateTag{Name: new(fmt.Sprint("name ", i))}); err != nil {
				t.Error(err)
			}
		})
		same(t, told(live, "name"), "tag.updated name 0", "tag.updated name 1", "tag.updated name 2")
		same(t, told(read(url.Values{"after": {live[0].ID}}, 2, nil), "name"), "tag.updated name 1", "tag.updated name 2")
		created := feed(t, n.Client, "types=tag.created")
		same(t, told(read(url.Values{"after": {created[0].ID}, "types": {"tag.*"}}, 3, nil)), "tag.updated", "tag.updated", "tag.updated")

		// A reader that lost its connection sends the header, which is later than the parameter.
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		q, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/events?after="+created[0].ID, nil)
		q.Header = http.Header{"X-Api-Key": {n.Key}, "Accept": {"text/event-stream"}, "Last-Event-Id": {live[1].ID}}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		buffer := make([]byte, 8192)
		k, _ := r.Body.Read(buffer)
		next := "id: " + live[2].ID + "\nevent: tag.updated\ndata: {"
		if text := string(buffer[:k]); !strings.Contains(text, next) || strings.Contains(text, live[1].ID) {
			t.Errorf("%s", text)
		}
	})
}

func TestAnAnswerIsAStreamOnlyIfThatIsPreferred(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, dbtest.Open(t, dbtest.SQLite(t)), api.Config{})
	n := s.Found(t, "mine")
	for accept, want := range map[string]string{
		"text/event-stream":                          "text/event-stream",
		"TEXT/EVENT-STREAM":                          "text/event-stream",
		"text/event-stream, */*;q=0.1":               "text/event-stream",
		"text/event-stream, application/json;q=0.99": "text/event-stream",
		"application/json, text/event-stream":        "application/json",
		"text/event-stream;q=0.9, application/json":  "application/json",
		"text/event-stream;q=0":                      "application/json",
		"text/event-stream;q=0, */*":                 "application/json",
		"*/*":                                        "application/json",
		"text/event-stream;;, text/event-streams":    "application/json",
	} {
		q, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/events", nil)
		q.Header = http.Header{"X-Api-Key": {n.Key}, "Accept": {accept}}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if got := r.Header.Get("Content-Type"); got != want {
			t.Errorf("%s is answered with %s, want %s", accept, got, want)
		}
	}
}

func TestTheLastEventOfAReaderIsCheckedLikeAParameter(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		for id, want := range map[string]int{"\xe9": 400, strings.Repeat("x", 65): 400, "evt_1": 404} {
			a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/events", Key: n.Key,
				Header: http.Header{"Accept": {"text/event-stream"}, "Last-Event-ID": {id}}})
			if fields := a.Error(t).Fields; a.Status != want || len(fields) != 1 || fields[0].Field != "Last-Event-ID" {
				t.Errorf("%q: %d %s", id, a.Status, a.Body)
			}
		}
	})
}

func TestAStreamEndsBeforeItSendsAnEventToAKeyThatIsRevoked(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		made, err := n.Client.CreateAPIKey(t.Context(), client.CreateAPIKey{Name: "reader", Scopes: []string{"apis.read"}})
		if err != nil {
			t.Fatal(err)
		}
		began, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			<-began
			if err := n.Client.RevokeAPIKey(context.Background(), made.ID); err != nil {
				t.Error(err)
			}
			time.Sleep(1500 * time.Millisecond) // a key is looked up again after a second
			n.NewTag(t)
		}()
		var got []client.Event
		for e, err := range client.New(s.URL, made.Key).StreamEvents(t.Context(), url.Values{"after": {feed(t, n.Client, "limit=1")[0].ID}}) {
			if err != nil {
				break
			}
			if got = append(got, e); len(got) == 1 {
				close(began)
			}
		}
		if len(got) == 0 {
			t.Fatal("the stream has sent nothing")
		}
		<-ended
		if types := told(got); slices.Contains(types, "tag.created") {
			t.Errorf("the stream has sent %v", types)
		}
	})
}

func TestStreamsEndWhenTheServiceStops(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, dbtest.Open(t, dbtest.SQLite(t)), api.Config{})
	n := s.Found(t, "mine")
	time.AfterFunc(300*time.Millisecond, s.API.EndStreams)
	ended := false
	for _, err := range n.Client.StreamEvents(t.Context(), nil) {
		ended = err != nil
	}
	if !ended {
		t.Error("the stream did not end with an error")
	}
}

func TestEventsAreDeletedAfterTheDaysThatTheOrganizationKeepsThem(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := time.Now()
		c.Clock = clockFunc(func() time.Time { return now })
		s := apitest.Start(t, dbtest.Open(t, c), api.Config{})
		n, other := s.Found(t, "mine"), s.Found(t, "other")
		n.NewTag(t)
		old := feed(t, n.Client, "types=tag.created")[0].ID
		patched := s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/settings", Key: n.Key, Body: `{"event_retention_days":7}`})
		if !strings.Contains(string(patched.Body), `"event_retention_days":7`) {
			t.Fatalf("%s", patched.Body)
		}
		for days, want := range map[int]int{6: 400, 3651: 400, 7: 200} {
			body := fmt.Sprintf(`{"event_retention_days":%d}`, days)
			if a := s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/settings", Key: n.Key, Body: body}); a.Status != want {
				t.Errorf("%s: %d", body, a.Status)
			}
		}
		same(t, told(feed(t, n.Client, "types=settings.updated"), "event_retention_days"), "settings.updated 7")
		now = now.Add(6 * 24 * time.Hour)
		n.NewTag(t)
		work, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.App.Work(work) }() // only events that were handed to the job queue are deleted
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if lag, err := outbox.ReadLag(t.Context(), s.App.DB); err == nil && lag.Waiting == 0 || time.Now().After(deadline) {
				break
			}
		}
		cancel()
		<-done
		now = now.Add(2 * 24 * time.Hour)
		kept := len(feed(t, other.Client, ""))
		if err := outbox.DeleteExpired(t.Context(), s.App.DB); err != nil {
			t.Fatal(err)
		}
		left := feed(t, n.Client, "")
		if len(left) == 0 || left[0].Type != "tag.created" || left[0].ID == old {
			t.Errorf("%v", told(left))
		}
		if got := len(feed(t, other.Client, "")); got != kept {
			t.Errorf("%d events of an organization that keeps them for 90 days are left of %d", got, kept)
		}
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/events?after=" + old, Key: n.Key}); a.Status != http.StatusNotFound {
			t.Errorf("after an event that was deleted: %d %s", a.Status, a.Body)
		}
	})
}

type clockFunc func() time.Time

func (f clockFunc) Now() time.Time { return f() }
