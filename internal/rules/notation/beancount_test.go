package notation_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/rules/notation"
)

func TestBeanCheckAcceptsWhatWeWrite(t *testing.T) {
	t.Parallel()
	j := manyEntries(200, python)
	text := write(t, notation.Beancount, j)
	if complaint := program(t, text, "bean-check"); complaint != "" {
		t.Fatalf("%.4000s", complaint)
	}
}
