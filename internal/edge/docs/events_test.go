package docs_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestThePageOfEventsListsEveryTypeWithItsData(t *testing.T) {
	t.Parallel()
	a := described(t)
	var spec struct {
		Webhooks map[string]struct {
			Post struct {
				Record string `json:"x-bursar-record-operation"`
			}
		}
	}
	if err := json.Unmarshal(get(t, a, "/openapi.json").Body.Bytes(), &spec); err != nil {
		t.Fatal(err)
	}
	pages := allPages(t, a)
	at := slices.IndexFunc(pages, func(p page) bool { return p.path == "/docs/events" })
	if at < 0 || len(spec.Webhooks) < 50 {
		t.Fatalf("%d types of events are described, and page %d is about them", len(spec.Webhooks), at)
	}
	for name, event := range spec.Webhooks {
		rows := elements(pages[at].tree, "id", name)
		if len(rows) != 1 {
			t.Errorf("%d rows are about %s", len(rows), name)
			continue
		}
		var links []string
		for n := range rows[0].Descendants() {
			if to := attribute(n, "href"); to != "" {
				links = append(links, to)
			}
		}
		cells := strings.TrimPrefix(textOf(rows[0]), name)
		if id := event.Post.Record; cells == "" || id != "" && (len(links) != 1 || !strings.HasSuffix(links[0], "#"+id)) {
			t.Errorf("of the data of %s, which %q returns, it says %q with the links %q", name, id, cells, links)
		}
	}
}
