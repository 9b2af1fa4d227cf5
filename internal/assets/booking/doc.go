// Package booking turns transactions into journal entries. From a transaction, or the two transactions of a transfer, and a
// transaction type it computes the lines of the entry and what the entry consumes and creates in lots (rules/posting).
//
// It connects the journal with the lots, as the subledger of the journal. A draft shows the lots that it would consume;
// posting consumes them; reversing and unposting give them back. If an entry changes which lots other entries consume
// (package replay), those entries are corrected, or trued up if their period is closed.
//
// Start with Service.Create. What each entry was computed from is stored in the table bookings, so that it can be computed
// again later.
package booking
