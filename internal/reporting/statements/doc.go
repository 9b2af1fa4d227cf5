// Package statements reads the books as financial statements: balance sheet, trial balance, income statement, general ledger.
//
// Figures come from the totals that posting keeps for each legal entity, account and period, never from lines, so
// that a report costs what it shows and not what was ever posted. Everything is read in one transaction and computed
// by rules/statement. Only the general ledger reads lines, and of those a page.
//
// A report covers the legal entities asked for, or all that the key is for, added together. Their currencies must be
// the same, unless a currency to present them in is named: then balances are translated at the last rate stored on or
// before the end of each period, income and expenses at the average of the rates stored in it, and what that leaves
// over is shown in equity.
package statements
