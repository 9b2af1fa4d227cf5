package dbtest_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestSeedIsFixedInOrdinaryRunsAndNewInLongOnesUnlessItIsGiven(t *testing.T) {
	for _, c := range []struct {
		soak, given string
		is          func(seed uint64) bool
	}{
		{"", "", func(seed uint64) bool { return seed == 1 }},
		{"", "42", func(seed uint64) bool { return seed == 42 }},
		{"1", "18446744073709551615", func(seed uint64) bool { return seed == 1<<64-1 }},
		{"1", "", func(seed uint64) bool { return seed != dbtest.Seed(t) }},
	} {
		t.Setenv("BURSAR_SOAK", c.soak)
		t.Setenv("BURSAR_SEED", c.given)
		if seed := dbtest.Seed(t); !c.is(seed) {
			t.Errorf("%+v: %d", c, seed)
		}
	}
}
