package wording_test

import (
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/wording"
)

func TestDurationsReadAsPeopleSayThemAndAreRoundedUp(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second:                    "one second",
		0:                               "one second",
		time.Millisecond:                "one second",
		time.Second:                     "one second",
		time.Second + 1:                 "2 seconds",
		40 * time.Second:                "40 seconds",
		59 * time.Second:                "59 seconds",
		59*time.Second + 1:              "one minute",
		time.Minute:                     "one minute",
		time.Minute + 1:                 "2 minutes",
		15*time.Minute - 1:              "15 minutes",
		15 * time.Minute:                "15 minutes",
		15*time.Minute + time.Second:    "16 minutes",
		time.Hour:                       "60 minutes",
		90 * time.Minute:                "90 minutes",
		2 * time.Hour:                   "2 hours",
		2*time.Hour + time.Second:       "3 hours",
		24 * time.Hour:                  "24 hours",
		23*time.Hour + 59*time.Minute:   "24 hours",
		1_000_000 * time.Hour:           "1000000 hours",
		2*time.Hour - time.Second:       "120 minutes",
		time.Hour + 500*time.Nanosecond: "61 minutes",
	} {
		if got := wording.Duration(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
