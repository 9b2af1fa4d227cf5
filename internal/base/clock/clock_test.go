package clock_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/clock"
)

func TestFormatIsWhatTheLayoutSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-70_000_000_000, 300_000_000_000).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t,
			"nano")).In(time.FixedZone("", rapid.IntRange(-50000, 50000).Draw(t, "zone")))
		if got, want := clock.Format(at), at.UTC().Format("2006-01-02T15:04:05.000Z"); got != want {
			t.Fatalf("%s, not %s", got, want)
		}
	})
}
