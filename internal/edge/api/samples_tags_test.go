package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"tag_id": n.NewTag(t).ID}}
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
