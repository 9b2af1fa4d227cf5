package dbtest

import (
	"fmt"
	"os"
	"strconv"
)

// Soaking reports whether "make soak" runs, which tests everything on both engines and repeats random tests many times.
func Soaking() bool { return soak() > 0 }

// Repeats returns how often a test does what it repeats: the first number in an ordinary run, the second in "make soak".
// BURSAR_SOAK=10 makes that ten times as many.
func Repeats(ordinary, soaking int) int {
	if factor := soak(); factor > 0 {
		return factor * soaking
	}
	return ordinary
}

// soak returns the number in BURSAR_SOAK, zero without one.
func soak() int {
	text := os.Getenv("BURSAR_SOAK")
	if text == "" {
		return 0
	}
	factor, err := strconv.Atoi(text)
	if err != nil || factor < 1 {
		panic(fmt.Sprintf("BURSAR_SOAK must be a number from 1, but is %q", text))
	}
	return factor
}
