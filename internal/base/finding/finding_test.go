package finding_test

import (
	"slices"
	"testing"

	"github.com/bursarhq/bursar/internal/base/finding"
)

func TestAFewOfEachKindAreNamedAndTheRestCounted(t *testing.T) {
	t.Parallel()
	l := finding.New("pears")
	for i := range 7 {
		l.Addf("bruises", "bruise %d", i)
	}
	l.Addf("worms", "a worm")
	want := []string{"pears: bruise 0", "pears: bruise 1", "pears: bruise 2", "pears: bruise 3", "pears: bruise 4", "pears: a worm",
		"pears: 2 more bruises"}
	if got := l.Messages(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
