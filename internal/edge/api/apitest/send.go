package apitest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// SendJSON sends a request and returns the answer and, if it succeeded, the properties of its data.
func (s *Service) SendJSON(t *testing.T, key, method, path, body string) (Answer, map[string]json.RawMessage) {
	t.Helper()
	a := s.Send(t, Request{Method: method, Path: path, Key: key, Body: body})
	var out struct{ Data map[string]json.RawMessage }
	if a.Status < 300 {
		if err := json.Unmarshal(a.Body, &out); err != nil {
			t.Fatalf("%s %s: %s", method, path, a.Body)
		}
	}
	return a, out.Data
}

// AuditCount returns the number of the last record in the audit log: it grows with each change of the organization. The log itself is
// verified when the test ends.
func (n *Tenant) AuditCount(t *testing.T) int64 {
	t.Helper()
	var state orgstate.State
	err := n.service.App.DB.ReadOne(context.Background(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
		state, err = orgstate.Read(ctx, tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return state.AuditSequence
}

// PostJSON posts a body and decodes the answer into a value, unless that is nil.
func (n *Tenant) PostJSON(t *testing.T, path string, body any, into any) Answer {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	a := n.Service().Send(t, Request{Method: "POST", Path: path, Key: n.Key, Body: string(text)})
	if into != nil {
		if err := json.Unmarshal(a.Body, into); err != nil {
			t.Fatalf("%s: %v", a.Body, err)
		}
	}
	return a
}

// Context returns a context with the organization as the actor, for calling services directly.
func (n *Tenant) Context(t *testing.T) context.Context {
	return actor.With(t.Context(), actor.Actor{OrganizationID: n.Organization.ID})
}
