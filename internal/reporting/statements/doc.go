// Package statements computes financial statements: balance sheet, trial balance, income statement and general ledger.
// Figures come from the totals that posting maintains for each legal entity, account and period, so that the cost of a
// report depends on its size and not on the number of lines ever posted. Everything is read in one database transaction
// and computed by rules/statement. Only the general ledger reads lines, one page at a time.
//
// A report adds together the legal entities requested, or all that the actor may see. They must have the same currency,
// unless a presentation currency is given: then balances are translated at the last rate stored on or before the end of
// each period, income and expenses at the average of the rates stored in it, and the difference is shown in equity.
package statements
