// Package receivables serves the routes of receivables: customers, invoices, credit notes, and the list of invoices to which deposits
// can be applied.
package receivables
