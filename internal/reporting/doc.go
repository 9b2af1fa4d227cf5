// Package reporting groups the packages that read the books and never write to them: financial statements, key
// figures of a company, the ageing of receivables, the explanation of any figure, and the readiness checks that decide whether a period
// can close.
package reporting
