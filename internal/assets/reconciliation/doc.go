// Package reconciliation compares what the books say that a source holds with what the source itself stated, explains differences, and
// keeps who has compared them up to when, and with which figures.
//
// What the books have is read from positions and balances by period, and what transactions add up to from sums by day, so that the cost
// of a comparison does not grow with history. The span in which a difference appeared is found by bisecting the observed balances.
package reconciliation
