// Package template keeps what an accounting firm offers to its clients: charts of accounts, and rules. A client takes over a copy, which is
// its own from then on: nothing that a firm changes later reaches the books of a client by itself.
//
// A template belongs to no chart. It names ledger accounts by their codes and tags by their kinds and names, which become those of the
// client when it is taken over.
package template
