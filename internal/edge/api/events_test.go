package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// newEvents returns the events after one.
func newEvents(t *testing.T, n *apitest.Tenant, after string) (all []client.Event) {
	t.Helper()
	for e, err := range n.Client.Events(t.Context(), url.Values{"after": {after}}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// recordOf gets the record that an event is about, or nil if it cannot be got by its id.
func recordOf(t *testing.T, s *apitest.Service, n *apitest.Tenant, e client.Event) map[string]any {
	t.Helper()
	record, ok := s.API.RecordOf(e.Type)
	if !ok || record.Path == "" {
		return nil
	}
	var id map[string]any
	if err := json.Unmarshal(e.Data, &id); err != nil {
		t.Fatal(err)
	}
	path := record.Path
	if at := strings.Index(path, "{"); at >= 0 {
		path = path[:at] + url.PathEscape(nameOf(id))
	}
	a := s.Send(t, apitest.Request{Method: http.MethodGet, Path: path, Key: n.Key})
	if a.Status == http.StatusNotFound {
		return map[string]any{"id": nameOf(id), "deleted": true}
	}
	var got struct{ Data map[string]any }
	if err := json.Unmarshal(a.Body, &got); err != nil || a.Status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
	for _, name := range record.Omits {
		delete(got.Data, name)
	}
	return got.Data
}

// nameOf returns the id of the record that data are about.
func nameOf(data map[string]any) string {
	for _, name := range []string{"id", "asset_type"} {
		if id, ok := data[name].(string); ok {
			return id
		}
	}
	return ""
}

func TestSoakTheEventsOfEveryWriteContainTheRecordsAsTheAPIReturnsThem(t *testing.T) {
	eachRouteOnce(t, func(t *testing.T, s *apitest.Service, r wire.Route) {
		if r.Method == http.MethodGet || r.Need.Class == actor.Read {
			return
		}
		n := s.Found(t, "mine")
		q, _ := request(t, r, n)
		before := anEvent(t, n, "")
		if a := s.Send(t, q); a.Status >= http.StatusBadRequest {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		last := map[string]client.Event{}
		for _, e := range newEvents(t, n, before) {
			var data map[string]any
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			last[strings.Split(e.Type, ".")[0]+nameOf(data)] = e
		}
		for _, e := range last {
			want := recordOf(t, s, n, e)
			if want == nil {
				continue
			}
			var got map[string]any
			if err := json.Unmarshal(e.Data, &got); err != nil {
				t.Fatal(err)
			}
			if want["is_default"] == true && got["deleted"] == true { // the policy that applies to assets without one
				continue
			}
			if !reflect.DeepEqual(got, want) {
				text, _ := json.Marshal(want)
				t.Errorf("%s says\n%s\nbut the API returns\n%s", e.Type, e.Data, text)
			}
		}
	})
}

func TestTheEventOfATestIsDescribedButCannotBeSelected(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, dbtest.Open(t, dbtest.SQLite(t)), api.Config{})
	n := s.Found(t, "acme")
	item := s.API.Webhook(webhook.EventTest)
	if item == nil || !strings.Contains(item.Post.Description, "not part of the feed") {
		t.Fatalf("%s is not described: %v", webhook.EventTest, item)
	}
	path := "/v1/webhook-endpoints"
	for _, r := range []apitest.Request{
		{Method: http.MethodGet, Path: "/v1/events?types=" + webhook.EventTest, Key: n.Key},
		{Method: http.MethodPost, Path: path, Key: n.Key, Body: `{"url":"https://hooks.example/","types":["` + webhook.EventTest + `"]}`},
	} {
		if a := s.Send(t, r); a.Status != http.StatusBadRequest || !strings.Contains(string(a.Body), "/docs/events#types") {
			t.Errorf("%s %s: %d %s", r.Method, r.Path, a.Status, a.Body)
		}
	}
	for _, event := range s.App.Feed.Types() {
		if s.API.Webhook(event) == nil {
			t.Errorf("%s is not described", event)
		}
	}
}
