// Package match finds the invoices that a deposit pays.
//
// A Matcher knows customers, their invoices and which payers paid for which customer before. Match takes a deposit and
// returns suggestions, best first. Each one allocates the deposit to invoices, has a confidence, and gives its reasons as
// data. Nothing here reads a database or a clock, and the result does not depend on the order of the inputs.
//
// It works in three steps:
//
//  1. The candidate pool: open invoices in the currency of the deposit, of its legal entity or of none, dated at most three
//     days after it, that no other application has reserved.
//  2. The customer, from the strongest evidence that names exactly one: an invoice number in the memo, the processor's
//     customer id, the payer's address or e-mail, earlier deposits of the payer, the same name, the name within the text, a
//     similar name.
//  3. The match ladder: the invoices named in the memo; one invoice of the customer with this amount; several of them that
//     add up to it; a part of an invoice; more than is due. Sums of several invoices are searched within one customer only
//     and must be exact, because among many invoices some sums agree by chance.
//
// A suggestion is certain, which means that it may be applied without a person, if it has no doubts. Suggestion.Doubts lists
// every reason against it, and a wrong automatic application costs more than a question: see certain.go.
//
// The work is bounded by counted steps, not by time, so that the same input always gives the same answer. A search that
// reaches its limit says so in Result.Truncated; what it returns then is correct but may not be everything.
package match
