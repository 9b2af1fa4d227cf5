// Package treasury serves the routes of the treasury: sources, transactions, transfers, spam listings and imports.
package treasury
