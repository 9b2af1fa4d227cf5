package calendar

import (
	"math/bits"
	"time"
)

// lifeLevels is how many lives an instant can lie in: months are counted in so many bits.
const lifeLevels = 12

// monthNumber counts the months in UTC, January 1900 being 1.
func monthNumber(t time.Time) int64 {
	year, month, _ := t.UTC().Date()
	return min(max(int64(year-1900)*12+int64(month), 1), 1<<lifeLevels-1)
}

// Life is where a stretch of time stands in a tree of months: at the month of the stretch that is divisible by two
// most often. Stretches that hold an instant stand on the way from the root to its month, so that they are found
// among all others by a dozen numbers.
func Life(from, to time.Time) int64 {
	first, last := monthNumber(from), max(monthNumber(from), monthNumber(to))
	if first == last {
		return first
	}
	// Above the highest bit in which they differ both are alike. The last has that bit, and is cut off there, unless the
	// first is divisible more often.
	level := bits.Len64(uint64(first^last)) - 1
	if first&(1<<(level+1)-1) == 0 {
		return first
	}
	return last >> level << level
}

// Lives are those of every stretch that holds an instant, and of some more that do not.
func Lives(at time.Time) []int64 {
	month := monthNumber(at)
	var out []int64
	for level := bits.TrailingZeros64(uint64(month)); level < lifeLevels; level++ {
		out = append(out, month>>(level+1)<<(level+1)|1<<level)
	}
	return out
}
