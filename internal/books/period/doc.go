// Package period is the months the books are kept in: when they begin and end, for which legal entities they are closed, and what stood in
// them when they were.
package period
