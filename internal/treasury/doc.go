// Package treasury groups what happened outside the books: sources (wallets, exchange, bank and card accounts), their
// transactions, the imports that bring them in, spam detection, the matching of transfers between sources, and what runs
// over many transactions share.
package treasury
