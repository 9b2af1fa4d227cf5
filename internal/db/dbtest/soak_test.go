package dbtest_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestOnlyALongRunRepeatsMore(t *testing.T) {
	for soak, want := range map[string]int{"": 2, "1": 30, "10": 300} {
		t.Setenv("BURSAR_SOAK", soak)
		if got := dbtest.Repeats(2, 30); got != want || dbtest.Soaking() != (want != 2) {
			t.Errorf("BURSAR_SOAK=%q: %d times, want %d", soak, got, want)
		}
	}
	for _, wrong := range []string{"0", "yes", "-1"} {
		t.Setenv("BURSAR_SOAK", wrong)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("BURSAR_SOAK=%q is accepted", wrong)
				}
			}()
			dbtest.Soaking()
		}()
	}
}
