// Package revaluation measures the holdings of legal entities at the end of an accounting period, under the accounting
// framework of each, and posts the adjustments of carrying amounts. The rules are in rules/measure; this package finds the
// holdings, their prices and the adjustments booked before, and stores each run with its items and rows.
//
// A run can be repeated as long as its period is open. It computes what should be booked as if the earlier run of the
// period had not been made, and replaces only the entries that differ. A run that finds nothing new books nothing.
package revaluation
