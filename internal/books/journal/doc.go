// Package journal keeps journal entries: sets of balanced lines that are drafted, posted, reversed and corrected. Entries
// are numbered without gaps. A posted entry never changes: a mistake is corrected by a reversal and a replacement, which
// form a chain with the original. Service holds the use cases; a composer turns a request into an entry and collects
// every fault; pendingWrites holds new entries until the commit, so that writes that share a database transaction update
// the balances of an account once. Packages that create entries from transactions and lots implement Subledger.
package journal
