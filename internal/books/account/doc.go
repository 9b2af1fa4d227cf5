// Package account keeps the chart of accounts: a tree of ledger accounts that all legal entities of an organization
// share.
//
// An account has the type of its parent. Only a postable account has lines; the others group accounts or show computed
// figures. An archived account gets no new lines, and neither does anything below it, because an account can be archived
// only after those below it.
//
// A role marks an account that the service itself uses: posting finds realized_gain by its role, whatever its name is.
// Such a system account can be renamed, renumbered and moved, but not archived or deleted, and its type, normal balance
// and postability cannot change. A role is on one account only. Some roles have a subject after a colon: due_from:le_…
// is the account for what a legal entity owes the others.
//
// Roles also divide the income statement into sections. An account is in the section of the nearest group above it (or
// of itself) that has one of the roles group:revenue, group:other_income, group:cost_of_revenue,
// group:operating_expense, group:other_expense. Without such a group, Revenue is revenue and Expense is operating
// expense. To move an account to another section, move it below another group. See Sections.
//
// Retained earnings, current earnings and translation adjustment are computed and have no lines. Postings to retained
// earnings go to the account with the role retained_earnings_posted, below it.
//
// Every change locks the organization state (orgstate.Touch) before it reads anything, as posting does, so that no line
// is posted between finding an account unused and deleting it. Sequence numbers come from the organization state and are
// never used again.
package account
