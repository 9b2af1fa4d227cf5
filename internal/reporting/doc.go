// Package reporting groups what is read from the books and never written to them: financial statements, the
// explanation of any figure, and the checks that tell whether a period is ready to close.
package reporting
