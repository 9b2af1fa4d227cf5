package asset

import (
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/rules/lot"
)

// Place is where something stands among everything that happens to a pool, as text that sorts as rules/lot orders it: the time, what comes before
// what goes, the place on the chain, the number of the transaction, and the request of its entry.
type Place string

// placeOf writes a place down.
func placeOf(at time.Time, kind lot.Kind, block, number int64, position int) Place {
	rank := 3
	switch kind {
	case lot.Acquire:
		rank = 0
	case lot.Arrive:
		rank = 1
	case lot.Move, lot.Convert:
		rank = 2
	}
	return Place(fmt.Sprintf("%016d %d %012d %012d %03d", at.UnixMicro(), rank, block, number, position))
}
