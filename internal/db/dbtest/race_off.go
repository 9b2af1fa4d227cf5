//go:build !race

package dbtest

// Race says that the race detector watches, so that nothing takes the time that it usually does.
const Race = false
