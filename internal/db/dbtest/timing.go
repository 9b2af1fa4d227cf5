package dbtest

import (
	"slices"
	"testing"
	"time"
)

const (
	timings      = 9 // of each request, in turn, so that a busy machine slows down all of them
	timingRounds = 5
	timingRatio  = 2
)

// SameTime fails the test if one of some requests takes clearly longer than another, from which somebody could learn what they must not
// know. It compares medians, and asks again if they differ, because other programs use the machine too: a difference that is there always
// is found in every round.
func SameTime(t *testing.T, requests map[string]func()) {
	t.Helper()
	for round := 1; ; round++ {
		taken := map[string][]time.Duration{}
		for range timings {
			for name, request := range requests { // in random order
				began := time.Now()
				request()
				taken[name] = append(taken[name], time.Since(began))
			}
		}
		medians := map[string]time.Duration{}
		shortest, longest := time.Duration(1<<62), time.Duration(0)
		for name, all := range taken {
			slices.Sort(all)
			medians[name] = all[len(all)/2]
			shortest, longest = min(shortest, medians[name]), max(longest, medians[name])
		}
		if longest < timingRatio*shortest {
			return
		}
		if round == timingRounds {
			t.Errorf("the requests take different times: %v", medians)
			return
		}
	}
}
