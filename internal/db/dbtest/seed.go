package dbtest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Seed returns the seed of a random test: that of the environment, a fixed one in an ordinary run, so that the gate is repeatable, and
// a new one in a long run.
func Seed(t testing.TB) uint64 {
	t.Helper()
	if text := os.Getenv("BURSAR_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("BURSAR_SEED must be a number, but is %q", text)
		}
		return seed
	}
	if Soaking() {
		return rand.Uint64()
	}
	return 1
}
