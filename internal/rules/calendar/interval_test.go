package calendar

import (
	"slices"
	"testing"
	"time"
)

func TestAnIntervalIsFoundAtEveryInstantItContains(t *testing.T) {
	t.Parallel()
	month := func(n int) time.Time { return time.Date(2019, time.Month(n), 17, 3, 0, 0, 0, time.UTC) }
	const months = 150
	for from := range months {
		for to := from; to < months; to++ {
			node := IntervalNode(month(from), month(to))
			for _, at := range []int{from, (from + to) / 2, to} {
				if !slices.Contains(NodesContaining(month(at)), node) {
					t.Fatalf("%d to %d stands at %d, and %d looks at %v", from, to, node, at, NodesContaining(month(at)))
				}
			}
			if low, high := monthNumber(month(from)), monthNumber(month(to)); node < low || node > high {
				t.Fatalf("%d to %d stands at %d", low, high, node)
			}
		}
	}
}

func TestIntervalsFarFromAnInstantAreNotLookedAt(t *testing.T) {
	t.Parallel()
	at := time.Date(2021, 5, 1, 0, 0, 0, 0, time.UTC)
	looked := 0
	for n := range 1200 {
		from := time.Date(1950, time.Month(1+n), 1, 0, 0, 0, 0, time.UTC)
		if slices.Contains(NodesContaining(at), IntervalNode(from, from.AddDate(0, 3, 0))) {
			looked++
		}
	}
	if looked > 40 || len(NodesContaining(at)) > treeLevels {
		t.Errorf("%d of 1200 intervals of four months, by %d nodes", looked, len(NodesContaining(at)))
	}
}

func TestNodesStayWithinTheTree(t *testing.T) {
	t.Parallel()
	early, late := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	if node := IntervalNode(early, late); !slices.Contains(NodesContaining(time.Date(2021, 5, 1, 0, 0, 0, 0, time.UTC)), node) ||
		IntervalNode(late, early) != IntervalNode(late, late) {
		t.Errorf("%d", node)
	}
}
