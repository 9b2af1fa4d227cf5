package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func TestAWriteWhoseCommitIsNotConfirmedIsFoundAgainByItsKeyOrSaidToBeUnknown(t *testing.T) {
	t.Parallel()
	proxy, c := dbtest.NewProxy(t, dbtest.Postgres(t), dbtest.NewFaults())
	s := apitest.Start(t, dbtest.Open(t, c), api.Config{})
	n := s.Found(t, "mine")
	create := apitest.Request{Method: "POST", Path: "/v1/api-keys", Key: n.Key, Body: `{"name":"k","scopes":["apis.read"]}`,
		Header: http.Header{"Idempotency-Key": {"once"}}}

	before := n.AuditCount(t)
	proxy.LoseCommitIn(1)
	first := s.Send(t, create)
	if proxy.Happened()["lost commit"] != 1 {
		t.Fatal("the answer to no commit was lost, so nothing was tested")
	}
	again := s.Send(t, create)
	if first.Status != 201 || again.Status != 201 || string(first.Body) != string(again.Body) || n.AuditCount(t) != before+1 {
		t.Errorf("%d %s, then %d %s, %d changes", first.Status, first.Body, again.Status, again.Body, n.AuditCount(t)-before)
	}

	proxy.LoseCommitIn(1)
	unknown := s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/organization", Key: n.Key, Body: `{"name":"After"}`})
	if e := unknown.Error(t); unknown.Status != 503 || e.Code != "SERVICE_UNAVAILABLE" || !strings.Contains(e.Message,
		"did not confirm") || unknown.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", unknown.Status, unknown.Body)
	}
	if got, err := n.Client.Organization(t.Context()); err != nil || got.Name != "After" {
		t.Errorf("the commit was let through, but the name is %q: %v", got.Name, err)
	}
}
