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

// NewTemplate makes the organization an accounting firm, and creates a chart that it offers to its clients.
func (n *Tenant) NewTemplate(t *testing.T) client.FirmTemplate {
	t.Helper()
	n.BecomeFirm(t)
	made, err := n.Client.CreateFirmTemplate(t.Context(), client.CreateFirmTemplate{Name: "Chart " + client.NewIdempotencyKey(), Kind: "chart",
		Accounts: []client.FirmTemplateAccount{{Code: client.NewIdempotencyKey()[:8], Name: "Node providers", Type: "Expense"}}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
