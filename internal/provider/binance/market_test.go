package binance

import (
	"testing"
	"time"
)

func TestTradesThatMayAppearLateAreReadAgain(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)
	ids, times := []int64{5, 6, 9}, []time.Time{at.Add(-16 * time.Minute), at.Add(-14 * time.Minute), at}
	if got := resumeAt(ids, times, 3); got != 6 {
		t.Errorf("the next page begins at the trade %d, want 6", got)
	}
	if got := resumeAt(nil, nil, 3); got != 3 {
		t.Errorf("the next page begins at the trade %d, want 3", got)
	}
}
