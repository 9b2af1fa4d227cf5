package apitest

import (
	"testing"

	"github.com/bursarhq/bursar/client"
)

// NewRule creates a rule for an account of its own.
func (n *Tenant) NewRule(t *testing.T) client.MemoryRule {
	t.Helper()
	r, err := n.Client.PutMemoryRule(t.Context(), "", client.PutMemoryRule{RuleType: "classification", MemoContains: new("x"),
		LedgerAccountID: new(n.NewExpenseAccount(t, client.NewIdempotencyKey()).ID)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
