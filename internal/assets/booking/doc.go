// Package booking makes the books of what happened: from a transaction, or the two of a pair, and its type to a
// journal entry and to what becomes of lots. It stands between the journal and the lots, and tells each what the
// other did: a draft shows the lots it would take, posting takes them, reversing gives them back, and what an entry
// changes about the lots of others is corrected with it, or trued up where a period is closed.
package booking
