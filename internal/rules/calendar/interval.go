package calendar

import (
	"math/bits"
	"time"
)

// An interval of time is stored at one node of a binary tree over months, so that all intervals that contain an instant
// are found at the dozen nodes on the path from the root to the month of that instant. The nodes are the numbers of the
// months: odd months are leaves, and the more often a number is divisible by two, the higher its node.

// treeLevels is the height of the tree: months are numbered in this many bits.
const treeLevels = 12

// monthNumber counts months in UTC from January 1900, which is 1, and stays within the tree.
func monthNumber(t time.Time) int64 {
	year, month, _ := t.UTC().Date()
	return min(max(int64(year-1900)*12+int64(month), 1), 1<<treeLevels-1)
}

// IntervalNode returns the node of an interval: the highest node among its months. It is never 0.
func IntervalNode(from, to time.Time) int64 {
	first, last := monthNumber(from), max(monthNumber(from), monthNumber(to))
	if first == last {
		return first
	}
	// Both share all bits above the highest one in which they differ. The last month has that bit; without what is below
	// it, it is the node, unless the first month is divisible by two even more often.
	level := bits.Len64(uint64(first^last)) - 1
	if first&(1<<(level+1)-1) == 0 {
		return first
	}
	return last >> level << level
}

// NodesContaining returns the nodes at which the intervals that contain an instant are stored. Intervals that do not
// contain it may be stored there too.
func NodesContaining(at time.Time) []int64 {
	month := monthNumber(at)
	var out []int64
	for level := bits.TrailingZeros64(uint64(month)); level < treeLevels; level++ {
		out = append(out, month>>(level+1)<<(level+1)|1<<level)
	}
	return out
}
