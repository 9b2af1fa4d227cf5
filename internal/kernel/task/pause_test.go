package task_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

func TestAPauseGrowsWithEachTryAndIsAsLongAsTheOtherSystemAsks(t *testing.T) {
	t.Parallel()
	asks := func(wait time.Duration) error { return &fault.Error{Kind: fault.Unavailable, RetryAfter: wait} }
	for _, c := range []struct {
		tries   int64
		because error
		want    time.Duration
	}{
		{1, errors.New("down"), time.Second},
		{4, errors.New("down"), 8 * time.Second},
		{19, errors.New("down"), 5 * time.Minute},
		{1, asks(7 * time.Second), 7 * time.Second},
		{5, asks(7 * time.Second), 16 * time.Second},
		{1, asks(time.Hour), time.Hour},
	} {
		if got := (&task.Claim{Tries: c.tries}).Pause(c.because); got != c.want {
			t.Errorf("after %d tries, because of %v: %s, want %s", c.tries, c.because, got, c.want)
		}
	}
}
