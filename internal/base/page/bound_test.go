package page_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
)

func TestTheLastInstantThatCanBeWrittenIsABound(t *testing.T) {
	t.Parallel()
	for _, above := range []bool{false, true} {
		var faults fault.List
		at := page.ParseTimeBound(&faults, "start_date", "9999-12-31T23:59:59.999999999Z", above)
		if err := faults.Err(); err != nil || at.Year() != 9999 {
			t.Errorf("%v, %v", at, err)
		}
		page.Fingerprint("list", at) // it is encoded as JSON, which has no year 10000
	}
}
