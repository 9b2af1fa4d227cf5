// Package receivables serves the routes of receivables: customers, invoices, and the invoices to which deposits can be applied.
package receivables
