package calendar

import (
	"slices"
	"testing"
	"time"
)

func TestAStretchIsFoundAtEveryInstantItHolds(t *testing.T) {
	t.Parallel()
	month := func(n int) time.Time { return time.Date(2019, time.Month(n), 17, 3, 0, 0, 0, time.UTC) }
	const months = 150
	for from := range months {
		for to := from; to < months; to++ {
			life := Life(month(from), month(to))
			for _, at := range []int{from, (from + to) / 2, to} {
				if !slices.Contains(Lives(month(at)), life) {
					t.Fatalf("%d to %d stands at %d, and %d looks at %v", from, to, life, at, Lives(month(at)))
				}
			}
			if low, high := monthNumber(month(from)), monthNumber(month(to)); life < low || life > high {
				t.Fatalf("%d to %d stands at %d", low, high, life)
			}
		}
	}
}

func TestFarFromAnInstantNoStretchIsLookedAt(t *testing.T) {
	t.Parallel()
	at := time.Date(2021, 5, 1, 0, 0, 0, 0, time.UTC)
	looked := 0
	for n := range 1200 {
		from := time.Date(1950, time.Month(1+n), 1, 0, 0, 0, 0, time.UTC)
		if slices.Contains(Lives(at), Life(from, from.AddDate(0, 3, 0))) {
			looked++
		}
	}
	if looked > 40 || len(Lives(at)) > lifeLevels {
		t.Errorf("%d of 1200 stretches of four months, by %d lives", looked, len(Lives(at)))
	}
}

func TestLivesAreBoundedByTheMonthsThereMayBe(t *testing.T) {
	t.Parallel()
	early, late := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	if life := Life(early, late); !slices.Contains(Lives(time.Date(2021, 5, 1, 0, 0, 0, 0, time.UTC)), life) ||
		Life(late, early) != Life(late, late) {
		t.Errorf("%d", life)
	}
}
