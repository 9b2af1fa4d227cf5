package wire

import (
	"fmt"
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

func TestAnAnswerListsAtMostAHundredFaultsAndSaysHowManyThereAre(t *testing.T) {
	t.Parallel()
	var faults fault.List
	for i := range 123 {
		faults.Addf(fmt.Sprintf("lines[%d].amount", i), "is wrong")
	}
	_, detail := Describe(faults.Err())
	if len(detail.Fields) != 100 || detail.Fields[99].Field != "lines[99].amount" ||
		detail.Message != "the request is not valid: 100 faults are listed, and 23 more" {
		t.Errorf("%d %s", len(detail.Fields), detail.Message)
	}
	for i := range fault.ListMax {
		faults.Addf(fmt.Sprintf("lines[%d].side", i), "is wrong")
	}
	if _, detail = Describe(faults.Err()); detail.Message != "the request is not valid: 100 faults are listed, and at least 900 more" {
		t.Errorf("more than are kept: %s", detail.Message)
	}
}
