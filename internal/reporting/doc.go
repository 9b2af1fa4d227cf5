// Package reporting groups the packages that read the books and never write to them: financial statements, key
// figures of a company, the ageing of receivables, the explanation of any figure, the readiness checks that decide whether a period
// can close, and what is to be done for each client of an accounting firm.
package reporting
