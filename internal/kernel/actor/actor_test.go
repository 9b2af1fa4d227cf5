package actor_test

import (
	"slices"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

func TestActorsAreAuthorizedByScopeClassAndRole(t *testing.T) {
	t.Parallel()
	all, read := []actor.Scope{actor.ScopeAll}, []actor.Scope{actor.ScopeRead}
	for _, c := range []struct {
		who   string
		actor actor.Actor
		need  actor.Need
		may   bool
	}{
		{"a reading key reads", actor.Actor{Scopes: read}, actor.Need{Class: actor.Read, Scope: actor.ScopeRead}, true},
		{"a key for all reads too", actor.Actor{Scopes: all}, actor.Need{Class: actor.Read, Scope: actor.ScopeRead}, true},
		{"a reading key does not write", actor.Actor{Scopes: read}, actor.Need{Class: actor.Write, Scope: actor.ScopeAll}, false},
		{"a key of nobody writes", actor.Actor{Scopes: all}, actor.Need{Class: actor.Write, Scope: actor.ScopeAll}, true},
		{"but does nothing privileged", actor.Actor{Scopes: all}, actor.Need{Class: actor.Privileged, Scope: actor.ScopeAll}, false},
		{"a viewer's key does not write", actor.Actor{Scopes: all, UserID: "u", Role: actor.Viewer}, actor.Need{Class: actor.Write,
			Scope: actor.ScopeAll}, false},
		{"an accountant's does", actor.Actor{Scopes: all, UserID: "u", Role: actor.Accountant}, actor.Need{Class: actor.Write,
			Scope: actor.ScopeAll}, true},
		{"but nothing privileged", actor.Actor{Scopes: all, UserID: "u", Role: actor.Accountant}, actor.Need{Class: actor.Privileged,
			Scope: actor.ScopeAll}, false},
		{"an admin's does", actor.Actor{Scopes: all, UserID: "u", Role: actor.Admin}, actor.Need{Class: actor.Privileged,
			Scope: actor.ScopeAll}, true},
		{"all is not memory", actor.Actor{Scopes: all, UserID: "u", Role: actor.Owner}, actor.Need{Class: actor.Write,
			Scope: actor.ScopeMemory}, false},
		{"an auditor reads what auditors may", actor.Actor{Scopes: read, UserID: "u", Role: actor.Auditor}, actor.Need{Class: actor.Read,
			Scope: actor.ScopeRead, Roles: []actor.Role{actor.Auditor}}, true},
		{"a limited key does what concerns its legal entities", actor.Actor{Scopes: all, LegalEntityIDs: []string{"le_1"}},
			actor.Need{Class: actor.Write, Scope: actor.ScopeAll}, true},
		{"but nothing that concerns all", actor.Actor{Scopes: all, LegalEntityIDs: []string{"le_1"}}, actor.Need{Class: actor.Write,
			Scope: actor.ScopeAll, WholeOrganization: true}, false},
		{"an unlimited one does", actor.Actor{Scopes: all}, actor.Need{Class: actor.Write, Scope: actor.ScopeAll, WholeOrganization: true}, true},
		{"a key of nobody that an accountant created writes", actor.Actor{Scopes: all, Role: actor.Accountant}, actor.Need{Class: actor.Write,
			Scope: actor.ScopeAll}, true},
		{"one that a viewer created does not", actor.Actor{Scopes: all, Role: actor.Viewer}, actor.Need{Class: actor.Write,
			Scope: actor.ScopeAll}, false},
		{"one that an owner created does nothing privileged", actor.Actor{Scopes: all, Role: actor.Owner}, actor.Need{Class: actor.Privileged,
			Scope: actor.ScopeAll}, false},
		{"an accountant does not", actor.Actor{Scopes: read, UserID: "u", Role: actor.Accountant}, actor.Need{Class: actor.Read,
			Scope: actor.ScopeRead, Roles: []actor.Role{actor.Auditor}}, false},
	} {
		err := c.actor.Authorize(c.need)
		if (err == nil) != c.may || err != nil && fault.KindOf(err) != fault.Forbidden {
			t.Errorf("%s: %v", c.who, err)
		}
	}
	limited := actor.Actor{LegalEntityIDs: []string{"le_1"}}
	if !limited.Sees("le_1") || limited.Sees("le_2") || !(actor.Actor{}).Sees("le_2") {
		t.Error("a key does not see exactly its legal entities")
	}
}

func TestScopesSurviveBeingWrittenAsText(t *testing.T) {
	t.Parallel()
	if got := actor.JoinScopes(actor.Scopes); got != "apis.read apis.all write:memory write:operational-rules" {
		t.Errorf("all scopes are %q", got)
	}
	for _, scopes := range [][]actor.Scope{{}, {actor.ScopeRead}, actor.Scopes} {
		if got := actor.SplitScopes(actor.JoinScopes(scopes)); got == nil || !slices.Equal(got, scopes) {
			t.Errorf("%v became %v", scopes, got)
		}
		if got := actor.ScopeNames(scopes); got == nil || len(got) != len(scopes) {
			t.Errorf("the names of %v are %v", scopes, got)
		}
	}
}
