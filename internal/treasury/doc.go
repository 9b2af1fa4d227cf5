// Package treasury groups what happened outside the books: sources (wallets, exchange, bank and card accounts), their
// transactions, the imports that bring them in, spam detection, and the matching of transfers between sources.
package treasury
