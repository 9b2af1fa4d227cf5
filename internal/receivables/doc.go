// Package receivables groups what customers owe: the customers themselves, and their invoices and credit notes with the entries that
// book them, and the deposits that pay them.
package receivables
