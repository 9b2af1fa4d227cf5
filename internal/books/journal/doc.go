// Package journal is the journal: entries of balanced lines, drafted, posted, reversed and corrected, numbered
// without gaps, and the totals they add up to. A posted entry never changes; what was wrong is undone by another
// entry.
package journal
