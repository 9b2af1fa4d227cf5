// Package revaluation measures what is held at the end of an accounting period, by the rules each legal entity
// follows, and books what its carrying amounts lack. Rules are in rules/measure; this package finds what is held,
// what it is worth and what was booked before, and keeps what it found.
//
// A run may be made again as long as its period is open: it then says what should be booked on what was there before
// it, and replaces only the entries that differ. So a run that finds nothing new books nothing.
package revaluation
