package demo

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// documents are the documents of the company.
var documents = []struct{ path, content string }{
	{"profile.md", `---
legal_name: Demo Company, Inc.
fiscal_year_end: December
---
# Demo Company

A software company that is paid in dollars, euros and stablecoins, and holds ether and bitcoin as its treasury.
The subsidiary in Germany keeps its books in euros.
`},
	{"knowledge/suppliers.md", `# Suppliers

- **Cloudhost** bills on the first of the month for the month before. It is accrued, so payments settle payables.
- **Grayson Audit** is paid against the accrual of the year.
- **Tidewater Lending** lends stablecoins; interest is paid with the principal.
`},
	{"policy/revenue.yaml", `subscriptions:
  recognize: monthly
  account: "4010"
refunds:
  account: "4080"
`},
	{"skills/month-end-close/SKILL.md", `---
name: month-end-close
description: What to check before a period is closed.
---
1. Every transaction of the period is posted: run the classification and review what no rule matches.
2. Swap and transfer clearing have a balance of zero.
3. The revaluation of the period is posted.
`},
}

// rules are the rules of the company.
var rules = []struct {
	category, memo, asset, direction string
	kind                             posting.Type
	target, payee, tag               string
}{
	{category: "payroll", direction: "WITHDRAWAL", kind: posting.Bill, target: "2040"},
	{category: "hosting", kind: posting.Bill, target: "2010", payee: "Cloudhost", tag: "Cloudhost"},
	{category: "rent", direction: "WITHDRAWAL", kind: posting.Expense, target: "6080"},
	{category: "contractors", direction: "WITHDRAWAL", kind: posting.Expense, target: "6020", tag: "Engineering"},
	{category: "charge", direction: "DEPOSIT", kind: posting.Income, target: "4010", tag: "Sales"},
	{category: "staking_reward", asset: "ETH", direction: "DEPOSIT", kind: posting.StakingReward, target: "4020", tag: "Validators"},
	{memo: "airlines", direction: "WITHDRAWAL", kind: posting.Expense, target: "6070"},
}

// remember writes documents and rules.
func (c *company) remember(ctx context.Context) error {
	for _, d := range documents {
		if err := c.app.Memory.Put(ctx, memory.PutParams{Path: d.path, Content: d.content,
			Rationale: "Start of the books"}); err != nil {
			return fmt.Errorf("%s: %w", d.path, err)
		}
	}
	for _, r := range rules {
		p := memory.RuleParams{
			Type: memory.Classification, ProviderCategory: optional(r.category), MemoContains: optional(r.memo),
			AssetType: optional(r.asset), Direction: optional(r.direction), TransactionType: optional(string(r.kind)),
			LedgerAccountID: optional(c.accounts[r.target]), PayeeName: optional(r.payee), TagID: optional(c.tags[r.tag]),
		}
		if _, err := c.app.Memory.PutRule(ctx, memory.PutRuleParams{Rule: p, Rationale: "As booked so far"}); err != nil {
			return fmt.Errorf("the rule for %s%s: %w", r.category, r.memo, err)
		}
	}
	return nil
}

// optional returns nil for an empty text.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// suggest runs a classification that stores suggestions on the transactions that wait for review.
func (c *company) suggest(ctx context.Context) error {
	r, err := c.app.Classification.Create(ctx, classification.CreateParams{Filter: &transaction.Filter{}, Action: classification.Suggest})
	if err != nil {
		return err
	}
	r, err = c.app.Classification.Run(ctx, actor.From(ctx).OrganizationID, r.ID, nil)
	if err == nil && r.Status != batchrun.Completed {
		err = fmt.Errorf("the run is %s: %s", r.Status, r.Error)
	}
	return err
}
