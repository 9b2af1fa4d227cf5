// Package account is the chart of accounts: a tree of ledger accounts that all legal entities of an organization
// share.
//
// An account has a type, and so has everything below it the same. Only a postable account takes lines; the others
// group, or show what is computed. An account that is archived takes no new lines, and nothing below it does, because
// what is below is archived first.
//
// A role names an account the service itself uses: posting finds realized_gain by its role, however people have
// renamed it. Such a system account can be renamed, renumbered and moved, but not archived or deleted, and what it is
// for (type, normal balance, whether it takes lines) does not change. A role is on one account only. Some have a
// subject after a colon: due_from:le_… is what a legal entity owes the others.
//
// The income statement is cut into sections by roles too. An account stands in the section of the nearest group above
// it (or of itself) that has one of the roles group:revenue, group:other_income, group:cost_of_revenue,
// group:operating_expense, group:other_expense; without such a group Revenue is revenue and Expense is operating
// expense. To move an account to another section, move it below another group. Sections computes it.
//
// Retained earnings, current earnings and translation adjustment are computed from the books and take no lines; what
// is posted to retained earnings by hand goes to the account with the role retained_earnings_posted, below it.
//
// Every change holds the organization's head (head.Touch) before it looks at anything, as posting does: no line slips
// in between finding an account unused and removing it. Sequence numbers come from the head and are never used again.
package account
