package wire

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// zeros is a body of 8 MiB that is a fault from the beginning to the end.
var zeros = []byte(`{"lines":[` + strings.Repeat("0,", BodyMax/2-16) + "0]}")

// findFaults parses and validates a body as a request does.
func findFaults(tb testing.TB, body []byte) (found []fault.Field, cut bool) {
	tb.Helper()
	UseStrictSchemas()
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schema := registry.Schema(reflect.TypeFor[validated](), true, "")
	rules := newRules(registry)
	read, err := rules.parse(body, schema, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return rules.validate(schema, read.value)
}

func TestABodyOfZerosIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	start := time.Now()
	found, cut := findFaults(t, zeros)
	if len(found) != fault.ListMax || !cut || found[0].Message != "must have at most 1,000 items, but has more than 11,000" {
		t.Errorf("%d faults, others: %v: %v", len(found), cut, found[:1])
	}
	if took := time.Since(start); took > time.Second { // a few milliseconds; reading all of it takes seconds
		t.Errorf("took %s", took)
	}
}

func BenchmarkZeros(b *testing.B) {
	b.SetBytes(int64(len(zeros)))
	for b.Loop() {
		findFaults(b, zeros)
	}
}
