package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"tag_id": newTag(t, n).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/tags":          func(*testing.T, *apitest.Tenant) sample { return sample{query: "limit=1&kind=supplier&search=a"} },
		"GET /v1/tags/{tag_id}": one,
		"POST /v1/tags": func(*testing.T, *apitest.Tenant) sample {
			return sample{body: map[string]any{"name": client.NewIdempotencyKey(), "kind": "supplier"}}
		},
		"PATCH /v1/tags/{tag_id}": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.body = map[string]any{"name": client.NewIdempotencyKey(), "kind": "customer"}
			return s
		},
		"DELETE /v1/tags/{tag_id}": one,
	})
}

// newTag creates a project with a unique name.
func newTag(t *testing.T, n *apitest.Tenant) client.Tag {
	t.Helper()
	made, err := n.Client.CreateTag(t.Context(), client.CreateTag{Name: client.NewIdempotencyKey(), Kind: "project"})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
