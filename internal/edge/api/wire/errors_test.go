package wire

import (
	"slices"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
)

func TestFaultsAreReportedInTheOrderOfTheirPaths(t *testing.T) {
	t.Parallel()
	want := []string{"", "accounting_date", "lines", "lines[0].amount", "lines[2].amount", "lines[2].memo", "lines[10].amount", "linesman"}
	for rotation := range want {
		var faults fault.List
		for i := range want {
			faults.Addf(want[(i*3+rotation)%len(want)], "is wrong")
		}
		_, detail := Describe(faults.Err())
		var got []string
		for _, f := range detail.Fields {
			got = append(got, f.Field)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSeveralFaultsOfOneFieldAreReportedInTheOrderOfTheirMessages(t *testing.T) {
	t.Parallel()
	var faults fault.List
	faults.Addf("name", "is too short")
	faults.Addf("name", "is taken")
	if _, detail := Describe(faults.Err()); detail.Fields[0].Message != "is taken" {
		t.Errorf("%+v", detail.Fields)
	}
}
