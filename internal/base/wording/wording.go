// Package wording writes values in the words in which people say them.
package wording

import (
	"strconv"
	"time"
)

// hoursFrom is the first duration that is said in hours: 90 minutes say more than 2 hours.
const hoursFrom = 2 * time.Hour

// Duration returns a duration as people say it: one second, 40 seconds, 15 minutes, 3 hours. It is rounded up, so that who waits as long as
// the text says has waited long enough.
func Duration(d time.Duration) string {
	d = max(d, time.Second)
	if seconds := ceil(d, time.Second); seconds < 60 {
		return count(seconds, "second")
	}
	if d < hoursFrom {
		return count(ceil(d, time.Minute), "minute")
	}
	return count(ceil(d, time.Hour), "hour")
}

func ceil(d, unit time.Duration) int64 { return int64((d + unit - 1) / unit) }

func count(n int64, unit string) string {
	if n == 1 {
		return "one " + unit
	}
	return strconv.FormatInt(n, 10) + " " + unit + "s"
}
